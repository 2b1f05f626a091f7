//! What every scheduler must do, on random trees of them with every kind of queue as leaves, and what each promises.

mod common;

use common::{Bench, Traffic, kinds_of_schedulers, laws, ms, stream};
use engine::Stream;
use net::Ecn;
use serde_json::{Value, json};
use units::{Duration, Rate, Time};

const RATE: Rate = Rate(10_000_000);
/// Flows of the random trees.
const FLOWS: u64 = 8;

/// Random trees of queues.
struct Trees {
    random: Stream,
    laws: Vec<Value>,
    schedulers: Vec<Value>,
}

impl Trees {
    fn new(seed: u64) -> Self {
        Trees { random: Stream::new(seed, "tree"), laws: laws(), schedulers: kinds_of_schedulers() }
    }

    fn below(&mut self, n: usize) -> usize {
        self.random.below(n as u64) as usize
    }

    fn flows(&mut self) -> Value {
        let n = 1 + self.below(3);
        (0..n).map(|_| format!("f{}", self.below(FLOWS as usize))).collect()
    }

    /// A queue in which at most `deep` stand within each other.
    fn queue(&mut self, deep: usize) -> Value {
        if deep == 1 || self.below(3) == 0 {
            let law = self.below(self.laws.len());
            return self.laws[law].clone();
        }
        let kind = self.below(self.schedulers.len());
        let kind = self.schedulers[kind].clone();
        let mut queue = json!({"kind": kind});
        let classes = 1 + self.below(3);
        let rest = self.below(classes);
        let class = |i| {
            let mut class = json!({"queue": self.queue(deep - 1)});
            if i != rest {
                class["match"] = json!({"flows": self.flows()});
            }
            match kind.as_str().unwrap() {
                "drr" => class["quantum"] = [40, 1500, 9000][self.below(3)].to_string().add(" B").into(),
                "wrr" => class["weight"] = (1 + self.below(5)).into(),
                "mdrr" if i == 0 => class["service"] = ["round", "strict", "alternate"][self.below(3)].into(),
                "mdrr" => class["weight"] = (1 + self.below(5)).into(),
                _ => {}
            }
            class
        };
        queue["classes"] = (0..classes).map(class).collect();
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

/// Whether a tree holds something that is not work-conserving.
fn shapes(queue: &Value) -> bool {
    ["tbf", "htb", "cbq"].iter().any(|kind| queue.to_string().contains(&format!("\"kind\":\"{kind}\"")))
}

#[test]
fn random_trees_conserve_packets_keep_order_and_do_not_idle() {
    let mut nested = 0;
    for seed in 0..400 {
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
        assert_eq!(bench.waiting(), 0, "{queue} keeps packets, seed {seed}");
        let mut last = [None; FLOWS as usize];
        for &seq in &bench.order {
            let last = &mut last[bench.flow(seq) as usize];
            assert!(last.is_none_or(|last| last < seq), "{queue} reorders, seed {seed}");
            *last = Some(seq);
        }
    }
    assert!(nested > 100, "{nested} nested trees");
}

/// A class of a scheduler for flow `i`, or for the rest, with an unlimited queue.
fn class(i: usize, rest: bool, more: Value) -> Value {
    let mut class = json!({"queue": {"kind": "drop_tail", "limit": "1000000 packets"}});
    if !rest {
        class["match"] = json!({"flows": format!("f{i}")});
    }
    class.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
    class
}

/// A scheduler with a class for each flow, which differ by these keys.
fn scheduler(kind: &str, classes: &[Value]) -> Value {
    let last = classes.len() - 1;
    let classes: Vec<Value> =
        classes.iter().enumerate().map(|(i, more)| class(i, i == last, more.clone())).collect();
    json!({"kind": kind, "classes": classes})
}

/// Bits a second that each flow is sent between 1 s and 2 s, when from 0.5 s on all have more than enough
/// waiting, in packets of the sizes of each.
fn rates(queue: &Value, sizes: &[&[u16]]) -> Vec<f64> {
    let mut bench = Bench::new(queue, RATE, stream(1));
    let bytes = 2 * RATE.0 / 8;
    for (flow, sizes) in sizes.iter().enumerate() {
        let (mut sent, mut sizes) = (0, sizes.iter().cycle());
        while sent < bytes {
            let size = *sizes.next().unwrap();
            bench.send(ms(500), flow as u32, size);
            sent += u64::from(size);
        }
    }
    bench.advance(ms(2000));
    let mut rates = vec![0.0; sizes.len()];
    for &seq in &bench.order {
        let outcome = bench.outcomes()[seq as usize];
        if outcome.done > ms(1000) {
            rates[bench.flow(seq) as usize] += 8.0 * f64::from(outcome.size);
        }
    }
    rates
}

/// Holds measured rates against what is promised, within 1 %.
fn assert_rates(measured: &[f64], promised: &[f64]) {
    for (m, p) in measured.iter().zip(promised) {
        assert!((m - p).abs() <= 0.01 * p, "{measured:?}, not {promised:?}");
    }
}

/// Shares of the link as these weights.
fn shares(weights: &[f64]) -> Vec<f64> {
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|w| w / sum * RATE.0 as f64).collect()
}

/// Shreedhar & Varghese, theorem 2: shares are as the quanta, whatever the sizes.
#[test]
fn drr_shares_are_as_the_quanta_whatever_the_sizes() {
    let quanta = ["1500 B", "3000 B", "6000 B", "4500 B"].map(|quantum| json!({"quantum": quantum}));
    let measured = rates(&scheduler("drr", &quanta), &[&[40], &[1500], &[1500, 40, 576], &[700, 1300]]);
    assert_rates(&measured, &shares(&[1.0, 2.0, 4.0, 3.0]));
}

#[test]
fn wrr_shares_are_in_packets() {
    let weights = [1, 2, 5].map(|weight| json!({"weight": weight}));
    assert_rates(
        &rates(&scheduler("wrr", &weights), &[&[1000], &[1000], &[1000]]),
        &shares(&[1.0, 2.0, 5.0]),
    );
    // What a turn is worth in bytes depends on the size.
    assert_rates(
        &rates(&scheduler("wrr", &weights), &[&[1500], &[300], &[60]]),
        &shares(&[1500.0, 600.0, 300.0]),
    );
}

/// Cisco: quantum = MTU + (weight - 1) 512; here 1500, 2012 and 3548 B.
#[test]
fn mdrr_shares_are_as_its_quanta() {
    let weights = [1, 2, 5].map(|weight| json!({"weight": weight}));
    let measured = rates(&scheduler("mdrr", &weights), &[&[1500, 40], &[1500], &[576]]);
    assert_rates(&measured, &shares(&[1500.0, 2012.0, 3548.0]));
}

/// A low-latency queue that alternates has its turn after each turn of another: with two others half of all
/// turns; one that is strict has all.
#[test]
fn the_low_latency_queue_of_mdrr() {
    let classes = |service: &str| scheduler("mdrr", &[json!({"service": service}), json!({}), json!({})]);
    let sizes: [&[u16]; 3] = [&[1500], &[1500], &[1500]];
    assert_rates(&rates(&classes("alternate"), &sizes), &shares(&[2.0, 1.0, 1.0]));
    assert_rates(&rates(&classes("strict"), &sizes)[..1], &[RATE.0 as f64]);
}

/// Priority: the first class takes all it wants, the last what is left, which may be nothing.
#[test]
fn priority_serves_the_first_class_first() {
    let queue = scheduler("priority", &[json!({}), json!({})]);
    assert_rates(&rates(&queue, &[&[1500], &[1500]])[..1], &[RATE.0 as f64]);
    // It waits for the packet in service and no other: 1.2 ms.
    let mut bench = Bench::new(&queue, RATE, stream(1));
    (0..100).for_each(|_| bench.send(Time::ZERO, 1, 1500));
    for k in 0..50 {
        bench.send(Time(1_000_000_000 + k * 1_700_000_001), 0, 100);
    }
    bench.finish();
    let service = RATE.transmission_time(units::Bytes(100));
    let waits = |seq: usize| bench.outcomes()[seq].done.since(bench.outcomes()[seq].came + service);
    let longest = (100..150).map(waits).max().unwrap();
    assert!(longest <= RATE.transmission_time(units::Bytes(1500)) && longest > Duration::from_millis(1));
}

#[test]
fn refusals_name_the_class() {
    let e = |v: Value| {
        let queue = <queues::Queue as units::Read>::read(&v, "q");
        queue.and_then(|q| q.check_matches(&common::Named(3), "q")).unwrap_err().to_string()
    };
    let rest = json!({"queue": "drop_tail"});
    let f = |n: u64| json!({"match": {"flows": format!("f{n}")}});
    assert!(e(json!({"kind": "priority", "classes": []})).contains("q.classes: must hold between 1"));
    assert!(e(json!({"kind": "drr", "classes": [f(0), f(1)]})).contains("leave match away in one class"));
    assert!(e(json!({"kind": "wrr", "classes": [rest, f(0), rest]})).contains("q.classes.2: takes the rest"));
    assert!(e(json!({"kind": "drr", "limit": "5 packets", "classes": [rest]})).contains("q.limit: "));
    assert!(
        e(json!({"kind": "drr", "classes": [rest, f(7)]}))
            .contains("q.classes.1.match.flows: \"f7\" is no flow")
    );
    assert!(
        e(json!({"kind": "drr", "classes": [{"queue": {"kind": "red", "minht": 1}}]}))
            .contains("q.classes.0.queue.minht")
    );
    let low = json!({"service": "strict", "match": {"dscp": "EF"}});
    assert!(e(json!({"kind": "mdrr", "classes": [low, low, rest]})).contains("q.classes.1.service"));
}

/// Queues that stand a thousand deep in each other are refused, as are those just too deep.
#[test]
fn deep_queues_are_refused() {
    // By moving: a value's other operations go down into it.
    let nest = |deep: usize| {
        (1..deep).fold(json!("drop_tail"), |queue, _| {
            let (mut class, mut outer) = (serde_json::Map::new(), serde_json::Map::new());
            class.insert("queue".into(), queue);
            outer.insert("kind".into(), "priority".into());
            outer.insert("classes".into(), Value::Array(vec![Value::Object(class)]));
            Value::Object(outer)
        })
    };
    let read = |queue: Value| <queues::Queue as units::Read>::read(&queue, "q");
    assert!(read(nest(16)).is_ok());
    for deep in [17, 100, 1000] {
        let e = read(nest(deep)).unwrap_err().to_string();
        assert!(e.contains("q: has queues more than 16 deep in each other"), "{e}");
    }
}

/// Marks follow the packet's field in every leaf: no Not-ECT packet is marked (asserted in the bench), and ECT packets
/// are, below schedulers too.
#[test]
fn leaves_mark() {
    let red = json!({"kind": "red", "minth": "5 packets", "maxth": "15 packets", "limit": "100 packets"});
    let queue =
        json!({"kind": "drr", "classes": [{"queue": red}, {"match": {"dscp": "EF"}, "queue": "codel"}]});
    let mut bench = Bench::new(&queue, RATE, stream(1));
    for k in 0..5000_u64 {
        bench.arrive(Time(k * 1_000_000_000), 0, 1500, Ecn::Ect0, if k.is_multiple_of(2) { 46 } else { 0 });
    }
    let marked = |class: usize| bench.outcomes().iter().skip(class).step_by(2).filter(|o| o.marked).count();
    assert!(marked(0) > 20 && marked(1) > 20, "{} {}", marked(0), marked(1));
}
