//! What a sender counts.

/// What a sender counted.
#[derive(Clone, Copy, Debug, Default)]
pub struct SenderStats {
    /// Segments with data, retransmissions included.
    pub segments: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Segments sent again, in part or whole.
    pub retransmitted_segments: u64,
    /// Their bytes.
    pub retransmitted_bytes: u64,
    /// Expirations of the retransmission timer.
    pub timeouts: u32,
    /// Fast retransmits.
    pub fast_retransmits: u32,
    /// Cuts of the window on ECN-Echo.
    pub ecn_reductions: u32,
    /// Retransmissions found to be spurious, and taken back.
    pub undone: u32,
    /// Segments that arrived marked, as the other side's feedback says: with classic ECN all that an ACK with ECN-Echo
    /// acknowledges.
    pub delivered_ce: u32,
}

/// The same, as it is kept: all bytes sent follow from those acknowledged, outstanding and sent again.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub retransmitted_segments: u32,
    pub timeouts: u32,
    pub fast_retransmits: u32,
    pub ecn_reductions: u32,
    pub undone: u32,
    pub delivered_ce: u32,
}
