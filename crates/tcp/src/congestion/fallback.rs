//! Fall-back of Prague to Reno's response in a queue with a classic AQM (RFC 9331 §4.3, item 3, and
//! Appendix A.1.5, `rfc9331`).
//!
//! If a classic AQM serves Prague and Reno flows in one queue, Prague responds to marks as Reno
//! does. A queue that is longer than the queue of an L4S AQM suggests a classic AQM, but does not
//! prove it. PI2 with a single queue also has a long queue, but marks L4S packets at a coupled,
//! higher rate. At the coupled rate of marks, a Prague flow that halves its window at each mark
//! would lose nearly all its throughput. "The sender can measure that switching to Classic
//! behaviour was wrong so that it can switch back" (RFC 9331, appendix A.1.5).
//!
//! RFC 9331 does not define the measurement, so aqmlab uses the following method. Prague halves its
//! window on marks for a trial period and compares the marked fraction before and during the trial.
//! If the marks are not coupled, the marked fraction of the flow is 2/W before the trial and 1.5/W²
//! during the trial, where W is the current window in segments. If eight Reno flows share the
//! queue, the marked fraction falls to a fifth, and with fewer flows to less than a fifth. If the
//! marks are coupled, the marked fraction falls only to a half or a third, because the windows of
//! the other flows grow. With more than eight Reno flows, coupled and uncoupled marks cannot be
//! distinguished, and the fall-back ends.
//!
//! The authors' report (reference [ecn-fallback] of RFC 9331) uses the variance of round-trip times
//! instead. Like the delay, the variance of round-trip times does not distinguish coupled from
//! uncoupled marks.

use units::words;

use crate::congestion::event::Ack;

words! {
    /// Response of Prague to marks that seem to come from a classic AQM in a shared queue.
    pub enum Fallback {
        /// No fall-back: each mark reduces the window in proportion to the marked fraction.
        Off = "off",
        /// Marks halve the window, as in Reno, while the smoothed queueing delay exceeds a
        /// threshold. The fall-back ends if the marked fraction shows that the marks are coupled.
        Delay = "delay",
    }
}

/// Number of round trips after the first mark before the window is considered settled.
const SETTLING_ROUNDS: u32 = 128;
/// Number of round trips, after the window has settled, in which the marked fraction is measured
/// before a trial.
const COUNTING_ROUNDS: u32 = 128;
/// Number of marked segments that a trial ignores at its start, while the windows of all flows
/// adapt.
const SETTLING_MARKS: f64 = 10.0;
/// Number of marked segments in each measurement period of a trial.
const PERIOD_MARKS: f64 = 30.0;
/// Number of measurement periods of a trial.
const PERIODS: u8 = 5;
/// Minimum factor by which the marked fraction falls during a trial if the queue has a classic AQM.
const MIN_REDUCTION: f64 = 4.0;

/// Count of delivered bytes and of the marked bytes among them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct MarkCount {
    delivered: f64,
    marked: f64,
}

impl MarkCount {
    /// Return the count with the bytes of an ACK added.
    fn with(self, ack: &Ack) -> Self {
        MarkCount {
            delivered: self.delivered + f64::from(ack.delivered),
            marked: self.marked + f64::from(ack.marked),
        }
    }

    /// Return the marked fraction of the delivered bytes.
    fn marked_fraction(self) -> f64 {
        self.marked / self.delivered.max(1.0)
    }
}

const INITIAL: State = State::Scalable { rounds: 0, count: MarkCount { delivered: 0.0, marked: 0.0 } };

/// State of the detection of a classic AQM.
#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    /// Prague treats marks as the marks of an L4S queue. `rounds` counts round trips since the
    /// first mark.
    Scalable { rounds: u32, count: MarkCount },
    /// Marks halve the window for a trial; the marked fraction was `fraction_before`.
    Trial { fraction_before: f64, periods: u8, count: MarkCount },
    /// According to the trial, a classic AQM marks the packets. `rounds` is the number of
    /// consecutive round trips in which the queue was as short as an L4S queue.
    Classic { rounds: u32 },
    /// According to the trial, the marks are coupled. The detector starts no further trial in this
    /// connection.
    Coupled,
}

/// Detector of a classic AQM in the path of a Prague flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Detector(State);

