//! Stochastic fair BLUE (SFB).
//!
//! Source: Feng, Shin, Kandlur & Saha 2002 (`feng2002blue`), section V, the algorithm of its figure
//! "SFB algorithm": L levels of N bins, each a BLUE of the packets hashed to it, with hash
//! functions that change. tc-sfb(8), which follows the paper's double buffering, describes the
//! change. While one set of bins manages the queue, the packets of unresponsive flows warm up a
//! second set with other hash functions, which replaces the first at the end of the interval. The
//! default steps, intervals and penalty rate are from tc-sfb(8).
//!
//! The paper on SFB was not available. This file was compared with tc-sfb(8) and sch_sfb.c, which
//! are not by the authors of the paper. Where Linux differs from the figure of the paper, this file
//! follows the figure, from memory. This file has 2 levels of 23 bins, and Linux has 8 levels of
//! 16. A bin is full when it has more packets than its size, and in Linux when it has as many
//!     packets as its size. A packet with one full bin is dropped, and in Linux a packet is dropped
//!     if all its bins exceed a second size. In this file a signal marks an ECN-capable packet at
//!     every signal probability. In Linux, above a probability of one half, an increasing part of
//!     the marks becomes drops. Tokens for the packets of unresponsive flows arrive continuously,
//!     and in Linux they are added when no token is left. The warm-up of the second set begins a
//!     minute after a change, as tc-sfb(8) states, and in sch_sfb.c a minute before the next
//!     change. Both sets of bins count every waiting packet, and in sch_sfb.c the second set counts
//!     only the packets that warm it up.

use engine::Stream;
use net::{Aqm, Arrival, Packet, Verdict, Why};
use units::{Depth, Duration, Packets, Probability, Range, Time, params};

use crate::aqm::{AqmParams, QueueContext};
use crate::hash::hash;
use crate::lazy::{Departures, Ticks};

params! {
    /// SFB limits flows that do not respond to signals, with little state. Each packet is hashed to
    /// one bin per level. A bin with more packets than its size raises its signal probability and
    /// drops arriving packets, and an empty bin lowers its signal probability. A packet is
    /// signalled with the minimum of the signal probabilities of its bins. A flow counts as
    /// unresponsive only if all its bins reach probability 1, and all unresponsive flows together
    /// share a limited rate.
    pub struct Sfb: "sfb" {
        /// Number of levels, each with its hash function (L).
        levels: u64 = (2), in Range::between(1.0, 16.0), from "feng2002blue §V: 2";
        /// Number of bins per level (N).
        bins: u64 = (23), in Range::between(1.0, 65536.0), from "feng2002blue §V: 23";
        /// Number of waiting packets above which a bin is full. If the key is absent, the value is
        /// 1.5 times the share of a bin in the limit.
        bin_size: Option<Packets> = (None), in Range::at_least(1.0), from "feng2002blue §V: 1.5/N of the buffer";
        /// Increase of a bin's signal probability when the bin is full.
        increment: Probability = (Probability(0.0005)), in Range::above_to(0.0, 1.0), from "tc-sfb(8): 0.00050";
        /// Decrease of a bin's signal probability when the bin is empty.
        decrement: Probability = (Probability(0.00005)), in Range::above_to(0.0, 1.0), from "tc-sfb(8): 0.00005";
        /// Maximum rate of admitted packets of all unresponsive flows together, per second.
        penalty_rate: f64 = (10.0), in Range::at_least(0.0), from "tc-sfb(8): 10 packets a second";
        /// Maximum burst of admitted packets of unresponsive flows.
        penalty_burst: Packets = (Packets(20.0)), in Range::at_least(0.0), from "tc-sfb(8): 20 packets";
        /// Time between two changes of the hash functions that map flows to bins. The changes
        /// separate a flow from an unresponsive flow with which it shares its bins.
        rehash: Duration = (Duration::from_millis(600_000)), in Range::at_least(1e-3), from "tc-sfb(8): 10 minutes";
        /// Time after a change at which the warm-up of the next set of bins begins.
        warmup_after: Duration = (Duration::from_millis(60_000)), in Range::at_least(0.0), from "tc-sfb(8): one minute";
    }
}

impl AqmParams for Sfb {
    type Aqm = SfbAqm;
    const COUNTS_ON_ORDER: bool = true;

    fn aqm(&self, context: QueueContext) -> SfbAqm {
        let QueueContext { limit, mut random, .. } = context;
        let limit = match limit {
            Depth::Packets(n) => n,
            Depth::Bytes(n) => n / 1500.0,
        };
        let share = 1.5 * limit / self.bins as f64;
        let sets = [Set::new(self, &mut random), Set::new(self, &mut random)];
        SfbAqm {
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

/// BLUE of the packets that are hashed to one bin.
#[derive(Clone, Copy, Debug, Default)]
struct Bin {
    waiting: u32,
    /// Signal probability pm.
    probability: f64,
}

/// Set of bins to which one choice of hash functions maps the packets.
#[derive(Clone, Debug)]
struct Set {
    /// Salt of the hash function of each level.
    salts: Vec<u64>,
    bins_a_level: u64,
    /// Bins of all levels, in the order of the levels.
    bins: Vec<Bin>,
}

/// State of the bins to which a packet is hashed.
struct Judged {
    /// Minimum of the probabilities of these bins.
    least: f64,
    /// True if a bin of the packet is full.
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

    /// Return the index of a flow's bin at a level.
    fn place(&self, level: usize, flow: u32) -> usize {
        let h = hash(u64::from(flow) << 32 | self.salts[level]);
        level * self.bins_a_level as usize + (h % self.bins_a_level) as usize
    }

    /// Change the packet counts of a flow's bins.
    fn count(&mut self, flow: u32, change: i32) {
        for level in 0..self.salts.len() {
            let place = self.place(level, flow);
            self.bins[place].waiting = self.bins[place].waiting.saturating_add_signed(change);
        }
    }

    /// Update the probabilities of a packet's bins and return their state.
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

    /// Choose new hash functions, reset the probabilities, and count the waiting packets again.
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

/// State of SFB.
#[derive(Clone, Debug)]
pub struct SfbAqm {
    params: Sfb,
    bin_size: f64,
    /// Set that manages the queue, then the set that is being warmed up.
    sets: [Set; 2],
    changes: Ticks,
    /// Time of the last exchange of the sets.
    changed: Time,
    /// Number of packets of unresponsive flows that may be admitted now.
    tokens: f64,
    /// Time up to which tokens have been added to the counter.
    filled: Time,
    departures: Departures,
    random: Stream,
}

impl SfbAqm {
    /// Exchange the two sets of bins: the set that was warmed up manages the queue, and the other
    /// set gets new hash functions.
    fn rehash(&mut self, now: Time) {
        self.sets.swap(0, 1);
        self.sets[1].renew(&self.departures, &mut self.random);
        self.changed = now;
    }

    /// Return true if a packet of an unresponsive flow may pass (ratelimit()).
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

impl Aqm for SfbAqm {
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
