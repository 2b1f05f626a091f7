//! Spacing of the signals of RED and its variants: the step from a signal probability to a decision
//! on a packet.
//!
//! Source: Floyd & Jacobson 1993 (`floyd1993red`), figure 2 and section 7. The wait spacing is that
//! of ns-2's RED.

use engine::Stream;
use net::{Declared, Explanation, Variables as _, Verdict, Why, rules, variables};
use units::words;

rules! {
    /// The average is between the thresholds, and the random number is below p_a.
    RANDOM = "random", from "floyd1993red fig. 2, §7";
    /// The average is at least maxth, or at least twice maxth if gentle.
    ABOVE_MAXTH = "above-maxth", from "floyd1993red fig. 2; rfc3168 §7";
}

variables! {
    /// Variables of the random choice of RED and its variants.
    pub struct ChoiceVariables {
        /// Number of packets since the last signal while the average was at least minth, including
        /// this packet. In ns-2's byte mode, `count` is in bytes.
        count in "packets or bytes", from "floyd1993red fig. 2";
        /// Signal probability before spacing (p_b), which depends on the average.
        p_b in "0..1", from "floyd1993red fig. 2";
        /// Signal probability of this packet (p_a), which depends on p_b and on the count. If the
        /// formula gives more than 1, p_a is 1.
        p_a in "0..1", from "floyd1993red §7";
        /// Random number between 0 and 1 that was compared with p_a.
        random in "0..1", from "floyd1993red fig. 2";
    }
}

/// Rules and variables of the random choice.
pub(crate) const DECLARED: Declared = Declared { rules: RULES, variables: ChoiceVariables::LIST };

words! {
    /// Distribution of the number of packets between two signals.
    pub enum Spacing {
        /// Each packet has the same signal probability. The gaps between two signals are therefore
        /// geometric (method 1 of section 7).
        Geometric = "geometric",
        /// The signal probability grows with the number of packets since the last signal. The gaps
        /// between two signals are therefore uniform in the range 1..1/p − 1 (method 2 of section
        /// 7). As in figure 2 of the paper, the number of packets since the last signal includes
        /// the packet on which RED decides.
        Uniform = "uniform",
        /// The first 1/p packets after a signal pass, and the next packets have uniform spacing.
        /// The gaps between two signals are therefore uniform in the range 1/p..2/p − 1 (`wait_` of
        /// ns-2).
        Wait = "wait",
    }
}

words! {
    /// Action on a packet while the average queue length is above the upper threshold.
    pub enum AboveMaxth {
        /// The packet is dropped even if it is ECN-capable.
        Drop = "drop",
        /// The packet is marked if it is ECN-capable, and dropped otherwise (RED* of Kuzmanovic
        /// 2005).
        Mark = "mark",
    }
}

/// Result of the comparison of the average queue length with the thresholds, before the random
/// choice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pressure {
    /// The average is below the lower threshold, so the packet passes.
    None,
    /// The average is between the thresholds, so the packet is signalled with this probability
    /// (p_b). The probability may exceed 1.
    Early(f64),
    /// The average is above the upper threshold, so the packet is signalled.
    Full,
}

/// Return the probability p_a of method 2 for a packet that follows `count` packets without a
/// signal.
pub fn uniform(pb: f64, count: i64) -> f64 {
    let share = count as f64 * pb;
    if share < 1.0 { pb / (1.0 - share) } else { 1.0 }
}

/// Random choice of the packets that are signalled.
#[derive(Clone, Debug)]
pub struct Chooser {
    spacing: Spacing,
    above_maxth: AboveMaxth,
    /// Number of packets since the last signal while the average was above minth (count).
    /// [`Chooser::judge_bytes`] counts bytes instead of packets. While the average is below minth,
    /// the count is -1.
    count: i64,
    /// Variables of the last signal.
    signal: ChoiceVariables,
}

/// Variables without a value.
const NO_SIGNAL: ChoiceVariables =
    ChoiceVariables { count: f64::NAN, p_b: f64::NAN, p_a: f64::NAN, random: f64::NAN };

impl Chooser {
    /// Create a chooser that has not signalled a packet yet.
    pub fn new(spacing: Spacing, above_maxth: AboveMaxth) -> Self {
        Chooser { spacing, above_maxth, count: -1, signal: NO_SIGNAL }
    }

