//! SFB with the arithmetic of Linux and the parameters of `tc`.
//!
//! Source: net/sched/sch_sfb.c of Linux 6.12 (sfb_enqueue, sfb_rate_limit, sfb_swap_slot), with the
//! parameters that `tc` passes to the kernel. After `tc qdisc add … sfb`, the command `tc -d qdisc
//! show` prints these parameters of a running kernel: limit 1000p max 25p target 20p increment
//! 0.000503548 decrement 4.57771e-05 penalty_rate 10pps penalty_burst 20p. Probabilities have 16
//! bits, and penalty times are in milliseconds (HZ = 1000). The hash function of `tc_sfb` is not
//! that of Linux. Each level uses 4 bits of a hash value. The module [`sfb`](crate::sfb) has the
//! algorithm of the paper.

use std::collections::VecDeque;

use engine::Stream;
use net::{
    Aqm, Arrival, Declared, Explanation, Packet, Rule, Variables as _, Verdict, Why, rules, variables,
};
use units::{Depth, Duration, Packets, Probability, Range, Room, Time, params};

use crate::aqm::{AqmParams, QueueContext};
use crate::hash::hash;
use crate::lazy::Departures;

params! {
    /// SFB with the parameters of Linux's `tc`. This SFB has eight levels with sixteen bins each.
    /// If a bin has at least `target` packets, it raises its signal probability. If a bin is empty,
    /// it lowers its signal probability. A packet is dropped if each of its bins has at least `max`
    /// packets. If the signal probability is above one half, an increasing part of the marks
    /// becomes drops.
    pub struct TcSfb: "tc_sfb" {
        /// Minimum number of packets in a bin at which the bin raises its signal probability.
        target: Packets = (Packets(20.0)), in Range::between(1.0, 65535.0).whole(), from "tc-sfb(8): 20";
        /// Threshold in packets for drops. SFB drops an arriving packet if each bin to which the
        /// packet is hashed contains at least `max` packets.
        max: Packets = (Packets(25.0)), in Range::between(1.0, 65535.0).whole(), from "tc-sfb(8): 25";
        /// Increase of a bin's signal probability when a packet arrives at the bin and the bin has
        /// at least `target` packets.
        increment: Probability = (Probability(0.0005)), in Range::above_to(0.0, 1.0), from "tc-sfb(8): 0.00050";
        /// Decrease of a bin's signal probability when a packet arrives at the bin and the bin is
        /// empty.
        decrement: Probability = (Probability(0.00005)), in Range::above_to(0.0, 1.0), from "tc-sfb(8): 0.00005";
        /// Maximum rate at which packets of all unresponsive flows together are admitted, in
        /// packets per second.
        penalty_rate: f64 = (10.0), in Range::between(0.0, 1e6).whole(), from "tc-sfb(8): 10 packets per second";
        /// Maximum number of packets of unresponsive flows that are admitted in one burst.
        penalty_burst: Packets = (Packets(20.0)), in Range::between(0.0, 1e6).whole(), from "tc-sfb(8): 20 packets";
        /// Time between two changes of the hash functions, which assign flows to bins. If rehash is
        /// 0, the hash functions never change.
        rehash: Duration = (Duration::from_millis(600_000)), in Range::at_least(0.0), from "tc-sfb(8): 10 minutes";
        /// Time from the beginning of the warm-up of the next set of bins to the next change of the
        /// hash functions (`db`).
        warmup: Duration = (Duration::from_millis(60_000)), in Range::at_least(0.0), from "tc-sfb(8): 1 minute";
    }
}

impl AqmParams for TcSfb {
    type Aqm = TcSfbAqm;
    const COUNTS_ON_ORDER: bool = true;
    const DECLARED: &'static [Declared] = &[Declared { rules: RULES, variables: TcSfbVariables::LIST }];
    const LIMIT: Room = Room::Depth(Depth::Packets(1000.0));

    fn aqm(&self, context: QueueContext) -> TcSfbAqm {
        let mut random = context.random;
        TcSfbAqm {
            params: self.clone(),
            steps: [steps(self.increment), steps(self.decrement)],
            sets: [Set::new(&mut random), Set::new(&mut random)],
            slot: 0,
            warms: false,
            changed: Time::ZERO,
            tokens: self.penalty_burst.0 as u64,
            filled: 0,
            fewest: (0, 0),
            signal: (&RANDOM, f64::NAN),
            hashes: [None; 2],
            waiting: VecDeque::new(),
            departures: Departures::default(),
            random,
        }
    }
}

