//! Messages now and then over a connection that stays open.

use units::{Duration, Range, params};

use crate::size::Size;
use crate::spacing::Spacing;

params! {
    /// Messages now and then over a connection that stays open. The sender opens the connection and
    /// writes a message after each interval; after the last it closes, and so does the receiver.
    pub struct Messages: "messages" {
        /// Size of a message: fixed, or a table of a distribution.
        size: Size = required, in Range::between(1.0, 1e12), from "";
        /// Mean time between one message and the next, and before the first.
        interval: Duration = required, in Range::above(0.0), from "";
        /// How they are spaced.
        spacing: Spacing = (Spacing::Exponential), in Range::ANY, from "";
        /// How many there are; absent: they never end, and the run needs a duration.
        messages: Option<u64> = (None), in Range::between(1.0, 4e9), from "";
    }
}
