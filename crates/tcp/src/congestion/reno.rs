//! Reno: slow start, congestion avoidance, halving. RFC 5681 (`rfc5681`); the computation of
//! ssthresh from the window: Stevens & Wright 1995, figure 29.16 (`stevens1995tcpip2`).

use crate::config::SsthreshFrom;
use units::Time;

use crate::congestion::{Ack, Congestion, CongestionControl};
use crate::sender::Window;

/// Reno keeps no state of its own.
#[derive(Clone, Copy, Debug)]
pub struct Reno {
    /// From what ssthresh is computed.
    pub ssthresh_from: SsthreshFrom,
}

impl CongestionControl for Reno {
    fn cwnd_on_ack(&mut self, w: &Window, ack: &Ack) -> f64 {
        if w.cwnd < w.ssthresh {
            w.cwnd + f64::from(ack.acked).min(w.smss) // equation 2
        } else {
            w.cwnd + w.smss * w.smss / w.cwnd // equation 3
        }
    }

    fn ssthresh_on(&mut self, w: &Window, congestion: Congestion, _now: Time) -> f64 {
        match self.ssthresh_from {
            // "the value of ssthresh is held constant" when the segment timed out before (§3.1).
            SsthreshFrom::FlightSize if congestion == (Congestion::Timeout { again: true }) => w.ssthresh,
            SsthreshFrom::FlightSize => (w.flight / 2.0).max(2.0 * w.smss), // equation 4
            SsthreshFrom::Window => {
                let segments = (w.usable() / w.smss).floor();
                ((segments / 2.0).floor()).max(2.0) * w.smss
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Duration;

    const MSS: f64 = 1000.0;

    fn window(cwnd: f64, ssthresh: f64, flight: f64) -> Window {
        Window {
            cwnd: cwnd * MSS,
            ssthresh: ssthresh * MSS,
            flight: flight * MSS,
            inflation: 0.0,
            rwnd: 44.9 * MSS,
            smss: MSS,
        }
    }

    fn ack(acked: u32) -> Ack {
        Ack {
            now: Time::ZERO,
            acked,
            delivered: acked,
            marked: 0,
            total_delivered: 0,
            rtt: None,
            srtt: Duration::ZERO,
            min_rtt: Duration(u64::MAX),
            round: false,
            cwnd_limited: true,
            in_recovery: false,
            rate: None,
        }
    }

    fn reno(ssthresh_from: SsthreshFrom) -> Reno {
        Reno { ssthresh_from }
    }

    #[test]
    fn slow_start_adds_at_most_a_segment_an_ack() {
        let mut r = reno(SsthreshFrom::FlightSize);
        assert_eq!(r.cwnd_on_ack(&window(4.0, 20.0, 4.0), &ack(2000)), 5000.0);
        assert_eq!(r.cwnd_on_ack(&window(4.0, 20.0, 4.0), &ack(300)), 4300.0);
    }

    #[test]
    fn congestion_avoidance_adds_a_segment_a_window() {
        let mut r = reno(SsthreshFrom::FlightSize);
        let mut w = window(10.0, 5.0, 10.0);
        for _ in 0..10 {
            w.cwnd = r.cwnd_on_ack(&w, &ack(1000));
        }
        assert!((w.cwnd - 10_960.0).abs() < 5.0, "{}", w.cwnd);
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
