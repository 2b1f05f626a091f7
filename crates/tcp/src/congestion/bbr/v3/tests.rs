use super::*;
use crate::congestion::harness::{MSS, Path, Sim, ack_at, window};
use units::Bytes;

/// 2 MB/s, 50 ms: 100 packets.
fn sim(buffer: usize) -> Sim<Bbr3State> {
    let tcp = Tcp { mss: Bytes(MSS as u64), ..Tcp::default() };
    let bbr = Bbr3State::new(&crate::congestion::defaults(), &tcp);
    Sim::new(bbr, Path { buffer, ..Path::new(16_000_000, 50) }, 10.0, f64::INFINITY)
}

/// Draft, figure of §5.1.1: Startup, Drain, then DOWN, CRUISE, REFILL, UP and again, with ProbeRTT. An
/// ACK that ends Drain finds the queue drained, and DOWN over at once.
#[test]
fn the_states_follow_the_diagram() {
    let mut sim = sim(1000);
    let mut modes = vec![Mode::Startup];
    sim.run(12.0, |sim| {
        let mode = sim.controller.mode;
        if modes.last() != Some(&mode) {
            modes.push(mode);
        }
    });
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
    let mut sim = sim(1000);
    sim.run(3.0, |_| {});
    let before = sim.delivered;
    sim.run(9.0, |_| {});
    let bbr = &sim.controller;
    assert!((bbr.max_bw() / 2e6 - 1.0).abs() < 0.01, "{}", bbr.max_bw());
    assert!((bbr.min_rtt.seconds() / 0.0505 - 1.0).abs() < 0.01, "{:?}", bbr.min_rtt);
    assert!((sim.delivered - before) as f64 > 0.95 * 2e6 * 6.0);
    assert!(sim.events.is_empty());
}

/// ProbeRTT every five seconds, with half the bandwidth-delay product for 200 ms and a round trip.
#[test]
fn probe_rtt_halves_the_window() {
    let mut sim = sim(1000);
    let (mut entered, mut left, mut least) = (None, None, f64::INFINITY);
    sim.run(9.0, |sim| {
        let probing = sim.controller.mode == Mode::ProbeRtt;
        if probing && left.is_none() {
            entered.get_or_insert(sim.now.seconds());
            least = least.min(sim.segments());
        } else if entered.is_some() {
            left.get_or_insert(sim.now.seconds());
        }
    });
    let spent = left.unwrap() - entered.unwrap();
    assert!((5.0..7.0).contains(&entered.unwrap()), "{entered:?}");
    assert!((0.2..0.45).contains(&spent), "{spent}");
    assert!((45.0..56.0).contains(&least), "{least}");
}

/// InflightAtLoss() by hand: 100 in flight of which 4 are lost, 3 of them with this ACK: 97 before, 1 lost:
/// (0.02·97 − 1)/0.98 = 0.96 more cross the threshold.
#[test]
fn the_volume_at_which_losses_pass_the_threshold() {
    let mut sim = sim(1000);
    sim.controller.rs = Sample { tx_in_flight: 100.0, lost: 4.0, ..Sample::default() };
    assert!((sim.controller.inflight_at_loss(3.0) - (97.0 + 0.94 / 0.98)).abs() < 1e-12);
}

/// A round with losses while not probing leaves at least 0.7 of the short-term model.
#[test]
fn losses_lower_the_short_term_bounds_by_at_most_three_tenths() {
    let mut b = sim(1000).controller;
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

/// The stamps of the least round trips begin with the connection (OnInit()), whenever that is.
#[test]
fn a_connection_that_begins_late_begins_in_startup() {
    let mut bbr = Bbr3State::new(&crate::congestion::defaults(), &Tcp::default());
    bbr.observe(&window(10.0, 1e9, 9.0), &ack_at(20.0, 0.05, 1.0));
    assert_eq!((bbr.mode, bbr.min_rtt), (Mode::Startup, Duration::from_millis(50)));
}
