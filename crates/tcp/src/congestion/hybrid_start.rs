//! Hybrid slow start (HyStart), Ha & Rhee 2011 (`ha2011taming`), in the form of Linux's
//! `tcp_cubic`.
//!
//! Slow start ends when the ACKs of a round arrive as one train that lasts half the minimum
//! round-trip time, or when round-trip times have grown. HyStart++ ([`hystart`](super::hystart)) is
//! the successor of hybrid slow start.
//!
//! The duration of a train of ACKs is measured from the arrival times of the ACKs. Packet pairs are
//! not used. The duration of the train is compared with half the minimum round-trip time, whereas
//! Ha & Rhee 2011 compare it with the forward delay that packet pairs estimate. If segments are
//! paced, the duration of the train is compared with the whole minimum round-trip time, because
//! pacing alone spreads the segments over half of a round-trip time.

use net::{Rule, rules};
use units::{Duration, Packets, Range, Time, params, words};

use crate::congestion::event::Ack;
use crate::window::Window;

words! {
    /// Condition that ends hybrid slow start.
    pub enum Detect {
        /// A long train of ACKs or grown round-trip times: the condition that occurs first ends
        /// hybrid slow start.
        Both = "both",
        /// A train of ACKs lasts half the minimum round-trip time.
        Train = "train",
        /// Round-trip times have grown.
        Delay = "delay",
    }
}

params! {
    /// Hybrid slow start. cwnd doubles per round trip until closely spaced ACKs span half the
    /// minimum round-trip time, or until the minimum round-trip time of a round has grown by an
    /// eighth. The increase per ACK is not limited.
    pub struct HybridStart: "hybrid" {
        /// Condition that ends hybrid slow start.
        detect: Detect = (Detect::Both), in Range::ANY, from "ha2011taming §4; Linux, hystart_detect: 3";
        /// Window below which hybrid slow start does not end.
        low_window: Packets = (Packets(16.0)), in Range::between(2.0, 1000.0), from "ha2011taming §4; Linux, hystart_low_window: 16";
        /// Maximum interval between two consecutive ACKs of a train.
        ack_spacing: Duration = (Duration::from_millis(2)), in Range::above(0.0), from "Linux, hystart_ack_delta_us: 2000";
        /// Number of round-trip times that are measured in a round before their minimum is
        /// evaluated.
        samples: Packets = (Packets(8.0)), in Range::between(1.0, 1000.0).whole(), from "ha2011taming §4: 8";
        /// Minimum growth of the round-trip time that ends hybrid slow start.
        min_growth: Duration = (Duration::from_millis(4)), in Range::above(0.0), from "ha2011taming §4: 4 ms";
        /// Growth of the round-trip time that always ends hybrid slow start. The threshold is an
        /// eighth of the minimum round-trip time, limited to the range from `min_growth` to
        /// `max_growth`.
        max_growth: Duration = (Duration::from_millis(16)), in Range::above(0.0), from "ha2011taming §4: 16 ms";
    }
}

rules! {
    /// Slow start ended without congestion, because a train of ACKs lasted half the minimum
    /// round-trip time. ssthresh is cwnd.
    TRAIN = "hystart-ack-train", from "ha2011taming §4; Linux, tcp_cubic: hystart_update";
    /// Slow start ended without congestion, because the minimum round-trip time of a round had
    /// grown. ssthresh is cwnd.
    DELAY = "hystart-delay", from "ha2011taming §4; Linux, tcp_cubic: hystart_update";
}

/// Value of a round-trip time before its first measurement.
const UNMEASURED: Duration = Duration(u64::MAX);
/// Maximum time by which hosts delay ACKs (Linux, hystart_ack_delay).
const MAX_ACK_DELAY: Duration = Duration::from_millis(1);
/// Volume of data, in bytes, that the sender can send during the delay of ACKs in hosts: four
/// bursts of 64 KiB (Linux, hystart_ack_delay).
const ACK_DELAY_BYTES: f64 = 4.0 * 65_536.0;

/// State of hybrid slow start in a connection.
#[derive(Clone, Debug)]
pub struct HybridState {
    params: HybridStart,
    /// Minimum round-trip time since the last timeout.
    min_rtt: Duration,
    /// Minimum round-trip time of this round.
    round_min_rtt: Duration,
    /// Number of round-trip times that were measured in this round.
    samples: u32,
    round_start: Time,
    last_ack: Time,
    /// Condition that ended slow start, or `None` before slow start ends.
    exit: Option<Exit>,
}

/// Condition that ended slow start.
#[derive(Clone, Copy, Debug)]
enum Exit {
    Train,
    Delay,
}

impl HybridState {
    /// Create the state of hybrid slow start in a connection before its first ACK.
    pub fn new(params: &HybridStart) -> Self {
        HybridState {
            params: params.clone(),
            min_rtt: UNMEASURED,
            round_min_rtt: UNMEASURED,
            samples: 0,
            round_start: Time::ZERO,
            last_ack: Time::ZERO,
            exit: None,
        }
    }

