//! Tests of HTB against the examples of its user guide.

use serde_json::{Value, json};
use units::{Duration, Time};

use super::RATE;
use super::bench::{Bench, stream};

/// Return the rates in kB/s of three classes in each phase of the guide's graphs. In each phase,
/// some classes are active and request 90 kB/s each.
fn phases(classes: &Value) -> Vec<[f64; 3]> {
    let queue = json!({"kind": "htb", "classes": classes});
    let on: [[bool; 3]; 7] = [
        [true; 3],
        [false, true, true],
        [true; 3],
        [true, false, true],
        [true; 3],
        [true, true, false],
        [true, false, false],
    ];
    let mut bench = Bench::new(&queue, RATE, stream(1));
    let mut sent = Vec::new();
    // Each active class gets a packet of 500 B every 1/180 s. A phase is 12 s long.
    for (phase, on) in on.iter().enumerate() {
        for k in 0..12 * 180_u64 {
            let now = Time((phase as u64 * 12 * 180 + k) * 1_000_000_000_000 / 180);
            for class in (0..3).filter(|&class| on[class]) {
                bench.send(now + Duration(1 + class as u64), class as u32, 500);
            }
        }
        let end = Time(((phase as u64 + 1) * 12) * 1_000_000_000_000);
        bench.advance(end);
        let mut rates = [0.0; 3];
        for &seq in bench
            .order
            .iter()
            .filter(|&&seq| bench.outcomes()[seq as usize].done.seconds() > end.seconds() - 10.0)
        {
            rates[bench.flow(seq) as usize] += 0.5 / 10.0;
        }
        sent.push(rates);
    }
    sent
}

fn assert_phases(classes: &Value, promised: [[f64; 3]; 7]) {
    for (phase, (measured, promised)) in phases(classes).iter().zip(promised).enumerate() {
        for (m, p) in measured.iter().zip(promised) {
            assert!((m - p).abs() <= 0.01 * p + 0.05, "phase {phase}: {measured:?}, not {promised:?}");
        }
    }
}

fn guide(a: Value, www: Value, other: Value, b: Value) -> Value {
    let class = |more: Value, own: Value| {
        let mut class = own;
        class.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
        class
    };
    let pfifo = json!({"kind": "drop_tail", "limit": "5 packets"});
    let mut classes = vec![json!({"name": "link", "rate": "800 kbit/s", "ceil": "800 kbit/s"})];
    if !a.is_null() {
        classes.push(class(a, json!({"name": "A", "parent": "link", "rate": "320 kbit/s"})));
    }
    let parent = classes.last().unwrap()["name"].clone();
    classes.push(class(
        www,
        json!({"parent": parent, "match": {"flows": "f0"}, "rate": "240 kbit/s", "queue": pfifo}),
    ));
    classes.push(class(
        other,
        json!({"parent": parent, "match": {"flows": "f1"}, "rate": "80 kbit/s", "queue": pfifo}),
    ));
    classes.push(class(b, json!({"parent": "link", "rate": "480 kbit/s", "queue": pfifo})));
    classes.into()
}

const CEIL: &str = "800 kbit/s";

/// Devera 2002, user guide §2: three classes have rates of 30, 10 and 60 kB/s below one class of
/// 100 kB/s. The active classes share unused bandwidth in proportion to their rates: in the ratio
/// 1:6 at time 3, and in the ratio 3:1 at time 15. A class that is active alone gets all bandwidth
/// that it requests.
#[test]
fn htb_shares_a_link_as_in_the_guide() {
    let ceil = || json!({"ceil": CEIL});
    assert_phases(
        &guide(Value::Null, ceil(), ceil(), ceil()),
        [
            [30.0, 10.0, 60.0],
            [0.0, 10.0 + 30.0 / 7.0, 60.0 + 180.0 / 7.0],
            [30.0, 10.0, 60.0],
            [30.0 + 10.0 / 3.0, 0.0, 60.0 + 20.0 / 3.0],
            [30.0, 10.0, 60.0],
            [75.0, 25.0, 0.0],
            [90.0, 0.0, 0.0],
        ],
    );
}

