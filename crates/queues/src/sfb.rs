//! SFB: stochastic fair BLUE.
//!
//! Source: Feng, Shin, Kandlur & Saha 2002 (`feng2002blue`), section V, the algorithm of its figure
//! "SFB algorithm": L levels of N bins, each a BLUE of the packets hashed to it. The defaults of its
//! steps and of the penalty rate are those of tc-sfb(8), which sets both. Missing: the hash functions that
//! move from time to time.
//!
//! The paper was not at hand: the algorithm is set down from memory, and equations, section numbers and
//! the settings named as its defaults are still to be checked against it.

use engine::Stream;
use net::{Aqm, Arrival, Packet, Verdict, Why};
use units::{Depth, Packets, Probability, Range, Time, params};

use crate::law::{Configures, Place};
use crate::lazy::Departures;

params! {
    /// SFB holds down flows that do not answer to signals, with little state. Each packet is hashed to
    /// one bin a level. A bin whose packets exceed its size raises its probability and drops; one
    /// that is empty lowers it. A packet is signalled with the least probability of its bins, so that only a
    /// flow all of whose bins are pushed to 1 is taken for unresponsive: such flows share a limited rate.
    pub struct Sfb: "sfb" {
        /// Levels, each with its hash function (L).
        levels: u64 = (2), in Range::between(1.0, 16.0), from "feng2002blue §V: 2";
        /// Bins a level (N).
        bins: u64 = (23), in Range::between(1.0, 65536.0), from "feng2002blue §V: 23";
        /// Packets that a bin may have waiting; absent: 1.5 times its share of the limit.
        bin_size: Option<Packets> = (None), in Range::at_least(1.0), from "feng2002blue §V: 1.5/N of the buffer";
        /// How much a full bin raises its probability.
        increment: Probability = (Probability(0.0005)), in Range::above_to(0.0, 1.0), from "tc-sfb(8): 0.00050";
        /// How much an empty bin lowers it.
        decrement: Probability = (Probability(0.00005)), in Range::above_to(0.0, 1.0), from "tc-sfb(8): 0.00005";
        /// Packets a second that are let in of all unresponsive flows together.
        penalty_rate: f64 = (10.0), in Range::at_least(0.0), from "tc-sfb(8): 10 packets a second";
        /// How many of them at once.
        penalty_burst: Packets = (Packets(20.0)), in Range::at_least(0.0), from "tc-sfb(8): 20 packets";
    }
}

impl Configures for Sfb {
    type Law = SfbLaw;
    const COUNTS_ON_ORDER: bool = true;

    fn law(&self, place: Place) -> SfbLaw {
        let Place { limit, mut random, .. } = place;
        let limit = match limit {
            Depth::Packets(n) => n,
            Depth::Bytes(n) => n / 1500.0,
        };
        let bins = self.bins as usize;
        SfbLaw {
            bin_size: self.bin_size.map_or((1.5 * limit / bins as f64).max(1.0), |p| p.0),
            salts: (0..self.levels).map(|_| random.below(1 << 32)).collect(),
            bins: vec![Bin::default(); bins * self.levels as usize],
            tokens: self.penalty_burst.0,
            filled: Time::ZERO,
            params: self.clone(),
            departures: Departures::default(),
            random,
        }
    }
}

/// A BLUE of the packets that are hashed to it.
#[derive(Clone, Copy, Debug, Default)]
struct Bin {
    waiting: u32,
    /// pm.
    probability: f64,
}

/// The state of SFB.
#[derive(Clone, Debug)]
pub struct SfbLaw {
    params: Sfb,
    bin_size: f64,
    /// One a level.
    salts: Vec<u64>,
    /// Level after level.
    bins: Vec<Bin>,
    /// Packets of unresponsive flows that may be let in.
    tokens: f64,
    /// When the tokens were last counted.
    filled: Time,
    departures: Departures,
    random: Stream,
}

/// SplitMix64's finalizer (Steele, Lea & Flood 2014).
pub(crate) fn hash(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

impl SfbLaw {
    /// The bin of a flow at a level.
    fn place(&self, level: usize, flow: u32) -> usize {
        let h = hash(u64::from(flow) << 32 | self.salts[level]);
        level * self.params.bins as usize + (h % self.params.bins) as usize
    }

    fn count(&mut self, flow: u32, change: i32) {
        for level in 0..self.salts.len() {
            let place = self.place(level, flow);
            self.bins[place].waiting = self.bins[place].waiting.saturating_add_signed(change);
        }
    }

    /// ratelimit(): whether a packet of an unresponsive flow may pass.
    fn within_penalty_rate(&mut self, now: Time) -> bool {
        let earned = self.params.penalty_rate * now.since(self.filled).seconds();
        self.tokens = (self.tokens + earned).min(self.params.penalty_burst.0);
        self.filled = now;
        let passes = self.tokens >= 1.0;
        if passes {
            self.tokens -= 1.0;
        }
        passes
    }
}

impl Aqm for SfbLaw {
    fn on_arrival(&mut self, packet: &Packet, at: &Arrival) -> Verdict {
        while let Some(d) = self.departures.next(at.now) {
            self.count(d.tag, -1);
        }
        let (mut least, mut full) = (1.0_f64, false);
        for level in 0..self.salts.len() {
            let place = self.place(level, packet.flow);
            let bin = &mut self.bins[place];
            if f64::from(bin.waiting) > self.bin_size {
                bin.probability = (bin.probability + self.params.increment.0).min(1.0);
                full = true;
            } else if bin.waiting == 0 {
                bin.probability = (bin.probability - self.params.decrement.0).max(0.0);
            }
            least = least.min(bin.probability);
        }
        if full {
            return Verdict::Drop(Why::Threshold);
        }
        if least >= 1.0 {
            return if self.within_penalty_rate(at.now) { Verdict::Pass } else { Verdict::Drop(Why::Early) };
        }
        if self.random.uniform() < least { Verdict::Signal(Why::Early) } else { Verdict::Pass }
    }

    fn on_departure(&mut self, now: Time) {
        self.departures.leave(now);
    }

    fn on_admitted(&mut self, packet: &Packet, at: &Arrival) {
        self.count(packet.flow, 1);
        self.departures.add(packet, at, packet.flow);
    }
}
