//! What is learnt from reordering: its degree, and how RACK's window widens, as Linux has both (net/ipv4/tcp_input.c,
//! net/ipv4/tcp_recovery.c).

use units::words;

words! {
    /// What reordering that was seen changes.
    pub enum ReorderingRules {
        /// RACK's window alone, and every D-SACK widens it, once a round trip (RFC 8985 §6.2).
        Rfc8985 = "rfc8985",
        /// Also `duplicate_acks`: what comes late by more segments than that makes it so many, until a timeout after as many SACKs as
        /// at first. A D-SACK widens RACK's window only after reordering, and unless it is of a tail loss probe (Linux, tcp_check_sack_reordering,
        /// tcp_rack_update_reo_wnd).
        Linux = "linux",
    }
}

words! {
    /// Whether an ACK that acknowledges nothing, but SACKs something, opens cwnd.
    pub enum SackedGrowth {
        /// No ACK of that kind does (RFC 5681 §3.1: an ACK that acknowledges new data does).
        None = "none",
        /// Each does once the degree of reordering is more than `duplicate_acks` (Linux, tcp_may_raise_cwnd).
        Reordered = "once-reordered",
    }
}

words! {
    /// What a duplicate ACK tells of where there is no SACK.
    pub enum WithoutSack {
        /// That a segment has left the network (RFC 5681 §3.2).
        Left = "left",
        /// Also that it is delivered: it counts at once, and what is acknowledged later counts without it, but for one segment. More of them than
        /// segments that may have arrived are reordering (Linux, tcp_add_reno_sack, tcp_remove_reno_sacks, tcp_check_reno_reordering).
        Delivered = "delivered",
    }
}

/// The degree of reordering (Linux, tp->reordering), and the D-SACKs that tell of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReorderingDegree {
    segments: u16,
    reported: u32,
}

impl ReorderingDegree {
    /// As it is at first.
    pub fn new(initial: u32) -> Self {
        ReorderingDegree { segments: initial as u16, reported: 0 }
    }

    /// Segments delivered behind another before that one is lost (DupThresh).
    pub fn segments(&self) -> u32 {
        u32::from(self.segments)
    }

    /// Something came so many bytes late (tcp_check_sack_reordering).
    pub fn on_late(&mut self, bytes: u32, smss: u32, max: u32) {
        let segments = bytes.div_ceil(smss.max(1)).min(max) as u16;
        if bytes > u32::from(self.segments) * smss {
            self.segments = segments;
        }
    }

    /// There were more duplicate ACKs than segments that may have arrived, of so many out (tcp_check_reno_reordering).
    pub fn on_excess_duplicates(&mut self, out: u32, max: u32) {
        self.segments = out.min(max) as u16;
    }

    /// The timer expired although so many segments were SACKed, and there was no recovery (tcp_enter_loss).
    pub fn on_timeout(&mut self, sacked: u32, initial: u32) {
        if sacked >= initial {
            self.segments = self.segments.min(initial as u16);
        }
    }

    /// A D-SACK tells of so many segments: whether that is no more than were sent again (tcp_dsack_seen).
    pub fn is_credible(&mut self, segments: u32, retransmitted: u32) -> bool {
        self.reported = self.reported.saturating_add(segments);
        self.reported <= retransmitted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_grows_by_what_is_later_and_a_timeout_ends_it() {
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
    fn more_duplicates_than_retransmissions_are_the_networks() {
        let mut d = ReorderingDegree::new(3);
        assert!(d.is_credible(1, 1) && !d.is_credible(1, 1) && !d.is_credible(1, 2));
    }
}
