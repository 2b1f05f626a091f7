//! Every kind of queue must make the same decisions in two cases: without a scheduler, and as the
//! only class of a priority scheduler.

use super::RATE;
use super::bench::{Bench, Outcome, Traffic, queue_kinds, stream};
use serde_json::{Value, json};

fn outcomes(queue: &Value, seed: u64, alone: bool) -> (Vec<Outcome>, Vec<u32>) {
    // A scheduler gives the queue of each class its own branch of the scheduler's random stream.
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
    assert!(acted > 10_000, "only {acted} packets were marked or dropped");
}

/// If the limit of a leaf counts the packet in service, it counts that packet only if the packet
/// belongs to the leaf.
#[test]
fn a_leaf_counts_its_own_packet_in_service() {
    let kind = json!({"kind": "drop_tail", "limit": "4 packets", "limit_counts": "waiting-and-in-service"});
    let held = json!({"kind": "priority", "classes": [{"queue": kind}]});
    assert_eq!(outcomes(&kind, 1, true), outcomes(&held, 1, false));
}
