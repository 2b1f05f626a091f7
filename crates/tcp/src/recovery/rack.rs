//! RACK: what was sent long enough before something that was delivered is lost. RFC 8985 §6 (`rfc8985`).

use net::Seq;
use units::{Duration, Time, words};

words! {
    /// How RACK takes the times of segments.
    pub enum RackTimes {
        /// Exactly, and RACK.rtt is of what was sent last (RFC 8985 §6.2, step 2).
        Rfc8985 = "rfc8985",
        /// In whole microseconds, so that of what went out in the same one the end of higher sequence number counts as later; RACK.rtt is of the last
        /// in sequence that the ACK acknowledges, or else SACKs; an echo tells nothing of what is SACKed (Linux, tcp_rack_advance).
        Linux = "linux",
    }
}

/// What Linux takes for one time: a microsecond.
const TICK: u64 = 1_000_000;
/// Recoveries for which a widened window stays (§6.2, step 4).
const PERSISTS: u32 = 16;

/// State of RACK (§5.3).
#[derive(Clone, Copy, Debug, Default)]
pub struct Rack {
    /// RACK.xmit_ts and RACK.end_seq: of the segment that was sent last among those delivered.
    newest: Option<(Time, Seq)>,
    /// RACK.rtt.
    pub rtt: Duration,
    /// Times are taken as Linux does.
    pub linux_times: bool,
    /// Whether a segment was delivered after one sent later (RACK.reordering_seen).
    pub reordering_seen: bool,
    /// In how many ACKs that was, and where the first such segment of this began.
    pub reorderings: u16,
    late: Option<Seq>,
    /// RACK.fack.
    fack: Option<Seq>,
    /// RACK.reo_wnd_mult.
    multiplier: u32,
    persist: u32,
    dsack_round: Option<Seq>,
    /// As Linux has it: a D-SACK is to widen the window, and what was delivered when one last did.
    dsack_seen: bool,
    widened_at: u64,
}

/// Whether (`a`, `x`) was sent after (`b`, `y`) (§6.2, RACK_sent_after).
pub fn sent_after(a: (Time, Seq), b: (Time, Seq)) -> bool {
    a.0 > b.0 || (a.0 == b.0 && a.1.after(b.1))
}

impl Rack {
    /// The segment sent last, among those newly delivered whose times are no ambiguity (§6.2, step 2).
    /// `last`: when the last of them was sent, as Linux goes through them.
    pub fn on_delivered(&mut self, now: Time, sent: Time, end: Seq, last: Time) {
        self.rtt = if self.linux_times { self.tick(now).since(self.tick(last)) } else { now.since(sent) };
        if self.newest.is_none_or(|newest| sent_after((sent, end), newest)) {
            self.newest = Some((sent, end));
        }
    }

    /// A time as it is compared.
    #[inline]
    pub fn tick(&self, t: Time) -> Time {
        if self.linux_times { Time(t.0 - t.0 % TICK) } else { t }
    }

    /// Detects reordering (§6.2, step 3): an original delivered below the highest delivered.
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

    /// Whether what ends there is no lower than the highest delivered.
    pub fn is_in_order(&self, end: Seq) -> bool {
        self.fack.is_none_or(|fack| !end.before(fack))
    }

    /// An ACK has been gone through. By how many bytes something that it delivered was late.
    pub fn on_ack_end(&mut self) -> u32 {
        self.late.take().map_or(0, |start| self.late_by(start))
    }

    /// What begins at `start` came now: by how many bytes that is behind the highest delivered.
    pub fn late_by(&mut self, start: Seq) -> u32 {
        let Some(fack) = self.fack.filter(|fack| start.before(*fack)) else { return 0 };
        self.reordering_seen = true;
        self.reorderings = self.reorderings.saturating_add(1);
        fack - start
    }

    /// A D-SACK widens the window once a round trip, for sixteen recoveries (§6.2, step 4).
    /// Whether this one does.
    pub fn on_dsack(&mut self, una: Seq, nxt: Seq) -> bool {
        let widens = self.dsack_round.is_none_or(|round| !una.before(round));
        if widens {
            self.dsack_round = Some(nxt);
            self.multiplier = self.multiplier.max(1) + 1;
            self.persist = PERSISTS;
        }
        widens
    }

    /// A D-SACK is to widen the window (Linux, tcp_dsack_seen).
    pub fn schedule_widening(&mut self) {
        self.dsack_seen = true;
    }

    /// Something is delivered of which `by_then` bytes had been when it was sent; `delivered`: with it. A D-SACK widens the window once a round
    /// (Linux, tcp_rack_update_reo_wnd).
    #[inline]
    pub fn on_rate(&mut self, by_then: u64, delivered: u64) {
        if std::mem::take(&mut self.dsack_seen) && by_then >= self.widened_at {
            self.multiplier = (self.multiplier.max(1) + 1).min(255);
            self.widened_at = delivered;
            self.persist = PERSISTS;
        }
    }

    /// D-SACKs ended a recovery: the window stays (Linux, tcp_try_undo_dsack).
    pub fn extend_persistence(&mut self) {
        self.persist = (self.persist + 1).min(PERSISTS);
    }

    /// A recovery from losses ended, with an ACK that did not widen the window.
    pub fn on_recovery_end(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.multiplier = 1;
        }
    }

    /// RACK.reo_wnd (§6.2, step 4).
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

    /// Whether a segment was sent before the newest delivered.
    #[inline]
    pub fn has_overtaken(&self, sent: Time, end: Seq) -> bool {
        let newest =
            |newest: (Time, Seq)| sent < newest.0 || (newest.1.after(end) && !self.is_sent_later(sent));
        self.newest.is_some_and(newest)
    }

    /// Whether a segment was sent before the newest delivered; and if so when it is deemed lost (§6.2,
    /// step 5).
    pub fn lost_at(&self, sent: Time, end: Seq, reordering_window: Duration) -> Option<Time> {
        self.has_overtaken(sent, end).then(|| self.tick(sent) + self.rtt + reordering_window)
    }

    /// Whether what was sent at `sent` is lost when the timer expires (§6.3).
    pub fn is_overdue(&self, now: Time, sent: Time, reordering_window: Duration) -> bool {
        sent + self.rtt + reordering_window <= now
    }

    /// Whether anything sent at `sent` is later than the newest delivered.
    #[inline]
    pub fn is_sent_later(&self, sent: Time) -> bool {
        let tick = Duration(if self.linux_times { TICK } else { 1 });
        self.newest.is_none_or(|newest| sent >= newest.0 + tick) // the newest is at the beginning of its own
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(x: u64) -> Time {
        Time::ZERO + Duration::from_millis(x)
    }

    #[test]
    fn what_was_sent_before_is_lost_a_round_trip_and_the_window_later() {
        let mut r = Rack::default();
        assert_eq!(r.lost_at(ms(0), Seq(1), Duration::ZERO), None);
        r.on_delivered(ms(110), ms(10), Seq(20), ms(10));
        assert_eq!(r.lost_at(ms(5), Seq(10), Duration::from_millis(25)), Some(ms(130)));
        assert_eq!(r.lost_at(ms(10), Seq(10), Duration::ZERO), Some(ms(110)));
        assert_eq!(r.lost_at(ms(10), Seq(30), Duration::ZERO), None);
    }

    #[test]
    fn the_window_is_a_quarter_of_the_round_trip_once_reordering_was_seen() {
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
            "once a round trip"
        );
    }
}
