//! HyStart++, RFC 9406 (`rfc9406`): slow start that ends when round-trip times grow.
//!
//! Every control with slow start can use HyStart++. [`Ack::round`] defines its rounds. RFC 9406
//! removes the limit L on the increase per ACK if segments are paced. In this implementation L is a
//! parameter.

use units::{Duration, Packets, Range, params};

use crate::congestion::event::Ack;
use crate::window::Window;

params! {
    /// HyStart++, which governs the first slow start. Conservative Slow Start (CSS), in which cwnd
    /// grows more slowly, begins if the minimum round-trip time grows by a threshold from one round
    /// to the next. If round-trip times fall again, slow start resumes, otherwise congestion
    /// avoidance follows. Later slow starts are those of RFC 5681.
    pub struct Hystart: "hystart" {
        /// Minimum growth of the round-trip time that begins CSS (MIN_RTT_THRESH).
        min_rtt_threshold: Duration = (Duration::from_millis(4)), in Range::above(0.0), from "rfc9406 §4.3";
        /// Growth of the round-trip time that begins CSS at any round-trip time (MAX_RTT_THRESH).
        max_rtt_threshold: Duration = (Duration::from_millis(16)), in Range::above(0.0), from "rfc9406 §4.3";
        /// Divisor that gives the threshold of the round-trip time (MIN_RTT_DIVISOR). The threshold
        /// is the minimum round-trip time of the previous round divided by `rtt_divisor`, limited
        /// to the range from `min_rtt_threshold` to `max_rtt_threshold`.
        rtt_divisor: f64 = (8.0), in Range::at_least(1.0), from "rfc9406 §4.3";
        /// Number of round-trip times that are measured in a round before their minimum is
        /// evaluated (N_RTT_SAMPLE).
        samples: Packets = (Packets(8.0)), in Range::between(1.0, 1000.0).whole(), from "rfc9406 §4.3: at least 8";
        /// Factor by which the growth of cwnd in CSS is smaller than in slow start
        /// (CSS_GROWTH_DIVISOR).
        css_growth_divisor: f64 = (4.0), in Range::at_least(2.0), from "rfc9406 §4.3: at least 2";
        /// Number of rounds of CSS before congestion avoidance begins (CSS_ROUNDS).
        css_rounds: Packets = (Packets(5.0)), in Range::between(1.0, 100.0).whole(), from "rfc9406 §4.3";
        /// Maximum increase of cwnd per ACK (L).
        limit: Packets = (Packets(8.0)), in Range::between(1.0, 1000.0).whole(), from "rfc9406 §4.3: 8 if segments are not paced";
    }
}

/// Phase of HyStart++ in the first slow start.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    SlowStart,
    /// Conservative Slow Start (CSS).
    Conservative {
        /// Minimum round-trip time when CSS began (cssBaselineMinRtt).
        baseline: Duration,
        /// Number of rounds that have ended in CSS.
        rounds: u32,
    },
    /// Congestion avoidance has begun, and the sender has not set ssthresh yet.
    Exiting,
    Done,
}

/// Value of a round-trip time before its first measurement.
const UNMEASURED: Duration = Duration(u64::MAX);

/// State of the first slow start in a connection.
#[derive(Clone, Debug)]
pub struct HystartState {
    params: Hystart,
    phase: Phase,
    /// lastRoundMinRTT.
    last_round_min_rtt: Duration,
    /// currentRoundMinRTT.
    round_min_rtt: Duration,
    /// rttSampleCount.
    samples: u32,
}

impl HystartState {
    /// Create the state of HyStart++ in a connection before the first ACK of the connection.
    pub fn new(params: &Hystart) -> Self {
        HystartState {
            params: params.clone(),
            phase: Phase::SlowStart,
            last_round_min_rtt: UNMEASURED,
            round_min_rtt: UNMEASURED,
            samples: 0,
        }
    }

    /// Return true during the first slow start, while ssthresh is still arbitrarily high (RFC 9406
    /// §4.3).
    pub fn is_active(&self, w: &Window) -> bool {
        w.ssthresh == f64::INFINITY && self.phase != Phase::Done
    }

    /// Return cwnd after an ACK in the first slow start (RFC 9406 §4.2).
    pub fn cwnd_on_ack(&mut self, w: &Window, ack: &Ack) -> f64 {
        if ack.round {
            self.begin_round();
        }
        let growth = f64::from(ack.counted).min(self.params.limit.0 * w.smss);
        let growth = match self.phase {
            Phase::SlowStart => growth,
            Phase::Conservative { .. } => growth / self.params.css_growth_divisor,
            Phase::Exiting | Phase::Done => 0.0,
        };
        if let Some(rtt) = ack.rtt {
            self.round_min_rtt = self.round_min_rtt.min(rtt);
            self.samples += 1;
            self.evaluate_round();
        }
        w.cwnd + growth
    }

    /// Begin a round.
    fn begin_round(&mut self) {
        self.last_round_min_rtt = std::mem::replace(&mut self.round_min_rtt, UNMEASURED);
        self.samples = 0;
        if let Phase::Conservative { rounds, .. } = &mut self.phase {
            *rounds += 1; // RFC 9406 §4.3: "that partial round counts towards the limit"
            if f64::from(*rounds) >= self.params.css_rounds.0 {
                self.phase = Phase::Exiting;
            }
        }
    }

