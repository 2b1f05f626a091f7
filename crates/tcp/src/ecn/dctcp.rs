//! The DCTCP receiver (RFC 8257 §3.2, `rfc8257`): ECE follows the marks of the data. When the mark
//! changes, the receiver acknowledges the earlier data at once, with the old state.

/// State DCTCP.CE of a receiver.
#[derive(Clone, Copy, Debug, Default)]
pub struct CeState {
    /// True if the last data packet was marked.
    pub marked: bool,
}

impl CeState {
    /// Record the mark of a data packet. Return true if the state changed, so that an ACK is due
    /// now, preceded by an ACK with the old state if one was delayed (steps 1 and 2; figure 1).
    pub fn on_data(&mut self, marked: bool) -> bool {
        std::mem::replace(&mut self.marked, marked) != marked
    }
}
