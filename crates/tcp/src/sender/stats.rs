//! Statistics of a sender.

/// Statistics of a sender.
#[derive(Clone, Copy, Debug, Default)]
pub struct SenderStats {
    /// Segments with data, including retransmissions.
    pub segments: u64,
    /// Bytes of data sent, including retransmissions.
    pub bytes: u64,
    /// Segments that were retransmitted in whole or in part.
    pub retransmitted_segments: u64,
    /// Bytes of data that were retransmitted.
    pub retransmitted_bytes: u64,
    /// Expirations of the retransmission timer.
    pub timeouts: u32,
    /// Number of fast retransmits.
    pub fast_retransmits: u32,
    /// Reductions of cwnd in response to ECN-Echo.
    pub ecn_reductions: u32,
    /// Recoveries that the sender detected as spurious and undid.
    pub undone: u32,
    /// Segments that arrived marked, according to the other endpoint's feedback. With classic ECN,
    /// all segments that an ACK with ECN-Echo acknowledges count as marked.
    pub delivered_ce: u32,
}

/// Counters that a sender stores. [`SenderStats`] computes the bytes sent from the bytes
/// acknowledged, in flight and retransmitted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub retransmitted_segments: u32,
    pub timeouts: u32,
    pub fast_retransmits: u32,
    pub ecn_reductions: u32,
    pub undone: u32,
    pub delivered_ce: u32,
}
