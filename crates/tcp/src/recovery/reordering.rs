//! Adaptation to reordering: the reordering degree and the enlargement of RACK's reordering window,
//! as Linux implements both (net/ipv4/tcp_input.c, net/ipv4/tcp_recovery.c).

use units::words;

words! {
    /// Responses to detected reordering.
    pub enum ReorderingRules {
        /// Only RACK's reordering window responds to reordering. Every D-SACK enlarges RACK's
        /// reordering window, at most once per round trip (RFC 8985 §6.2).
        Rfc8985 = "rfc8985",
        /// The threshold `duplicate_acks` also responds to reordering: if a segment is late by more
        /// segments than the threshold, the threshold becomes the number of segments by which it is
        /// late. A timeout with at least `duplicate_acks` SACKed segments resets the threshold. A
        /// D-SACK enlarges RACK's reordering window only after reordering was detected, and not if
        /// the D-SACK reports a tail loss probe (Linux, tcp_check_sack_reordering,
        /// tcp_rack_update_reo_wnd).
        Linux = "linux",
    }
}

words! {
    /// Effect on cwnd of an ACK that SACKs data but acknowledges no data cumulatively.
    pub enum SackedGrowth {
        /// An ACK that only SACKs data does not increase cwnd, because only a cumulative ACK of new
        /// data increases cwnd (RFC 5681 §3.1).
        None = "none",
        /// Meaning of a duplicate ACK for a sender without SACK.
        Reordered = "once-reordered",
    }
}

words! {
    /// Meaning of a duplicate ACK for a sender without SACK.
    pub enum WithoutSack {
        /// A duplicate ACK shows that a segment has left the network, but does not count it as
        /// delivered (RFC 5681 §3.2).
        Left = "left",
        /// A duplicate ACK counts a segment as delivered at once. A later cumulative ACK counts
        /// only the segments that no duplicate ACK has counted. More duplicate ACKs than segments
        /// that can have arrived indicate reordering (Linux, tcp_add_reno_sack,
        /// tcp_remove_reno_sacks, tcp_check_reno_reordering).
        Delivered = "delivered",
    }
}

/// Reordering degree (Linux, tp->reordering), and the number of segments that D-SACKs reported.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReorderingDegree {
    segments: u16,
    reported: u32,
}

impl ReorderingDegree {
    /// Return the reordering degree at the beginning of a connection.
    pub fn new(initial: u32) -> Self {
        ReorderingDegree { segments: initial as u16, reported: 0 }
    }

    /// Return the reordering degree, which serves as DupThresh.
    pub fn segments(&self) -> u32 {
        u32::from(self.segments)
    }

    /// Raise the reordering degree for a segment that was delivered `bytes` bytes late
    /// (tcp_check_sack_reordering).
    pub fn on_late(&mut self, bytes: u32, smss: u32, max: u32) {
        let segments = bytes.div_ceil(smss.max(1)).min(max) as u16;
        if bytes > u32::from(self.segments) * smss {
            self.segments = segments;
        }
    }

    /// Set the reordering degree, because more duplicate ACKs arrived than segments can have
    /// arrived at the receiver (tcp_check_reno_reordering). `out` is the number of segments in
    /// flight.
    pub fn on_excess_duplicates(&mut self, out: u32, max: u32) {
        self.segments = out.min(max) as u16;
    }

    /// Reset the reordering degree at a timeout outside recovery, if at least `initial` segments
    /// were SACKed (tcp_enter_loss).
    pub fn on_timeout(&mut self, sacked: u32, initial: u32) {
        if sacked >= initial {
            self.segments = self.segments.min(initial as u16);
        }
    }

    /// Count segments that a D-SACK reports. Return true if the number of segments that D-SACKs
    /// reported does not exceed the number of retransmitted segments (tcp_dsack_seen).
    pub fn is_credible(&mut self, segments: u32, retransmitted: u32) -> bool {
        self.reported = self.reported.saturating_add(segments);
        self.reported <= retransmitted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_segment_raises_the_degree_and_a_timeout_resets_it() {
        let mut d = ReorderingDegree::new(3);
        let mut after = |bytes| {
            d.on_late(bytes, 1000, 300);
            d.segments()
        };
        assert_eq!([after(3000), after(3001), after(2000), after(400_000)], [3, 4, 4, 300]);
        d.on_timeout(2, 3);
        assert_eq!(d.segments(), 300);
        d.on_timeout(3, 3);
        assert_eq!(d.segments(), 3);
    }

    #[test]
    fn more_duplicates_than_retransmissions_are_not_credible() {
        let mut d = ReorderingDegree::new(3);
        assert!(d.is_credible(1, 1) && !d.is_credible(1, 1) && !d.is_credible(1, 2));
    }
}
