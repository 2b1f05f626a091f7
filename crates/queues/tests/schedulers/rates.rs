//! Tests of the shares of the link against the guarantees of papers. During one second all classes
//! have waiting packets, and the measured rates must be exact within 1 %.

use net::Ecn;
use serde_json::{Value, json};
use units::{Duration, Time};

use super::RATE;
use super::bench::{Bench, ms, stream};

/// Return a class for flow `i`, or for the remaining packets if `rest` is true. The queue of the
/// class is practically unlimited.
fn class(i: usize, rest: bool, more: Value) -> Value {
    let mut class = json!({"queue": {"kind": "drop_tail", "limit": "1000000 packets"}});
    if !rest {
        class["match"] = json!({"flows": format!("f{i}")});
    }
    class.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
    class
}

/// Return a scheduler with one class per flow. Each class has the given keys.
pub fn scheduler(kind: &str, classes: &[Value]) -> Value {
    let last = classes.len() - 1;
    let classes: Vec<Value> =
        classes.iter().enumerate().map(|(i, more)| class(i, i == last, more.clone())).collect();
    json!({"kind": kind, "classes": classes})
}

/// Return the rate in bit/s at which each flow is sent between 1 s and 2 s. At 0.5 s all packets of
/// all flows arrive, with the given sizes.
pub fn rates(queue: &Value, sizes: &[&[u16]]) -> Vec<f64> {
    let mut bench = Bench::new(queue, RATE, stream(1));
    let bytes = 2 * RATE.0 / 8;
    for (flow, sizes) in sizes.iter().enumerate().filter(|(_, sizes)| !sizes.is_empty()) {
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

/// Check that the measured rates are within 1 % of the expected rates.
pub fn assert_rates(measured: &[f64], promised: &[f64]) {
    for (m, p) in measured.iter().zip(promised) {
        assert!((m - p).abs() <= 0.01 * p, "{measured:?}, not {promised:?}");
    }
}

/// Divide the rate of the link in proportion to these weights.
pub fn shares(weights: &[f64]) -> Vec<f64> {
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|w| w / sum * RATE.0 as f64).collect()
}

/// Shreedhar & Varghese, theorem 2: the shares of the link are proportional to the quanta, for all
/// packet sizes.
#[test]
fn drr_shares_are_proportional_to_the_quanta() {
    let quanta = ["1500 B", "3000 B", "6000 B", "4500 B"].map(|quantum| json!({"quantum": quantum}));
    let measured = rates(&scheduler("drr", &quanta), &[&[40], &[1500], &[1500, 40, 576], &[700, 1300]]);
    assert_rates(&measured, &shares(&[1.0, 2.0, 4.0, 3.0]));
}

#[test]
fn wrr_shares_are_in_packets() {
    let weights = [1, 2, 5].map(|packets| json!({"packets": packets}));
    assert_rates(
        &rates(&scheduler("wrr", &weights), &[&[1000], &[1000], &[1000]]),
        &shares(&[1.0, 2.0, 5.0]),
    );
    // In a weighted round robin the number of bytes per turn depends on the packet size.
    assert_rates(
        &rates(&scheduler("wrr", &weights), &[&[1500], &[300], &[60]]),
        &shares(&[1500.0, 600.0, 300.0]),
    );
}

/// Cisco: quantum = MTU + (weight - 1) 512, here 1500, 2012 and 3548 B.
#[test]
fn mdrr_shares_are_proportional_to_the_quanta() {
    let weights = [1, 2, 5].map(|weight| json!({"weight": weight}));
    let measured = rates(&scheduler("mdrr", &weights), &[&[1500, 40], &[1500], &[576]]);
    assert_rates(&measured, &shares(&[1500.0, 2012.0, 3548.0]));
}

/// An alternate low-latency queue has a turn after each turn of another class, so it has half of
/// all turns. A strict low-latency queue gets the whole link.
#[test]
fn the_low_latency_queue_of_mdrr_alternates_or_is_strict() {
    let classes = |service: &str| scheduler("mdrr", &[json!({"service": service}), json!({}), json!({})]);
    let sizes: [&[u16]; 3] = [&[1500], &[1500], &[1500]];
    assert_rates(&rates(&classes("alternate"), &sizes), &shares(&[2.0, 1.0, 1.0]));
    assert_rates(&rates(&classes("strict"), &sizes)[..1], &[RATE.0 as f64]);
}

/// The first class gets all bandwidth that it requests, and the last class gets the remaining
/// bandwidth, which may be zero.
#[test]
fn priority_serves_the_first_class_first() {
    let queue = scheduler("priority", &[json!({}), json!({})]);
    assert_rates(&rates(&queue, &[&[1500], &[1500]])[..1], &[RATE.0 as f64]);
    // A packet of the first class waits at most until the packet in service has been sent, 1.2 ms.
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

/// Weighted fair queueing: the shares of the link are proportional to the weights, for all packet
/// sizes.
#[test]
fn fair_queueing_shares_are_proportional_to_the_weights() {
    for kind in ["wfq", "scfq"] {
        let classes = [0.5, 1.0, 2.5, 1.0].map(|weight| json!({"weight": weight}));
        let measured = rates(&scheduler(kind, &classes), &[&[40], &[1500], &[1500, 40, 576], &[700, 1300]]);
        assert_rates(&measured, &shares(&[0.5, 1.0, 2.5, 1.0]));
    }
}

/// McKenney: flows in different queues have equal shares of the link, for any traffic. When the
/// buffer is full, packets of the flow with the longest queue are dropped.
#[test]
fn sfq_gives_flows_equal_shares() {
    let queue = json!({"kind": "sfq", "limit": "100000 packets"});
    assert_rates(&rates(&queue, &[&[1000], &[1000], &[1000], &[1000]]), &shares(&[1.0; 4]));
    let bytes = json!({"kind": "sfq", "limit": "100000 packets", "quantum": "1500 B"});
    assert_rates(&rates(&bytes, &[&[100], &[1500], &[700, 40]]), &shares(&[1.0; 3]));
    let full = json!({"kind": "sfq", "limit": "50 packets", "perturb": "100 ms"});
    let mut bench = Bench::new(&full, RATE, stream(2));
    // Flow 0 sends at three times the rate of the link, and flow 1 at a tenth of that rate.
    for k in 0..6000_u64 {
        let now = Time(k * 400_000_000);
        bench.send(now, 0, 1500);
        if k.is_multiple_of(30) {
            bench.send(now, 1, 1500);
        }
    }
    bench.finish();
    let sent = |flow: u32| bench.order.iter().filter(|&&seq| bench.flow(seq) == flow).count();
    assert_eq!(sent(1), 200, "a flow that sends less than its share loses no packet");
    assert!(sent(0) > 1700);
}

/// The queues of classes below a scheduler mark packets according to the packets' ECN field. The
/// bench checks that packets that are not ECN-capable are not marked.
#[test]
fn leaves_below_schedulers_mark() {
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
