//! Reasons for drops and marks.

/// Reason for a mark or a drop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The buffer was full.
    Full,
    /// The AQM chose the packet, at random or by its state, to signal congestion early.
    Early,
    /// A value of the AQM, such as the average queue length, exceeded an upper threshold.
    Threshold,
    /// The wire lost the packet.
    Loss,
    /// The packet had errors.
    Corruption,
    /// The wire was down.
    Outage,
    /// A conditioner dropped the packet before the packet reached the queue.
    Policed,
}

impl Why {
    /// All reasons, in the order of [`Why::index`].
    pub const ALL: [Why; 7] =
        [Why::Full, Why::Early, Why::Threshold, Why::Loss, Why::Corruption, Why::Outage, Why::Policed];

    /// Return the word, such as `full`, that stands for the reason in result tables.
    pub fn name(self) -> &'static str {
        match self {
            Why::Full => "full",
            Why::Early => "early",
            Why::Threshold => "threshold",
            Why::Loss => "loss",
            Why::Corruption => "corruption",
            Why::Outage => "outage",
            Why::Policed => "policed",
        }
    }

    /// Return the index of the reason in [`Why::ALL`].
    pub fn index(self) -> usize {
        self as usize
    }
}
