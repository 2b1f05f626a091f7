//! Stabilized RED (SRED).
//!
//! Source: Ott, Lakshman & Wong 1999, "SRED: stabilized RED" (`ott1999sred`): the zombie list of
//! section 2, the estimate of equation (2.2), and the drop functions p_sred and p_zap of sections 3
//! (simple) and 4 (full).
//!
//! Neither the paper on SRED nor its authors' code was available. The authors of aqmlab implemented
//! SRED from what they remembered of the paper. The zombie list and the estimate were compared with
//! slides on the paper. The function p_sred and the factor of a hit were compared with an SRED for
//! ns-3, which cites equations (4.3) and (5.1). The slides and the SRED for ns-3 agree with aqmlab
//! on the zombie list, the estimate, the steps of p_sred, the factor (1/256 P)² of p_sred, and the
//! factor 1 + 1/P of a hit. The section numbers of the paper are not verified.

use engine::Stream;
use net::{Aqm, Arrival, Declared, Explanation, Packet, Variables as _, Verdict, Why, rules, variables};
use units::{Depth, Probability, Range, params, words};

use crate::aqm::{AqmParams, QueueContext, measure};

words! {
    /// Formula of the drop probability.
    pub enum Variant {
        /// The drop probability depends only on the queue length and the number of flows.
        Simple = "simple",
        /// The drop probability depends on the queue length and the number of flows. The drop
        /// probability is higher after a hit, that is, if the packet belongs to the same flow as
        /// the entry of the zombie list with which the packet is compared. A flow with many packets
        /// therefore loses more packets.
        Full = "full",
    }
}

params! {
    /// SRED estimates the number of flows without per-flow state. SRED stores a list of recently
    /// seen flows ("zombies"). SRED compares the flow of each arriving packet with a random entry
    /// of the list. If the two flows are equal, the comparison is a hit. If there are n flows,
    /// about one comparison in n is a hit. The drop probability is proportional to the square of
    /// the number of flows, up to 256 flows. The drop probability also depends on the queue length:
    /// its maximum is 0 below a sixth of the buffer, a quarter of pmax up to a third of the buffer,
    /// and pmax above a third.
    pub struct Sred: "sred" {
        /// Number of entries of the zombie list (M).
        zombies: u64 = (1000), in Range::between(1.0, 1e6), from "ott1999sred §2: 1000";
        /// Probability that the flow of the packet replaces the compared entry, if the comparison
        /// is not a hit (p).
        overwrite: Probability = (Probability(0.25)), in Range::above_to(0.0, 1.0), from "ott1999sred §2: 0.25";
        /// Maximum drop probability (pmax) of a packet without a hit.
        pmax: Probability = (Probability(0.15)), in Range::above_to(0.0, 1.0), from "ott1999sred §3: 0.15";
        /// Formula of the drop probability.
        variant: Variant = (Variant::Full), in Range::ANY, from "ott1999sred §4";
    }
}

impl AqmParams for Sred {
    type Aqm = SredAqm;
    const DECLARED: &'static [Declared] = &[Declared { rules: RULES, variables: SredVariables::LIST }];

    fn aqm(&self, context: QueueContext) -> SredAqm {
        SredAqm {
            alpha: self.overwrite.0 / self.zombies as f64,
            params: self.clone(),
            buffer: context.limit,
            list: Vec::with_capacity(self.zombies as usize),
            frequency: 0.0,
            signal: (f64::NAN, f64::NAN, false),
            random: context.random,
        }
    }
}

rules! {
    /// The random number is below the drop probability p_zap.
    RANDOM = "random", from "ott1999sred §3";
}

variables! {
    /// Variables of SRED.
    pub struct SredVariables {
        /// Drop probability of this packet (p_zap).
        p_zap in "0..1", from "ott1999sred §3";
        /// 1 if the packet belongs to the same flow as the compared zombie, otherwise 0.
        hit in "0 or 1", from "ott1999sred §2";
        /// Estimated probability of a hit (P(t)).
        hit_frequency in "0..1", from "ott1999sred §2";
        /// Random number between 0 and 1 that was compared with p_zap.
        random in "0..1", from "ott1999sred §3";
    }
}

/// State of SRED.
#[derive(Clone, Debug)]
pub struct SredAqm {
    params: Sred,
    /// Weight of the newest comparison in the estimate: p/M.
    alpha: f64,
    buffer: Depth,
    /// Flow of each zombie.
    list: Vec<u32>,
    /// Estimated probability of a hit, P(t).
    frequency: f64,
    /// Drop probability and random number of the last signal, and true if its packet was a hit.
    signal: (f64, f64, bool),
    random: Stream,
}

impl SredAqm {
    /// Compare the flow of a packet with a random zombie, and return true for a hit. While the
    /// zombie list is not full, add the flow to the list instead, and return false.
    fn compare(&mut self, flow: u32) -> bool {
        if (self.list.len() as u64) < self.params.zombies {
            self.list.push(flow);
            return false;
        }
        let zombie = self.random.below(self.params.zombies) as usize;
        let hit = self.list[zombie] == flow;
        if !hit && self.random.uniform() < self.params.overwrite.0 {
            self.list[zombie] = flow;
        }
        hit
    }

    /// Return the drop probability p_zap of a packet.
    fn probability(&self, q: f64, hit: bool) -> f64 {
        let (b, pmax) = (self.buffer.amount(), self.params.pmax.0);
        let by_queue = if q < b / 6.0 {
            0.0
        } else if q < b / 3.0 {
            pmax / 4.0
        } else {
            pmax
        };
        let flows = 256.0 * self.frequency;
        let by_flows = if flows > 1.0 { 1.0 / (flows * flows) } else { 1.0 };
        let by_hit = match self.params.variant {
            Variant::Full if hit && self.frequency > 0.0 => 1.0 + 1.0 / self.frequency,
            _ => 1.0,
        };
        by_queue * by_flows * by_hit
    }
}

impl Aqm for SredAqm {
    fn on_arrival(&mut self, packet: &Packet, at: &Arrival) -> Verdict {
        let hit = self.compare(packet.connection);
        // P(t) = (1 - alpha) P(t-1) + alpha Hit(t)
        self.frequency += self.alpha * (f64::from(u8::from(hit)) - self.frequency);
        let p = self.probability(measure(at.backlog, self.buffer), hit);
        if p > 0.0 {
            let drawn = self.random.uniform();
            if drawn < p {
                self.signal = (p, drawn, hit);
                return Verdict::Signal(Why::Early);
            }
        }
        Verdict::Pass
    }

    fn explain(&self, why: Why, to: &mut Explanation) {
        let (p, drawn, hit) = self.signal;
        let random = to.drawn(why, &RANDOM, drawn);
        let signalled = |x: f64| if random.is_nan() { f64::NAN } else { x };
        to.with(SredVariables {
            p_zap: signalled(p),
            hit: signalled(f64::from(u8::from(hit))),
            hit_frequency: self.frequency,
            random,
        });
    }
}
