//! Reno: slow start, congestion avoidance, halving. RFC 5681 (`rfc5681`); appropriate byte counting:
//! RFC 3465 (`rfc3465`); the computation of ssthresh from the window: Stevens & Wright 1995, figure
//! 29.16 (`stevens1995tcpip2`). NewReno differs in loss recovery alone.

use units::{Range, Time, params, words};

use crate::config::SsthreshFrom;
use crate::congestion::hystart::HystartState;
use crate::congestion::slow_start::SlowStart;
use crate::congestion::{Ack, Congestion, CongestionControl};
use crate::sender::Window;

words! {
    /// What congestion avoidance counts.
    pub enum Avoidance {
        /// Every ACK of new data opens cwnd by SMSS²/cwnd (RFC 5681, equation 3): a segment a window, or half of one if ACKs are delayed.
        PerAck = "per-ack",
        /// Each time a window of bytes is acknowledged, cwnd opens by a segment (RFC 3465 §2.1).
        PerWindow = "per-window",
    }
}

params! {
    /// Reno's congestion control: slow start doubles cwnd a round trip, congestion avoidance adds a
    /// segment a round trip, and congestion halves what is in flight. Whether a loss is repaired as
    /// in Reno or NewReno is the recovery's.
    pub struct Reno: "reno" {
        /// Slow start.
        slow_start: SlowStart = (SlowStart::standard()), in Range::ANY, from "rfc5681 §3.1";
        /// What congestion avoidance counts.
        avoidance: Avoidance = (Avoidance::PerAck), in Range::ANY, from "rfc5681 §3.1";
    }
}

/// State of Reno, and of the part of other controllers that is as in standard TCP.
#[derive(Clone, Debug)]
pub struct RenoState {
    hystart: Option<Box<HystartState>>,
    /// Bytes acknowledged since cwnd last opened (bytes_acked of RFC 3465).
    counted: u32,
    /// L of RFC 3465, in segments.
    limit: u8,
    /// The slow start under way follows a timeout.
    after_timeout: bool,
    avoidance: Avoidance,
    ssthresh_from: SsthreshFrom,
}

impl RenoState {
    /// Whether round trips are to be measured: for HyStart++.
    pub fn measures(&self) -> bool {
        self.hystart.is_some()
    }

    /// Before the first ACK.
    pub fn new(params: &Reno, ssthresh_from: SsthreshFrom) -> Self {
        let (limit, hystart) = match &params.slow_start {
            SlowStart::Standard(standard) => (standard.limit.0 as u8, None),
            SlowStart::Hystart(hystart) => (1, Some(Box::new(HystartState::new(hystart)))),
        };
        let avoidance = params.avoidance;
        RenoState { hystart, counted: 0, limit, after_timeout: false, avoidance, ssthresh_from }
    }

    /// Standard TCP with this slow start.
    pub fn with(slow_start: &SlowStart) -> Self {
        let params = Reno { slow_start: slow_start.clone(), avoidance: Avoidance::PerAck };
        RenoState::new(&params, SsthreshFrom::FlightSize)
    }

    /// cwnd after an ACK in slow start.
    pub fn slow_start(&mut self, w: &Window, ack: &Ack) -> f64 {
        match &mut self.hystart {
            Some(hystart) if hystart.rules(w) => hystart.cwnd_on_ack(w, ack),
            _ => self.standard_slow_start(w.cwnd, w.smss, ack.acked),
        }
    }

    /// RFC 5681, equation 2; RFC 3465 §2.3: L is one segment after a timeout.
    fn standard_slow_start(&self, cwnd: f64, smss: f64, acked: u32) -> f64 {
        let limit = if self.after_timeout { 1.0 } else { f64::from(self.limit) };
        cwnd + f64::from(acked).min(limit * smss)
    }

    /// cwnd after an ACK in congestion avoidance.
    pub fn avoid(&mut self, w: &Window, ack: &Ack) -> f64 {
        self.avoid_from(w.cwnd, w.smss, ack.acked)
    }

    fn avoid_from(&mut self, cwnd: f64, smss: f64, acked: u32) -> f64 {
        self.after_timeout = false;
        match self.avoidance {
            _ if acked == 0 => cwnd,
            Avoidance::PerAck => cwnd + smss * smss / cwnd, // equation 3
            Avoidance::PerWindow => {
                self.counted = self.counted.saturating_add(acked);
                if f64::from(self.counted) < cwnd {
                    return cwnd;
                }
                self.counted -= cwnd as u32;
                cwnd + smss
            }
        }
    }

    /// cwnd after an ACK, if nothing is measured: as [`CongestionControl::cwnd_on_ack`], from what counts.
    #[inline]
    pub fn opened(&mut self, cwnd: f64, ssthresh: f64, smss: f64, acked: u32) -> f64 {
        if cwnd < ssthresh {
            self.standard_slow_start(cwnd, smss, acked)
        } else {
            self.avoid_from(cwnd, smss, acked)
        }
    }

    /// Congestion: what is counted begins anew.
    pub fn on_congestion(&mut self, congestion: Congestion) {
        self.counted = 0;
        self.after_timeout = matches!(congestion, Congestion::Timeout { .. });
    }

    /// Whether slow start has just ended without congestion. Said once.
    pub fn leaves_slow_start(&mut self) -> bool {
        self.hystart.as_mut().is_some_and(|h| h.leaves())
    }
}

impl CongestionControl for RenoState {
    fn cwnd_on_ack(&mut self, w: &Window, ack: &Ack) -> f64 {
        if w.cwnd < w.ssthresh { self.slow_start(w, ack) } else { self.avoid(w, ack) }
    }

