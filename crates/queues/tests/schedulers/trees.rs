//! Tests with random trees of schedulers, whose leaves are queues of every kind.

use engine::Stream;
use serde_json::{Value, json};

use super::RATE;
use super::bench::{Bench, Traffic, kinds_of_schedulers, queue_kinds, stream};

/// Number of flows of the traffic through the random trees.
const FLOWS: u64 = 8;

/// Generator of random trees of queues.
struct Trees {
    random: Stream,
    kinds: Vec<Value>,
    schedulers: Vec<Value>,
}

impl Trees {
    fn new(seed: u64) -> Self {
        Trees { random: Stream::new(seed, "tree"), kinds: queue_kinds(), schedulers: kinds_of_schedulers() }
    }

    fn below(&mut self, n: usize) -> usize {
        self.random.below(n as u64) as usize
    }

    fn flows(&mut self) -> Value {
        let n = 1 + self.below(3);
        (0..n).map(|_| format!("f{}", self.below(FLOWS as usize))).collect()
    }

    /// Return a random queue with at most `deep` levels of queues within queues.
    fn queue(&mut self, deep: usize) -> Value {
        if deep == 1 || self.below(3) == 0 {
            let kind = self.below(self.kinds.len());
            return self.kinds[kind].clone();
        }
        let kind = self.below(self.schedulers.len());
        let kind = self.schedulers[kind].clone();
        let mut queue = json!({"kind": kind});
        let kind = kind.as_str().unwrap();
        if kind == "tbf" {
            queue["rate"] = ["300 kbit/s", "8 Mbit/s", "20 Mbit/s"][self.below(3)].into();
            queue["burst"] = ["1500 B", "1000 B", "50 kB"][self.below(3)].into();
            queue["queue"] = self.queue(deep - 1);
            return queue;
        }
        let trees = ["htb", "cbq"].contains(&kind);
        let inner = if trees { self.below(3) } else { 0 };
        let classes = 1 + self.below(3);
        let rest = self.below(classes);
        let class = |i| {
            let mut class = json!({"queue": self.queue(deep - 1)});
            if i != rest {
                class["match"] = json!({"flows": self.flows()});
            }
            if trees {
                class["rate"] = ["100 kbit/s", "1 Mbit/s", "5 Mbit/s"][self.below(3)].into();
                if inner > 0 && self.below(3) > 0 {
                    class["parent"] = format!("c{}", self.below(inner)).into();
                }
            }
            match kind {
                "wfq" | "scfq" => class["weight"] = (1 + self.below(5)).into(),
                "htb" => {
                    class["prio"] = self.below(3).into();
                    class["ceil"] = "9 Mbit/s".into();
                }
                "cbq" => {
                    class["priority"] = self.below(3).into();
                    class["borrow"] = ["ancestors", "bounded"][self.below(2)].into();
                    class["lend"] = ["others", "isolated"][usize::from(self.below(4) == 0)].into();
                }
                "drr" => class["quantum"] = [40, 1500, 9000][self.below(3)].to_string().add(" B").into(),
                "wrr" => class["packets"] = (1 + self.below(5)).into(),
                "mdrr" if i == 0 => class["service"] = ["round", "strict", "alternate"][self.below(3)].into(),
                "mdrr" => class["weight"] = (1 + self.below(5)).into(),
                _ => {}
            }
            class
        };
        let leaves: Vec<Value> = (0..classes).map(class).collect();
        // Each inner class needs a class below it. An inner class without a class below it would be
        // a leaf, so two leaves would lack the key `match`.
        let above = |i: usize| json!({"name": format!("c{i}"), "rate": "40 Mbit/s", "parent": (i > 0).then(|| format!("c{}", i - 1))});
        let mut all: Vec<Value> = (0..inner).map(above).collect();
        all.extend(leaves);
        if inner > 0 {
            let last = all.len() - 1;
            all[last]["parent"] = format!("c{}", inner - 1).into();
        }
        queue["classes"] = all.into();
        queue
    }
}

trait Add {
    fn add(self, more: &str) -> String;
}

impl Add for String {
    fn add(mut self, more: &str) -> String {
        self.push_str(more);
        self
    }
}

/// Return true if a tree contains a scheduler that is not work-conserving.
fn shapes(queue: &Value) -> bool {
    ["tbf", "htb", "cbq"].iter().any(|kind| queue.to_string().contains(&format!("\"kind\":\"{kind}\"")))
}

#[test]
fn random_trees_conserve_packets_preserve_order_and_are_work_conserving() {
    let trees = std::env::var("PROPTEST_CASES").map_or(100, |cases| cases.parse().unwrap());
    let mut nested = 0;
    for seed in 0..trees {
        let queue = Trees::new(seed).queue(4);
        nested += usize::from(queue.to_string().matches("classes").count() > 1);
        let shapes = shapes(&queue);
        let mut bench = Bench::new(&queue, RATE, stream(seed));
        let mut traffic = Traffic::new(seed, RATE, FLOWS).with_a_field_a_flow();
        for _ in 0..1500 {
            traffic.next(&mut bench);
            assert!(shapes || !bench.idles(), "{queue} idles, seed {seed}");
        }
        bench.check();
        bench.finish();
        bench.check();
        assert_eq!(bench.waiting(), 0, "{queue} has waiting packets, seed {seed}");
        let mut last = [None; FLOWS as usize];
        for &seq in &bench.order {
            let last = &mut last[bench.flow(seq) as usize];
            assert!(last.is_none_or(|last| last < seq), "{queue} reorders, seed {seed}");
            *last = Some(seq);
        }
    }
    assert!(nested > trees as usize / 4, "{nested} nested trees");
}
