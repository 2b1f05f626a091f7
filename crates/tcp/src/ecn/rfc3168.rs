//! Classic ECN in TCP (RFC 3168 §6.1, `rfc3168`).

use net::Flags;

use super::choices::EcnEcho;

/// Flags of an ECN-setup SYN, which offers ECN (RFC 3168 §6.1.1).
pub const SETUP_SYN: Flags = Flags(Flags::ECE.0 | Flags::CWR.0);

/// Return true if these flags make a SYN or SYN-ACK an ECN-setup packet (RFC 3168 §6.1.1).
pub fn is_setup(flags: Flags) -> bool {
    if flags.has(Flags::ACK) { flags.has(Flags::ECE) && !flags.has(Flags::CWR) } else { flags.has(SETUP_SYN) }
}

/// ECN state of an endpoint, as a sender and as a receiver of data.
#[derive(Clone, Copy, Debug, Default)]
pub struct EcnState {
    /// True if cwnd was reduced and the next new data segment must carry CWR.
    cwr_due: bool,
    /// True if a mark arrived, and no CWR has arrived since the mark.
    echoing: bool,
    /// True if marked data arrived that no ACK has acknowledged.
    marked: bool,
    /// True after an ECN-capable packet arrived.
    seen: bool,
}

impl EcnState {
    /// Process a data segment. A segment with CWR ends the echo of all marks on segments that are
    /// already acknowledged. If the segment with CWR is itself marked, the echo starts again. An
    /// ACK carries ECN-Echo "if the CE codepoint is set in any of the data packets being
    /// acknowledged" (RFC 3168 §6.1.3).
    #[inline]
    pub fn on_data(&mut self, cwr: bool, ce: bool, echo: EcnEcho) {
        self.marked = ce || (self.marked && echo == EcnEcho::Rfc3168);
        self.echoing = self.marked || (self.echoing && !cwr);
    }

    /// Record whether a packet is ECN-capable (`capable`). Return true if the packet is Not-ECT
    /// although an earlier packet was ECN-capable. A Not-ECT packet after an ECN-capable packet is
    /// probably a retransmission.
    #[inline]
    pub fn is_repeated(&mut self, capable: bool) -> bool {
        self.seen |= capable;
        self.seen && !capable
    }

    /// Return true if an ACK sent now carries ECN-Echo.
    #[inline]
    pub fn echoes(&self) -> bool {
        self.echoing
    }

    /// Record an ACK of all received data.
    #[inline]
    pub fn on_ack_sent(&mut self) {
        self.marked = false;
    }

    /// Record a reduction of cwnd for any reason (RFC 3168 §6.1.2).
    pub fn on_cwnd_reduction(&mut self) {
        self.cwr_due = true;
    }

    /// Return true if the next new data segment must carry CWR.
    #[inline]
    pub fn must_send_cwr(&self) -> bool {
        self.cwr_due
    }

    /// Record that a segment carries CWR.
    #[inline]
    pub fn on_cwr_sent(&mut self) {
        self.cwr_due = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 3168 §6.1.1: combinations of flags that offer or accept ECN, and combinations that do
    /// not.
    #[test]
    fn only_ecn_setup_flags_negotiate_ecn() {
        assert!(is_setup(Flags::SYN | Flags::ECE | Flags::CWR));
        assert!(is_setup(Flags::SYN | Flags::ACK | Flags::ECE));
        assert!(!is_setup(Flags::SYN));
        assert!(!is_setup(Flags::SYN | Flags::ECE));
        assert!(!is_setup(Flags::SYN | Flags::ACK));
        assert!(!is_setup(Flags::SYN | Flags::ACK | Flags::ECE | Flags::CWR));
    }

    #[test]
    fn the_echo_lasts_from_the_mark_to_cwr() {
        let mut e = EcnState::default();
        for (cwr, ce, echoes) in [
            (false, false, false),
            (false, true, true),
            (false, false, true),
            (true, false, false),
            (true, true, true),
            (true, false, false),
        ] {
            e.on_data(cwr, ce, EcnEcho::Rfc3168);
            assert_eq!(e.echoes(), echoes);
            e.on_ack_sent();
        }
    }

    /// RFC 3168 §6.1.3: CWR does not cancel the echo of a mark that no ACK has acknowledged, except
    /// on Linux.
    #[test]
    fn a_mark_is_echoed_at_least_once() {
        for (echo, once) in [(EcnEcho::Rfc3168, true), (EcnEcho::Linux, false)] {
            let mut e = EcnState::default();
            e.on_data(false, true, echo);
            e.on_data(true, false, echo);
            assert_eq!(e.echoes(), once);
            e.on_ack_sent();
            e.on_data(true, false, echo);
            assert!(!e.echoes());
        }
    }

    #[test]
    fn cwr_is_sent_once_per_reduction() {
        let mut e = EcnState::default();
        assert!(!e.must_send_cwr());
        e.on_cwnd_reduction();
        assert!(e.must_send_cwr());
        e.on_cwr_sent();
        assert!(!e.must_send_cwr());
    }
}
