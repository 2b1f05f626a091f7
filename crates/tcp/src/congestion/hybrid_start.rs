//! Hybrid slow start (HyStart), Ha & Rhee 2011 (`ha2011taming`), as Linux has it in `tcp_cubic`: slow start ends when a round's
//! ACKs have come in one train for half the least round trip, or when its round trips have grown. HyStart++
//! ([`hystart`](super::hystart)) is its successor.
//!
//! The train is timed by its ACKs, not by packet pairs, and its length is compared with half the least round trip (the paper: with
//! the forward delay that packet pairs estimate). Where segments are paced the whole round trip counts, as pacing spreads them
//! over half of it.

use units::{Duration, Packets, Range, Time, params, words};

use crate::congestion::control::Ack;
use crate::window::Window;

words! {
    /// What ends hybrid slow start.
    pub enum Detect {
        /// Either of the two.
        Both = "both",
        /// A train of ACKs that lasts for half the least round trip.
        Train = "train",
        /// Round trips that have grown.
        Delay = "delay",
    }
}

params! {
    /// Hybrid slow start: cwnd doubles a round trip, until ACKs that follow each other closely span half the least round
    /// trip, or the least round trip of a round has grown by an eighth. There is no limit for an ACK.
    pub struct HybridStart: "hybrid" {
        /// What ends it.
        detect: Detect = (Detect::Both), in Range::ANY, from "ha2011taming §4; Linux, hystart_detect: 3";
        /// Window below which it never ends.
        low_window: Packets = (Packets(16.0)), in Range::between(2.0, 1000.0), from "ha2011taming §4; Linux, hystart_low_window: 16";
        /// Greatest time between two ACKs of a train.
        ack_spacing: Duration = (Duration::from_millis(2)), in Range::above(0.0), from "Linux, hystart_ack_delta_us: 2000";
        /// Round trips of a round that are taken before its least is judged.
        samples: Packets = (Packets(8.0)), in Range::between(1.0, 1000.0).whole(), from "ha2011taming §4: 8";
        /// Least growth of the round trip that ends it.
        min_growth: Duration = (Duration::from_millis(4)), in Range::above(0.0), from "ha2011taming §4: 4 ms";
        /// Greatest growth that it bears; between the two it is an eighth of the least round trip.
        max_growth: Duration = (Duration::from_millis(16)), in Range::above(0.0), from "ha2011taming §4: 16 ms";
    }
}

/// No round trip measured.
const NONE: Duration = Duration(u64::MAX);
/// Most that hosts may hold ACKs back, and the bytes that they hold at most (Linux, hystart_ack_delay: four bursts of 64 KiB).
const HELD: Duration = Duration::from_millis(1);
const HELD_BYTES: f64 = 4.0 * 65_536.0;

/// State of hybrid slow start.
#[derive(Clone, Debug)]
pub struct HybridState {
    params: HybridStart,
    /// Least round trip since the last timeout.
    least: Duration,
    /// Least round trip of this round, and how many were taken.
    this_round: Duration,
    samples: u32,
    round_began: Time,
    last_ack: Time,
    found: bool,
}

impl HybridState {
    /// Before the first ACK.
    pub fn new(params: &HybridStart) -> Self {
        HybridState {
            params: params.clone(),
            least: NONE,
            this_round: NONE,
            samples: 0,
            round_began: Time::ZERO,
            last_ack: Time::ZERO,
            found: false,
        }
    }

    /// Every ACK. Whether slow start ends with it, at cwnd as it is. `paced`: segments are spaced.
    pub fn observe(&mut self, w: &Window, ack: &Ack, paced: bool) -> bool {
        let Some(rtt) = ack.rtt else { return false };
        self.least = self.least.min(rtt);
        if self.found || w.cwnd >= w.ssthresh {
            return false;
        }
        if ack.round {
            (self.round_began, self.last_ack) = (ack.now, ack.now);
            (self.this_round, self.samples) = (NONE, 0);
        }
        if w.cwnd < self.params.low_window.0 * w.smss {
            return false;
        }
        if self.params.detect != Detect::Delay {
            self.found = self.ends_train(w, ack, paced);
        }
        if self.params.detect != Detect::Train {
            self.found |= self.has_grown(rtt);
        }
        self.found
    }

