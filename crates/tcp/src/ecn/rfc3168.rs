//! Classic ECN in TCP, RFC 3168 §6.1 (`rfc3168`).

use net::Flags;

use super::choices::EcnEcho;

/// Flags of a SYN from an endpoint that offers ECN (§6.1.1: an ECN-setup SYN).
pub const SETUP_SYN: Flags = Flags(Flags::ECE.0 | Flags::CWR.0);

/// Whether a SYN or SYN-ACK with these flags is an ECN-setup one (§6.1.1).
pub fn is_setup(flags: Flags) -> bool {
    if flags.has(Flags::ACK) { flags.has(Flags::ECE) && !flags.has(Flags::CWR) } else { flags.has(SETUP_SYN) }
}

/// The ECN state of an endpoint: as a sender of data and as a receiver.
#[derive(Clone, Copy, Debug, Default)]
pub struct EcnState {
    /// The window was cut: the next new data segment says so.
    cwr_due: bool,
    /// A mark arrived and the sender has not said CWR since.
    echoing: bool,
    /// A mark arrived that is not acknowledged yet.
    marked: bool,
    /// An ECN-capable packet arrived.
    seen: bool,
}

impl EcnState {
    /// Data arrived: CWR stops the echo but for marks that are not acknowledged yet, and a mark on the same segment
    /// starts it again. An ACK carries ECN-Echo "if the CE codepoint is set in any of the data packets being
    /// acknowledged" (§6.1.3).
    #[inline]
    pub fn on_data(&mut self, cwr: bool, ce: bool, echo: EcnEcho) {
        self.marked = ce || (self.marked && echo == EcnEcho::Rfc3168);
        self.echoing = self.marked || (self.echoing && !cwr);
    }

    /// An ECN-capable packet arrived, or another: whether this one comes after such, so that it is likely sent again.
    #[inline]
    pub fn is_repeated(&mut self, capable: bool) -> bool {
        self.seen |= capable;
        self.seen && !capable
    }

    /// Whether an ACK carries ECN-Echo now.
    #[inline]
    pub fn echoes(&self) -> bool {
        self.echoing
    }

    /// An ACK of everything that arrived goes out.
    #[inline]
    pub fn on_ack_sent(&mut self) {
        self.marked = false;
    }

    /// The window was cut, for whatever reason (§6.1.2).
    pub fn on_cwnd_reduction(&mut self) {
        self.cwr_due = true;
    }

    /// Whether the next new data segment carries CWR.
    #[inline]
    pub fn must_send_cwr(&self) -> bool {
        self.cwr_due
    }

    /// CWR is said, once.
    #[inline]
    pub fn on_cwr_sent(&mut self) {
        self.cwr_due = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// §6.1.1: the combinations that are and are not a setup.
    #[test]
    fn only_the_setup_flags_negotiate() {
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

    /// §6.1.3: CWR does not take back what no ACK has said yet; on Linux it does.
    #[test]
    fn a_mark_is_echoed_once_at_least() {
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
    fn cwr_is_said_once_a_cut() {
        let mut e = EcnState::default();
        assert!(!e.must_send_cwr());
        e.on_cwnd_reduction();
        assert!(e.must_send_cwr());
        e.on_cwr_sent();
        assert!(!e.must_send_cwr());
    }
}