    /// Return the probability p_a of a packet that follows `count` packets without a signal
    /// (section 7).
    fn spaced(&self, pb: f64, count: i64) -> f64 {
        let share = count as f64 * pb;
        match self.spacing {
            Spacing::Geometric => pb,
            Spacing::Uniform => uniform(pb, count),
            Spacing::Wait if share < 1.0 => 0.0,
            Spacing::Wait if share < 2.0 => pb / (2.0 - share),
            Spacing::Wait => 1.0,
        }
    }

    /// Return the verdict on a packet. The function takes one random number from `random` if
    /// `pressure` is a positive probability.
    #[inline]
    pub fn judge(&mut self, pressure: Pressure, random: &mut Stream) -> Verdict {
        match pressure {
            Pressure::None => {
                self.count = -1;
                Verdict::Pass
            }
            Pressure::Full => {
                self.signal = ChoiceVariables { count: self.count as f64, p_b: 1.0, p_a: 1.0, ..NO_SIGNAL };
                self.count = 0;
                match self.above_maxth {
                    AboveMaxth::Drop => Verdict::Drop(Why::Threshold),
                    AboveMaxth::Mark => Verdict::Signal(Why::Threshold),
                }
            }
            Pressure::Early(pb) => {
                self.count += 1;
                if pb > 0.0 {
                    let (drawn, pa) = (random.uniform(), self.spaced(pb, self.count));
                    if drawn < pa {
                        return self.signal(pb, pa, drawn);
                    }
                }
                Verdict::Pass
            }
        }
    }

    /// Signal a packet whose random number `drawn` is below p_a, and restart the count.
    #[inline]
    fn signal(&mut self, pb: f64, pa: f64, drawn: f64) -> Verdict {
        let p_a = pa.min(1.0);
        self.signal = ChoiceVariables { count: self.count as f64, p_b: pb, p_a, random: drawn };
        self.count = 0;
        Verdict::Signal(Why::Early)
    }

    /// Explain the decision on the last packet. If the packet was dropped because the buffer was
    /// full, only the count is known.
    pub(crate) fn explain(&self, why: Why, to: &mut Explanation) {
        match why {
            Why::Early => to.by(&RANDOM).with(self.signal),
            Why::Threshold => to.by(&ABOVE_MAXTH).with(self.signal),
            _ => to.with(ChoiceVariables { count: self.count as f64, ..NO_SIGNAL }),
        };
    }

    /// Return the verdict on a packet in ns-2's byte mode (`enque` and `modify_p` in red.cc of
    /// ns-2.35). The count is in bytes and includes this packet. Spacing uses the count divided by
    /// `unit`, rounded down. The probability p_a is multiplied by the packet size divided by
    /// `unit`. The first packet that arrives after the average has risen above minth passes without
    /// a signal. The count of bytes starts with this packet.
    #[inline(never)]
    pub fn judge_bytes(&mut self, pressure: Pressure, size: u16, unit: u16, random: &mut Stream) -> Verdict {
        let Pressure::Early(pb) = pressure else { return self.judge(pressure, random) };
        if self.count < 0 {
            self.count = i64::from(size);
            return Verdict::Pass;
        }
        self.count += i64::from(size);
        let mut pa = self.spaced(pb, self.count / i64::from(unit));
        if pa < 1.0 {
            pa *= f64::from(size) / f64::from(unit);
        }
        if pb > 0.0 {
            let drawn = random.uniform();
            if drawn < pa {
                return self.signal(pb, pa, drawn);
            }
        }
        Verdict::Pass
    }

    /// Set the count to 0, because a packet was dropped for another reason than the average.
    pub fn restart(&mut self) {
        self.count = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After a signal, the formula of method 2 gives p_b/(1 - p_b), which is 4 for a p_b of 0.8.
    #[test]
    fn an_explained_probability_is_at_most_1() {
        let mut chooser = Chooser::new(Spacing::Uniform, AboveMaxth::Drop);
        let mut random = Stream::new(1, "spacing");
        chooser.restart();
        assert_eq!(chooser.judge(Pressure::Early(0.8), &mut random), Verdict::Signal(Why::Early));
        assert_eq!((chooser.signal.p_b, chooser.signal.p_a, chooser.signal.count), (0.8, 1.0, 1.0));
    }
}