    fn ssthresh_on(&mut self, w: &Window, congestion: Congestion, _now: Time) -> f64 {
        self.on_congestion(congestion);
        match self.ssthresh_from {
            // "the value of ssthresh is held constant" when the segment timed out before (§3.1).
            SsthreshFrom::FlightSize | SsthreshFrom::Cwnd
                if congestion == (Congestion::Timeout { again: true }) =>
            {
                w.ssthresh
            }
            SsthreshFrom::FlightSize | SsthreshFrom::Cwnd => (w.flight / 2.0).max(2.0 * w.smss), // equation 4
            SsthreshFrom::Window => {
                let segments = (w.usable() / w.smss).floor();
                ((segments / 2.0).floor()).max(2.0) * w.smss
            }
        }
    }

    fn ssthresh_on_ack(&mut self, w: &Window) -> Option<f64> {
        self.leaves_slow_start().then_some(w.cwnd)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::harness::{ack, window};

    fn reno(ssthresh_from: SsthreshFrom) -> RenoState {
        RenoState::new(&super::super::defaults(), ssthresh_from)
    }

    #[test]
    fn slow_start_adds_at_most_a_segment_an_ack() {
        let mut r = reno(SsthreshFrom::FlightSize);
        assert_eq!(r.cwnd_on_ack(&window(4.0, 20.0, 4.0), &ack(2.0)), 5000.0);
        assert_eq!(r.cwnd_on_ack(&window(4.0, 20.0, 4.0), &ack(0.3)), 4300.0);
    }

    #[test]
    fn congestion_avoidance_adds_a_segment_a_window() {
        let mut r = reno(SsthreshFrom::FlightSize);
        let mut w = window(10.0, 5.0, 10.0);
        for _ in 0..10 {
            w.cwnd = r.cwnd_on_ack(&w, &ack(1.0));
        }
        assert!((w.cwnd - 10_960.0).abs() < 5.0, "{}", w.cwnd);
    }

    /// RFC 3465 §2.1 and §2.3: L = 2 doubles cwnd a round trip under delayed ACKs, but not after a
    /// timeout; a window of bytes opens it by exactly a segment, however they are acknowledged.
    #[test]
    fn byte_counting() {
        let params = Reno {
            slow_start: SlowStart::Standard(crate::congestion::slow_start::Standard {
                limit: units::Packets(2.0),
            }),
            avoidance: Avoidance::PerWindow,
        };
        let mut r = RenoState::new(&params, SsthreshFrom::FlightSize);
        assert_eq!(r.cwnd_on_ack(&window(4.0, 20.0, 4.0), &ack(2.0)), 6000.0);
        assert_eq!(r.cwnd_on_ack(&window(4.0, 20.0, 4.0), &ack(3.0)), 6000.0);
        for (acks, each) in [(10, 1.0), (5, 2.0), (40, 0.25)] {
            let mut w = window(10.0, 5.0, 10.0);
            for i in 0..acks {
                assert_eq!(w.cwnd, 10_000.0, "ACK {i}");
                w.cwnd = r.cwnd_on_ack(&w, &ack(each));
            }
            assert_eq!(w.cwnd, 11_000.0);
        }
        r.ssthresh_on(&window(11.0, 5.0, 11.0), Congestion::Timeout { again: false }, Time::ZERO);
        assert_eq!(r.cwnd_on_ack(&window(1.0, 5.0, 1.0), &ack(3.0)), 2000.0);
    }

    #[test]
    fn hystart_ends_slow_start_at_cwnd() {
        let params = Reno { slow_start: SlowStart::hystart(), avoidance: Avoidance::PerAck };
        let mut r = RenoState::new(&params, SsthreshFrom::FlightSize);
        let mut w = window(10.0, f64::INFINITY, 10.0);
        for ms in [50, 60, 60, 60, 60, 60, 60] {
            for i in 0..10 {
                let mut a = ack(1.0);
                (a.round, a.rtt) = (i == 0, Some(units::Duration::from_millis(ms)));
                w.cwnd = r.cwnd_on_ack(&w, &a);
                w.ssthresh = r.ssthresh_on_ack(&w).unwrap_or(w.ssthresh);
            }
        }
        // Round 1: 10; round 2: 8 until the eighth sample, then a quarter; 4 rounds of CSS: 10; then
        // avoidance from the second ACK on.
        let left = 10.0 + 10.0 + 8.0 + 0.5 + 10.0;
        assert_eq!(w.ssthresh, left * 1000.0);
        assert!(w.cwnd > w.ssthresh && w.cwnd < w.ssthresh + 1000.0);
    }

    #[test]
    fn ssthresh_is_half_of_what_it_is_computed_from() {
        let mut flight = reno(SsthreshFrom::FlightSize);
        assert_eq!(flight.ssthresh_on(&window(50.0, 20.0, 13.0), Congestion::Ecn, Time::ZERO), 6_500.0);
        assert_eq!(flight.ssthresh_on(&window(50.0, 20.0, 1.0), Congestion::Ecn, Time::ZERO), 2_000.0);
        assert_eq!(
            flight.ssthresh_on(&window(1.0, 7.0, 1.0), Congestion::Timeout { again: true }, Time::ZERO),
            7_000.0
        );
        let mut window_based = reno(SsthreshFrom::Window);
        assert_eq!(
            window_based.ssthresh_on(&window(50.0, 20.0, 13.0), Congestion::Ecn, Time::ZERO),
            22_000.0
        );
        assert_eq!(
            window_based.ssthresh_on(&window(13.7, 20.0, 13.0), Congestion::FastRetransmit, Time::ZERO),
            6_000.0
        );
        assert_eq!(
            window_based.ssthresh_on(
                &window(1.0, 20.0, 1.0),
                Congestion::Timeout { again: true },
                Time::ZERO
            ),
            2_000.0
        );
    }
}
