//! A bulk transfer: one file, or data without end.

use units::{Range, params};

use crate::size::Size;

params! {
    /// A bulk transfer. The sender opens the connection, writes everything at once and closes; the
    /// receiver closes when the sender has.
    pub struct Bulk: "bulk" {
        /// Size of the file: fixed, or a table of a distribution; absent: data without end, and the run needs a duration.
        size: Option<Size> = (None), in Range::between(1.0, 1e15), from "";
    }
}