/// Probability 1 in 16 bits (SFB_MAX_PROB).
const ONE: u16 = 0xffff;
const LEVELS: usize = 8;
const BINS: usize = 16;

/// Convert a probability to an integer of 16 bits, at least 1, as `tc` computes it.
fn steps(p: Probability) -> u16 {
    ((p.0 * f64::from(ONE)).round() as u16).max(1)
}

#[derive(Clone, Copy, Debug, Default)]
struct Bin {
    waiting: u16,
    /// Mark probability p_mark.
    probability: u16,
}

/// Set of bins with one hash function.
#[derive(Clone, Debug)]
struct Set {
    salt: u64,
    bins: Vec<[Bin; BINS]>,
}

impl Set {
    fn new(random: &mut Stream) -> Self {
        Set { salt: random.below(1 << 32), bins: vec![Default::default(); LEVELS] }
    }

    /// Return the hash value of a flow. The hash value contains the index of the flow's bin for
    /// each level.
    fn hash(&self, flow: u32) -> u32 {
        hash(u64::from(flow) << 32 | self.salt) as u32
    }

    fn each(&mut self, hash: u32) -> impl Iterator<Item = &mut Bin> {
        self.bins
            .iter_mut()
            .enumerate()
            .map(move |(level, bins)| &mut bins[(hash >> (4 * level)) as usize % BINS])
    }

    /// Update the bins of a hash value. Return the minimum signal probability and the minimum
    /// number of packets among the bins of the hash value.
    fn judge(&mut self, hash: u32, target: u16, [up, down]: [u16; 2]) -> (u16, u16) {
        let mut least = (ONE, u16::MAX);
        for bin in self.each(hash) {
            if bin.waiting == 0 {
                bin.probability = bin.probability.saturating_sub(down);
            } else if bin.waiting >= target {
                bin.probability = bin.probability.saturating_add(up);
            }
            least = (least.0.min(bin.probability), least.1.min(bin.waiting));
        }
        least
    }
}

rules! {
    /// Each of the packet's bins contains at least `max` packets.
    BINS_FULL = "bins-full", from "sch_sfb.c of Linux 6.12: sfb_enqueue";
    /// The signal probability of all of the packet's bins is 1, and the penalty rate is used up.
    PENALTY = "penalty-rate", from "sch_sfb.c of Linux 6.12: sfb_rate_limit";
    /// The random number is below the minimum signal probability of the packet's bins.
    RANDOM = "random", from "sch_sfb.c of Linux 6.12: sfb_enqueue";
    /// As `random`, but the signal probability is above one half, and the random number selects a
    /// drop instead of a mark.
    RANDOM_DROP = "random-drop", from "sch_sfb.c of Linux 6.12: sfb_enqueue";
}

variables! {
    /// Variables of Linux's SFB.
    pub struct TcSfbVariables {
        /// Minimum signal probability of the packet's bins (p_min).
        p_min in "0..1", from "sch_sfb.c of Linux 6.12";
        /// Minimum number of packets of the packet's bins (minqlen).
        qlen in "packets", from "sch_sfb.c of Linux 6.12";
        /// Number of packets of unresponsive flows that SFB may admit (tokens_avail).
        tokens in "packets", from "sch_sfb.c of Linux 6.12";
        /// Random number between 0 and 1 that was compared with p_min.
        random in "0..1", from "sch_sfb.c of Linux 6.12";
    }
}

/// State of Linux's SFB.
#[derive(Clone, Debug)]
pub struct TcSfbAqm {
    params: TcSfb,
    /// Steps by which the signal probability changes: increment and decrement.
    steps: [u16; 2],
    /// Two sets of bins, of which one controls the queue. `slot` is the index of the set that
    /// controls the queue.
    sets: [Set; 2],
    slot: usize,
    /// True while SFB also updates the set of bins that does not control the queue yet
    /// (double_buffering).
    warms: bool,
    changed: Time,
    /// Number of packets of unresponsive flows that SFB may admit now. `filled` is the time in ms
    /// at which `tokens` was updated last.
    tokens: u64,
    filled: u64,
    /// Minimum signal probability and minimum number of packets of the bins of the packet that
    /// arrived last.
    fewest: (u16, u16),
    /// Rule and random number of the last signal.
    signal: (&'static Rule, f64),
    /// Hash values of the current packet in both sets. The list `waiting` has the hash values of
    /// the waiting packets.
    hashes: [Option<u32>; 2],
    waiting: VecDeque<[Option<u32>; 2]>,
    departures: Departures,
    random: Stream,
}

impl TcSfbAqm {
    /// If the time between two changes has passed, change the hash functions. The bins of the set
    /// that controlled the queue before keep their contents (sfb_swap_slot).
    fn rehash(&mut self, now: Time) {
        let rehash = self.params.rehash;
        if rehash == Duration::ZERO {
            return;
        }
        let since = now.since(self.changed);
        if since > rehash {
            self.sets[self.slot].salt = self.random.below(1 << 32);
            self.slot ^= 1;
            (self.warms, self.changed) = (false, now);
        } else if self.params.warmup > Duration::ZERO && since.0 + self.params.warmup.0 > rehash.0 {
            self.warms = true;
        }
    }

