//! Tests for a path that changes ECN fields, from the feedback of Accurate ECN (RFC 9768 §3.2.2.3,
//! `rfc9768`).

use net::{Ecn, Seq};

/// Number of round trips in which every packet must be marked to indicate mangling ("the first
/// three or four rounds").
const ROUNDS: u8 = 3;

/// Return true if the path changed the ECN field improperly: Not-ECT changed, ECT was cleared, or
/// CE changed (RFC 9768 §3.2.2.3).
pub fn mangles(sent: Ecn, arrived: Ecn) -> bool {
    match sent {
        Ecn::NotEct | Ecn::Ce => arrived != sent,
        Ecn::Ect0 | Ecn::Ect1 => arrived == Ecn::NotEct,
    }
}

/// Test for marks on every packet of the first round trips (RFC 9768 §3.2.2.3).
#[derive(Clone, Copy, Debug, Default)]
pub struct ContinuousMarking {
    /// Number of round trips so far in which every packet was marked.
    rounds: u8,
    ends: Option<Seq>,
    /// True if the test for continuous marking, in which every packet is marked, has ended.
    over: bool,
}

impl ContinuousMarking {
    /// Process an ACK with the acknowledgement number `ack`, which acknowledges `packets` packets,
    /// of which `marked` packets were marked. `max` is SND.MAX. Return true if all packets of the
    /// first three round trips were marked.
    pub fn on_ack(&mut self, (packets, marked): (u32, u32), ack: Seq, max: Seq) -> bool {
        self.over |= marked < packets;
        if self.over || packets == 0 {
            return false;
        }
        let ends = *self.ends.get_or_insert(max);
        if ack.before(ends) {
            return false;
        }
        (self.rounds, self.ends) = (self.rounds + 1, None);
        self.over = self.rounds == ROUNDS;
        self.over
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Ecn::{Ce, Ect0, Ect1, NotEct};

    /// RFC 9768 §3.2.2.3: the changes of the ECN field in RFC 3168 §18 that are invalid, or unsafe
    /// for a host.
    #[test]
    fn invalid_transitions_of_the_ecn_field_are_detected() {
        for (sent, arrived) in [(NotEct, Ect0), (NotEct, Ce), (Ect0, NotEct), (Ect1, NotEct), (Ce, Ect0)] {
            assert!(mangles(sent, arrived));
        }
        for (sent, arrived) in [(NotEct, NotEct), (Ect0, Ect0), (Ect0, Ce), (Ect1, Ce), (Ce, Ce)] {
            assert!(!mangles(sent, arrived));
        }
    }

    #[test]
    fn three_round_trips_with_only_marked_packets_indicate_mangling() {
        for unmarked in [None, Some(5)] {
            let (mut test, mut detections) = (ContinuousMarking::default(), 0);
            for n in 1..10u32 {
                let marked = if unmarked == Some(n) { 1 } else { 2 };
                detections += u32::from(test.on_ack((2, marked), Seq(2 * n), Seq(2 * n + 4)));
            }
            assert_eq!(detections, u32::from(unmarked.is_none()));
        }
    }
}
