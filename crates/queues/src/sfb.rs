//! SFB: stochastic fair BLUE.
//!
//! Source: Feng, Shin, Kandlur & Saha 2002 (`feng2002blue`), section V, the algorithm of its figure
//! "SFB algorithm": L levels of N bins, each a BLUE of the packets hashed to it, and moving hash functions.
//! tc-sfb(8), which follows the paper's double buffering, says how they move: while one set of bins
//! manages the queue a second one, with other hash functions, is warmed up by the packets of the flows
//! that are found unresponsive, and takes over at the end of the interval. The defaults of the steps, of
//! the intervals and of the penalty rate are that page's.
//!
//! The paper was not at hand. Compared with tc-sfb(8) and with sch_sfb.c, neither by the paper's authors.
//! Different here, on purpose, after the paper's figure as remembered: 2 levels of 23 bins (8 of 16 there);
//! a bin is full above its size (at it there); a packet one of whose bins is full is dropped (there if all
//! exceed a second size); marks stay marks however high pm is (there, above one half, more and more are
//! drops); tokens come steadily (there when none is left). The second set is warmed up from a minute after
//! a change, as tc-sfb(8) says; the code begins a minute before the next. Both sets count every waiting
//! packet; in the code the second counts what warms it up.

use engine::Stream;
use net::{Aqm, Arrival, Packet, Verdict, Why};
use units::{Depth, Duration, Packets, Probability, Range, Time, params};

use crate::hash::hash;
use crate::law::{Configures, Place};
use crate::lazy::{Departures, Ticks};

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
        /// Time between two changes of the hash functions, so that a flow which shares its bins with an unresponsive one does not stay with it.
        rehash: Duration = (Duration::from_millis(600_000)), in Range::at_least(1e-3), from "tc-sfb(8): 10 minutes";
        /// Time after a change from which the next set of bins is warmed up.
        warmup_after: Duration = (Duration::from_millis(60_000)), in Range::at_least(0.0), from "tc-sfb(8): one minute";
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
        let share = 1.5 * limit / self.bins as f64;
        let sets = [Set::new(self, &mut random), Set::new(self, &mut random)];
        SfbLaw {
            bin_size: self.bin_size.map_or(share.max(1.0), |p| p.0),
            sets,
            changes: Ticks::every(self.rehash),
            changed: Time::ZERO,
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

/// Bins under one choice of hash functions.
#[derive(Clone, Debug)]
struct Set {
    /// One a level.
    salts: Vec<u64>,
    bins_a_level: u64,
    /// Level after level.
    bins: Vec<Bin>,
}

/// What the bins of a packet say.
struct Judged {
    /// The least of their probabilities.
    least: f64,
    /// Whether one of them is full.
    full: bool,
}

impl Set {
    fn new(sfb: &Sfb, random: &mut Stream) -> Self {
        Set {
            salts: (0..sfb.levels).map(|_| random.below(1 << 32)).collect(),
            bins_a_level: sfb.bins,
            bins: vec![Bin::default(); (sfb.bins * sfb.levels) as usize],
        }
    }

    /// The bin of a flow at a level.
    fn place(&self, level: usize, flow: u32) -> usize {
        let h = hash(u64::from(flow) << 32 | self.salts[level]);
        level * self.bins_a_level as usize + (h % self.bins_a_level) as usize
    }

    /// A packet came or left.
    fn count(&mut self, flow: u32, change: i32) {
        for level in 0..self.salts.len() {
            let place = self.place(level, flow);
            self.bins[place].waiting = self.bins[place].waiting.saturating_add_signed(change);
        }
    }

    /// Updates the probabilities of a packet's bins.
    fn judge(&mut self, flow: u32, bin_size: f64, sfb: &Sfb) -> Judged {
        let mut judged = Judged { least: 1.0, full: false };
        for level in 0..self.salts.len() {
            let place = self.place(level, flow);
            let bin = &mut self.bins[place];
            if f64::from(bin.waiting) > bin_size {
                bin.probability = (bin.probability + sfb.increment.0).min(1.0);
                judged.full = true;
            } else if bin.waiting == 0 {
                bin.probability = (bin.probability - sfb.decrement.0).max(0.0);
            }
            judged.least = judged.least.min(bin.probability);
        }
        judged
    }

    /// Forgets everything but the packets that wait, and takes other hash functions.
    fn renew(&mut self, waiting: &Departures, random: &mut Stream) {
        self.bins.fill(Bin::default());
        for salt in &mut self.salts {
            *salt = random.below(1 << 32);
        }
        for flow in waiting.tags() {
            self.count(flow, 1);
        }
    }
}

/// The state of SFB.
#[derive(Clone, Debug)]
pub struct SfbLaw {
    params: Sfb,
    bin_size: f64,
    /// The set that manages the queue, and the one that is warmed up.
    sets: [Set; 2],
    changes: Ticks,
    /// When they changed places.
    changed: Time,
    /// Packets of unresponsive flows that may be let in.
    tokens: f64,
    /// When the tokens were last counted.
    filled: Time,
    departures: Departures,
    random: Stream,
}

impl SfbLaw {
    /// The warmed set takes over, and the other begins anew.
    fn rehash(&mut self, now: Time) {
        self.sets.swap(0, 1);
        self.sets[1].renew(&self.departures, &mut self.random);
        self.changed = now;
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
            for set in &mut self.sets {
                set.count(d.tag, -1);
            }
        }
        while let Some(end) = self.changes.due(at.now) {
            self.rehash(end);
        }
        let Judged { least, full } = self.sets[0].judge(packet.connection, self.bin_size, &self.params);
        if least >= 1.0 && at.now.since(self.changed) >= self.params.warmup_after {
            self.sets[1].judge(packet.connection, self.bin_size, &self.params);
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
        for set in &mut self.sets {
            set.count(packet.connection, 1);
        }
        self.departures.add(packet, at, packet.connection);
    }
}
