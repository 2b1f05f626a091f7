//! F-RTO, RFC 5682 §2.1 (`rfc5682`): after a timeout only the first segment is sent again; if the next two
//! ACKs advance although nothing else was retransmitted, the timeout was spurious.

use net::Seq;

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

impl Frto {
    /// An ACK arrived. `advances`: it acknowledges new data, and all that was sent again; `recover`: the end of what was
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

    #[test]
    fn two_advances_are_spurious_and_a_duplicate_is_a_loss() {
        assert_eq!(run(&[(true, 2), (true, 3)]), [Verdict::SendNew, Verdict::Spurious]);
        assert_eq!(run(&[(true, 2), (false, 2)]), [Verdict::SendNew, Verdict::Lost]);
        assert_eq!(run(&[(false, 1), (true, 2)]), [Verdict::Lost, Verdict::Nothing]);
        assert_eq!(run(&[(true, 10)]), [Verdict::Lost]);
    }
}