    /// Enter or leave CSS if this round has enough measured round-trip times.
    fn evaluate_round(&mut self) {
        if f64::from(self.samples) < self.params.samples.0 {
            return;
        }
        match self.phase {
            Phase::SlowStart if self.last_round_min_rtt != UNMEASURED => {
                let required = self.last_round_min_rtt + self.threshold(self.last_round_min_rtt);
                if self.round_min_rtt >= required {
                    self.phase = Phase::Conservative { baseline: self.round_min_rtt, rounds: 0 };
                }
            }
            Phase::Conservative { baseline, .. } if self.round_min_rtt < baseline => {
                self.phase = Phase::SlowStart;
            }
            _ => {}
        }
    }

    /// Return RttThresh. If the minimum threshold exceeds the maximum threshold, the minimum
    /// applies (max(min, min(…, max)) in RFC 9406).
    fn threshold(&self, last_round_min_rtt: Duration) -> Duration {
        let fraction = Duration::from_seconds(last_round_min_rtt.seconds() / self.params.rtt_divisor);
        fraction.min(self.params.max_rtt_threshold).max(self.params.min_rtt_threshold)
    }

    /// Return true at the first call after slow start has ended, and false at all other calls. When
    /// the result is true, ssthresh is set to cwnd.
    pub fn take_exit(&mut self) -> bool {
        let exits = self.phase == Phase::Exiting;
        if exits {
            self.phase = Phase::Done;
        }
        exits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::harness::{MSS, ack, window};
    use units::param::defaults;

    fn state() -> HystartState {
        HystartState::new(&defaults())
    }

    /// Observe a round of `n` ACKs of one segment with a round-trip time of `ms` milliseconds.
    fn round(h: &mut HystartState, cwnd: &mut f64, n: u32, ms: u64) {
        for i in 0..n {
            let mut a = ack(1.0);
            (a.round, a.rtt) = (i == 0, Some(Duration::from_millis(ms)));
            *cwnd = h.cwnd_on_ack(&window(*cwnd / MSS, f64::INFINITY, 1.0), &a);
        }
    }

    /// RFC 9406 §4.3: the threshold is clamp(lastRoundMinRTT / 8, 4 ms, 16 ms).
    #[test]
    fn threshold_is_an_eighth_between_4_and_16_ms() {
        let h = state();
        for (rtt, threshold) in [(8, 4), (32, 4), (64, 8), (100, 12), (128, 16), (500, 16)] {
            let got = h.threshold(Duration::from_millis(rtt)).seconds();
            assert_eq!(got, if rtt == 100 { 0.0125 } else { threshold as f64 / 1e3 });
        }
    }

    #[test]
    fn growth_below_the_threshold_has_no_effect() {
        let (mut h, mut cwnd) = (state(), 10.0 * MSS);
        for ms in [64, 71, 78, 85] {
            round(&mut h, &mut cwnd, 10, ms);
        }
        assert_eq!(h.phase, Phase::SlowStart);
        assert_eq!(cwnd, 50.0 * MSS);
    }

    /// After eight measured round-trip times, growth of their minimum by the threshold begins CSS.
    /// In CSS cwnd grows at a quarter of the rate of slow start. After five rounds, including the
    /// round in which CSS began, ssthresh is set to cwnd.
    #[test]
    fn growth_ends_slow_start_after_five_rounds_of_conservative_slow_start() {
        let (mut h, mut cwnd) = (state(), 10.0 * MSS);
        round(&mut h, &mut cwnd, 10, 64);
        round(&mut h, &mut cwnd, 7, 72);
        assert_eq!(h.phase, Phase::SlowStart, "seven samples are too few");
        round(&mut h, &mut cwnd, 10, 80); // last round: 72 ms, threshold 9 ms
        assert_eq!(h.phase, Phase::SlowStart);
        round(&mut h, &mut cwnd, 10, 90);
        assert_eq!(h.phase, Phase::Conservative { baseline: Duration::from_millis(90), rounds: 0 });
        let start = cwnd;
        for _ in 0..4 {
            round(&mut h, &mut cwnd, 8, 90);
            assert!(!h.take_exit());
        }
        assert_eq!(cwnd, start + 8.0 * MSS, "32 acknowledged segments add 8 segments");
        round(&mut h, &mut cwnd, 1, 90);
        assert_eq!(cwnd, start + 8.0 * MSS);
        assert!(h.take_exit() && !h.take_exit());
        assert!(!h.is_active(&window(1.0, f64::INFINITY, 1.0)));
    }

    #[test]
    fn fall_of_the_round_trip_time_resumes_slow_start() {
        let (mut h, mut cwnd) = (state(), 10.0 * MSS);
        round(&mut h, &mut cwnd, 8, 64);
        round(&mut h, &mut cwnd, 8, 80);
        assert!(matches!(h.phase, Phase::Conservative { .. }));
        round(&mut h, &mut cwnd, 8, 79);
        assert_eq!(h.phase, Phase::SlowStart);
    }

    #[test]
    fn one_ack_adds_at_most_l_segments() {
        let mut h = state();
        assert_eq!(h.cwnd_on_ack(&window(10.0, f64::INFINITY, 1.0), &ack(20.0)), 18.0 * MSS);
    }

    #[test]
    fn hystart_governs_only_the_first_slow_start() {
        assert!(!state().is_active(&window(2.0, 20.0, 1.0)));
    }
}