    /// Return true if a packet of an unresponsive flow may pass, and remove a token for it
    /// (sfb_rate_limit).
    fn within_penalty_rate(&mut self, now: Time) -> bool {
        if self.tokens < 1 {
            let now = now.0 / 1_000_000_000;
            let age = (now - self.filled).min(10_000);
            let earned = age * self.params.penalty_rate as u64 / 1000;
            self.tokens = earned.min(self.params.penalty_burst.0 as u64);
            self.filled = now;
        }
        let passes = self.tokens > 0 && self.params.penalty_rate > 0.0;
        self.tokens -= u64::from(passes);
        passes
    }
}

impl Aqm for TcSfbAqm {
    fn on_arrival(&mut self, packet: &Packet, at: &Arrival) -> Verdict {
        while self.departures.next(at.now).is_some() {
            let hashes = self.waiting.pop_front().unwrap_or_default();
            for (set, hash) in self.sets.iter_mut().zip(hashes) {
                let Some(hash) = hash else { continue };
                set.each(hash).for_each(|bin| bin.waiting = bin.waiting.saturating_sub(1));
            }
        }
        self.rehash(at.now);
        let (slot, target) = (self.slot, self.params.target.0 as u16);
        let hash = self.sets[slot].hash(packet.connection);
        let (least, fewest) = self.sets[slot].judge(hash, target, self.steps);
        self.fewest = (least, fewest);
        self.hashes = [None; 2];
        self.hashes[slot] = Some(hash);
        if f64::from(fewest) >= self.params.max.0 {
            self.signal = (&BINS_FULL, f64::NAN);
            return Verdict::Drop(Why::Threshold);
        }
        if least == ONE {
            if self.warms {
                let hash = self.sets[slot ^ 1].hash(packet.connection);
                self.sets[slot ^ 1].judge(hash, target, self.steps);
                self.hashes[slot ^ 1] = Some(hash);
            }
            if self.within_penalty_rate(at.now) {
                return Verdict::Pass;
            }
            self.signal = (&PENALTY, f64::NAN);
            return Verdict::Drop(Why::Early);
        }
        let drawn = self.random.below(1 << 16) as u16;
        if drawn >= least {
            return Verdict::Pass;
        }
        let half = ONE / 2;
        if least > half && u32::from(drawn) < 2 * u32::from(least - half) {
            self.signal = (&RANDOM_DROP, f64::from(drawn) / f64::from(ONE));
            return Verdict::Drop(Why::Early);
        }
        self.signal = (&RANDOM, f64::from(drawn) / f64::from(ONE));
        Verdict::Signal(Why::Early)
    }

    fn explain(&self, why: Why, to: &mut Explanation) {
        let random = to.drawn(why, self.signal.0, self.signal.1);
        let (least, fewest) = self.fewest;
        to.with(TcSfbVariables {
            p_min: f64::from(least) / f64::from(ONE),
            qlen: f64::from(fewest),
            tokens: self.tokens as f64,
            random,
        });
    }

    fn on_departure(&mut self, now: Time) {
        self.departures.leave(now);
    }

    fn on_admitted(&mut self, packet: &Packet, at: &Arrival) {
        for (set, hash) in self.sets.iter_mut().zip(self.hashes) {
            let Some(hash) = hash else { continue };
            set.each(hash).for_each(|bin| bin.waiting = bin.waiting.saturating_add(1));
        }
        self.waiting.push_back(self.hashes);
        self.departures.add(packet, at, packet.connection);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The command `tc -d qdisc show` of a running kernel prints increment 0.000503548 and
    /// decrement 4.57771e-05.
    #[test]
    fn steps_equal_those_of_a_running_kernel() {
        let p = |p| f64::from(steps(Probability(p))) / f64::from(ONE);
        assert!((p(0.0005) - 0.000503548).abs() < 1e-9 && (p(0.00005) - 4.57771e-5).abs() < 1e-9);
    }
}
