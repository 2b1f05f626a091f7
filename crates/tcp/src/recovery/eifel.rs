//! Eifel: detection of a spurious retransmission by timestamps (RFC 3522 §3, `rfc3522`) or by
//! D-SACK (RFC 3708 §3, `rfc3708`), and the response to a spurious retransmission (RFC 4015 §3,
//! `rfc4015`).

use crate::window::Window;

/// State of the sender at the beginning of a recovery. If the recovery was spurious, the sender
/// restores cwnd and ssthresh from `Undo`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Undo {
    /// True if the sender can undo the recovery.
    pub armed: bool,
    /// RetransmitTS: timestamp of the first retransmission; `None` if no retransmission was sent,
    /// or if segments carry no timestamps.
    pub retransmit_ts: Option<u32>,
    /// cwnd at the beginning of the recovery.
    pub cwnd: f64,
    /// ssthresh before the recovery.
    pub ssthresh: f64,
    /// FlightSize at the beginning of the recovery.
    pub flight: f64,
    /// Number of retransmissions that no D-SACK has reported as duplicates.
    pub outstanding: u32,
}

impl Undo {
    /// Return the state at the beginning of a recovery.
    pub fn begin(w: &Window) -> Self {
        Undo { armed: true, cwnd: w.cwnd, ssthresh: w.ssthresh, flight: w.flight, ..Undo::default() }
    }

    /// Return the state of the sender at the beginning of a new recovery. `in_flight` is the number
    /// of retransmissions of an earlier recovery that are still in flight. An ACK of an earlier
    /// retransmission echoes the timestamp of that retransmission, and must not count as the ACK of
    /// an original transmission (Linux, tcp_retrans_stamp_cleanup and tcp_init_undo).
    pub fn begin_again(&self, w: &Window, in_flight: u32) -> Self {
        let retransmit_ts = self.retransmit_ts.filter(|_| in_flight > 0);
        Undo { retransmit_ts, outstanding: in_flight, ..Undo::begin(w) }
    }

    /// Prevent an undo from restoring cwnd and ssthresh, because an ACK carried ECE and the
    /// reduction is required (Linux, tcp_fastretrans_alert, prior_ssthresh).
    pub fn keep_reduction(&mut self) {
        (self.cwnd, self.ssthresh) = (0.0, 0.0);
    }

    /// Return true if an undo of the recovery may restore cwnd and ssthresh.
    pub fn restores_window(&self) -> bool {
        self.cwnd > 0.0
    }

    /// Return pipe_prev (RFC 4015 §3.2, step 0).
    pub fn pipe_prev(&self) -> f64 {
        self.ssthresh.max(self.flight)
    }

    /// Record a retransmission and its timestamp.
    pub fn on_retransmit(&mut self, timestamp: Option<u32>) {
        self.outstanding += 1;
        if self.retransmit_ts.is_none() {
            self.retransmit_ts = timestamp;
        }
    }

    /// Return true if an acceptable ACK with this timestamp echo acknowledges the original
    /// transmission (RFC 3522 §3.2, step 5).
    pub fn original_arrived(&self, echo: Option<u32>) -> bool {
        match (self.armed, self.retransmit_ts, echo) {
            (true, Some(sent), Some(echo)) => (echo.wrapping_sub(sent) as i32) < 0,
            _ => false,
        }
    }

    /// Record a duplicate that a D-SACK reports. Return true if every retransmission is now known
    /// to be a duplicate (RFC 3708 §3).
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
    fn an_older_echo_shows_that_the_original_arrived() {
        let mut u = Undo { armed: true, ..Undo::default() };
        assert!(!u.original_arrived(Some(3)));
        u.on_retransmit(Some(7));
        assert!(u.original_arrived(Some(6)) && !u.original_arrived(Some(7)) && !u.original_arrived(None));
    }

    /// The ACK of a retransmission that an earlier recovery sent does not count as the ACK of an
    /// original transmission.
    #[test]
    fn the_next_recovery_retains_the_timestamp_of_a_retransmission_in_flight() {
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
    fn all_retransmissions_must_be_duplicates() {
        let mut u = Undo { armed: true, ..Undo::default() };
        u.on_retransmit(None);
        u.on_retransmit(None);
        assert!(!u.on_duplicate() && u.on_duplicate() && !u.on_duplicate());
    }
}
