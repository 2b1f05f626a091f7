//! The DCTCP receiver (RFC 8257 §3.2, `rfc8257`): ECE follows the marks of the data. If one of two
//! consecutive packets is marked and the other is not, the receiver acknowledges the data before
//! the second packet at once, with the ECE flag of the earlier data.

/// State DCTCP.CE of a receiver.
#[derive(Clone, Copy, Debug, Default)]
pub struct CeState {
    /// True if the last data packet was marked.
    pub marked: bool,
}

impl CeState {
    /// Record the mark of a data packet. Return true if DCTCP.CE changed, so that the receiver must
    /// send an ACK now. A delayed ACK with the old DCTCP.CE precedes the ACK of the packet (RFC
    /// 8257 §3.2, steps 1 and 2, and figure 1).
    pub fn on_data(&mut self, marked: bool) -> bool {
        std::mem::replace(&mut self.marked, marked) != marked
    }
}
