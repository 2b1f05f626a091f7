//! HyStart++: slow start that ends when round trips grow, RFC 9406 (`rfc9406`), for any controller that
//! slow-starts.
//!
//! A round is what the sender counts as one ([`Ack::round`]). The RFC has L without bound if segments
//! are paced; here it is a parameter.

use units::{Duration, Packets, Range, params};

use crate::congestion::control::Ack;
use crate::window::Window;

params! {
    /// HyStart++: in the first slow start, a round whose least round trip exceeds that of the round
    /// before by a threshold begins Conservative Slow Start (CSS), which grows slower and goes back to
    /// slow start if the round trips fall again, else ends in congestion avoidance. Later slow starts
    /// are standard.
    pub struct Hystart: "hystart" {
        /// Least growth of the round trip that begins CSS (MIN_RTT_THRESH).
        min_rtt_threshold: Duration = (Duration::from_millis(4)), in Range::above(0.0), from "rfc9406 §4.3";
        /// Greatest growth of the round trip that slow start bears (MAX_RTT_THRESH).
        max_rtt_threshold: Duration = (Duration::from_millis(16)), in Range::above(0.0), from "rfc9406 §4.3";
        /// Between the two, the threshold is the last round's least round trip divided by this (MIN_RTT_DIVISOR).
        rtt_divisor: f64 = (8.0), in Range::at_least(1.0), from "rfc9406 §4.3";
        /// Round trips measured in a round before it is judged (N_RTT_SAMPLE).
        samples: Packets = (Packets(8.0)), in Range::between(1.0, 1000.0).whole(), from "rfc9406 §4.3: at least 8";
        /// CSS grows by this part of slow start's growth (CSS_GROWTH_DIVISOR).
        css_growth_divisor: f64 = (4.0), in Range::at_least(2.0), from "rfc9406 §4.3: at least 2";
        /// Rounds of CSS before congestion avoidance (CSS_ROUNDS).
        css_rounds: Packets = (Packets(5.0)), in Range::between(1.0, 100.0).whole(), from "rfc9406 §4.3";
        /// Most that one ACK opens cwnd by (L).
        limit: Packets = (Packets(8.0)), in Range::between(1.0, 1000.0).whole(), from "rfc9406 §4.3: 8 without pacing";
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    SlowStart,
    /// CSS: the least round trip when it began (cssBaselineMinRtt), and rounds ended since.
    Conservative {
        baseline: Duration,
        rounds: u32,
    },
    /// Congestion avoidance; the sender has not been told yet.
    Leaving,
    Done,
}

/// No round trip measured.
const NONE: Duration = Duration(u64::MAX);

/// State of the first slow start.
#[derive(Clone, Debug)]
pub struct HystartState {
    params: Hystart,
    phase: Phase,
    /// lastRoundMinRTT.
    last_round: Duration,
    /// currentRoundMinRTT.
    this_round: Duration,
    /// rttSampleCount.
    samples: u32,
}

impl HystartState {
    /// Before the first ACK.
    pub fn new(params: &Hystart) -> Self {
        HystartState {
            params: params.clone(),
            phase: Phase::SlowStart,
            last_round: NONE,
            this_round: NONE,
            samples: 0,
        }
    }

    /// Whether this slow start is HyStart++'s: the first, while ssthresh is still arbitrarily high (§4.3).
    pub fn rules(&self, w: &Window) -> bool {
        w.ssthresh == f64::INFINITY && self.phase != Phase::Done
    }

    /// cwnd after an ACK in the first slow start (§4.2).
    pub fn cwnd_on_ack(&mut self, w: &Window, ack: &Ack) -> f64 {
        if ack.round {
            self.begin_round();
        }
        let growth = f64::from(ack.counted).min(self.params.limit.0 * w.smss);
        let growth = match self.phase {
            Phase::SlowStart => growth,
            Phase::Conservative { .. } => growth / self.params.css_growth_divisor,
            Phase::Leaving | Phase::Done => 0.0,
        };
        if let Some(rtt) = ack.rtt {
            self.this_round = self.this_round.min(rtt);
            self.samples += 1;
            self.judge();
        }
        w.cwnd + growth
    }

    fn begin_round(&mut self) {
        self.last_round = std::mem::replace(&mut self.this_round, NONE);
        self.samples = 0;
        if let Phase::Conservative { rounds, .. } = &mut self.phase {
            *rounds += 1; // "that partial round counts towards the limit"
            if f64::from(*rounds) >= self.params.css_rounds.0 {
                self.phase = Phase::Leaving;
            }
        }
    }

    fn judge(&mut self) {
        if f64::from(self.samples) < self.params.samples.0 {
            return;
        }
        match self.phase {
            Phase::SlowStart if self.last_round != NONE => {
                let grown = self.last_round + self.threshold(self.last_round);
                if self.this_round >= grown {
                    self.phase = Phase::Conservative { baseline: self.this_round, rounds: 0 };
                }
            }
            Phase::Conservative { baseline, .. } if self.this_round < baseline => {
                self.phase = Phase::SlowStart;
            }
            _ => {}
        }
    }

    /// RttThresh. A floor above the ceiling wins, as in the RFC's max(min, min(…, max)).
    fn threshold(&self, last_round: Duration) -> Duration {
        let part = Duration::from_seconds(last_round.seconds() / self.params.rtt_divisor);
        part.min(self.params.max_rtt_threshold).max(self.params.min_rtt_threshold)
    }

    /// Whether slow start has just ended: ssthresh is cwnd now. Said once.
    pub fn leaves(&mut self) -> bool {
        let leaves = self.phase == Phase::Leaving;
        if leaves {
            self.phase = Phase::Done;
        }
        leaves
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::control::defaults;
    use crate::congestion::harness::{MSS, ack, window};

    fn state() -> HystartState {
        HystartState::new(&defaults())
    }

    /// A round of `n` ACKs of one segment, all with the same round trip.
    fn round(h: &mut HystartState, cwnd: &mut f64, n: u32, ms: u64) {
        for i in 0..n {
            let mut a = ack(1.0);
            (a.round, a.rtt) = (i == 0, Some(Duration::from_millis(ms)));
            *cwnd = h.cwnd_on_ack(&window(*cwnd / MSS, f64::INFINITY, 1.0), &a);
        }
    }

    /// §4.3: clamp(lastRoundMinRTT / 8, 4 ms, 16 ms).
    #[test]
    fn threshold_is_an_eighth_between_4_and_16_ms() {
        let h = state();
        for (rtt, threshold) in [(8, 4), (32, 4), (64, 8), (100, 12), (128, 16), (500, 16)] {
            let got = h.threshold(Duration::from_millis(rtt)).seconds();
            assert_eq!(got, if rtt == 100 { 0.0125 } else { threshold as f64 / 1e3 });
        }
    }

    #[test]
    fn a_rise_below_the_threshold_changes_nothing() {
        let (mut h, mut cwnd) = (state(), 10.0 * MSS);
        for ms in [64, 71, 78, 85] {
            round(&mut h, &mut cwnd, 10, ms);
        }
        assert_eq!(h.phase, Phase::SlowStart);
        assert_eq!(cwnd, 50.0 * MSS);
    }

    /// Eight samples, a rise of the threshold: CSS grows by a quarter, and after five rounds, the one
    /// in which it began included, cwnd is ssthresh.
    #[test]
    fn a_rise_leaves_through_five_rounds_of_conservative_slow_start() {
        let (mut h, mut cwnd) = (state(), 10.0 * MSS);
        round(&mut h, &mut cwnd, 10, 64);
        round(&mut h, &mut cwnd, 7, 72);
        assert_eq!(h.phase, Phase::SlowStart, "seven samples are too few");
        round(&mut h, &mut cwnd, 10, 80); // last round: 72 ms, threshold 9 ms
        assert_eq!(h.phase, Phase::SlowStart);
        round(&mut h, &mut cwnd, 10, 90);
        assert_eq!(h.phase, Phase::Conservative { baseline: Duration::from_millis(90), rounds: 0 });
        let began = cwnd;
        for _ in 0..4 {
            round(&mut h, &mut cwnd, 8, 90);
            assert!(!h.leaves());
        }
        assert_eq!(cwnd, began + 8.0 * MSS, "32 segments acknowledged open cwnd by 8");
        round(&mut h, &mut cwnd, 1, 90);
        assert_eq!(cwnd, began + 8.0 * MSS);
        assert!(h.leaves() && !h.leaves());
        assert!(!h.rules(&window(1.0, f64::INFINITY, 1.0)));
    }

    #[test]
    fn a_fall_resumes_slow_start() {
        let (mut h, mut cwnd) = (state(), 10.0 * MSS);
        round(&mut h, &mut cwnd, 8, 64);
        round(&mut h, &mut cwnd, 8, 80);
        assert!(matches!(h.phase, Phase::Conservative { .. }));
        round(&mut h, &mut cwnd, 8, 79);
        assert_eq!(h.phase, Phase::SlowStart);
    }

    #[test]
    fn one_ack_opens_at_most_l_segments() {
        let mut h = state();
        assert_eq!(h.cwnd_on_ack(&window(10.0, f64::INFINITY, 1.0), &ack(20.0)), 18.0 * MSS);
    }

    #[test]
    fn later_slow_starts_are_not_its_own() {
        assert!(!state().rules(&window(2.0, 20.0, 1.0)));
    }
}
