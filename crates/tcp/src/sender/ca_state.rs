//! Where a sender stands between two losses.

/// The state of congestion avoidance, in Linux's names (tcp_ca_state), of which Disorder follows from what is SACKed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CaState {
    /// Nothing is amiss.
    #[default]
    Open,
    /// The window comes down after ECN-Echo.
    Cwr,
    /// Losses are repaired.
    Recovery,
    /// After a timeout.
    Loss,
}
