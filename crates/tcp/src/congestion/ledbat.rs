//! LEDBAT, RFC 6817 (`rfc6817`): yields to others by keeping the queueing delay it adds at a target.
//!
//! The delay is the round trip, where the RFC has the one-way delay: TCP's ACKs carry no time that the
//! sender could compare without timestamps. A queue on the way back therefore counts too. FILTER() is
//! the least of the last CURRENT_FILTER samples, which are not dropped when older than a round trip.
//! There is no slow start (§2.4.2), and the congestion timeout is TCP's.

use units::{Duration, Packets, Range, Time, params};

use crate::congestion::control::{Ack, Congestion, CongestionControl, Control};
use crate::window::Window;

params! {
    /// LEDBAT: a scavenger. cwnd moves by at most GAIN segments a round trip, up while the queueing
    /// delay is below the target and down while it is above; a loss halves it.
    pub struct Ledbat: "ledbat" {
        /// Queueing delay that it adds at most (TARGET).
        target: Duration = (Duration::from_millis(100)), in Range::above_to(0.0, 0.1), from "rfc6817 §2.5: 100 ms or less";
        /// Segments by which cwnd grows a round trip when there is no queue (GAIN).
        gain: f64 = (1.0), in Range::above_to(0.0, 1.0), from "rfc6817 §2.5: 1 or less";
        /// The same when it shrinks (decrease-GAIN).
        decrease_gain: f64 = (1.0), in Range::between(0.0, 100.0), from "rfc6817 §2.5: may be higher than GAIN";
        /// Segments that cwnd may exceed the FlightSize by (ALLOWED_INCREASE).
        allowed_increase: Packets = (Packets(1.0)), in Range::above(0.0), from "rfc6817 §2.5";
        /// Minutes whose least delays are kept (BASE_HISTORY).
        base_history: Packets = (Packets(10.0)), in Range::between(1.0, 10.0).whole(), from "rfc6817 §2.5: should be 10";
        /// Samples of which the least is the delay now (CURRENT_FILTER).
        current_filter: Packets = (Packets(4.0)), in Range::between(1.0, 8.0).whole(), from "rfc6817 §2.5: at least 4 a round trip";
        /// Least window (MIN_CWND).
        min_cwnd: Packets = (Packets(2.0)), in Range::between(1.0, 4.0), from "rfc6817 §2.5: 2";
    }
}

impl Control for Ledbat {
    type State = LedbatState;

    fn begin(&self, _: &Window) -> Self::State {
        LedbatState::new(self)
    }
}

const NONE: Duration = Duration(u64::MAX);
const MINUTE: u64 = Duration::from_millis(60_000).0;

/// State of LEDBAT.
#[derive(Clone, Debug)]
pub struct LedbatState {
    params: Ledbat,
    /// base_delays: the least delay of each of the last minutes, this one first.
    base: [Duration; 10],
    /// The minute of `base[0]`.
    minute: u64,
    /// current_delays, the latest first.
    current: [Duration; 8],
}

impl LedbatState {
    /// Before the first ACK.
    pub fn new(params: &Ledbat) -> Self {
        LedbatState { params: params.clone(), base: [NONE; 10], minute: 0, current: [NONE; 8] }
    }

    /// update_base_delay() and update_current_delay().
    fn update(&mut self, now: Time, delay: Duration) {
        let minute = now.0 / MINUTE;
        // A minute without samples is one of infinite delay.
        for _ in 0..minute.saturating_sub(self.minute).min(10) {
            self.base.rotate_right(1);
            self.base[0] = NONE;
        }
        self.minute = self.minute.max(minute);
        self.base[0] = self.base[0].min(delay);
        self.current.rotate_right(1);
        self.current[0] = delay;
    }

    /// FILTER(current_delays) − MIN(base_delays), in seconds.
    fn queueing_delay(&self) -> Option<f64> {
        let least = |delays: &[Duration], n: f64| delays.iter().take(n as usize).min().copied();
        let current = least(&self.current, self.params.current_filter.0).filter(|d| *d != NONE)?;
        let base = least(&self.base, self.params.base_history.0).filter(|d| *d != NONE)?;
        Some(current.seconds() - base.seconds())
    }

    fn floor(&self, w: &Window) -> f64 {
        self.params.min_cwnd.0 * w.smss
    }
}

