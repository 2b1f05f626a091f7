//! TS.Recent, and segments from the past (PAWS, RFC 7323 §5).

use net::Seq;
use units::{Duration, Time};

use super::Receiver;

/// A coarse clock for the age of TS.Recent: 2^40 ps, 1.1 s.
fn age_clock(now: Time) -> u32 {
    (now.0 >> 40) as u32
}

/// 24 days (RFC 7323 §5.5) of that clock.
const MAX_AGE: u32 = (Duration::from_millis(24 * 86_400_000).0 >> 40) as u32;

impl Receiver {
    /// PAWS (RFC 7323 §5.3, R1): whether a timestamp is from the past; of an idle time longer than 24 days nothing can be
    /// told (§5.5).
    #[inline]
    pub fn is_stale(&self, now: Time, value: u32) -> bool {
        (value.wrapping_sub(self.ts_recent) as i32) < 0 && age_clock(now) - self.ts_recent_at <= MAX_AGE
    }

    /// A timestamp arrives with an acceptable segment (RFC 7323 §4.3; §5.3, R3).
    #[inline]
    pub fn on_timestamp(&mut self, now: Time, value: u32, seq: Seq) {
        if !seq.after(self.last_ack) && !self.is_stale(now, value) {
            self.set_ts_recent(now, value);
        }
    }

    /// TS.Recent is this.
    #[inline]
    pub fn set_ts_recent(&mut self, now: Time, value: u32) {
        (self.ts_recent, self.ts_recent_at) = (value, age_clock(now));
    }
}
