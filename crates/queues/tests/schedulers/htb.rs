//! HTB, held to the worked examples of its guide.

use serde_json::{Value, json};
use units::{Duration, Time};

use super::RATE;
use super::bench::{Bench, stream};

/// Rates in kB/s that three classes get in the phases of the guide's graphs, each of which sends 90 kB/s while it sends.
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
    // 500 B of each class every 1/180 s, for 12 s a phase.
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

/// Devera 2002, user guide §2: 30, 10 and 60 kB/s of 100 under one class; what one leaves is shared as the rates are:
/// 1:6 at time 3, 3:1 at time 15; the last gets all that it asks for.
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

/// §3: with A a class of its own (40 kB/s) what A's WWW leaves goes to A's other.
#[test]
fn htb_keeps_within_a_customer_what_is_his() {
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

/// §4: a ceil of 60 kB/s for A and of 20 for A's other: at time 3 A gets 20 in all and B 80; at time 15 A gets 60 and
/// the rest is not used.
#[test]
fn htb_keeps_to_the_ceils() {
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

/// §6: the class of the highest priority is offered what can be borrowed first, and rates are still met.
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
