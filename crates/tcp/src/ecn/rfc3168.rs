//! Classic ECN in TCP, RFC 3168 §6.1 (`rfc3168`).

use net::Flags;

/// The ECN state of an endpoint: as a sender of data and as a receiver.
#[derive(Clone, Copy, Debug, Default)]
pub struct EcnState {
    /// Both ends agreed to use it.
    negotiated: bool,
    /// The window was cut: the next new data segment says so.
    cwr_due: bool,
    /// A mark arrived and the sender has not said CWR since.
    echoing: bool,
}

impl EcnState {
    /// Whether the connection uses ECN.
    pub fn negotiated(&self) -> bool {
        self.negotiated
    }

    /// Flags of a SYN from an endpoint that offers ECN (§6.1.1: an ECN-setup SYN).
    pub fn setup_syn() -> Flags {
        Flags::ECE | Flags::CWR
    }

    /// A SYN or SYN-ACK arrived at an endpoint that wants ECN: whether it completes the negotiation.
    pub fn on_syn(&mut self, flags: Flags) {
        let setup_syn = !flags.has(Flags::ACK) && flags.has(Flags::ECE | Flags::CWR);
        let setup_syn_ack = flags.has(Flags::ACK | Flags::ECE) && !flags.has(Flags::CWR);
        self.negotiated = setup_syn || setup_syn_ack;
    }

    /// Data arrived: CWR stops the echo, a mark on the same segment starts it again (§6.1.3).
    #[inline]
    pub fn on_data(&mut self, cwr: bool, ce: bool) {
        self.echoing = (self.echoing && !cwr) || (ce && self.negotiated);
    }

    /// Whether an ACK carries ECN-Echo now.
    #[inline]
    pub fn echoes(&self) -> bool {
        self.echoing
    }

    /// The window was cut, for whatever reason (§6.1.2).
    pub fn on_cut(&mut self) {
        self.cwr_due = self.negotiated;
    }

    /// Whether the next new data segment carries CWR.
    #[inline]
    pub fn owes_cwr(&self) -> bool {
        self.cwr_due
    }

    /// CWR is said, once.
    #[inline]
    pub fn say_cwr(&mut self) {
        self.cwr_due = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn negotiated(flags: Flags) -> bool {
        let mut e = EcnState::default();
        e.on_syn(flags);
        e.negotiated()
    }

    /// §6.1.1: the four combinations that are and are not a setup.
    #[test]
    fn only_the_setup_flags_negotiate() {
        assert!(negotiated(Flags::SYN | Flags::ECE | Flags::CWR));
        assert!(negotiated(Flags::SYN | Flags::ACK | Flags::ECE));
        assert!(!negotiated(Flags::SYN));
        assert!(!negotiated(Flags::SYN | Flags::ECE));
        assert!(!negotiated(Flags::SYN | Flags::ACK));
        assert!(!negotiated(Flags::SYN | Flags::ACK | Flags::ECE | Flags::CWR));
    }

    #[test]
    fn the_echo_lasts_from_the_mark_to_cwr() {
        let mut e = EcnState::default();
        e.on_data(false, true);
        assert!(!e.echoes(), "not negotiated");
        e.on_syn(EcnState::setup_syn());
        for (cwr, ce, echoes) in [
            (false, true, true),
            (false, false, true),
            (true, false, false),
            (true, true, true),
            (true, false, false),
        ] {
            e.on_data(cwr, ce);
            assert_eq!(e.echoes(), echoes);
        }
    }

    #[test]
    fn cwr_is_said_once_a_cut() {
        let mut e = EcnState::default();
        e.on_cut();
        assert!(!e.owes_cwr(), "not negotiated");
        e.on_syn(EcnState::setup_syn());
        e.on_cut();
        assert!(e.owes_cwr());
        e.say_cwr();
        assert!(!e.owes_cwr());
    }
}
