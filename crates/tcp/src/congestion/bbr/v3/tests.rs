use super::*;
use crate::congestion::bbr::tests::{self, after_first_ack_at_20_s, first_probe_rtt, states};
use crate::congestion::harness::{MSS, Sim, window};
use units::param::defaults;

fn bbr() -> Bbr3State {
    Bbr3State::new(&defaults(), &window(10.0, f64::INFINITY, 0.0))
}

fn sim(buffer: usize) -> Sim<Bbr3State> {
    tests::sim(bbr(), buffer)
}

/// The figure in the draft's §5.1.1 shows the order of the states: Startup, Drain, and then the
/// cycle of DOWN, CRUISE, REFILL and UP, which ProbeRTT interrupts. The queue is empty when the ACK
/// that ends Drain arrives, so the phase DOWN can end at once.
#[test]
fn states_follow_the_diagram_of_the_draft() {
    let modes = states(&mut sim(1000), 12.0, |bbr| bbr.mode);
    assert_eq!(modes[..2], [Mode::Startup, Mode::Drain], "{modes:?}");
    for pair in modes.windows(2) {
        let next = pair[1];
        let allowed = match pair[0] {
            Mode::Startup => next == Mode::Drain,
            Mode::Drain => matches!(next, Mode::Down | Mode::Cruise),
            Mode::Down => matches!(next, Mode::Cruise | Mode::Refill | Mode::ProbeRtt),
            Mode::Cruise => matches!(next, Mode::Refill | Mode::ProbeRtt),
            Mode::Refill => matches!(next, Mode::Up | Mode::ProbeRtt),
            Mode::Up => matches!(next, Mode::Down | Mode::ProbeRtt),
            Mode::ProbeRtt => matches!(next, Mode::Cruise | Mode::Startup),
        };
        assert!(allowed, "{pair:?}");
    }
    for mode in [Mode::Down, Mode::Cruise, Mode::Refill, Mode::Up, Mode::ProbeRtt] {
        assert!(modes.contains(&mode), "{modes:?}");
    }
}

#[test]
fn model_matches_the_path() {
    tests::assert_model_matches_path(bbr(), 0.95, |bbr| (bbr.max_bw(), bbr.min_rtt));
}

/// ProbeRTT begins every five seconds, with half the bandwidth-delay product in flight for 200 ms
/// and a round trip.
#[test]
fn probe_rtt_halves_the_window() {
    let probe = first_probe_rtt(bbr(), 9.0, |bbr| bbr.mode == Mode::ProbeRtt);
    assert!((5.0..7.0).contains(&probe.start), "{}", probe.start);
    assert!((0.2..0.45).contains(&probe.duration), "{}", probe.duration);
    assert!((45.0..56.0).contains(&probe.min_cwnd), "{}", probe.min_cwnd);
}

/// InflightAtLoss() is computed for 100 packets in flight, of which 4 are lost. The current ACK
/// declares 3 of the 4 packets lost. Before the current ACK, 97 packets are in flight and 1 packet
/// is lost. The loss rate reaches the threshold of 2% after (0.02·97 − 1)/0.98 = 0.96 further lost
/// packets, where 97 is the number of packets in flight and 1 is the number of earlier losses.
#[test]
fn inflight_at_loss_is_the_volume_at_which_losses_exceed_the_threshold() {
    let mut bbr = bbr();
    bbr.rs = Sample { tx_in_flight: 100.0, lost: 4.0, ..Sample::default() };
    assert!((bbr.inflight_at_loss(3.0) - (97.0 + 0.94 / 0.98)).abs() < 1e-12);
}

/// If BBR does not probe for bandwidth in a round with losses, the round reduces the short-term
/// bounds by at most three tenths.
#[test]
fn losses_reduce_the_short_term_bounds_by_at_most_three_tenths() {
    let mut b = bbr();
    b.max_bw.update(0, 1000.0);
    (b.cwnd, b.bw_latest, b.inflight_latest) = (500.0, 100.0, 450.0);
    b.adapt_lower_bounds();
    assert!((b.bounds.bw_shortterm - 700.0).abs() < 1e-9);
    assert!((b.bounds.inflight_shortterm - 450.0).abs() < 1e-9);
    b.adapt_lower_bounds();
    assert!((b.bounds.bw_shortterm - 490.0).abs() < 1e-9);
}

/// If the buffer is small, the flow determines inflight_longterm, loses few packets, and uses
/// nearly the whole link.
#[test]
fn small_buffer_bounds_the_data_in_flight() {
    let mut sim = sim(40);
    sim.run(4.0, |_| {});
    let (before, sent) = (sim.delivered, sim.next_number());
    sim.run(16.0, |_| {});
    let delivered = (sim.delivered - before) as f64;
    let lost = 1.0 - delivered / MSS / (sim.next_number() - sent) as f64;
    assert!(delivered > 0.8 * 2e6 * 12.0, "{delivered}");
    assert!(lost < 0.03, "{lost}");
}

/// OnInit(): the initial value of the time stamps is the time at which the connection begins.
#[test]
fn late_connection_begins_in_startup() {
    let bbr = after_first_ack_at_20_s(bbr());
    assert_eq!((bbr.mode, bbr.min_rtt), (Mode::Startup, Duration::from_millis(50)));
}