/// §3 of the user guide: customer A has a class of its own (40 kB/s), with two classes below it. If
/// A's class for WWW is not active, its bandwidth goes to A's other class.
#[test]
fn htb_lends_unused_bandwidth_within_a_customer_first() {
    let ceil = || json!({"ceil": CEIL});
    assert_phases(
        &guide(ceil(), ceil(), ceil(), ceil()),
        [
            [30.0, 10.0, 60.0],
            [0.0, 40.0, 60.0],
            [30.0, 10.0, 60.0],
            [40.0, 0.0, 60.0],
            [30.0, 10.0, 60.0],
            [75.0, 25.0, 0.0],
            [90.0, 0.0, 0.0],
        ],
    );
}

/// §4 of the user guide: the ceil of customer A is 60 kB/s, and that of A's other class is 20 kB/s.
/// At time 3 customer A gets 20 kB/s in total, and customer B gets 80 kB/s. At time 15 customer A
/// gets 60 kB/s, and the remaining bandwidth is unused.
#[test]
fn htb_respects_the_ceils() {
    let ceil = |kbit: u64| json!({"ceil": format!("{kbit} kbit/s")});
    assert_phases(
        &guide(ceil(480), ceil(800), ceil(160), ceil(800)),
        [
            [30.0, 10.0, 60.0],
            [0.0, 20.0, 80.0],
            [30.0, 10.0, 60.0],
            [40.0, 0.0, 60.0],
            [30.0, 10.0, 60.0],
            [45.0, 15.0, 0.0],
            [60.0, 0.0, 0.0],
        ],
    );
}

/// §6 of the user guide: the class with the highest priority may borrow bandwidth first, and every
/// class still gets its guaranteed rate.
#[test]
fn htb_lends_to_the_highest_priority_first() {
    let class = |prio: u64| json!({"ceil": CEIL, "prio": prio});
    assert_phases(
        &guide(json!({"ceil": CEIL}), class(1), class(0), class(1)),
        [
            [30.0, 10.0, 60.0],
            [0.0, 40.0, 60.0],
            [30.0, 10.0, 60.0],
            [40.0, 0.0, 60.0],
            [30.0, 10.0, 60.0],
            [30.0, 70.0, 0.0],
            [90.0, 0.0, 0.0],
        ],
    );
}

/// For each period, let packets of 500 B of each active flow arrive, at 90 kB/s per flow.
fn send(bench: &mut Bench, stretches: &[(f64, [bool; 3])]) {
    let (mut k, mut end) = (0_u64, 0.0);
    for &(lasts, on) in stretches {
        end += lasts;
        while (k as f64) < end * 180.0 {
            let now = Time(k * 1_000_000_000_000 / 180);
            (0..3).filter(|&f| on[f]).for_each(|f| bench.send(now + Duration(1 + f as u64), f as u32, 500));
            k += 1;
        }
    }
    bench.finish();
}

/// Return the rates in kB/s at which the three flows are sent between two times in seconds.
fn between(bench: &Bench, from: f64, to: f64) -> [f64; 3] {
    let mut rates = [0.0; 3];
    for &seq in &bench.order {
        if (from..to).contains(&bench.outcomes()[seq as usize].done.seconds()) {
            rates[bench.flow(seq) as usize] += 0.5 / (to - from);
        }
    }
    rates
}

