//! What must hold in every run: each flow's packets are accounted for, and ECN is echoed as
//! RFC 3168 §6.1.3 demands. (The links keep their own ledgers.)

use net::{Ecn, Flags, Packet};

/// Packets of one flow in one direction.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// Handed to the network by the endpoint.
    pub sent: u64,
    /// Handed to the other endpoint by the network.
    pub arrived: u64,
    /// Dropped by a queue.
    pub dropped: u32,
    /// Marked by a queue.
    pub marked: u32,
}

/// What is known of one flow from outside its endpoints.
#[derive(Clone, Copy, Debug, Default)]
pub struct FlowLedger {
    /// Data direction and ACK direction.
    pub ways: [Tally; 2],
    /// Whether the receiver's last ACK carried ECN-Echo.
    echoing: bool,
    /// Whether a marked data packet arrived that was not echoed yet.
    echo_due: bool,
    /// Whether CWR arrived since the echo began.
    cwr_seen: bool,
}

impl FlowLedger {
    /// A data packet arrives at the receiver; `ecn`: the connection uses ECN.
    #[inline]
    pub fn data_arrives(&mut self, packet: &Packet, ecn: bool) {
        if packet.segment.len > 0 {
            self.cwr_seen |= packet.segment.flags.has(Flags::CWR);
            self.echo_due |= ecn && packet.ecn == Ecn::Ce;
        }
    }

    /// The receiver sends an ACK: what is wrong with its echo, if anything.
    #[inline]
    pub fn ack_leaves(&mut self, flags: Flags) -> Option<&'static str> {
        if flags.has(Flags::SYN) {
            return None;
        }
        let echo = flags.has(Flags::ECE);
        let problem = if self.echoing && !echo && !self.cwr_seen {
            Some("ECN-Echo ended before CWR arrived")
        } else if echo && !self.echoing && !self.echo_due {
            Some("ECN-Echo without a marked packet")
        } else {
            None
        };
        if echo && !self.echoing {
            self.cwr_seen = false;
        }
        self.echoing = echo;
        self.echo_due = false;
        problem
    }

    /// The identity of each direction, given the packets that are still in the network.
    pub fn check(&self, inside: [u64; 2]) -> Result<(), String> {
        for (way, (tally, inside)) in self.ways.iter().zip(inside).enumerate() {
            if tally.sent != tally.arrived + u64::from(tally.dropped) + inside {
                let direction = ["data", "ACK"][way];
                return Err(format!(
                    "{direction} packets sent {} are not arrived {} + dropped {} + in the network {inside}",
                    tally.sent, tally.arrived, tally.dropped
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(ecn: Ecn, flags: Flags) -> Packet {
        let mut p = Packet { ecn, ..Packet::default() };
        p.segment.len = 100;
        p.segment.flags = flags;
        p
    }

    #[test]
    fn a_lost_packet_is_caught() {
        let mut f = FlowLedger::default();
        f.ways[0] = Tally { sent: 3, arrived: 1, dropped: 1, marked: 0 };
        assert!(f.check([1, 0]).is_ok());
        assert!(f.check([0, 0]).unwrap_err().contains("data packets sent 3"));
    }

    #[test]
    fn an_echo_that_ends_too_soon_is_caught() {
        let mut f = FlowLedger::default();
        f.data_arrives(&data(Ecn::Ce, Flags::ACK), true);
        assert_eq!(f.ack_leaves(Flags::ACK | Flags::ECE), None);
        assert!(f.ack_leaves(Flags::ACK).is_some());
    }

    #[test]
    fn an_echo_ends_after_cwr_and_begins_with_a_mark() {
        let mut f = FlowLedger::default();
        f.data_arrives(&data(Ecn::Ce, Flags::ACK), true);
        f.ack_leaves(Flags::ACK | Flags::ECE);
        f.data_arrives(&data(Ecn::Ect0, Flags::ACK | Flags::CWR), true);
        assert_eq!(f.ack_leaves(Flags::ACK), None);
        assert!(f.ack_leaves(Flags::ACK | Flags::ECE).is_some());
    }
}
