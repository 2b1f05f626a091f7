//! Tests of CBQ against the guarantees of Floyd & Van Jacobson 1995.

use engine::Stream;
use serde_json::json;

use super::RATE;
use super::rates::{assert_rates, rates, scheduler};

/// Floyd & Van Jacobson: on a link of 10 Mbit/s, a bounded class with a rate of 1.5 Mbit/s gets
/// only 1.5 Mbit/s. A class that may borrow gets the remaining bandwidth.
#[test]
fn cbq_limits_a_bounded_class_to_its_rate() {
    let classes = |borrow: &str| {
        let mut queue = scheduler(
            "cbq",
            &[
                json!({"rate": "1.5 Mbit/s", "parent": "link", "borrow": borrow}),
                json!({"rate": "1 Mbit/s", "parent": "link"}),
            ],
        );
        queue["classes"].as_array_mut().unwrap().insert(0, json!({"name": "link", "rate": "10 Mbit/s"}));
        queue
    };
    assert_rates(&rates(&classes("bounded"), &[&[1000]]), &[1.5e6]);
    assert_rates(&rates(&classes("bounded"), &[&[1500, 40]]), &[1.5e6]);
    assert_rates(&rates(&classes("ancestors"), &[&[1000]]), &[1e7]);
    // The second class borrows the bandwidth that the bounded class may not use. While the bounded
    // class waits for packets of other classes, its avgidle rises. The bounded class then sends two
    // packets back to back. If the second packet is by a time t too early, the class later waits
    // only for the time 15/16 t with ewma = 4, or for the time 255/256 t with ewma = 8.
    let mut queue = classes("bounded");
    let measured = rates(&queue, &[&[1000], &[1000]]);
    let most = 1.5e6 / (1.0 - 0.85 / 32.0) + 2.0 * 8000.0; // see the last test
    assert!((1.5e6 * 1.02..most).contains(&measured[0]), "{measured:?}");
    assert!((measured[0] + measured[1] - 1e7).abs() < 1e4, "{measured:?}");
    queue["ewma"] = 8.into();
    assert_rates(&rates(&queue, &[&[1000], &[1000]]), &[1.5e6, 8.5e6]);
}

/// Link sharing between two agencies A and B: both get their shares while both have traffic, and
/// bandwidth that a class leaves unused goes to its own agency.
#[test]
fn cbq_shares_a_link_among_agencies() {
    let class = |parent: &str, rate: &str, flow: Option<u32>| {
        let mut class = json!({"parent": parent, "rate": rate, "queue": {"kind": "drop_tail", "limit": "1000000 packets"}});
        if let Some(flow) = flow {
            class["match"] = json!({"flows": format!("f{flow}")});
        }
        class
    };
    let agency = |name: &str, rate: &str, lend: &str| json!({"name": name, "parent": "link", "rate": rate, "lend": lend});
    let queue = |lend: &str| {
        json!({"kind": "cbq", "classes": [
            {"name": "link", "rate": "10 Mbit/s"}, agency("A", "6 Mbit/s", lend), agency("B", "4 Mbit/s", "others"),
            class("A", "4 Mbit/s", Some(0)), class("A", "2 Mbit/s", Some(1)), class("B", "3 Mbit/s", Some(2)), class("B", "1 Mbit/s", None),
        ]})
    };
    let all: [&[u16]; 4] = [&[1000]; 4];
    assert_rates(&rates(&queue("others"), &all), &[4e6, 2e6, 3e6, 1e6]);
    // The first class of agency A gets the bandwidth that the second class of A leaves unused. Each
    // measured rate differs from the expected rate by at most 3 %, which is also the tolerance for
    // bounded classes.
    let none: &[u16] = &[];
    let near = |measured: &[f64], promised: &[f64]| {
        let fits = measured.iter().zip(promised).all(|(m, p)| (m - p).abs() <= 0.03 * p);
        assert!(fits, "{measured:?}, not {promised:?}");
    };
    let measured = rates(&queue("others"), &[&[1000], none, &[1000], &[1000]]);
    near(&measured, &[6e6, 0.0, 3e6, 1e6]);
    assert!(
        measured[2] >= 0.99 * 3e6 && measured[3] >= 0.99 * 1e6,
        "agency B gets less than its guaranteed rates: {measured:?}"
    );
    // If agency A is not isolated, agency B may use the bandwidth that A leaves unused.
    let b = |lend: &str| rates(&queue(lend), &[none, none, &[1000], &[1000]])[2..].iter().sum::<f64>();
    assert_rates(&[b("others")], &[1e7]);
    near(&[b("isolated")], &[4e6]);
}

