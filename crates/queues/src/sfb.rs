//! Stochastic fair BLUE (SFB).
//!
//! Source: Feng, Shin, Kandlur & Saha 2002 (`feng2002blue`), section V, the algorithm of its figure
//! "SFB algorithm". SFB has L levels with N bins each. Each bin runs a BLUE for the packets that
//! are hashed to it. The hash functions change periodically, as in tc-sfb(8), which describes the
//! double buffering of the paper. One set of bins controls the queue. While the first set of bins
//! controls the queue, packets of unresponsive flows update a second set of bins, which has other
//! hash functions. At the end of the interval the second set replaces the first set. The default
//! steps, intervals and penalty rate are from tc-sfb(8).
//!
//! The paper on SFB was not available. The queue `sfb` was compared with tc-sfb(8) and sch_sfb.c,
//! whose authors are not those of the paper. Where Linux differs from the figure of the paper,
//! `sfb` follows the figure as the authors of aqmlab remember it. The queue `sfb` has 2 levels with
//! 23 bins each, and Linux has 8 levels with 16 bins each. In `sfb` a bin is full if it has more
//! packets than its size, and in Linux a bin is full if it has at least as many packets as its
//! size. The queue `sfb` drops a packet if at least one of the packet's bins is full. Linux drops a
//! packet if each of the packet's bins contains at least `max` packets, where `max` is a parameter
//! of Linux besides the bin size. If `sfb` signals an ECN-capable packet, it always marks the
//! packet. In Linux, if the signal probability is above one half, an increasing part of the marks
//! becomes drops. In `sfb` the tokens for packets of unresponsive flows arrive continuously, and
//! Linux adds such tokens only when no token is left. In `sfb` the warm-up of the second set of
//! bins begins a minute after a change of the hash functions, as tc-sfb(8) states. In sch_sfb.c the
//! warm-up begins a minute before the next change. In `sfb` both sets of bins count every waiting
//! packet. In sch_sfb.c the second set of bins counts only the packets of unresponsive flows that
//! arrived during the warm-up.

use engine::Stream;
use net::{
    Aqm, Arrival, Declared, Explanation, Packet, Rule, Variables as _, Verdict, Why, rules, variables,
};
use units::{Depth, Duration, Packets, Probability, Range, Time, params};

use crate::aqm::{AqmParams, QueueContext};
use crate::hash::hash;
use crate::lazy::{Departures, Ticks};

params! {
    /// SFB limits flows that do not respond to signals, and needs only little state. Each level
    /// hashes a packet to one of its bins. If a bin has more packets than its size, it raises its
    /// signal probability, and its arriving packets are dropped. If a bin is empty, it lowers its
    /// signal probability. The signal probability of a packet is the minimum of the signal
    /// probabilities of its bins. SFB treats a flow as unresponsive if the signal probability of
    /// all its bins is 1. All unresponsive flows together share a limited rate.
    pub struct Sfb: "sfb" {
        /// Number of levels (L). Each level has its own hash function.
        levels: u64 = (2), in Range::between(1.0, 16.0), from "feng2002blue §V: 2";
        /// Number of bins per level (N).
        bins: u64 = (23), in Range::between(1.0, 65536.0), from "feng2002blue §V: 23";
        /// Maximum number of waiting packets in a bin that is not full. By default the bin size is
        /// 1.5 times the limit of the buffer divided by the number of bins per level.
        bin_size: Option<Packets> = (None), in Range::at_least(1.0), from "feng2002blue §V has 1.5/N of the buffer";
        /// Increase of a bin's signal probability when a packet arrives at the bin and the bin is
        /// full.
        increment: Probability = (Probability(0.0005)), in Range::above_to(0.0, 1.0), from "tc-sfb(8): 0.00050";
        /// Decrease of a bin's signal probability when a packet arrives at the bin and the bin is
        /// empty.
        decrement: Probability = (Probability(0.00005)), in Range::above_to(0.0, 1.0), from "tc-sfb(8): 0.00005";
        /// Maximum rate at which packets of all unresponsive flows together are admitted, in
        /// packets per second.
        penalty_rate: f64 = (10.0), in Range::at_least(0.0), from "tc-sfb(8): 10 packets per second";
        /// Maximum number of packets of unresponsive flows that are admitted in one burst.
        penalty_burst: Packets = (Packets(20.0)), in Range::at_least(0.0), from "tc-sfb(8): 20 packets";
        /// Time between two changes of the hash functions, which assign flows to bins. After a
        /// change, a flow that shared all its bins with an unresponsive flow most probably has
        /// other bins.
        rehash: Duration = (Duration::from_millis(600_000)), in Range::at_least(1e-3), from "tc-sfb(8): 10 minutes";
        /// Time from a change of the hash functions to the beginning of the warm-up of the next set
        /// of bins.
        warmup_after: Duration = (Duration::from_millis(60_000)), in Range::at_least(0.0), from "tc-sfb(8): one minute";
    }
}

