use super::*;
use crate::congestion::bbr::tests::{self, begin_late, first_probe_rtt, states};
use crate::congestion::control::defaults;
use crate::congestion::harness::{MSS, Sim, window};

fn bbr() -> Bbr3State {
    Bbr3State::new(&defaults(), &window(10.0, f64::INFINITY, 0.0))
}

fn sim(buffer: usize) -> Sim<Bbr3State> {
    tests::sim(bbr(), buffer)
}

/// Draft, figure of §5.1.1: Startup, Drain, then DOWN, CRUISE, REFILL, UP and again, with ProbeRTT. An
/// ACK that ends Drain finds the queue drained, and DOWN over at once.
#[test]
fn the_states_follow_the_diagram() {
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
fn the_model_is_the_path() {
    tests::the_model_is_the_path(bbr(), 0.95, |bbr| (bbr.max_bw(), bbr.min_rtt));
}

/// ProbeRTT every five seconds, with half the bandwidth-delay product for 200 ms and a round trip.
#[test]
fn probe_rtt_halves_the_window() {
    let probe = first_probe_rtt(bbr(), 9.0, |bbr| bbr.mode == Mode::ProbeRtt);
    assert!((5.0..7.0).contains(&probe.began), "{}", probe.began);
    assert!((0.2..0.45).contains(&probe.lasted), "{}", probe.lasted);
    assert!((45.0..56.0).contains(&probe.least), "{}", probe.least);
}

/// InflightAtLoss() by hand: 100 in flight of which 4 are lost, 3 of them with this ACK: 97 before, 1 lost:
/// (0.02·97 − 1)/0.98 = 0.96 more cross the threshold.
#[test]
fn the_volume_at_which_losses_pass_the_threshold() {
    let mut bbr = bbr();
    bbr.rs = Sample { tx_in_flight: 100.0, lost: 4.0, ..Sample::default() };
    assert!((bbr.inflight_at_loss(3.0) - (97.0 + 0.94 / 0.98)).abs() < 1e-12);
}

/// A round with losses while not probing leaves at least 0.7 of the short-term model.
#[test]
fn losses_lower_the_short_term_bounds_by_at_most_three_tenths() {
    let mut b = bbr();
    b.max_bw.update(0, 1000.0);
    (b.cwnd, b.bw_latest, b.inflight_latest) = (500.0, 100.0, 450.0);
    b.lower_bounds();
    assert!((b.bounds.bw_shortterm - 700.0).abs() < 1e-9);
    assert!((b.bounds.inflight_shortterm - 450.0).abs() < 1e-9);
    b.lower_bounds();
    assert!((b.bounds.bw_shortterm - 490.0).abs() < 1e-9);
}

/// A small buffer: the safe volume is found, losses stay few, and the link is nearly full.
#[test]
fn a_small_buffer_bounds_what_is_in_flight() {
    let mut sim = sim(40);
    sim.run(4.0, |_| {});
    let (before, sent) = (sim.delivered, sim.next_number());
    sim.run(16.0, |_| {});
    let delivered = (sim.delivered - before) as f64;
    let lost = 1.0 - delivered / MSS / (sim.next_number() - sent) as f64;
    assert!(delivered > 0.8 * 2e6 * 12.0, "{delivered}");
    assert!(lost < 0.03, "{lost}");
}

/// OnInit().
#[test]
fn a_connection_that_begins_late_begins_in_startup() {
    let bbr = begin_late(bbr());
    assert_eq!((bbr.mode, bbr.min_rtt), (Mode::Startup, Duration::from_millis(50)));
}
