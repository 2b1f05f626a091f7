//! Reno (`reno`), RFC 5681 (`rfc5681`): slow start, congestion avoidance, and a halved window after
//! congestion.
//!
//! [`growth`](super::growth) contains slow start and congestion avoidance. NewReno differs from
//! Reno only in loss recovery.

use net::Rule;
use serde_json::json;
use units::param::Json;
use units::{Range, Time, params};

use crate::congestion::control::{Ack, Congestion, CongestionControl, Control, decreased};
use crate::congestion::growth::{Avoidance, Growth};
use crate::congestion::slow_start::{self, SlowStart};
use crate::window::{Window, Windows};

params! {
    /// Congestion control of Reno. Slow start doubles cwnd per round trip, and congestion avoidance
    /// adds one segment per round trip. Congestion reduces cwnd to half of the FlightSize. The key
    /// `recovery.method` selects Reno's or NewReno's loss recovery.
    pub struct Reno: "reno" {
        /// Slow start.
        slow_start: SlowStart = (SlowStart::standard()), in Range::ANY, from "rfc5681 §3.1";
        /// Unit that congestion avoidance counts to increase cwnd: ACK, byte, or window of bytes.
        avoidance: Avoidance = (Avoidance::PerAck), in Range::ANY, from "rfc5681 §3.1";
    }
}

impl Control for Reno {
    type State = RenoState;

    fn new_state(&self, _: &Window) -> Self::State {
        RenoState::new(self)
    }

    fn linux_defaults() -> Json {
        json!({"slow_start": slow_start::linux_defaults(), "avoidance": "per-window"})
    }
}

/// State of Reno in a connection.
#[derive(Clone, Debug)]
pub struct RenoState {
    growth: Growth,
}

impl RenoState {
    /// Create the state of Reno in a connection before the first ACK of the connection.
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

    fn ssthresh_on_congestion(&mut self, w: &Window, congestion: Congestion, _now: Time) -> f64 {
        self.growth.on_congestion(congestion);
        decreased(w, 0.5, congestion)
    }

    fn ssthresh_on_ack(&mut self, _: &Window) -> Option<f64> {
        self.growth.take_slow_start_exit()
    }

    #[inline]
    fn needs_measurements(&self) -> bool {
        self.growth.needs_measurements()
    }

    #[inline(always)]
    fn byte_growth(&mut self) -> Option<&mut Growth> {
        Some(&mut self.growth)
    }

    fn rule_of_ack(&self, window: &Window, after: Windows) -> &'static Rule {
        self.growth.rule(window, after, None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::harness::{MSS, ack, window};
    use units::Read;
    use units::param::defaults;

    fn reno() -> RenoState {
        RenoState::new(&defaults())
    }

    #[test]
    fn slow_start_adds_at_most_one_segment_per_ack() {
        let mut r = reno();
        assert_eq!(r.cwnd_on_ack(&window(4.0, 20.0, 4.0), &ack(2.0)), 5000.0);
        assert_eq!(r.cwnd_on_ack(&window(4.0, 20.0, 4.0), &ack(0.3)), 4300.0);
    }

    #[test]
    fn congestion_avoidance_adds_one_segment_per_round_trip() {
        let mut r = reno();
        let mut w = window(10.0, 5.0, 10.0);
        for _ in 0..10 {
            w.cwnd = r.cwnd_on_ack(&w, &ack(1.0));
        }
        assert!((w.cwnd - 10_960.0).abs() < 5.0, "{}", w.cwnd);
    }

    /// RFC 3465 §2.1 and §2.3: with L = 2 cwnd doubles per round trip under delayed ACKs, but not
    /// after a timeout. A window of acknowledged bytes increases cwnd by exactly one segment, for
    /// any number of ACKs.
    #[test]
    fn byte_counting_does_not_depend_on_the_number_of_acks() {
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
        r.ssthresh_on_congestion(
            &window(11.0, 5.0, 11.0),
            Congestion::Timeout { repeated: false },
            Time::ZERO,
        );
        assert_eq!(r.cwnd_on_ack(&window(1.0, 5.0, 1.0), &ack(3.0)), 2000.0);
    }

    /// RFC 3465 §2.3: "a TCP MUST use L=1*SMSS" after a timeout, even if L is otherwise unlimited.
    /// If L did not limit the increase, an ACK of a whole window after a spurious timeout would
    /// increase cwnd by the whole window, beyond ssthresh. The slow start of Linux stops at
    /// ssthresh instead.
    #[test]
    fn unlimited_slow_start_is_limited_after_a_timeout() {
        for (at_ssthresh, after) in [("passes", 2.0), ("stops", 30.0)] {
            let slow_start =
                serde_json::json!({"kind": "standard", "limit": "255 packets", "at_ssthresh": at_ssthresh});
            let params = Reno {
                slow_start: SlowStart::read(&slow_start, "").unwrap(),
                avoidance: Avoidance::PerWindow,
            };
            let mut r = RenoState::new(&params);
            assert_eq!(r.cwnd_on_ack(&window(10.0, 500.0, 10.0), &ack(300.0)), 310.0 * MSS);
            r.ssthresh_on_congestion(
                &window(60.0, 500.0, 60.0),
                Congestion::Timeout { repeated: false },
                Time::ZERO,
            );
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
        // Round 1 adds 10 segments. Round 2 adds 8 segments up to its eighth measured round-trip
        // time, and 2 × 1/4 segment afterwards. The following four rounds of Conservative Slow
        // Start (CSS) add 10 segments. Congestion avoidance begins at the second ACK after CSS.
        let ssthresh = 10.0 + 10.0 + 8.0 + 0.5 + 10.0;
        assert_eq!(w.ssthresh, ssthresh * 1000.0);
        assert!(w.cwnd > w.ssthresh && w.cwnd < w.ssthresh + 1000.0);
    }

    #[test]
    fn ssthresh_is_half_the_flight_size_and_unchanged_by_a_repeated_timeout() {
        let mut flight = reno();
        assert_eq!(
            flight.ssthresh_on_congestion(&window(50.0, 20.0, 13.0), Congestion::Ecn, Time::ZERO),
            6_500.0
        );
        assert_eq!(
            flight.ssthresh_on_congestion(
                &window(1.0, 7.0, 1.0),
                Congestion::Timeout { repeated: true },
                Time::ZERO
            ),
            7_000.0
        );
    }
}