impl Default for Detector {
    fn default() -> Self {
        Detector(INITIAL)
    }
}

impl Detector {
    /// Return a detector that has detected a classic AQM, for tests.
    #[cfg(test)]
    pub fn classic() -> Self {
        Detector(State::Classic { rounds: 0 })
    }

    /// Return true while Prague must respond to marks as Reno does.
    pub fn is_classic(&self) -> bool {
        matches!(self.0, State::Trial { .. } | State::Classic { .. })
    }

    /// Observe an ACK in congestion avoidance.
    ///
    /// `is_long` is true if the queue is longer than the queue of an L4S AQM. `smss` is the segment
    /// size in bytes.
    pub fn observe(&mut self, ack: &Ack, is_long: bool, smss: f64) {
        let round = u32::from(ack.round);
        self.0 = match self.0 {
            State::Scalable { rounds: 0, .. } if ack.marked == 0 => return,
            State::Scalable { rounds, .. } if rounds <= SETTLING_ROUNDS => {
                State::Scalable { rounds: rounds.max(1) + round, count: MarkCount::default() }
            }
            State::Scalable { rounds, count } if rounds <= SETTLING_ROUNDS + COUNTING_ROUNDS || !is_long => {
                State::Scalable { rounds: rounds.saturating_add(round), count: count.with(ack) }
            }
            State::Scalable { count, .. } => State::Trial {
                fraction_before: count.marked_fraction(),
                periods: 0,
                count: MarkCount::default(),
            },
            State::Trial { fraction_before, periods, count } => {
                let count = count.with(ack);
                let required = if periods == 0 { SETTLING_MARKS } else { PERIOD_MARKS } * smss;
                if count.marked < required {
                    State::Trial { fraction_before, periods, count }
                } else if periods > 0 && count.marked_fraction() * MIN_REDUCTION > fraction_before {
                    State::Coupled
                } else if periods < PERIODS {
                    State::Trial { fraction_before, periods: periods + 1, count: MarkCount::default() }
                } else {
                    State::Classic { rounds: 0 }
                }
            }
            State::Classic { rounds } if !is_long && rounds >= SETTLING_ROUNDS => INITIAL,
            State::Classic { rounds } => State::Classic { rounds: if is_long { 0 } else { rounds + round } },
            State::Coupled => return,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::harness::{MSS, ack};

    /// Observe a round trip of ten ACKs, of which `marked` report marks.
    fn round(d: &mut Detector, marked: u32, is_long: bool) {
        for i in 0..10 {
            let mut a = ack(1.0);
            (a.round, a.marked) = (i == 9, if i < marked { a.delivered } else { 0 });
            d.observe(&a, is_long, MSS);
        }
    }

    /// Return a detector whose trial has begun.
    fn detector_in_trial() -> Detector {
        let mut d = Detector::default();
        for _ in 0..1000 {
            round(&mut d, 0, true);
            assert!(!d.is_classic(), "without marks a trial must not begin");
        }
        for _ in 0..260 {
            round(&mut d, 2, true);
        }
        assert!(d.is_classic(), "marks from a long queue must begin a trial");
        d
    }

    /// If the marked fraction falls with the window, the AQM is classic. The fall-back ends after
    /// 128 round trips with a short queue.
    #[test]
    fn falling_marked_fraction_shows_a_classic_aqm() {
        let mut d = detector_in_trial();
        for n in 0..700 {
            round(&mut d, u32::from(n % 4 == 0), true);
            assert!(d.is_classic());
        }
        for _ in 0..270 {
            round(&mut d, 0, false);
        }
        assert!(!d.is_classic());
    }

    /// If the marked fraction stays the same, the marks are coupled, and the trial ends for the
    /// rest of the connection.
    #[test]
    fn constant_marked_fraction_shows_coupled_marks() {
        let mut d = detector_in_trial();
        for _ in 0..40 {
            round(&mut d, 2, true);
        }
        for _ in 0..1000 {
            assert!(!d.is_classic());
            round(&mut d, 1, true);
        }
    }

    #[test]
    fn short_queue_never_begins_a_trial() {
        let mut d = Detector::default();
        for _ in 0..1000 {
            round(&mut d, 2, false);
            assert!(!d.is_classic());
        }
    }
}
