//! F-RTO (RFC 5682, `rfc5682`): after a timeout the sender retransmits only the first segment. If
//! the next two ACKs acknowledge new data although no other segment was retransmitted, the timeout
//! was spurious. RFC 5682 §2.1 is the basic algorithm, and RFC 5682 §3.1 is the algorithm with
//! SACK.

use units::words;

use net::Seq;

words! {
    /// Tests that recognize a spurious timeout.
    pub enum FrtoKind {
        /// The sender does not check whether a timeout was spurious.
        Off = "off",
        /// The next two ACKs decide whether a timeout was spurious (RFC 5682 §2).
        Basic = "basic",
        /// The next two ACKs and their SACK blocks decide whether a timeout was spurious, if SACK
        /// is negotiated (RFC 5682 §3).
        Sack = "sack",
        /// The test is that of `sack` with one difference. Only the delivery of a segment that was
        /// sent once, before the timeout, shows that the timeout was spurious (Linux).
        Original = "original",
    }
}

/// State of the test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Frto {
    /// No test is in progress.
    #[default]
    Off,
    /// Step 1 is complete: the first segment was retransmitted.
    Retransmitted,
    /// Step 2b is complete: new data was sent after the first ACK.
    SentNew,
}

/// Effect of an ACK on the F-RTO test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No F-RTO test is in progress, or the ACK does not decide the test.
    Nothing,
    /// The timeout was genuine: the sender recovers as usual.
    Lost,
    /// The sender sends up to two new segments (step 2b).
    SendNew,
    /// The timeout was spurious (step 3b).
    Spurious,
}

/// Properties of an ACK that the F-RTO test with SACK evaluates.
#[derive(Clone, Copy, Debug)]
pub struct SackedAck {
    /// True if the ACK cumulatively acknowledges new data.
    pub advances: bool,
    /// True if the ACK is a duplicate ACK or SACKs new data.
    pub duplicate: bool,
    /// True if the ACK delivers data, cumulatively or by SACK.
    pub delivers: bool,
    /// True if the ACK acknowledges all data that was in flight at the timeout.
    pub reaches_recover: bool,
    /// True if the ACK acknowledges or SACKs data that was sent after the timeout.
    pub passes_recover: bool,
    /// True if the sender has unsent data and the receive window permits the sender to send it.
    pub can_send: bool,
}

impl Frto {
    /// Process an ACK, with SACK (RFC 5682 §3.1).
    pub fn on_sacked_ack(&mut self, ack: SackedAck) -> Verdict {
        let was = std::mem::take(self);
        match was {
            Frto::Off => Verdict::Nothing,
            Frto::Retransmitted if !ack.advances => {
                *self = was; // RFC 5682 §3.1, step 2: a duplicate ACK continues the test
                Verdict::Nothing
            }
            Frto::Retransmitted if ack.reaches_recover || !ack.can_send => Verdict::Lost, // RFC 5682 §3.1, steps 2a and 2b
            Frto::Retransmitted => {
                *self = Frto::SentNew;
                Verdict::SendNew
            }
            Frto::SentNew if !ack.advances && !ack.duplicate => {
                *self = was; // RFC 5682 §3.1: "Other types of ACKs are ignored"
                Verdict::Nothing
            }
            Frto::SentNew if ack.passes_recover || !ack.delivers => Verdict::Lost, // RFC 5682 §3.1, step 3a
            Frto::SentNew => Verdict::Spurious,                                    // RFC 5682 §3.1, step 3b
        }
    }

    /// Process an ACK, without SACK (RFC 5682 §2.1). `advances` is true if the ACK advances SND.UNA
    /// and acknowledges all retransmitted data. `recover` is the end of the data that was sent
    /// before the timeout. `can_send` is true if the sender has unsent data and the receive window
    /// permits the sender to send it.
    pub fn on_ack(&mut self, advances: bool, ack: Seq, recover: Seq, can_send: bool) -> Verdict {
        match *self {
            Frto::Off => Verdict::Nothing,
            Frto::Retransmitted if advances && ack.before(recover) && can_send => {
                *self = Frto::SentNew;
                Verdict::SendNew
            }
            Frto::Retransmitted => {
                *self = Frto::Off;
                Verdict::Lost // RFC 5682 §2.1, step 2a: a duplicate ACK, an ACK of everything, or no new data to send
            }
            Frto::SentNew => {
                *self = Frto::Off;
                if advances { Verdict::Spurious } else { Verdict::Lost } // RFC 5682 §2.1, step 3
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(acks: &[(bool, u32)]) -> Vec<Verdict> {
        let mut f = Frto::Retransmitted;
        acks.iter().map(|&(advances, ack)| f.on_ack(advances, Seq(ack), Seq(10), true)).collect()
    }

    /// RFC 5682 §3.1: after the first ACK that acknowledges new data, the sender may send new data.
    /// The second ACK shows a spurious timeout if it acknowledges data sent before the timeout. The
    /// second ACK shows a loss if it is a duplicate ACK that delivers nothing, or if it
    /// acknowledges data sent after the timeout.
    #[test]
    fn with_sack_the_second_ack_decides_the_test() {
        let advances = SackedAck {
            advances: true,
            duplicate: false,
            delivers: true,
            reaches_recover: false,
            passes_recover: false,
            can_send: true,
        };
        let sacks = SackedAck { advances: false, duplicate: true, ..advances };
        let update = SackedAck { advances: false, delivers: false, ..advances };
        let third = [
            (advances, Verdict::Spurious),
            (sacks, Verdict::Spurious),
            (SackedAck { passes_recover: true, ..sacks }, Verdict::Lost),
            (SackedAck { delivers: false, ..sacks }, Verdict::Lost),
            (update, Verdict::Nothing),
        ];
        for (ack, verdict) in third {
            let mut f = Frto::Retransmitted;
            assert_eq!(f.on_sacked_ack(sacks), Verdict::Nothing);
            assert_eq!(f.on_sacked_ack(advances), Verdict::SendNew);
            assert_eq!(f.on_sacked_ack(ack), verdict);
        }
        for ack in
            [SackedAck { reaches_recover: true, ..advances }, SackedAck { can_send: false, ..advances }]
        {
            assert_eq!(Frto::Retransmitted.on_sacked_ack(ack), Verdict::Lost);
        }
    }

    #[test]
    fn two_acks_of_new_data_show_a_spurious_timeout_and_a_duplicate_a_loss() {
        assert_eq!(run(&[(true, 2), (true, 3)]), [Verdict::SendNew, Verdict::Spurious]);
        assert_eq!(run(&[(true, 2), (false, 2)]), [Verdict::SendNew, Verdict::Lost]);
        assert_eq!(run(&[(false, 1), (true, 2)]), [Verdict::Lost, Verdict::Nothing]);
        assert_eq!(run(&[(true, 10)]), [Verdict::Lost]);
    }
}