    /// Observe an ACK, and return true if slow start ends at the current cwnd. `paced` is true if
    /// segments are paced.
    pub fn observe(&mut self, w: &Window, ack: &Ack, paced: bool) -> bool {
        let Some(rtt) = ack.rtt else { return false };
        self.min_rtt = self.min_rtt.min(rtt);
        if self.exit.is_some() || w.cwnd >= w.ssthresh {
            return false;
        }
        if ack.round {
            (self.round_start, self.last_ack) = (ack.now, ack.now);
            (self.round_min_rtt, self.samples) = (UNMEASURED, 0);
        }
        if w.cwnd < self.params.low_window.0 * w.smss {
            return false;
        }
        if self.params.detect != Detect::Delay && self.train_is_long(w, ack, paced) {
            self.exit = Some(Exit::Train);
        }
        if self.params.detect != Detect::Train && self.rtt_has_grown(rtt) {
            self.exit.get_or_insert(Exit::Delay);
        }
        self.exit.is_some()
    }

    /// Return the rule that ended slow start.
    pub fn rule(&self) -> &'static Rule {
        match self.exit {
            Some(Exit::Delay) => &DELAY,
            _ => &TRAIN,
        }
    }

    /// Return true if the current train of ACKs lasts long enough to end slow start.
    fn train_is_long(&mut self, w: &Window, ack: &Ack, paced: bool) -> bool {
        if ack.now.since(self.last_ack) > self.params.ack_spacing {
            return false;
        }
        self.last_ack = ack.now;
        let rate = 2.0 * w.cwnd / ack.srtt.seconds().max(1e-9);
        let ack_delay = MAX_ACK_DELAY.min(Duration::from_seconds(ACK_DELAY_BYTES / rate));
        let min_rtt = self.min_rtt + ack_delay;
        let max_train = if paced { min_rtt } else { Duration(min_rtt.0 / 2) };
        ack.now.since(self.round_start) > max_train
    }

    /// Return true if the minimum round-trip time of this round has grown enough to end slow start.
    fn rtt_has_grown(&mut self, rtt: Duration) -> bool {
        self.round_min_rtt = self.round_min_rtt.min(rtt);
        if f64::from(self.samples) < self.params.samples.0 {
            self.samples += 1;
            return false;
        }
        let growth = Duration(self.min_rtt.0 / 8).min(self.params.max_growth).max(self.params.min_growth);
        self.round_min_rtt > self.min_rtt + growth
    }

    /// Restart after a timeout: slow start begins again without measurements.
    pub fn on_timeout(&mut self) {
        (self.min_rtt, self.exit) = (UNMEASURED, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::harness::{MSS, ack_at, window};
    use units::param::defaults;

    fn state(detect: Detect) -> HybridState {
        HybridState::new(&HybridStart { detect, ..defaults() })
    }

    /// Observe `n` ACKs at intervals of `spacing_ms`, and return the index of the ACK that ended
    /// slow start.
    fn round(h: &mut HybridState, start_ms: u64, n: u64, spacing_ms: f64, rtt_ms: f64) -> Option<u64> {
        (0..n).find(|&i| {
            let mut a = ack_at((start_ms as f64 + i as f64 * spacing_ms) / 1e3, rtt_ms / 1e3, 1.0);
            a.round = i == 0;
            h.observe(&window(20.0, f64::INFINITY, 20.0), &a, false)
        })
    }

    /// The minimum round-trip time is 40 ms and the delay of ACKs in hosts is 1 ms, so a train of
    /// ACKs must last longer than (40 + 1)/2 = 20.5 ms to end slow start. A train with an ACK every
    /// 2 ms lasts longer.
    #[test]
    fn train_of_half_a_round_trip_ends_slow_start() {
        let mut h = state(Detect::Both);
        assert_eq!(round(&mut h, 0, 11, 2.0, 40.0), None);
        assert_eq!(round(&mut h, 40, 20, 2.0, 40.0), Some(11));
        assert_eq!(h.rule(), &TRAIN);
        assert_eq!(round(&mut h, 80, 20, 2.0, 40.0), None, "slow start ends once");
        let mut apart = state(Detect::Train);
        assert_eq!(round(&mut apart, 0, 20, 2.1, 40.0), None, "ACKs 2.1 ms apart are not a train");
        let mut by_delay = state(Detect::Delay);
        assert_eq!(round(&mut by_delay, 0, 20, 2.0, 40.0), None);
    }

    /// The ninth round-trip time of a round ends slow start if the minimum has grown by more than
    /// an eighth of 40 ms.
    #[test]
    fn growth_of_the_round_trip_time_ends_slow_start() {
        let mut h = state(Detect::Both);
        assert_eq!(round(&mut h, 0, 10, 4.0, 40.0), None);
        assert_eq!(round(&mut h, 40, 10, 4.0, 45.0), None);
        assert_eq!(round(&mut h, 90, 10, 4.0, 45.1), Some(8));
        assert_eq!(h.rule(), &DELAY);
        h.on_timeout();
        assert_eq!(round(&mut h, 900, 10, 4.0, 60.0), None, "a timeout resets the measurements");
    }

    #[test]
    fn slow_start_continues_below_16_segments_and_is_over_above_ssthresh() {
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
