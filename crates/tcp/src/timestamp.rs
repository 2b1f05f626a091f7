//! Clock of the timestamps option, whose unit the sender also uses to store other times.

use units::Time;

/// Return the value of the timestamp clock in milliseconds (RFC 7323 §5.4: the unit is between 1 ms
/// and 1 s).
pub fn timestamp(now: Time) -> u32 {
    (now.0 / 1_000_000_000) as u32
}
