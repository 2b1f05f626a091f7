//! The clock of timestamps, which other memories of time share.

use units::Time;

/// The timestamp clock, in milliseconds (RFC 7323 §5.4: between 1 ms and 1 s).
pub fn timestamp(now: Time) -> u32 {
    (now.0 / 1_000_000_000) as u32
}
