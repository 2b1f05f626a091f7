//! What an impairment does to a packet.

use net::Why;
use units::Duration;

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// It goes on.
    Pass,
    /// It is lost.
    Lose(Why),
    /// It goes on with errors that only its receiver notices.
    Damage,
    /// A copy follows it, this much later.
    Double(Duration),
    /// It is held for this long.
    Hold(Duration),
}