/// §5 of the user guide: customer A and its classes have a burst of 20 kB. When A's other class
/// becomes active again, this class sends at its ceil of 20 kB/s until its burst is used up, which
/// takes 20 kB / (20 - 10) kB/s = 2 s. The class of the link has a smaller burst than 20 kB, so the
/// class of the link has a debt of 20 kB at the end of the 2 s. HTB remembers the debt for up to a
/// minute. When WWW stops, customer B cannot borrow until the class of the link has paid its debt,
/// for 20 kB / (100 - 70) kB/s = 0.67 s (the crater in the guide).
#[test]
fn htb_bursts_after_idle_time_and_pays_back_as_in_the_guide() {
    let ceil = |kbit: u64| json!({"ceil": format!("{kbit} kbit/s")});
    let burst = |kbit: u64| json!({"ceil": format!("{kbit} kbit/s"), "burst": "20 kB"});
    let near = |measured: [f64; 3], promised: [f64; 3]| {
        let fits = measured.iter().zip(promised).all(|(m, p)| (m - p).abs() <= 0.02 * p + 0.5);
        assert!(fits, "{measured:?}, not {promised:?}");
    };
    let run = |classes: Value| {
        let mut bench = Bench::new(&json!({"kind": "htb", "classes": classes}), RATE, stream(1));
        // At first customer B sends no packets, so that the debt of the initial bursts is paid.
        let (all, no_b, no_other) = ([true; 3], [true, true, false], [true, false, true]);
        let stretches =
            [(10.0, no_b), (10.0, all), (20.0, no_other), (20.0, all), (5.0, [false, true, true])];
        send(&mut bench, &stretches);
        bench
    };
    let plain = run(guide(ceil(480), ceil(800), ceil(160), ceil(800)));
    near(between(&plain, 35.0, 40.0), [40.0, 0.0, 60.0]);
    near(between(&plain, 40.1, 42.0), [30.0, 10.0, 60.0]);
    near(between(&plain, 60.2, 60.6), [0.0, 20.0, 80.0]);
    let bursty = run(guide(burst(480), burst(800), burst(160), ceil(800)));
    near(between(&bursty, 35.0, 40.0), [40.0, 0.0, 60.0]);
    near(between(&bursty, 40.0, 42.0), [30.0, 20.0, 60.0]);
    near(between(&bursty, 42.1, 60.0), [30.0, 10.0, 60.0]);
    near(between(&bursty, 60.2, 60.6), [0.0, 10.0, 60.0]);
    near(between(&bursty, 61.0, 65.0), [0.0, 20.0, 80.0]);
}

/// §6 of the user guide, the second aspect of priority: two classes have a rate of 50 kB/s and a
/// ceil of 100 kB/s each. The parent of the two classes has a rate of 90 kB/s, which limits the
/// link. If each class sends 50 kB/s, prio 0 reduces the delay of its class nearly to zero, and the
/// delay of the other class grows. If the first class sends 60 kB/s and the second class sends 40
/// kB/s, the second class gets all of its 40 kB/s. The packets by which the first class exceeds its
/// rate have to wait for packets of the second class.
#[test]
fn htb_priority_shortens_delays_as_in_the_guide() {
    let run = |prio: u64, rates: [u64; 2]| {
        let leaf = |flow: Option<&str>, prio: u64| {
            let mut class = json!({"parent": "inner", "rate": "400 kbit/s", "ceil": "800 kbit/s", "prio": prio,
                                   "queue": {"kind": "drop_tail", "limit": "2 packets"}});
            if let Some(flow) = flow {
                class["match"] = json!({"flows": flow});
            }
            class
        };
        let inner = json!({"kind": "htb", "classes": [
            {"name": "inner", "rate": "800 kbit/s"}, leaf(Some("f0"), prio), leaf(None, 1),
        ]});
        let outer = json!({"kind": "htb", "classes": [{"rate": "720 kbit/s", "queue": inner}]});
        let mut bench = Bench::new(&outer, RATE, stream(1));
        // The packets of 500 B are evenly spaced, and packets of the two classes never arrive at
        // the same time.
        let mut packets: Vec<(u64, u32)> = (0..2_u32)
            .flat_map(|f| {
                let n = 2 * rates[f as usize];
                (0..20 * n).map(move |k| ((1000 * k + 377 * u64::from(f)) * 1_000_000_000 / n, f))
            })
            .collect();
        packets.sort_unstable();
        packets.iter().for_each(|&(now, flow)| bench.send(Time(now), flow, 500));
        bench.finish();
        let delay = |flow: u32| {
            let sent = bench.order.iter().filter(|&&seq| bench.flow(seq) == flow);
            let delays: Vec<f64> = sent
                .map(|&seq| bench.outcomes()[seq as usize])
                .map(|o| o.done.since(o.came).seconds())
                .collect();
            delays.iter().sum::<f64>() / delays.len() as f64
        };
        ([delay(0), delay(1)], between(&bench, 5.0, 15.0))
    };
    let (equal, _) = run(1, [50, 50]);
    let (first, _) = run(0, [50, 50]);
    let packet = 500.0 / 90e3;
    assert!(first[0] < packet && first[0] < equal[0] / 2.0 && first[1] > equal[1], "{equal:?} {first:?}");
    let (over, rates) = run(0, [60, 40]);
    assert!((rates[0] - 50.0).abs() < 0.5 && (rates[1] - 40.0).abs() < 0.5, "{rates:?}");
    assert!(over[0] > over[1] && over[0] > 2.0 * first[0], "{over:?}");
}
