//! RACK (RFC 8985 §6, `rfc8985`): a segment is lost if another segment that was sent sufficiently
//! later has been delivered.

use net::Seq;
use units::{Duration, Time, words};

words! {
    /// Precision with which RACK compares the send times of segments.
    pub enum RackTimes {
        /// RACK compares exact times. RACK.rtt is the round-trip time of the delivered segment that
        /// was sent last (RFC 8985 §6.2, step 2).
        Rfc8985 = "rfc8985",
        /// RACK compares whole microseconds: of two segments sent in the same microsecond, the one
        /// with the higher end sequence number counts as later. RACK.rtt is the round-trip time of
        /// the segment with the highest sequence number that the ACK acknowledges cumulatively. If
        /// the ACK only SACKs segments, RACK.rtt is the round-trip time of the highest SACKed
        /// segment. The timestamp echo does not decide whether a SACK is ambiguous (Linux,
        /// tcp_rack_advance).
        Linux = "linux",
    }
}

/// Resolution of RACK's times in Linux: one microsecond, which is 1,000,000 picoseconds.
const TICK: u64 = 1_000_000;
/// Number of recoveries for which an enlarged reordering window persists (RFC 8985 §6.2, step 4).
const PERSISTS: u32 = 16;

/// State of RACK (RFC 8985 §5.3).
#[derive(Clone, Copy, Debug, Default)]
pub struct Rack {
    /// RACK.xmit_ts and RACK.end_seq: send time and end sequence number of the delivered segment
    /// that was sent last.
    newest: Option<(Time, Seq)>,
    /// RACK.rtt: round-trip time of the delivered segment that was sent last.
    pub rtt: Duration,
    /// True to compare times as Linux does ([`RackTimes::Linux`]).
    pub linux_times: bool,
    /// RACK.reordering_seen: true after a segment was delivered later than a segment with higher
    /// sequence numbers.
    pub reordering_seen: bool,
    /// Number of ACKs that delivered a reordered segment.
    pub reorderings: u16,
    late: Option<Seq>,
    /// RACK.fack: end sequence number of the highest delivered segment.
    fack: Option<Seq>,
    /// RACK.reo_wnd_mult: multiplier of the reordering window.
    multiplier: u32,
    persist: u32,
    dsack_round: Option<Seq>,
    /// True if a D-SACK has requested a larger reordering window, with Linux's rules.
    dsack_seen: bool,
    widened_at: u64,
}

/// Return true if segment (`a`, `x`) was sent after segment (`b`, `y`) (RFC 8985 §6.2,
/// RACK_sent_after).
pub fn sent_after(a: (Time, Seq), b: (Time, Seq)) -> bool {
    a.0 > b.0 || (a.0 == b.0 && a.1.after(b.1))
}

impl Rack {
    /// Update RACK.xmit_ts and RACK.rtt (RFC 8985 §6.2, step 2). `sent` and `end` describe the
    /// newly delivered segment that was sent last and whose transmission is not ambiguous. `last`
    /// is the send time of the segment that Linux processes last for this ACK.
    pub fn on_delivered(&mut self, now: Time, sent: Time, end: Seq, last: Time) {
        self.rtt = if self.linux_times { self.tick(now).since(self.tick(last)) } else { now.since(sent) };
        if self.newest.is_none_or(|newest| sent_after((sent, end), newest)) {
            self.newest = Some((sent, end));
        }
    }

    /// Return a time rounded down to the precision with which RACK compares times.
    #[inline]
    pub fn tick(&self, t: Time) -> Time {
        if self.linux_times { Time(t.0 - t.0 % TICK) } else { t }
    }

    /// Detect reordering (RFC 8985 §6.2, step 3): a segment that was sent once is delivered below
    /// the highest delivered segment.
    pub fn on_order(&mut self, start: Seq, end: Seq, retransmitted: bool) {
        match self.fack {
            Some(fack) if end.before(fack) => {
                if !retransmitted {
                    self.late =
                        Some(self.late.map_or(start, |late| if start.before(late) { start } else { late }));
                }
            }
            _ => self.fack = Some(end),
        }
    }

    /// Return true if a segment that ends at `end` is not below the highest delivered segment.
    pub fn is_in_order(&self, end: Seq) -> bool {
        self.fack.is_none_or(|fack| !end.before(fack))
    }

    /// Finish an ACK. Return the distance in bytes from the lowest reordered segment of the ACK to
    /// the highest delivered byte; 0 if the ACK delivered no reordered segment.
    pub fn on_ack_end(&mut self) -> u32 {
        self.late.take().map_or(0, |start| self.late_by(start))
    }

    /// Record a reordered segment that begins at `start`. Return the distance of the segment to the
    /// highest delivered byte; 0 if the segment is not below the highest delivered byte.
    pub fn late_by(&mut self, start: Seq) -> u32 {
        let Some(fack) = self.fack.filter(|fack| start.before(*fack)) else { return 0 };
        self.reordering_seen = true;
        self.reorderings = self.reorderings.saturating_add(1);
        fack - start
    }

    /// Enlarge the reordering window for a D-SACK, at most once in a round trip; the larger window
    /// persists for 16 recoveries (RFC 8985 §6.2, step 4). Return true if this D-SACK enlarged the
    /// reordering window.
    pub fn on_dsack(&mut self, una: Seq, nxt: Seq) -> bool {
        let widens = self.dsack_round.is_none_or(|round| !una.before(round));
        if widens {
            self.dsack_round = Some(nxt);
            self.multiplier = self.multiplier.max(1) + 1;
            self.persist = PERSISTS;
        }
        widens
    }