/// Class that competes with other classes for the link.
struct Contender {
    promised: f64,
    measured: f64,
    bounded: bool,
    sizes: &'static [u16],
}

/// Measure the rates of random classes. Their allotted rates add up to the rate of the link, and
/// each class has enough traffic to use its rate.
fn contest(seed: u64, ewma: u64, burst: u64) -> Vec<Contender> {
    let mut r = Stream::new(seed, "contest");
    let mut left = 100;
    let (mut all, mut classes) = (Vec::new(), Vec::new());
    while left > 0 {
        let share = if left < 30 || all.len() == 4 { left } else { 10 + r.below(left - 20) };
        left -= share;
        let promised = share as f64 * RATE.0 as f64 / 100.0;
        let bounded = r.below(2) == 0;
        let borrow = if bounded { "bounded" } else { "ancestors" };
        let sizes: &[u16] = [&[1000_u16] as &[u16], &[1500], &[1500, 40], &[300]][r.below(4) as usize];
        let priority = r.below(3);
        classes.push(json!({"rate": format!("{promised} bit/s"), "parent": "link", "priority": priority, "borrow": borrow, "max_burst": burst}));
        all.push(Contender { promised, measured: 0.0, bounded, sizes });
    }
    let mut queue = scheduler("cbq", &classes);
    queue["classes"].as_array_mut().unwrap().insert(0, json!({"name": "link", "rate": "10 Mbit/s"}));
    queue["ewma"] = ewma.into();
    let sizes: Vec<&[u16]> = all.iter().map(|c| c.sizes).collect();
    for (c, measured) in all.iter_mut().zip(rates(&queue, &sizes)) {
        c.measured = measured;
    }
    all
}

/// At each packet the estimator forgets the share w = 2^-ewma of avgidle. A class may send while
/// avgidle is above zero. Let T be the time that a packet takes at the rate of the class, and let p
/// be the class's share of the link. A class sends a packet too early by at most (1 - p) T. The
/// class then waits until avgidle is zero. If the packet was by a time t too early, the class waits
/// only for the time (1 - w) t. The average time per packet of the class is therefore at least T -
/// w (1 - p) T / 2. If small packets follow large packets, the average time per packet of the class
/// is at least T - w (1 - p) T. If some classes get more bandwidth than their rates, other classes
/// get less, first the classes with the lowest priority. The excess is more than 1 % with ns-2's w
/// = 1/16, and at most 1 % with w = 1/256.
#[test]
fn cbq_classes_exceed_their_rates_by_what_the_average_forgets() {
    let packet = 8.0 * 1500.0; // a packet may fall on either side of the measured second
    let (mut most, mut least) = (0.0_f64, 1.0_f64);
    for (seed, ewma) in (0..60).flat_map(|seed| [4, 6, 8].map(|ewma| (seed, ewma))) {
        // A class that sent less than its rate before the measurement may send a burst during the
        // measurement. Therefore max_burst is at most one packet in this test.
        for Contender { promised, measured, bounded, sizes } in contest(seed, ewma, 1) {
            let share = promised / RATE.0 as f64;
            let forgotten = (1.0 - share) / (1 << ewma) as f64 / if sizes.len() > 1 { 1.0 } else { 2.0 };
            let within = measured <= promised / (1.0 - forgotten) + 2.0 * packet;
            assert!(!bounded || within, "{measured} instead of {promised}, seed {seed}, ewma {ewma}");
            if ewma == 4 {
                most = most.max((measured - 2.0 * packet) / promised);
            }
        }
        for Contender { promised, measured, .. } in contest(seed, ewma, 16) {
            let within = measured >= 0.99 * promised - packet;
            assert!(ewma < 8 || within, "{measured} instead of {promised}, seed {seed}, ewma {ewma}");
            if ewma == 4 {
                least = least.min((measured + packet) / promised);
            }
        }
    }
    assert!(most > 1.01 && least < 0.98, "{least} {most}");
}
