//! TS.Recent, and protection against old segments (PAWS, RFC 7323 §5).

use net::Seq;
use units::{Duration, Time};

use super::Receiver;

/// Return the time in units of 2^40 ps (1.1 s), which is sufficient for the age of TS.Recent.
fn age_clock(now: Time) -> u32 {
    (now.0 >> 40) as u32
}

/// Maximum age of TS.Recent: 24 days (RFC 7323 §5.5), in units of the coarse clock.
const MAX_AGE: u32 = (Duration::from_millis(24 * 86_400_000).0 >> 40) as u32;

impl Receiver {
    /// Return true if a timestamp is old (PAWS, RFC 7323 §5.3, R1). After an idle time longer than
    /// 24 days no timestamp counts as old (RFC 7323 §5.5).
    #[inline]
    pub fn is_stale(&self, now: Time, value: u32) -> bool {
        (value.wrapping_sub(self.ts_recent) as i32) < 0 && age_clock(now) - self.ts_recent_at <= MAX_AGE
    }

    /// Process the timestamp of an acceptable segment (RFC 7323 §4.3; §5.3, R3).
    #[inline]
    pub fn on_timestamp(&mut self, now: Time, value: u32, seq: Seq) {
        if !seq.after(self.last_ack) && !self.is_stale(now, value) {
            self.set_ts_recent(now, value);
        }
    }

    /// Set TS.Recent.
    #[inline]
    pub fn set_ts_recent(&mut self, now: Time, value: u32) {
        (self.ts_recent, self.ts_recent_at) = (value, age_clock(now));
    }
}
