//! What both versions are asked.

use super::*;
use crate::congestion::control::CongestionControl;
use crate::congestion::harness::{Path, Sim, ack_at, window};

/// 2 MB/s, 50 ms: 100 packets.
pub fn sim<C: CongestionControl>(bbr: C, buffer: usize) -> Sim<C> {
    Sim::new(bbr, Path { buffer, ..Path::new(16_000_000, 50) }, 10.0, f64::INFINITY)
}

/// The states until `end`, in order.
pub fn states<C: CongestionControl, S: PartialEq>(
    sim: &mut Sim<C>,
    end: f64,
    state: impl Fn(&C) -> S,
) -> Vec<S> {
    let mut states = vec![state(&sim.controller)];
    sim.run(end, |sim| {
        let now = state(&sim.controller);
        if states.last() != Some(&now) {
            states.push(now);
        }
    });
    states
}

/// The bandwidth is the rate of the bottleneck, the least round trip that without a queue; nothing is lost, and of the
/// link at least `share` used. `model`: both.
pub fn the_model_is_the_path<C: CongestionControl>(
    bbr: C,
    share: f64,
    model: impl Fn(&C) -> (f64, Duration),
) {
    let mut sim = sim(bbr, 1000);
    sim.run(3.0, |_| {});
    let before = sim.delivered;
    sim.run(9.0, |_| {});
    let (bandwidth, rtt) = model(&sim.controller);
    assert!((bandwidth / 2e6 - 1.0).abs() < 0.01, "{bandwidth}");
    assert!((rtt.seconds() / 0.0505 - 1.0).abs() < 0.01, "{rtt:?}");
    assert!((sim.delivered - before) as f64 > share * 2e6 * 6.0);
    assert!(sim.events.is_empty());
}

/// The first ProbeRTT until `end`.
pub struct Probe {
    /// When it begins, and for how long it lasts, in seconds.
    pub began: f64,
    pub lasted: f64,
    /// The least window in it, and that after it, in segments.
    pub least: f64,
    pub after: f64,
}

pub fn first_probe_rtt<C: CongestionControl>(bbr: C, end: f64, probes: impl Fn(&C) -> bool) -> Probe {
    let mut sim = sim(bbr, 1000);
    let (mut began, mut left, mut least) = (None, None, f64::INFINITY);
    sim.run(end, |sim| {
        if probes(&sim.controller) {
            began.get_or_insert(sim.now.seconds());
            if left.is_none() {
                least = least.min(sim.segments());
            }
        } else if began.is_some() {
            left.get_or_insert((sim.now.seconds(), sim.segments()));
        }
    });
    let (began, (left, after)) = (began.unwrap(), left.unwrap());
    Probe { began, lasted: left - began, least, after }
}

/// The stamps of the least round trips begin with the connection, whenever that is: the first ACK at 20 s ends nothing.
pub fn begin_late<C: CongestionControl>(mut bbr: C) -> C {
    bbr.observe(&window(10.0, 1e9, 9.0), &ack_at(20.0, 0.05, 1.0));
    bbr
}

#[test]
fn three_rounds_without_growth_are_a_full_pipe() {
    let mut full = FullPipe::default();
    for (rate, now) in [(1.0, false), (2.0, false), (2.4, false), (2.49, false), (2.4, true)] {
        full.check(rate);
        assert_eq!(full.now, now, "{rate}");
    }
    full.reset(0.0);
    assert!(full.reached && !full.now);
}
