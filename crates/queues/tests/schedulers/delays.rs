//! Tests of delays against the bounds that papers prove.

use engine::Stream;
use serde_json::{Value, json};
use units::{Duration, Time};

use super::RATE;
use super::bench::{Bench, ms, stream};
use super::rates::{scheduler, shares};

/// Return random packets of `classes` classes. Each packet is a tuple of arrival time, class and
/// size.
fn packets(seed: u64, classes: u64, n: usize) -> Vec<(Time, u32, u16)> {
    let mut r = Stream::new(seed, "packets");
    let mut now = Time::ZERO;
    let mut burst = (0, 0);
    let next = |_| {
        if burst.1 == 0 {
            burst = (r.below(classes) as u32, 1 + r.below(40));
            now += Duration(r.below(40_000_000_000));
        }
        burst.1 -= 1;
        now += Duration(r.below(600_000_000));
        (now, burst.0, [64, 576, 1500][r.below(3) as usize])
    };
    (0..n).map(next).collect()
}

/// Return the time at which the transmission of each packet ended.
fn finishes(queue: &Value, packets: &[(Time, u32, u16)]) -> Vec<Time> {
    let mut bench = Bench::new(queue, RATE, stream(1));
    packets.iter().for_each(|&(now, class, size)| bench.send(now, class, size));
    bench.finish();
    bench.outcomes().iter().map(|o| o.done).collect()
}

/// Return the time in seconds at which the fluid system of Parekh & Gallager finishes each packet.
/// The fluid system serves all classes with packets at the same time, in proportion to their
/// weights.
fn fluid(packets: &[(Time, u32, u16)], weights: &[f64]) -> Vec<f64> {
    let mut done = vec![f64::NAN; packets.len()];
    let mut queues: Vec<std::collections::VecDeque<(usize, f64)>> = vec![Default::default(); weights.len()];
    let (mut now, mut next) = (0.0, 0);
    loop {
        let busy: f64 = (0..weights.len()).filter(|&c| !queues[c].is_empty()).map(|c| weights[c]).sum();
        let rate = |c: usize| RATE.0 as f64 / 8.0 * weights[c] / busy;
        let first = (0..weights.len()).filter_map(|c| Some((c, now + queues[c].front()?.1 / rate(c))));
        let first = first.min_by(|a, b| a.1.total_cmp(&b.1));
        let arrival = packets.get(next).map(|p| p.0.seconds());
        let until = match (first, arrival) {
            (None, None) => return done,
            (Some((_, end)), Some(arrival)) => end.min(arrival),
            (Some((_, end)), None) => end,
            (None, Some(arrival)) => arrival,
        };
        for (c, queue) in queues.iter_mut().enumerate() {
            if let Some(front) = queue.front_mut() {
                front.1 -= rate(c) * (until - now);
            }
        }
        now = until;
        if let Some((c, end)) = first
            && end <= until
        {
            done[queues[c].pop_front().unwrap().0] = end;
        } else {
            let (_, class, size) = packets[next];
            queues[class as usize].push_back((next, f64::from(size)));
            next += 1;
        }
    }
}

/// Parekh & Gallager 1993, theorem 1: WFQ finishes each packet at most one transmission time of a
/// packet of maximum size later than the fluid system.
#[test]
fn wfq_is_at_most_a_packet_behind_the_fluid_system() {
    let weights = [1.0, 3.0, 0.5, 7.0];
    let largest = RATE.transmission_time(units::Bytes(1500)).seconds();
    let mut latest = f64::MIN;
    for seed in 0..10 {
        let packets = packets(seed, 4, 3000);
        let sent = finishes(&scheduler("wfq", &weights.map(|weight| json!({"weight": weight}))), &packets);
        for (sent, fluid) in sent.iter().zip(fluid(&packets, &weights)) {
            let late = sent.seconds() - fluid;
            assert!(late <= largest + 1e-9, "{late} s late, seed {seed}");
            latest = latest.max(late);
        }
    }
    assert!(latest > 0.5 * largest, "at most {latest} s late");
}

