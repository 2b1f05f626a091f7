//! LEDBAT (`ledbat`), RFC 6817 (`rfc6817`): yields to other flows by limiting its queueing delay to
//! a target.
//!
//! RFC 6817 measures the one-way delay. This implementation measures the round-trip time, because
//! an ACK without timestamps does not carry the time at which a segment arrived. A queue in the
//! reverse direction therefore also counts as queueing delay. FILTER() is the minimum of the last
//! CURRENT_FILTER samples, including samples older than a round trip. LEDBAT has no slow start (RFC
//! 6817 §2.4.2). The congestion timeout of LEDBAT is TCP's retransmission timeout.

use net::{Rule, rules};
use units::{Duration, Packets, Range, Time, params};

use crate::congestion::control::{Ack, Congestion, CongestionControl, Control};
use crate::window::{Window, Windows};

params! {
    /// LEDBAT, a control for background transfers. cwnd changes by at most GAIN segments per round
    /// trip. The window grows while the queueing delay is below the target, and shrinks while the
    /// delay is above the target. A loss halves cwnd.
    pub struct Ledbat: "ledbat" {
        /// Maximum queueing delay that LEDBAT adds (TARGET).
        target: Duration = (Duration::from_millis(100)), in Range::above_to(0.0, 0.1), from "rfc6817 §2.5: 100 ms or less";
        /// Maximum growth of cwnd, in segments per round trip, which applies if the queue is empty
        /// (GAIN).
        gain: f64 = (1.0), in Range::above_to(0.0, 1.0), from "rfc6817 §2.5: 1 or less";
        /// Factor of the decrease of cwnd while the queueing delay exceeds the target
        /// (decrease-GAIN).
        decrease_gain: f64 = (1.0), in Range::between(0.0, 100.0), from "rfc6817 §2.5: decrease-GAIN may be higher than GAIN";
        /// Maximum excess of cwnd over the FlightSize (ALLOWED_INCREASE).
        allowed_increase: Packets = (Packets(1.0)), in Range::above(0.0), from "rfc6817 §2.5";
        /// Number of minutes whose minimum delays form the base delay (BASE_HISTORY).
        base_history: Packets = (Packets(10.0)), in Range::between(1.0, 10.0).whole(), from "rfc6817 §2.5: BASE_HISTORY should be 10";
        /// Number of latest samples whose minimum is the current delay (CURRENT_FILTER).
        current_filter: Packets = (Packets(4.0)), in Range::between(1.0, 8.0).whole(), from "rfc6817 §2.5: at least 4 samples per round trip";
        /// Minimum congestion window (MIN_CWND).
        min_cwnd: Packets = (Packets(2.0)), in Range::between(1.0, 4.0), from "rfc6817 §2.5: 2";
    }
}

rules! {
    /// cwnd changes in proportion to the difference between the target and the queueing delay.
    OFF_TARGET = "ledbat-off-target", from "rfc6817 §2.4.2";
    /// A loss or a mark halves cwnd, which remains at least MIN_CWND.
    DECREASE = "ledbat-decrease", from "rfc6817 §2.4.2";
}

impl Control for Ledbat {
    type State = LedbatState;
    const RULES: &'static [Rule] = RULES;

    fn new_state(&self, _: &Window) -> Self::State {
        LedbatState::new(self)
    }
}

/// Value of a delay before its first measurement.
const UNMEASURED: Duration = Duration(u64::MAX);
/// One minute.
const MINUTE: u64 = Duration::from_millis(60_000).0;

/// State of LEDBAT in a connection.
#[derive(Clone, Debug)]
pub struct LedbatState {
    params: Ledbat,
    /// Minimum delay in each of the last minutes, the current minute first (base_delays).
    base_delays: [Duration; 10],
    /// Number of the minute whose minimum delay is `base_delays[0]`.
    minute: u64,
    /// Last measured delays, the latest first (current_delays).
    current_delays: [Duration; 8],
}

impl LedbatState {
    /// Create the state of LEDBAT in a connection before the first ACK of the connection.
    pub fn new(params: &Ledbat) -> Self {
        LedbatState {
            params: params.clone(),
            base_delays: [UNMEASURED; 10],
            minute: 0,
            current_delays: [UNMEASURED; 8],
        }
    }