    /// Request a larger reordering window because of a D-SACK (Linux, tcp_dsack_seen).
    pub fn schedule_widening(&mut self) {
        self.dsack_seen = true;
    }

    /// Enlarge the reordering window if a D-SACK has requested it, at most once in a round trip
    /// (Linux, tcp_rack_update_reo_wnd). `by_then` is the total of bytes that had been delivered
    /// when the newly delivered segment was sent. `delivered` is the total of bytes delivered so
    /// far.
    #[inline]
    pub fn on_rate(&mut self, by_then: u64, delivered: u64) {
        if std::mem::take(&mut self.dsack_seen) && by_then >= self.widened_at {
            self.multiplier = (self.multiplier.max(1) + 1).min(255);
            self.widened_at = delivered;
            self.persist = PERSISTS;
        }
    }

    /// Extend the persistence of the reordering window by one recovery, because D-SACKs undid a
    /// recovery (Linux, tcp_try_undo_dsack).
    pub fn extend_persistence(&mut self) {
        self.persist = (self.persist + 1).min(PERSISTS);
    }

    /// Record the end of a recovery that was not followed by an enlargement of the reordering
    /// window.
    pub fn on_recovery_end(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.multiplier = 1;
        }
    }

    /// Return RACK.reo_wnd (RFC 8985 §6.2, step 4).
    pub fn reordering_window(
        &self,
        in_recovery: bool,
        sacked_segments: u32,
        dup_thresh: u32,
        min_rtt: Duration,
        srtt: Duration,
    ) -> Duration {
        if !self.reordering_seen && (in_recovery || sacked_segments >= dup_thresh) {
            return Duration::ZERO;
        }
        if min_rtt.0 == u64::MAX {
            return Duration::ZERO;
        }
        Duration((u64::from(self.multiplier.max(1)) * (min_rtt.0 / 4)).min(srtt.0))
    }

    /// Return true if a segment was sent before the newest delivered segment was sent.
    #[inline]
    pub fn has_overtaken(&self, sent: Time, end: Seq) -> bool {
        let newest =
            |newest: (Time, Seq)| sent < newest.0 || (newest.1.after(end) && !self.is_sent_later(sent));
        self.newest.is_some_and(newest)
    }

    /// If the segment was sent before the delivered segment that was sent last, return the time at
    /// which the segment counts as lost (RFC 8985 §6.2, step 5).
    pub fn lost_at(&self, sent: Time, end: Seq, reordering_window: Duration) -> Option<Time> {
        self.has_overtaken(sent, end).then(|| self.tick(sent) + self.rtt + reordering_window)
    }

    /// Return true if a segment sent at `sent` counts as lost when the retransmission timer expires
    /// (RFC 8985 §6.3).
    pub fn is_overdue(&self, now: Time, sent: Time, reordering_window: Duration) -> bool {
        sent + self.rtt + reordering_window <= now
    }

    /// Return true if every segment with the send time `sent` was sent after the delivered segment
    /// that was sent last.
    #[inline]
    pub fn is_sent_later(&self, sent: Time) -> bool {
        let tick = Duration(if self.linux_times { TICK } else { 1 });
        self.newest.is_none_or(|newest| sent >= newest.0 + tick) // RACK.xmit_ts is at the beginning of its tick
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(x: u64) -> Time {
        Time::ZERO + Duration::from_millis(x)
    }

    #[test]
    fn an_older_segment_is_lost_after_a_round_trip_and_the_reordering_window() {
        let mut r = Rack::default();
        assert_eq!(r.lost_at(ms(0), Seq(1), Duration::ZERO), None);
        r.on_delivered(ms(110), ms(10), Seq(20), ms(10));
        assert_eq!(r.lost_at(ms(5), Seq(10), Duration::from_millis(25)), Some(ms(130)));
        assert_eq!(r.lost_at(ms(10), Seq(10), Duration::ZERO), Some(ms(110)));
        assert_eq!(r.lost_at(ms(10), Seq(30), Duration::ZERO), None);
    }

    #[test]
    fn the_reordering_window_is_a_quarter_of_min_rtt_after_reordering() {
        let mut r = Rack::default();
        let (min, srtt) = (Duration::from_millis(80), Duration::from_millis(100));
        assert_eq!(r.reordering_window(true, 0, 3, min, srtt), Duration::ZERO);
        assert_eq!(r.reordering_window(false, 1, 3, min, srtt), Duration::from_millis(20));
        r.on_order(Seq(20), Seq(30), false);
        r.on_order(Seq(0), Seq(10), true);
        assert_eq!((r.on_ack_end(), r.reordering_seen), (0, false));
        r.on_order(Seq(10), Seq(20), false);
        assert_eq!((r.on_ack_end(), r.reordering_seen), (20, true));
        assert_eq!(r.reordering_window(true, 5, 3, min, srtt), Duration::from_millis(20));
        r.on_dsack(Seq(1), Seq(50));
        r.on_dsack(Seq(2), Seq(60));
        assert_eq!(
            r.reordering_window(true, 5, 3, min, srtt),
            Duration::from_millis(40),
            "enlarged once in a round trip"
        );
    }
}
