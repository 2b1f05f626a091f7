//! What a path does to ECN fields, as far as the feedback of Accurate ECN shows it (RFC 9768 §3.2.2.3, `rfc9768`).

use net::{Ecn, Seq};

/// Round trips in which every packet must be marked before that is taken for mangling ("the first three or four
/// rounds").
const ROUNDS: u8 = 3;

/// Whether a path that lets a packet arrive so mangles: not-ECT changed, ECT was cleared, or CE changed (§3.2.2.3).
pub fn mangles(sent: Ecn, arrived: Ecn) -> bool {
    match sent {
        Ecn::NotEct | Ecn::Ce => arrived != sent,
        Ecn::Ect0 | Ecn::Ect1 => arrived == Ecn::NotEct,
    }
}

/// Looks for marks on every packet of the first round trips (§3.2.2.3).
#[derive(Clone, Copy, Debug, Default)]
pub struct ContinuousMarking {
    /// Round trips that were marked throughout, and where the present one ends.
    rounds: u8,
    ends: Option<Seq>,
    /// A packet arrived without mark.
    over: bool,
}

impl ContinuousMarking {
    /// An ACK up to `ack` is of so many packets, of which so many were marked; `max`: what was sent by then. Whether
    /// this has now been so for three round trips.
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

    /// §3.2.2.3: the transitions of RFC 3168 §18 that are invalid, or unsafe for a host.
    #[test]
    fn unsafe_transitions() {
        for (sent, arrived) in [(NotEct, Ect0), (NotEct, Ce), (Ect0, NotEct), (Ect1, NotEct), (Ce, Ect0)] {
            assert!(mangles(sent, arrived));
        }
        for (sent, arrived) in [(NotEct, NotEct), (Ect0, Ect0), (Ect0, Ce), (Ect1, Ce), (Ce, Ce)] {
            assert!(!mangles(sent, arrived));
        }
    }

    #[test]
    fn three_round_trips_of_marks_alone() {
        for unmarked in [None, Some(5)] {
            let (mut test, mut found) = (ContinuousMarking::default(), 0);
            for n in 1..10u32 {
                let marked = if unmarked == Some(n) { 1 } else { 2 };
                found += u32::from(test.on_ack((2, marked), Seq(2 * n), Seq(2 * n + 4)));
            }
            assert_eq!(found, u32::from(unmarked.is_none()));
        }
    }
}