    /// Record a delay (update_base_delay() and update_current_delay()).
    fn update(&mut self, now: Time, delay: Duration) {
        let minute = now.0 / MINUTE;
        // A minute without samples has an infinite delay.
        for _ in 0..minute.saturating_sub(self.minute).min(10) {
            self.base_delays.rotate_right(1);
            self.base_delays[0] = UNMEASURED;
        }
        self.minute = self.minute.max(minute);
        self.base_delays[0] = self.base_delays[0].min(delay);
        self.current_delays.rotate_right(1);
        self.current_delays[0] = delay;
    }

    /// Return the queueing delay in seconds: FILTER(current_delays) − MIN(base_delays).
    fn queueing_delay(&self) -> Option<f64> {
        let min = |delays: &[Duration], n: f64| {
            delays.iter().take(n as usize).min().filter(|delay| **delay != UNMEASURED).copied()
        };
        let current = min(&self.current_delays, self.params.current_filter.0)?;
        let base = min(&self.base_delays, self.params.base_history.0)?;
        Some(current.seconds() - base.seconds())
    }

    /// Return MIN_CWND in bytes.
    fn min_cwnd(&self, w: &Window) -> f64 {
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
        // RFC 6817 §2.4.2: flightsize is the amount of outstanding data before this ACK.
        let max_cwnd = w.flight + acked + self.params.allowed_increase.0 * w.smss;
        cwnd.min(max_cwnd).max(self.min_cwnd(w))
    }

    /// Return min(cwnd, max(cwnd/2, MIN_CWND)) after a loss.
    fn ssthresh_on_congestion(&mut self, w: &Window, congestion: Congestion, _now: Time) -> f64 {
        match congestion {
            Congestion::Timeout { repeated: true } => w.ssthresh,
            _ => (w.cwnd / 2.0).max(self.min_cwnd(w)),
        }
    }

    fn cwnd_on_congestion(&mut self, w: &Window, congestion: Congestion, _now: Time) -> Option<f64> {
        let halved = (w.cwnd / 2.0).max(self.min_cwnd(w)).min(w.cwnd);
        (!matches!(congestion, Congestion::Timeout { .. })).then_some(halved)
    }

    fn rule_of_ack(&self, window: &Window, after: Windows) -> &'static Rule {
        let _ = (window, after);
        &OFF_TARGET
    }

    fn rule_of_congestion(&self, congestion: Congestion) -> Option<&'static Rule> {
        (!matches!(congestion, Congestion::Timeout { .. })).then_some(&DECREASE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::harness::{MSS, Path, Sim, ack_at, window};
    use units::param::defaults;

    fn ledbat() -> LedbatState {
        LedbatState::new(&defaults())
    }

    /// The change of cwnd per window, computed from off_target, is 1 segment without a queue. The
    /// change of cwnd is ½ segment at a queueing delay of 50 ms, 0 at 100 ms and −½ segment at 150
    /// ms.
    #[test]
    fn cwnd_changes_in_proportion_to_the_distance_from_the_target() {
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
    fn cwnd_is_bounded_by_the_flight_size_and_min_cwnd() {
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
        assert_eq!(l.ssthresh_on_congestion(&w, Congestion::FastRetransmit, Time::ZERO), 10.0 * MSS);
        assert_eq!(l.cwnd_on_congestion(&w, Congestion::FastRetransmit, Time::ZERO), Some(10.0 * MSS));
        let w = window(3.0, 20.0, 3.0);
        assert_eq!(l.cwnd_on_congestion(&w, Congestion::FastRetransmit, Time::ZERO), Some(2.0 * MSS));
    }

    /// The base delay covers ten minutes. A pause of more than ten minutes discards all
    /// measurements of the base delay.
    #[test]
    fn base_delay_covers_ten_minutes() {
        let mut l = ledbat();
        l.update(Time::ZERO, Duration::from_millis(50));
        for minute in 1..10 {
            l.update(Time(minute * MINUTE), Duration::from_millis(80));
            assert!(l.queueing_delay().unwrap() < 0.031);
        }
        l.current_delays = [Duration::from_millis(80); 8];
        assert!((l.queueing_delay().unwrap() - 0.03).abs() < 1e-12);
        l.update(Time(10 * MINUTE), Duration::from_millis(80));
        assert_eq!(l.queueing_delay(), Some(0.0));
        l.update(Time(100 * MINUTE), Duration::from_millis(90));
        l.current_delays = [Duration::from_millis(90); 8];
        assert_eq!(l.queueing_delay(), Some(0.0));
    }

    /// A flow alone on a link maintains the target delay and full utilization, without loss.
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
