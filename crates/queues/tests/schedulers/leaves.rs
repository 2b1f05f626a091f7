//! Every kind of queue makes the same decisions as the only class of a priority scheduler as
//! without a scheduler.

use super::RATE;
use super::bench::{Bench, Outcome, Traffic, queue_kinds, stream};
use serde_json::{Value, json};

fn outcomes(queue: &Value, seed: u64, alone: bool) -> (Vec<Outcome>, Vec<u32>) {
    // The queue of a class takes its random numbers from a branch of the random stream of its
    // scheduler.
    let random = if alone { stream(seed).branch("class-0") } else { stream(seed) };
    let mut bench = Bench::new(queue, RATE, random);
    let mut traffic = Traffic::new(seed, RATE, 8);
    for _ in 0..6000 {
        traffic.next(&mut bench);
    }
    bench.check();
    bench.finish();
    (bench.outcomes().to_vec(), bench.order)
}

#[test]
fn a_leaf_decides_as_without_a_scheduler() {
    let mut acted = 0;
    for kind in queue_kinds() {
        for seed in 0..8 {
            let (alone, order) = outcomes(&kind, seed, true);
            let held = json!({"kind": "priority", "classes": [{"queue": kind}]});
            let (leaf, leaf_order) = outcomes(&held, seed, false);
            if let Some(i) = (0..alone.len()).find(|&i| alone[i] != leaf[i]) {
                panic!("{kind}, seed {seed}, packet {i}: {:?} alone, {:?} as a leaf", alone[i], leaf[i]);
            }
            assert_eq!(order, leaf_order, "{kind}");
            acted += alone.iter().filter(|o| o.marked || !o.sent).count();
        }
    }
    assert!(acted > 10_000, "only {acted} marks and drops");
}

/// If the limit counts the packet in service, a leaf counts only its own packet.
#[test]
fn a_leaf_counts_its_own_packet_in_service() {
    let kind = json!({"kind": "drop_tail", "limit": "4 packets", "limit_counts": "waiting-and-in-service"});
    let held = json!({"kind": "priority", "classes": [{"queue": kind}]});
    assert_eq!(outcomes(&kind, 1, true), outcomes(&held, 1, false));
}