    fn ends_train(&mut self, w: &Window, ack: &Ack, paced: bool) -> bool {
        if ack.now.since(self.last_ack) > self.params.ack_spacing {
            return false;
        }
        self.last_ack = ack.now;
        let rate = 2.0 * w.cwnd / ack.srtt.seconds().max(1e-9);
        let held = HELD.min(Duration::from_seconds(HELD_BYTES / rate));
        let least = self.least + held;
        let longest = if paced { least } else { Duration(least.0 / 2) };
        ack.now.since(self.round_began) > longest
    }

    fn has_grown(&mut self, rtt: Duration) -> bool {
        self.this_round = self.this_round.min(rtt);
        if f64::from(self.samples) < self.params.samples.0 {
            self.samples += 1;
            return false;
        }
        let growth = Duration(self.least.0 / 8).min(self.params.max_growth).max(self.params.min_growth);
        self.this_round > self.least + growth
    }

    /// A timeout: slow start begins again, and knows nothing.
    pub fn on_timeout(&mut self) {
        (self.least, self.found) = (NONE, false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::control::defaults;
    use crate::congestion::harness::{MSS, ack_at, window};

    fn state(detect: Detect) -> HybridState {
        HybridState::new(&HybridStart { detect, ..defaults() })
    }

    /// A round of ACKs so many ms apart, with this round trip: where in it slow start ended.
    fn round(h: &mut HybridState, began_ms: u64, n: u64, spacing_ms: f64, rtt_ms: f64) -> Option<u64> {
        (0..n).find(|&i| {
            let mut a = ack_at((began_ms as f64 + i as f64 * spacing_ms) / 1e3, rtt_ms / 1e3, 1.0);
            a.round = i == 0;
            h.observe(&window(20.0, f64::INFINITY, 20.0), &a, false)
        })
    }

    /// With 40 ms and a millisecond of delay in hosts, ACKs 2 ms apart for more than 20.5 ms.
    #[test]
    fn a_train_of_half_a_round_trip_ends_it() {
        let mut h = state(Detect::Both);
        assert_eq!(round(&mut h, 0, 11, 2.0, 40.0), None);
        assert_eq!(round(&mut h, 40, 20, 2.0, 40.0), Some(11));
        assert_eq!(round(&mut h, 80, 20, 2.0, 40.0), None, "once");
        let mut apart = state(Detect::Train);
        assert_eq!(round(&mut apart, 0, 20, 2.1, 40.0), None, "no train");
        let mut by_delay = state(Detect::Delay);
        assert_eq!(round(&mut by_delay, 0, 20, 2.0, 40.0), None);
    }

    /// After eight round trips of a round the ninth judges: more than an eighth of 40 ms above the least.
    #[test]
    fn growth_of_the_round_trip_ends_it() {
        let mut h = state(Detect::Both);
        assert_eq!(round(&mut h, 0, 10, 4.0, 40.0), None);
        assert_eq!(round(&mut h, 40, 10, 4.0, 45.0), None);
        assert_eq!(round(&mut h, 90, 10, 4.0, 45.1), Some(8));
        h.on_timeout();
        assert_eq!(round(&mut h, 900, 10, 4.0, 60.0), None, "nothing is known after a timeout");
    }

    #[test]
    fn below_sixteen_segments_or_above_ssthresh_nothing_ends() {
        for (cwnd, ssthresh) in [(15.0, f64::INFINITY), (20.0, 20.0)] {
            let mut h = state(Detect::Both);
            for i in 0..100 {
                let mut a = ack_at(f64::from(i) / 1e3, 0.04 + f64::from(i), 1.0);
                a.round = i == 0;
                assert!(!h.observe(&window(cwnd, ssthresh, cwnd), &a, false));
            }
        }
        assert_eq!(MSS, 1000.0);
    }
}
