//! F-RTO, RFC 5682 (`rfc5682`): after a timeout only the first segment is sent again; if the next two ACKs bring
//! something new although nothing else was retransmitted, the timeout was spurious. §2.1 is the basic algorithm, §3.1
//! the one that knows SACK.

use units::words;

use net::Seq;

words! {
    /// Tests of a timeout.
    pub enum FrtoKind {
        /// None.
        Off = "off",
        /// By the next two ACKs (RFC 5682 §2).
        Basic = "basic",
        /// By SACK too, where there is SACK (RFC 5682 §3).
        Sack = "sack",
        /// As by SACK, and whatever arrives that was sent before the timeout, and only then, ends the test at once (Linux).
        Original = "original",
    }
}

/// Where the test stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Frto {
    /// No test.
    #[default]
    Off,
    /// Step 1 done: the first segment was sent again.
    Retransmitted,
    /// Step 2b done: new data went out after the first ACK.
    SentNew,
}

/// What an ACK says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No test is under way.
    Nothing,
    /// The timeout was real: recover as usual.
    Lost,
    /// Send up to two new segments (step 2b).
    SendNew,
    /// The timeout was spurious (step 3b).
    Spurious,
}

/// What an ACK says, where there is SACK.
#[derive(Clone, Copy, Debug)]
pub struct SackedAck {
    /// It acknowledges new data cumulatively.
    pub advances: bool,
    /// It is a duplicate, or its SACK blocks are news.
    pub duplicate: bool,
    /// It delivers something, in whichever way.
    pub delivers: bool,
    /// It acknowledges all that was out at the timeout.
    pub reaches_recover: bool,
    /// It acknowledges or SACKs something that was sent later.
    pub passes_recover: bool,
    /// There is new data and the receiver has room.
    pub can_send: bool,
}

impl Frto {
    /// An ACK arrived, with SACK (§3.1).
    pub fn on_sacked_ack(&mut self, ack: SackedAck) -> Verdict {
        let was = std::mem::take(self);
        match was {
            Frto::Off => Verdict::Nothing,
            Frto::Retransmitted if !ack.advances => {
                *self = was; // step 2: duplicates are waited out
                Verdict::Nothing
            }
            Frto::Retransmitted if ack.reaches_recover || !ack.can_send => Verdict::Lost, // steps 2a and 2b
            Frto::Retransmitted => {
                *self = Frto::SentNew;
                Verdict::SendNew
            }
            Frto::SentNew if !ack.advances && !ack.duplicate => {
                *self = was; // "Other types of ACKs are ignored"
                Verdict::Nothing
            }
            Frto::SentNew if ack.passes_recover || !ack.delivers => Verdict::Lost, // step 3a
            Frto::SentNew => Verdict::Spurious,                                    // step 3b
        }
    }

    /// An ACK arrived, without SACK (§2.1). `advances`: it acknowledges new data, and all that was sent again; `recover`: the end of what was
    /// sent before the timeout; `can_send`: there is new data and the receiver has room.
    pub fn on_ack(&mut self, advances: bool, ack: Seq, recover: Seq, can_send: bool) -> Verdict {
        match *self {
            Frto::Off => Verdict::Nothing,
            Frto::Retransmitted if advances && ack.before(recover) && can_send => {
                *self = Frto::SentNew;
                Verdict::SendNew
            }
            Frto::Retransmitted => {
                *self = Frto::Off;
                Verdict::Lost // steps 2a: a duplicate, or a part, or everything is acknowledged, or nothing to send
            }
            Frto::SentNew => {
                *self = Frto::Off;
                if advances { Verdict::Spurious } else { Verdict::Lost } // step 3
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

    /// §3.1: the first ACK that advances sends new data; then one that acknowledges something sent before the timeout proves it
    /// spurious, a duplicate of nothing new or one of what was sent since proves the loss.
    #[test]
    fn with_sack_a_duplicate_may_end_the_test() {
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
    fn two_advances_are_spurious_and_a_duplicate_is_a_loss() {
        assert_eq!(run(&[(true, 2), (true, 3)]), [Verdict::SendNew, Verdict::Spurious]);
        assert_eq!(run(&[(true, 2), (false, 2)]), [Verdict::SendNew, Verdict::Lost]);
        assert_eq!(run(&[(false, 1), (true, 2)]), [Verdict::Lost, Verdict::Nothing]);
        assert_eq!(run(&[(true, 10)]), [Verdict::Lost]);
    }
}