impl AqmParams for Sfb {
    type Aqm = SfbAqm;
    const COUNTS_ON_ORDER: bool = true;
    const DECLARED: &'static [Declared] = &[Declared { rules: RULES, variables: SfbVariables::LIST }];

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
            p_min: 0.0,
            signal: (&RANDOM, f64::NAN),
            params: self.clone(),
            departures: Departures::default(),
            random,
        }
    }
}

/// BLUE that controls the packets of one bin.
#[derive(Clone, Copy, Debug, Default)]
struct Bin {
    waiting: u32,
    /// Signal probability pm.
    probability: f64,
}

/// Set of bins with one hash function per level.
#[derive(Clone, Debug)]
struct Set {
    /// Salt of each level's hash function.
    salts: Vec<u64>,
    bins_a_level: u64,
    /// Bins of all levels, one level after the other.
    bins: Vec<Bin>,
}

/// Summary of the bins to which one packet is hashed.
struct Judged {
    /// Minimum signal probability of the bins to which the packet is hashed.
    least: f64,
    /// True if at least one bin to which the packet is hashed is full.
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

    /// Return the index of the bin to which a flow is hashed at a level.
    fn place(&self, level: usize, flow: u32) -> usize {
        let h = hash(u64::from(flow) << 32 | self.salts[level]);
        level * self.bins_a_level as usize + (h % self.bins_a_level) as usize
    }

    /// Add `change` to the numbers of waiting packets in the bins of a flow.
    fn count(&mut self, flow: u32, change: i32) {
        for level in 0..self.salts.len() {
            let place = self.place(level, flow);
            self.bins[place].waiting = self.bins[place].waiting.saturating_add_signed(change);
        }
    }

    /// Update the signal probabilities of the bins of a packet, and return the state of the bins.
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

    /// Choose new hash functions, set the signal probabilities to 0, and count the waiting packets
    /// in the new bins.
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

rules! {
    /// At least one of the packet's bins is full.
    BIN_FULL = "bin-full", from "feng2002blue §V";
    /// The signal probability of all of the packet's bins is 1, and the penalty rate is used up.
    PENALTY = "penalty-rate", from "feng2002blue §V; tc-sfb(8)";
    /// The random number is below the minimum signal probability of the packet's bins.
    RANDOM = "random", from "feng2002blue §V";
}

variables! {
    /// Variables of SFB.
    pub struct SfbVariables {
        /// Minimum signal probability of the packet's bins (p_min).
        p_min in "0..1", from "feng2002blue §V";
        /// Number of packets of unresponsive flows that SFB may admit.
        tokens in "packets", from "tc-sfb(8)";
        /// Random number between 0 and 1 that was compared with p_min.
        random in "0..1", from "feng2002blue §V";
    }
}

/// State of SFB.
#[derive(Clone, Debug)]
pub struct SfbAqm {
    params: Sfb,
    bin_size: f64,
    /// Two sets of bins. The first set controls the queue, and the second set will replace the
    /// first set.
    sets: [Set; 2],
    changes: Ticks,
    /// Time at which the two sets were exchanged last.
    changed: Time,
    /// Number of packets of unresponsive flows that SFB may admit now.
    tokens: f64,
    /// Time up to which tokens have been added to `tokens`.
    filled: Time,
    /// Minimum signal probability of the bins of the packet that arrived last.
    p_min: f64,
    /// Rule and random number of the last signal.
    signal: (&'static Rule, f64),
    departures: Departures,
    random: Stream,
}

impl SfbAqm {
    /// Exchange the two sets of bins. The set of bins that was warmed up now controls the queue,
    /// and the other set of bins gets new hash functions.
    fn rehash(&mut self, now: Time) {
        self.sets.swap(0, 1);
        self.sets[1].renew(&self.departures, &mut self.random);
        self.changed = now;
    }

    /// Return true if a packet of an unresponsive flow may pass, and remove a token for it
    /// (ratelimit()).
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
        self.p_min = least;
        if least >= 1.0 && at.now.since(self.changed) >= self.params.warmup_after {
            self.sets[1].judge(packet.connection, self.bin_size, &self.params);
        }
        if full {
            self.signal = (&BIN_FULL, f64::NAN);
            return Verdict::Drop(Why::Threshold);
        }
        if least >= 1.0 {
            if self.within_penalty_rate(at.now) {
                return Verdict::Pass;
            }
            self.signal = (&PENALTY, f64::NAN);
            return Verdict::Drop(Why::Early);
        }
        let drawn = self.random.uniform();
        if drawn < least {
            self.signal = (&RANDOM, drawn);
            return Verdict::Signal(Why::Early);
        }
        Verdict::Pass
    }

    fn explain(&self, why: Why, to: &mut Explanation) {
        let random = to.drawn(why, self.signal.0, self.signal.1);
        to.with(SfbVariables { p_min: self.p_min, tokens: self.tokens, random });
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
