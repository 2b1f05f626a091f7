//! Spacing of the signals of RED and its variants: the step from a probability to a verdict.
//!
//! Source: Floyd & Jacobson 1993 (`floyd1993red`), figure 2 and section 7. The wait spacing is that
//! of ns-2.

use engine::Stream;
use net::{Verdict, Why};
use units::words;

words! {
    /// Distribution of the number of packets between two signals.
    pub enum Spacing {
        /// Each packet has the same signal probability, so the gaps between signals are geometric
        /// (method 1 of section 7).
        Geometric = "geometric",
        /// The signal probability grows with the number of packets since the last signal, so the
        /// gaps between signals are uniform in 1..1/p − 1 (method 2 of section 7). Figure 2 of the
        /// paper counts the packet that is being judged.
        Uniform = "uniform",
        /// Like the uniform spacing, but without a signal in the first 1/p packets after a signal,
        /// so the gaps between signals are uniform in 1/p..2/p − 1 (`wait_` of ns-2).
        Wait = "wait",
    }
}

words! {
    /// Action on a packet while the average is above the upper threshold.
    pub enum AboveMaxth {
        /// The packet is dropped even if it is ECN-capable.
        Drop = "drop",
        /// The packet is marked if it is ECN-capable, else dropped (RED* of Kuzmanovic 2005).
        Mark = "mark",
    }
}

/// Result of comparing the average with the thresholds, before the random choice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pressure {
    /// The average is below the lower threshold: pass the packet.
    None,
    /// The average is between the thresholds: signal the packet with this probability (p_b), which
    /// may exceed 1.
    Early(f64),
    /// The average is above the upper threshold: signal every packet.
    Full,
}

/// Return p_a of method 2 after `count` packets without a signal.
pub fn uniform(pb: f64, count: i64) -> f64 {
    let share = count as f64 * pb;
    if share < 1.0 { pb / (1.0 - share) } else { 1.0 }
}

/// Random choice of the packets to signal.
#[derive(Clone, Debug)]
pub struct Chooser {
    spacing: Spacing,
    above_maxth: AboveMaxth,
    /// Number of packets, or of bytes in [`Chooser::judge_bytes`], since the last signal while the
    /// average was above minth (count). The count is -1 while the average is below minth.
    count: i64,
}

impl Chooser {
    /// Create a chooser without a previous signal.
    pub fn new(spacing: Spacing, above_maxth: AboveMaxth) -> Self {
        Chooser { spacing, above_maxth, count: -1 }
    }

    /// Return the probability p_a of this packet after `count` packets without a signal (section
    /// 7).
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

    /// Return the verdict on a packet. The function takes one random number from the stream if
    /// `pressure` is early and above 0.
    #[inline]
    pub fn judge(&mut self, pressure: Pressure, random: &mut Stream) -> Verdict {
        match pressure {
            Pressure::None => {
                self.count = -1;
                Verdict::Pass
            }
            Pressure::Full => {
                self.count = 0;
                match self.above_maxth {
                    AboveMaxth::Drop => Verdict::Drop(Why::Threshold),
                    AboveMaxth::Mark => Verdict::Signal(Why::Threshold),
                }
            }
            Pressure::Early(pb) => {
                self.count += 1;
                if pb > 0.0 && random.uniform() < self.spaced(pb, self.count) {
                    self.count = 0;
                    return Verdict::Signal(Why::Early);
                }
                Verdict::Pass
            }
        }
    }

    /// Return the verdict on a packet in ns-2's byte mode (`enque` and `modify_p` in red.cc of
    /// ns-2.35). The count is in bytes and includes this packet. Spacing divides it by `unit` and
    /// rounds down, and p_a is scaled by the packet size divided by the unit. The first packet that
    /// arrives while the average is above minth starts the count and passes.
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
        if pb > 0.0 && random.uniform() < pa {
            self.count = 0;
            return Verdict::Signal(Why::Early);
        }
        Verdict::Pass
    }

    /// Restart the count because a packet was dropped for another reason.
    pub fn restart(&mut self) {
        self.count = 0;
    }
}
