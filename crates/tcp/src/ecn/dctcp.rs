//! The DCTCP receiver, RFC 8257 §3.2 (`rfc8257`): ECE follows the marks of the data itself, and when the
//! mark changes, what was received before is acknowledged at once with the old state.

/// DCTCP.CE.
#[derive(Clone, Copy, Debug, Default)]
pub struct CeState {
    /// Whether the last data packet was marked.
    pub marked: bool,
}

impl CeState {
    /// Data arrives: whether the state changed, so that an ACK must go out at once, and before it one with
    /// the old state if one was delayed (steps 1 and 2; figure 1).
    pub fn on_data(&mut self, marked: bool) -> bool {
        std::mem::replace(&mut self.marked, marked) != marked
    }
}