/// Return the maximum lateness of each class in seconds. The lateness of a packet is its finish
/// time minus P, the finish time at a server that serves only this class, at the rate of the class:
/// P = max(arrival, P of the previous packet) + L / rate.
fn latenesses(queue: &Value, shares: &[f64]) -> Vec<f64> {
    let mut late = vec![f64::MIN; shares.len()];
    for seed in 0..10 {
        let packets = packets(seed, shares.len() as u64, 3000);
        let sent = finishes(queue, &packets);
        let mut alone = vec![0.0_f64; shares.len()];
        for (&(came, class, size), sent) in packets.iter().zip(&sent) {
            let class = class as usize;
            alone[class] = alone[class].max(came.seconds()) + 8.0 * f64::from(size) / shares[class];
            late[class] = late[class].max(sent.seconds() - alone[class]);
        }
    }
    late
}

/// Stiliadis & Varma 1998, table I: the maximum lateness of a class with the rate ρ, relative to a
/// server of its own, is the latency θ. For DRR θ is (3F - 2φ)/r, where F is the sum of all quanta
/// φ. For SCFQ with V classes θ is L/ρ + (V - 1) L/r (Golestani 1994). For PGPS θ is L/ρ + L/r.
#[test]
fn every_class_is_within_its_latency() {
    let rate = RATE.0 as f64;
    let weights = [1.0, 2.0, 1.5, 4.0];
    let shares = shares(&weights);
    let packet = 8.0 * 1500.0;
    let drr = weights.map(|w| json!({"quantum": format!("{} B", 1500.0 * w)}));
    let fair = weights.map(|weight| json!({"weight": weight}));
    let quantum = |i: usize| 8.0 * 1500.0 * weights[i];
    let frame: f64 = (0..4).map(quantum).sum();
    type Latency<'a> = &'a dyn Fn(usize) -> f64;
    let cases: [(&str, &[Value], Latency); 3] = [
        ("drr", &drr, &|i| (3.0 * frame - 2.0 * quantum(i)) / rate),
        ("scfq", &fair, &|i| packet / shares[i] + 3.0 * packet / rate),
        ("wfq", &fair, &|i| packet / shares[i] + packet / rate),
    ];
    for (kind, classes, latency) in cases {
        let late = latenesses(&scheduler(kind, classes), &shares);
        for (i, late) in late.iter().enumerate() {
            assert!(*late <= latency(i) + 1e-9, "{kind}: class {i} {late} s, not {}", latency(i));
        }
        assert!(late.iter().any(|late| *late > 0.0), "{kind}: {late:?}");
    }
}

/// A packet leaves a token bucket at the first picosecond at which its tokens have arrived. The
/// test computes the expected time with integer fractions.
#[test]
fn tbf_sends_at_the_first_picosecond_with_enough_tokens() {
    let queue = json!({"kind": "tbf", "rate": "1234567 bit/s", "burst": "4 kB", "peak_rate": "3 Mbit/s",
                       "queue": {"kind": "drop_tail", "limit": "100000 packets"}});
    let packets = packets(3, 1, 3000);
    let sent = finishes(&queue, &packets);
    // The tokens of the two buckets are in units of 10^-12 bit.
    let mut buckets = [(1_234_567_i128, 4000_i128), (3_000_000, 1500)]
        .map(|(r, b)| (r, b * 8_000_000_000_000, b * 8_000_000_000_000));
    let (mut at, mut free) = (0_i128, 0_i128);
    for (&(came, _, size), sent) in packets.iter().zip(&sent) {
        let price = i128::from(size) * 8_000_000_000_000;
        let mut begins = free.max(i128::from(came.0));
        for (rate, depth, level) in buckets {
            let now = (level + rate * (begins - at)).min(depth);
            if now < price {
                begins += (price - now + rate - 1) / rate;
            }
        }
        for (rate, depth, level) in &mut buckets {
            *level = (*level + *rate * (begins - at)).min(*depth) - price;
            assert!(*level >= 0);
        }
        at = begins;
        free = begins + i128::from(RATE.transmission_time(units::Bytes(size.into())).0);
        assert!(free.abs_diff(i128::from(sent.0)) <= 1, "{free} {sent:?}");
        free = i128::from(sent.0);
    }
    let gone = finishes(
        &json!({"kind": "tbf", "rate": "1 Mbit/s", "burst": "1000 B"}),
        &[(ms(1), 0, 1000), (ms(1), 0, 1001)],
    );
    assert!(gone[0] > ms(1) && gone[1] == ms(1), "a packet larger than the burst is dropped");
}
