//! State of congestion avoidance of a sender.

/// State of congestion avoidance, with Linux's names (tcp_ca_state). A sender in Linux's state
/// Disorder is an Open sender whose scoreboard has SACKed segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CaState {
    /// The sender detects no congestion.
    #[default]
    Open,
    /// The sender reduces cwnd in response to ECN-Echo.
    Cwr,
    /// The sender retransmits lost segments after a fast retransmit.
    Recovery,
    /// The sender retransmits after a timeout.
    Loss,
}
