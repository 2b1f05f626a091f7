//! From a probability to a verdict: how RED and its kin space their signals.
//!
//! Source: Floyd & Jacobson 1993 (`floyd1993red`), figure 2 and section 7. Wait spacing is ns-2's.

use engine::Stream;
use net::{Verdict, Why};
use units::words;

words! {
    /// How the signals of one drop probability are spaced.
    pub enum Spacing {
        /// Each packet is chosen with the same probability: gaps are geometric (method 1 of section 7).
        Geometric = "geometric",
        /// The probability grows with the packets since the last signal: gaps are uniform in 1..1/p − 1, since figure 2 counts the packet that it judges (method 2 of section 7).
        Uniform = "uniform",
        /// As uniform, but no signal within 1/p packets of the last: gaps are uniform in 1/p..2/p − 1 (ns-2's `wait_`).
        Wait = "wait",
    }
}

words! {
    /// What happens to a packet while the average is above the upper threshold.
    pub enum AboveMaxth {
        /// It is dropped, ECN-capable or not.
        Drop = "drop",
        /// It is marked if ECN-capable, else dropped (RED* of Kuzmanovic 2005).
        Mark = "mark",
    }
}

/// What a law of the RED family makes of the average, before chance has its say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pressure {
    /// Below the lower threshold: no signal.
    None,
    /// Between the thresholds: signal with this probability (p_b), which may exceed 1.
    Early(f64),
    /// Above the upper threshold: signal every packet.
    Full,
}

/// p_a of method 2, after `count` packets that were not chosen.
pub fn uniform(pb: f64, count: i64) -> f64 {
    let share = count as f64 * pb;
    if share < 1.0 { pb / (1.0 - share) } else { 1.0 }
}

/// Chooses the packets that are signalled.
#[derive(Clone, Debug)]
pub struct Chooser {
    spacing: Spacing,
    above_maxth: AboveMaxth,
    /// Packets since the last signal while the average was above minth, or bytes
    /// ([`Chooser::judge_bytes`]); -1 below (count).
    count: i64,
}

impl Chooser {
    /// A chooser that has chosen none yet.
    pub fn new(spacing: Spacing, above_maxth: AboveMaxth) -> Self {
        Chooser { spacing, above_maxth, count: -1 }
    }

    /// The probability p_a of this packet, given how many went unsignalled before it (section 7).
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

    /// The verdict on a packet under this pressure; draws once if it is early and not zero.
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

    /// Variant of [`Chooser::judge`] for ns-2's byte mode (`enque` and `modify_p` in red.cc of
    /// ns-2.35): the count is of bytes, this packet's included, in whole `unit`s, and p_a is
    /// multiplied by the packet's size over the unit. The first packet that finds the average above
    /// minth begins the count and passes.
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

    /// A packet was dropped for another reason: the count begins anew.
    pub fn restart(&mut self) {
        self.count = 0;
    }
}