impl CongestionControl for LedbatState {
    fn observe(&mut self, _: &Window, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.update(ack.now, rtt);
        }
    }

    fn cwnd_on_ack(&mut self, w: &Window, ack: &Ack) -> f64 {
        let Some(delay) = self.queueing_delay() else { return w.cwnd };
        let target = self.params.target.seconds();
        let off_target = (target - delay) / target;
        let gain = if off_target < 0.0 { self.params.decrease_gain } else { self.params.gain };
        let acked = f64::from(ack.counted);
        let cwnd = w.cwnd + gain * off_target * acked * w.smss / w.cwnd;
        // flightsize is what was outstanding before this ACK.
        let allowed = w.flight + acked + self.params.allowed_increase.0 * w.smss;
        cwnd.min(allowed).max(self.floor(w))
    }

    /// On loss: min(cwnd, max(cwnd/2, MIN_CWND)).
    fn ssthresh_on(&mut self, w: &Window, congestion: Congestion, _now: Time) -> f64 {
        match congestion {
            Congestion::Timeout { again: true } => w.ssthresh,
            _ => (w.cwnd / 2.0).max(self.floor(w)),
        }
    }

    fn cwnd_on(&mut self, w: &Window, congestion: Congestion, _now: Time) -> Option<f64> {
        let halved = (w.cwnd / 2.0).max(self.floor(w)).min(w.cwnd);
        (!matches!(congestion, Congestion::Timeout { .. })).then_some(halved)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::control::defaults;
    use crate::congestion::harness::{MSS, Path, Sim, ack_at, window};

    fn ledbat() -> LedbatState {
        LedbatState::new(&defaults())
    }

    /// off_target by hand: no queue: +1 segment a window; 50 ms: +½; 100 ms: 0; 150 ms: −½.
    #[test]
    fn cwnd_moves_in_proportion_to_the_distance_from_the_target() {
        for (queue, change) in [(0.0, 1.0), (0.05, 0.5), (0.1, 0.0), (0.15, -0.5)] {
            let mut l = ledbat();
            let w = window(20.0, 20.0, 20.0);
            l.observe(&w, &ack_at(0.0, 0.05, 1.0));
            for _ in 0..4 {
                l.observe(&w, &ack_at(1.0, 0.05 + queue, 1.0));
            }
            let cwnd = l.cwnd_on_ack(&w, &ack_at(1.0, 0.05 + queue, 1.0));
            assert!(((cwnd - w.cwnd) / MSS * 20.0 - change).abs() < 1e-9, "{queue}");
        }
    }

    #[test]
    fn cwnd_stays_near_the_flight_and_above_two_segments() {
        let mut l = ledbat();
        let w = window(20.0, 20.0, 5.0);
        l.observe(&w, &ack_at(0.0, 0.05, 1.0));
        assert_eq!(l.cwnd_on_ack(&w, &ack_at(0.0, 0.05, 1.0)), 7.0 * MSS);
        for _ in 0..4 {
            l.observe(&w, &ack_at(0.0, 5.0, 1.0));
        }
        let w = window(2.0, 2.0, 2.0);
        assert_eq!(l.cwnd_on_ack(&w, &ack_at(0.0, 5.0, 2.0)), 2.0 * MSS);
    }

    #[test]
    fn a_loss_halves_cwnd() {
        let mut l = ledbat();
        let w = window(20.0, 20.0, 18.0);
        assert_eq!(l.ssthresh_on(&w, Congestion::FastRetransmit, Time::ZERO), 10.0 * MSS);
        assert_eq!(l.cwnd_on(&w, Congestion::FastRetransmit, Time::ZERO), Some(10.0 * MSS));
        let w = window(3.0, 20.0, 3.0);
        assert_eq!(l.cwnd_on(&w, Congestion::FastRetransmit, Time::ZERO), Some(2.0 * MSS));
    }

    /// The base delay is forgotten after ten minutes, and at once when idle for as long.
    #[test]
    fn the_base_delay_is_that_of_ten_minutes() {
        let mut l = ledbat();
        l.update(Time::ZERO, Duration::from_millis(50));
        for minute in 1..10 {
            l.update(Time(minute * MINUTE), Duration::from_millis(80));
            assert!(l.queueing_delay().unwrap() < 0.031);
        }
        l.current = [Duration::from_millis(80); 8];
        assert!((l.queueing_delay().unwrap() - 0.03).abs() < 1e-12);
        l.update(Time(10 * MINUTE), Duration::from_millis(80));
        assert_eq!(l.queueing_delay(), Some(0.0));
        l.update(Time(100 * MINUTE), Duration::from_millis(90));
        l.current = [Duration::from_millis(90); 8];
        assert_eq!(l.queueing_delay(), Some(0.0));
    }

    /// A single flow holds the queue at the target and the link full, without loss.
    #[test]
    fn the_queue_settles_at_the_target() {
        let path = Path { buffer: 400, ..Path::new(16_000_000, 50) };
        let mut sim = Sim::new(ledbat(), path, 2.0, f64::INFINITY);
        sim.run(120.0, |_| {});
        let (mut low, mut high) = (f64::INFINITY, 0.0f64);
        sim.run(180.0, |sim| {
            let queue = sim.rtt.seconds() - 0.0505;
            (low, high) = (low.min(queue), high.max(queue));
        });
        assert!(sim.events.is_empty());
        assert!(low > 0.09 && high < 0.105, "{low} {high}");
    }
}
