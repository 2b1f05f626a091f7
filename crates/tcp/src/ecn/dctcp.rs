//! The DCTCP receiver, RFC 8257 §3.2 (`rfc8257`): ECE follows the marks of the data itself, and when the
//! mark changes, what was received before is acknowledged at once with the old state.

/// DCTCP.CE.
#[derive(Clone, Copy, Debug, Default)]
pub struct CeState {
    /// Whether the last data packet was marked.
    pub marked: bool,
}

impl CeState {
    /// Data arrives: whether an ACK with the old state must go out first (figure 1).
    pub fn on_data(&mut self, marked: bool, owes_ack: bool) -> bool {
        let flush = self.marked != marked && owes_ack;
        self.marked = marked;
        flush
    }
}
