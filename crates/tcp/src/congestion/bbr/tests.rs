//! Tests of BBR that versions 1 and 3 share.

use super::*;
use crate::congestion::control::CongestionControl;
use crate::congestion::harness::{Path, Sim, ack_at, window};

/// Run BBR over a path of 2 MB/s and 50 ms, whose bandwidth-delay product is 100 packets.
pub fn sim<C: CongestionControl>(bbr: C, buffer: usize) -> Sim<C> {
    Sim::new(bbr, Path { buffer, ..Path::new(16_000_000, 50) }, 10.0, f64::INFINITY)
}

/// Return the states of BBR until the time `end`, in order.
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

/// Assert that BBR's model has the bandwidth and the minimum round-trip time of the path.
///
/// `model` returns the bandwidth and the minimum round-trip time that BBR estimates. The bandwidth
/// must be the rate of the bottleneck, and the minimum round-trip time must be the round-trip time
/// without a queue. Packets must not be lost, and the link must have at least the given
/// utilization.
pub fn assert_model_matches_path<C: CongestionControl>(
    bbr: C,
    utilization: f64,
    model: impl Fn(&C) -> (f64, Duration),
) {
    let mut sim = sim(bbr, 1000);
    sim.run(3.0, |_| {});
    let before = sim.delivered;
    sim.run(9.0, |_| {});
    let (bandwidth, rtt) = model(&sim.controller);
    assert!((bandwidth / 2e6 - 1.0).abs() < 0.01, "{bandwidth}");
    assert!((rtt.seconds() / 0.0505 - 1.0).abs() < 0.01, "{rtt:?}");
    assert!((sim.delivered - before) as f64 > utilization * 2e6 * 6.0);
    assert!(sim.events.is_empty());
}

/// First ProbeRTT of a run.
pub struct Probe {
    /// Start in seconds.
    pub start: f64,
    /// Duration in seconds.
    pub duration: f64,
    /// Minimum value of cwnd during ProbeRTT, in segments.
    pub min_cwnd: f64,
    /// cwnd after ProbeRTT, in segments.
    pub cwnd_after: f64,
}

/// Run BBR until the time `end`, and return its first ProbeRTT.
pub fn first_probe_rtt<C: CongestionControl>(bbr: C, end: f64, in_probe_rtt: impl Fn(&C) -> bool) -> Probe {
    let mut sim = sim(bbr, 1000);
    let (mut start, mut end_of_probe, mut min_cwnd) = (None, None, f64::INFINITY);
    sim.run(end, |sim| {
        if in_probe_rtt(&sim.controller) {
            start.get_or_insert(sim.now.seconds());
            if end_of_probe.is_none() {
                min_cwnd = min_cwnd.min(sim.segments());
            }
        } else if start.is_some() {
            end_of_probe.get_or_insert((sim.now.seconds(), sim.segments()));
        }
    });
    let (start, (end_of_probe, cwnd_after)) = (start.unwrap(), end_of_probe.unwrap());
    Probe { start, duration: end_of_probe - start, min_cwnd, cwnd_after }
}

/// Return the state of BBR after its first ACK, which arrives at 20 s. A late first ACK must not
/// cause the minimum round-trip time to expire.
pub fn after_first_ack_at_20_s<C: CongestionControl>(mut bbr: C) -> C {
    bbr.observe(&window(10.0, 1e9, 9.0), &ack_at(20.0, 0.05, 1.0));
    bbr
}

#[test]
fn three_rounds_without_growth_show_a_full_pipe() {
    let mut full = FullPipe::default();
    for (rate, now) in [(1.0, false), (2.0, false), (2.4, false), (2.49, false), (2.4, true)] {
        full.check(rate);
        assert_eq!(full.full_bw_now, now, "{rate}");
    }
    full.reset(0.0);
    assert!(full.reached && !full.full_bw_now);
}
