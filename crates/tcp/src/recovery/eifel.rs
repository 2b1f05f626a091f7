//! Eifel: detection of a spurious retransmission by timestamps, RFC 3522 §3 (`rfc3522`), or by D-SACK,
//! RFC 3708 §3 (`rfc3708`); and the response, RFC 4015 §3 (`rfc4015`).

use crate::window::Window;

/// What is kept when a recovery begins, to be taken back if it was for nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Undo {
    /// Whether there is something to take back.
    pub armed: bool,
    /// Timestamp of the first retransmission (RetransmitTS); `None`: it is not out yet, or has none.
    pub retransmit_ts: Option<u32>,
    /// cwnd when the recovery began.
    pub cwnd: f64,
    /// ssthresh before it.
    pub ssthresh: f64,
    /// FlightSize when it began.
    pub flight: f64,
    /// Retransmissions not reported as duplicates yet.
    pub outstanding: u32,
}

impl Undo {
    /// Recovery begins.
    pub fn begin(w: &Window) -> Self {
        Undo { armed: true, cwnd: w.cwnd, ssthresh: w.ssthresh, flight: w.flight, ..Undo::default() }
    }

    /// The same while so many retransmissions of an earlier recovery are in flight: what acknowledges one of them has its
    /// timestamp, and must not be taken for the ACK of an original (Linux, tcp_retrans_stamp_cleanup and tcp_init_undo).
    pub fn begin_again(&self, w: &Window, in_flight: u32) -> Self {
        let retransmit_ts = self.retransmit_ts.filter(|_| in_flight > 0);
        Undo { retransmit_ts, outstanding: in_flight, ..Undo::begin(w) }
    }

    /// Rule out that an undo restores cwnd and ssthresh, because an ACK carried ECE: the reduction is
    /// required (Linux, tcp_fastretrans_alert, prior_ssthresh).
    pub fn keep_reduction(&mut self) {
        (self.cwnd, self.ssthresh) = (0.0, 0.0);
    }

    /// Return whether an undo may restore cwnd and ssthresh.
    pub fn restores_window(&self) -> bool {
        self.cwnd > 0.0
    }

    /// pipe_prev (RFC 4015 §3.2, step 0).
    pub fn pipe_prev(&self) -> f64 {
        self.ssthresh.max(self.flight)
    }

    /// A segment is sent again, with this timestamp.
    pub fn on_retransmit(&mut self, timestamp: Option<u32>) {
        self.outstanding += 1;
        if self.retransmit_ts.is_none() {
            self.retransmit_ts = timestamp;
        }
    }

    /// Whether an acceptable ACK with this echo was caused by the original (RFC 3522 §3.2, step 5).
    pub fn original_arrived(&self, echo: Option<u32>) -> bool {
        match (self.armed, self.retransmit_ts, echo) {
            (true, Some(sent), Some(echo)) => (echo.wrapping_sub(sent) as i32) < 0,
            _ => false,
        }
    }

    /// A D-SACK reports a duplicate: whether every retransmission was one now (RFC 3708 §3).
    pub fn on_duplicate(&mut self) -> bool {
        if self.armed && self.outstanding > 0 {
            self.outstanding -= 1;
            return self.outstanding == 0;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_older_echo_tells_of_the_original() {
        let mut u = Undo { armed: true, ..Undo::default() };
        assert!(!u.original_arrived(Some(3)));
        u.on_retransmit(Some(7));
        assert!(u.original_arrived(Some(6)) && !u.original_arrived(Some(7)) && !u.original_arrived(None));
    }

    /// A retransmission of the recovery before is in flight: its ACK is of no original.
    #[test]
    fn the_next_recovery_keeps_the_timestamp_of_what_is_in_flight() {
        let mut u = Undo { armed: true, ..Undo::default() };
        u.on_retransmit(Some(7));
        let w = crate::congestion::harness::window(10.0, 5.0, 10.0);
        for (in_flight, earlier) in [(1, false), (0, true)] {
            let mut next = u.begin_again(&w, in_flight);
            next.on_retransmit(Some(9));
            assert_eq!((next.original_arrived(Some(7)), next.outstanding), (earlier, in_flight + 1));
        }
    }

    #[test]
    fn every_retransmission_must_be_a_duplicate() {
        let mut u = Undo { armed: true, ..Undo::default() };
        u.on_retransmit(None);
        u.on_retransmit(None);
        assert!(!u.on_duplicate() && u.on_duplicate() && !u.on_duplicate());
    }
}
