//! Prague's fall-back (RFC 9331 §4.3, item 3, and Appendix A.1.5, `rfc9331`): in a queue that a classic AQM shares out among
//! Reno and its kin, marks are answered as Reno answers them.
//!
//! A queue longer than an L4S queue would let it become says that the AQM may be a classic one, no more: PI2 with a single queue keeps
//! as long a queue and couples its marks, so that halving for each of them leaves next to nothing. "The sender can measure that
//! switching to Classic behaviour was wrong so that it can switch back" (A.1.5); how is ours: where marks are not coupled, a scalable
//! control that gives up drives their share down, from 2/W of its own window to the 1.5/W² of Reno's, to a fifth with eight
//! Reno flows beside it and further with fewer; where they are coupled it falls to a half or a third, as the others' windows grow. (Beside
//! more flows than that the two look alike, and the fall-back ends.) The authors' report
//! (the RFC's [ecn-fallback]) scores the variance of round trips instead, which tells these two apart as little as the delay does.

use units::words;

use crate::congestion::control::Ack;

words! {
    /// What Prague does when marks seem to come from a classic AQM in a shared queue.
    pub enum Fallback {
        /// Nothing: every mark is answered in proportion.
        Off = "off",
        /// Its window is halved on marks, as Reno's is, while the smoothed queueing delay exceeds a threshold, unless that shows the marks to be coupled.
        Delay = "delay",
    }
}

/// Round trips since the first mark before the window is taken for settled, and then those over which the share is counted.
const SETTLING: u32 = 128;
const COUNTING: u32 = 128;
/// Marked segments in which a trial takes effect: those of the window before it, and of the time in which others grow.
const PASSED_OVER: f64 = 10.0;
/// Marked segments after these by which it is judged, so many times.
const SEEN: f64 = 30.0;
const TIMES: u8 = 5;
/// By how much their share must have fallen.
const FALLEN: f64 = 4.0;

/// Bytes delivered, and those of them that were marked.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Share {
    delivered: f64,
    marked: f64,
}

impl Share {
    fn and(self, ack: &Ack) -> Self {
        Share {
            delivered: self.delivered + f64::from(ack.delivered),
            marked: self.marked + f64::from(ack.marked),
        }
    }

    fn value(self) -> f64 {
        self.marked / self.delivered.max(1.0)
    }
}

const NEW: View = View::Scalable { rounds: 0, seen: Share { delivered: 0.0, marked: 0.0 } };

#[derive(Clone, Copy, Debug, PartialEq)]
enum View {
    /// Nothing speaks against an L4S queue; round trips since the first mark, and what was counted.
    Scalable { rounds: u32, seen: Share },
    /// Marks are answered as Reno does, to see what becomes of their share, which was `share` before.
    Trial { share: f64, times: u8, seen: Share },
    /// That was right; round trips since the queue was last long.
    Classic { calm: u32 },
    /// It was not.
    Coupled,
}

/// What the AQM is taken for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Detector(View);

impl Default for Detector {
    fn default() -> Self {
        Detector(NEW)
    }
}

impl Detector {
    /// For tests.
    #[cfg(test)]
    pub fn classic() -> Self {
        Detector(View::Classic { calm: 0 })
    }

    /// Whether marks are to be answered as Reno answers them.
    pub fn is_classic(&self) -> bool {
        matches!(self.0, View::Trial { .. } | View::Classic { .. })
    }

    /// An ACK in congestion avoidance. `long`: the queue is longer than an L4S queue would be; `smss`: segment size in bytes.
    pub fn observe(&mut self, ack: &Ack, long: bool, smss: f64) {
        let round = u32::from(ack.round);
        self.0 = match self.0 {
            View::Scalable { rounds: 0, .. } if ack.marked == 0 => return,
            View::Scalable { rounds, .. } if rounds <= SETTLING => {
                View::Scalable { rounds: rounds.max(1) + round, seen: Share::default() }
            }
            View::Scalable { rounds, seen } if rounds <= SETTLING + COUNTING || !long => {
                View::Scalable { rounds: rounds.saturating_add(round), seen: seen.and(ack) }
            }
            View::Scalable { seen, .. } => {
                View::Trial { share: seen.value(), times: 0, seen: Share::default() }
            }
            View::Trial { share, times, seen } => {
                let seen = seen.and(ack);
                let enough = if times == 0 { PASSED_OVER } else { SEEN } * smss;
                if seen.marked < enough {
                    View::Trial { share, times, seen }
                } else if times > 0 && seen.value() * FALLEN > share {
                    View::Coupled
                } else if times < TIMES {
                    View::Trial { share, times: times + 1, seen: Share::default() }
                } else {
                    View::Classic { calm: 0 }
                }
            }
            View::Classic { calm } if !long && calm >= SETTLING => NEW,
            View::Classic { calm } => View::Classic { calm: if long { 0 } else { calm + round } },
            View::Coupled => return,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::harness::{MSS, ack};

    /// A round of ten ACKs, so many of them marked.
    fn round(d: &mut Detector, marked: u32, long: bool) {
        for i in 0..10 {
            let mut a = ack(1.0);
            (a.round, a.marked) = (i == 9, if i < marked { a.delivered } else { 0 });
            d.observe(&a, long, MSS);
        }
    }

    fn tried() -> Detector {
        let mut d = Detector::default();
        for _ in 0..1000 {
            round(&mut d, 0, true);
            assert!(!d.is_classic(), "no mark was seen");
        }
        for _ in 0..260 {
            round(&mut d, 2, true);
        }
        assert!(d.is_classic(), "a long queue that marks is tried");
        d
    }

    /// The share of marks falls with the window: the AQM is classic, until the queue is short for long.
    #[test]
    fn a_share_that_falls_is_a_classic_aqm() {
        let mut d = tried();
        for n in 0..700 {
            round(&mut d, u32::from(n % 4 == 0), true);
            assert!(d.is_classic());
        }
        for _ in 0..270 {
            round(&mut d, 0, false);
        }
        assert!(!d.is_classic());
    }

    /// It stays as it was: the marks are coupled, and the trial ends for good.
    #[test]
    fn a_share_that_stays_is_a_coupled_one() {
        let mut d = tried();
        for _ in 0..40 {
            round(&mut d, 2, true);
        }
        for _ in 0..1000 {
            assert!(!d.is_classic());
            round(&mut d, 1, true);
        }
    }

    #[test]
    fn a_short_queue_is_never_tried() {
        let mut d = Detector::default();
        for _ in 0..1000 {
            round(&mut d, 2, false);
            assert!(!d.is_classic());
        }
    }
}
