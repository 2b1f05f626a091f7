use super::*;
use crate::congestion::bbr::tests::{self, after_first_ack_at_20_s, first_probe_rtt};
use crate::congestion::harness::{MSS, Path, Sim, window};
use units::param::defaults;

fn bbr() -> BbrState {
    BbrState::new(&defaults(), &window(14.6, f64::INFINITY, 0.0))
}

fn sim(buffer: usize) -> Sim<BbrState> {
    tests::sim(bbr(), buffer)
}

#[test]
fn states_are_startup_drain_and_probe_bw_in_this_order() {
    let mut sim = sim(1000);
    let mut modes = vec![Mode::Startup];
    let mut queue_at_end_of_startup = 0;
    sim.run(3.0, |sim| {
        let mode = sim.controller.mode;
        if modes.last() != Some(&mode) {
            modes.push(mode);
            if mode == Mode::Drain {
                queue_at_end_of_startup = sim.flight();
            }
        }
    });
    assert_eq!(modes, [Mode::Startup, Mode::Drain, Mode::ProbeBw]);
    // At most high_gain times the bandwidth-delay product and three send quanta are in flight.
    assert!((150..310).contains(&queue_at_end_of_startup), "{queue_at_end_of_startup}");
}

#[test]
fn model_matches_the_path() {
    tests::assert_model_matches_path(bbr(), 0.98, |bbr| (bbr.btl_bw(), bbr.rtprop));
}

/// Linux (bbr_packets_in_net_at_edt) computes the data that will be in flight at the next
/// departure. The departing segments count as in flight if the gain is above one. Data that is
/// delivered before the next segments depart does not count as in flight.
#[test]
fn phase_ends_by_the_data_in_flight_at_the_next_departure() {
    let mut sim = sim(1000);
    sim.run(3.0, |_| {});
    let mut bbr = sim.controller;
    let w = crate::congestion::harness::window(100.0, 100.0, 50.0);
    let ack = Ack { pacing_delay: Duration::from_millis(1), ..crate::congestion::harness::ack(2.0) };
    assert_eq!(bbr.in_flight_for_phase(&w, &ack), 52.0 * MSS);
    bbr.params.phase_ends = PhaseEnds::AtDeparture;
    let (quantum, delivered) = (bbr.send_quantum(MSS), bbr.btl_bw() / 1000.0);
    for (gain, next) in [(1.25, quantum), (1.0, 0.0), (0.75, 0.0)] {
        bbr.pacing_gain = gain;
        let expected = 52.0 * MSS + next - delivered;
        assert!((bbr.in_flight_for_phase(&w, &ack) - expected).abs() < 1e-6);
    }
}

/// The gain cycle has eight phases of one round trip each. The pacing gains of the eight phases are
/// 5/4, 3/4, and six times 1.
#[test]
fn pacing_gains_follow_the_cycle() {
    let mut sim = sim(1000);
    sim.run(3.0, |_| {});
    let mut gains = vec![(sim.controller.phase, sim.now)];
    sim.run(8.0, |sim| {
        if gains.last().unwrap().0 != sim.controller.phase {
            gains.push((sim.controller.phase, sim.now));
        }
    });
    assert!(gains.windows(2).all(|p| p[1].0 == (p[0].0 + 1) % 8), "{gains:?}");
    let cycles = gains.len() as f64 / 8.0;
    assert!((5.0 / (8.0 * 0.0505) * 0.8..=5.0 / (8.0 * 0.0505) * 1.2).contains(&cycles), "{cycles}");
}

/// After ten seconds without a smaller round-trip time, cwnd is four segments for 200 ms and a
/// round trip.
#[test]
fn probe_rtt_every_ten_seconds() {
    let probe = first_probe_rtt(bbr(), 14.0, |bbr| bbr.mode == Mode::ProbeRtt);
    assert!((10.0..11.5).contains(&probe.start), "{}", probe.start);
    assert!((0.2..0.5).contains(&probe.duration), "{}", probe.duration);
    assert_eq!(probe.min_cwnd, 4.0);
    assert!(probe.cwnd_after > 150.0, "cwnd must be restored: {}", probe.cwnd_after);
}

/// A buffer of a fifth of the bandwidth-delay product drops packets, and the link stays nearly
/// full.
#[test]
fn losses_do_not_reduce_the_utilization() {
    let mut sim = sim(20);
    sim.run(3.0, |_| {});
    let before = sim.delivered;
    sim.run(9.0, |_| {});
    assert!(!sim.events.is_empty());
    assert!((sim.delivered - before) as f64 > 0.85 * 2e6 * 6.0, "{}", sim.delivered - before);
    assert!(sim.cwnd >= 4.0 * MSS);
}

/// Draft §4.3.5: data sent in ProbeRTT is not evidence of the bandwidth. ProbeRTT lasts twenty
/// round trips of 10 ms, which is twice the length of the bandwidth filter. After ProbeRTT the flow
/// sends at the rate of the link.
#[test]
fn bandwidth_estimate_survives_a_long_probe_rtt() {
    let mut sim = Sim::new(bbr(), Path { buffer: 1000, ..Path::new(80_000_000, 10) }, 10.0, f64::INFINITY);
    let (mut min_bandwidth, mut rounds) = (f64::INFINITY, None);
    sim.run(14.0, |sim| {
        let bbr = &sim.controller;
        if bbr.mode == Mode::ProbeRtt {
            min_bandwidth = min_bandwidth.min(bbr.btl_bw());
            rounds.get_or_insert(bbr.round_count);
        } else if let Some(start) = rounds.filter(|start| bbr.round_count < start + 60) {
            assert!(bbr.round_count > start + 12, "ProbeRTT must be longer than the filter");
            min_bandwidth = min_bandwidth.min(bbr.btl_bw());
        }
    });
    assert!(rounds.is_some() && (min_bandwidth / 1e7 - 1.0).abs() < 0.02, "{min_bandwidth}");
}

/// Draft §4.3.1: the initial value of rtprop_stamp is the time at which the connection begins.
#[test]
fn late_connection_begins_in_startup() {
    let bbr = after_first_ack_at_20_s(bbr());
    assert_eq!((bbr.mode, bbr.rtprop), (Mode::Startup, Duration::from_millis(50)));
}

/// Draft §4.2.2 and §4.2.3.2: at 80 Mbit/s and 50 ms, 3 send quanta of 10 kB are added to the
/// bandwidth-delay product of 500 kB.
#[test]
fn inflight_is_the_product_and_three_quanta() {
    let mut bbr = bbr();
    assert_eq!(
        bbr.inflight(2.0, MSS),
        bbr.initial_window,
        "initial window before the first measured round-trip time"
    );
    bbr.rtprop = Duration::from_millis(50);
    for (rate, quantum) in
        [(1.1e6, 1000.0), (1.2e6, 2000.0), (24e6, 3000.0), (80e6, 10_000.0), (1e9, 64_000.0)]
    {
        bbr.bandwidth = MaxFilter::default();
        bbr.bandwidth.update(0, rate / 8.0);
        bbr.pacing = Pacing(Some(rate / 8.0));
        let expected = 2.0 * rate / 8.0 * 0.05 + 3.0 * quantum;
        assert!((bbr.inflight(2.0, MSS) - expected).abs() < 1e-6, "{rate}");
    }
}
