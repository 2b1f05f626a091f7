//! Reno: slow start, congestion avoidance, halving. RFC 5681 (`rfc5681`); how cwnd opens is in [`growth`](super::growth).
//! NewReno differs in loss recovery alone.

use serde_json::json;
use units::param::Json;
use units::{Range, Time, params};

use crate::congestion::control::{Ack, Congestion, CongestionControl, Control, decreased};
use crate::congestion::growth::{Avoidance, Growth};
use crate::congestion::slow_start::{self, SlowStart};
use crate::window::Window;

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

impl Control for Reno {
    type State = RenoState;

    fn begin(&self, _: &Window) -> Self::State {
        RenoState::new(self)
    }

    fn in_linux() -> Json {
        json!({"slow_start": slow_start::in_linux(), "avoidance": "per-window"})
    }
}

/// State of Reno.
#[derive(Clone, Debug)]
pub struct RenoState {
    growth: Growth,
}

impl RenoState {
    /// Before the first ACK.
    pub fn new(params: &Reno) -> Self {
        RenoState { growth: Growth::new(&params.slow_start, params.avoidance) }
    }
}

impl CongestionControl for RenoState {
    fn observe(&mut self, w: &Window, ack: &Ack) {
        self.growth.observe(w, ack, false);
    }

    fn cwnd_on_ack(&mut self, w: &Window, ack: &Ack) -> f64 {
        self.growth.cwnd_on_ack(w, ack, 1.0)
    }

    fn ssthresh_on(&mut self, w: &Window, congestion: Congestion, _now: Time) -> f64 {
        self.growth.on_congestion(congestion);
        decreased(w, 0.5, congestion)
    }

    fn ssthresh_on_ack(&mut self, _: &Window) -> Option<f64> {
        self.growth.left_slow_start()
    }

    #[inline]
    fn needs_measurements(&self) -> bool {
        self.growth.measures()
    }

    #[inline(always)]
    fn byte_growth(&mut self) -> Option<&mut Growth> {
        Some(&mut self.growth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::control::defaults;
    use crate::congestion::harness::{MSS, ack, window};
    use units::Read;

    fn reno() -> RenoState {
        RenoState::new(&defaults())
    }

    #[test]
    fn slow_start_adds_at_most_a_segment_an_ack() {
        let mut r = reno();
        assert_eq!(r.cwnd_on_ack(&window(4.0, 20.0, 4.0), &ack(2.0)), 5000.0);
        assert_eq!(r.cwnd_on_ack(&window(4.0, 20.0, 4.0), &ack(0.3)), 4300.0);
    }

    #[test]
    fn congestion_avoidance_adds_a_segment_a_window() {
        let mut r = reno();
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
                at_ssthresh: crate::congestion::slow_start::AtSsthresh::Passes,
            }),
            avoidance: Avoidance::PerWindow,
        };
        let mut r = RenoState::new(&params);
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

    /// RFC 3465 §2.3: "a TCP MUST use L=1*SMSS" after a timeout, also where there is no limit
    /// otherwise: an ACK of a whole window that the timeout had not lost would open cwnd by all of
    /// it, past ssthresh. Linux's stops there.
    #[test]
    fn a_slow_start_without_limit_has_one_after_a_timeout() {
        for (at_ssthresh, after) in [("passes", 2.0), ("stops", 30.0)] {
            let slow_start =
                serde_json::json!({"kind": "standard", "limit": "255 packets", "at_ssthresh": at_ssthresh});
            let params = Reno {
                slow_start: SlowStart::read(&slow_start, "").unwrap(),
                avoidance: Avoidance::PerWindow,
            };
            let mut r = RenoState::new(&params);
            assert_eq!(r.cwnd_on_ack(&window(10.0, 500.0, 10.0), &ack(300.0)), 310.0 * MSS);
            r.ssthresh_on(&window(60.0, 500.0, 60.0), Congestion::Timeout { again: false }, Time::ZERO);
            assert_eq!(r.cwnd_on_ack(&window(1.0, 30.0, 1.0), &ack(30.0)), after * MSS);
        }
    }

    #[test]
    fn hystart_ends_slow_start_at_cwnd() {
        let params = Reno { slow_start: SlowStart::hystart(), avoidance: Avoidance::PerAck };
        let mut r = RenoState::new(&params);
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
        let mut flight = reno();
        assert_eq!(flight.ssthresh_on(&window(50.0, 20.0, 13.0), Congestion::Ecn, Time::ZERO), 6_500.0);
        assert_eq!(
            flight.ssthresh_on(&window(1.0, 7.0, 1.0), Congestion::Timeout { again: true }, Time::ZERO),
            7_000.0
        );
    }
}
