//! DualPI2: two coupled queues, a shallow one for Scalable traffic and one for Classic traffic.
//!
//! Source: RFC 9332 Appendix A (`rfc9332`), line by line: figure 2 (the limit and other defaults),
//! figure 3 (enqueue), figure 7 (dequeue with its edge cases), figure 5 (native L4S AQM), figure 8
//! (PI update), and A.2 for the schedulers, with figure 10 for TS-FIFO. Queueing delays are sojourn
//! times (note a). p_CL is at most 1, because beyond 1 `recur` would accumulate its count without
//! bound and continue to mark after the overload. The RFC recommends a weighted round robin without
//! defining it. The weighted round robin of this file follows the RFC's text on Linux. Its credit
//! changes only while both queues have packets, and is reset in favour of the L queue when the link
//! is idle. As in Linux's sch_dualpi2.c a dropped packet does not use the queue's turn. If an
//! update of the probability and a packet have the same time, the update comes first.
//!
//! The tests also compare this queue with sch_dualpi2.c, as in Linux 6.17 and as in the L4S team's
//! kernel of August 2020. Both kernels exempt packets of a nearly empty queue (`sparing = "linux"`)
//! and choose packets at random (`choice = "random"`). Both kernels mark with a step at 1 ms
//! instead of the ramp, give the C queue a tenth of the link and limit the queue to 10,000 packets.
//! In 6.17 the step applies to every packet (min_qlen_step = 0: Th_len of 0), and in the kernel of
//! 2020 to a packet behind more than one packet in L (Th_len of 2).

use std::collections::VecDeque;

use engine::Stream;
use net::{Arrival, Backlog, Ecn, Fates, Next, QueueDiscipline, QueuedPacket, Why};
use units::{Bytes, Duration, Packets, Probability, Range, Room, Time, params, words};

use crate::aqm::{DisciplineParams, QueueContext};
use crate::fifo::{Buffer, Limit, Marking};
use crate::lazy::Ticks;
use crate::store::Store;

words! {
    /// Packets of a nearly empty queue that are never signalled.
    pub enum Sparing {
        /// The native AQM exempts a packet that leaves at most Th_len in the L queue. The base AQM
        /// (p') exempts none.
        Rfc9332 = "rfc9332",
        /// The native AQM exempts a packet that arrived while fewer packets than Th_len were in the
        /// L queue, so that it marks the last packets of a burst. The base AQM (p') exempts a
        /// packet that leaves less than two MTU in both queues.
        Linux = "linux",
    }
}

words! {
    /// Choice of the packets to signal, given a probability.
    pub enum Choice {
        /// The signal probabilities of successive packets are added up. Each time the sum passes 1,
        /// a packet is signalled.
        Counted = "counted",
        /// Each packet is signalled at random, independently of the others.
        Random = "random",
    }
}

words! {
    /// Choice of the queue that sends when both queues have packets.
    pub enum Scheduler {
        /// Weighted round robin, in which the C queue has the share `classic_share` of the link.
        Wrr = "wrr",
        /// Time-shifted FIFO: of the two packets at the heads of the queues the one that has waited
        /// longer is sent first, where time_shift is added to the waiting time of the packet in L.
        TsFifo = "ts-fifo",
    }
}

params! {
    /// DualPI2 stores Scalable packets, which carry ECT(1) or CE, in a queue of their own (L),
    /// which is nearly always served first and marks packets that wait about a millisecond. PI2
    /// controls the delay of the other packets (C) at a target: it drops them with p' squared, or
    /// marks them if they carry ECT(0). Scalable packets are marked with at least k p', so that
    /// flows of both kinds have equal rates while each queue has its own delay. When the Classic
    /// probability reaches 1/k², ECN-capable packets are dropped too. A limit in bytes, or by a
    /// time, must leave space for an MTU. The default limit is the traffic that the link sends in
    /// 250 ms (RFC 9332 Appendix A.1).
    pub struct DualPi2: "dualpi2" {
        /// Target delay of the C queue.
        target: Duration = (Duration::from_millis(15)), in Range::above(0.0), from "rfc9332 Appendix A.1: 15 ms";
        /// Time between two updates of the probability (Tupdate).
        t_update: Duration = (Duration::from_millis(16)), in Range::at_least(1e-6), from "rfc9332 Appendix A.1: 16 ms";
        /// Integral gain in Hz (alpha).
        alpha: f64 = (0.16), in Range::at_least(0.0), from "rfc9332 Appendix A.1: 0.16 Hz";
        /// Proportional gain in Hz (beta).
        beta: f64 = (3.2), in Range::at_least(0.0), from "rfc9332 Appendix A.1: 3.2 Hz";
        /// Coupling factor (k): Scalable packets are marked with k times p', the root of the
        /// Classic probability.
        coupling: f64 = (2.0), in Range::at_least(0.0), from "rfc9332 Appendix A.1, §2.5.1: 2";
        /// Delay above which the L queue marks (minTh).
        min_th: Duration = (Duration(800_000_000)), in Range::at_least(0.0), from "rfc9332 Appendix A.1: 800 us";
        /// Delay beyond min_th at which the L queue marks every packet (range). With a range of 0
        /// the ramp of the marking probability becomes a step.
        range: Duration = (Duration(400_000_000)), in Range::at_least(0.0), from "rfc9332 Appendix A.1: 400 us";
        /// Number of packets in the L queue up to which its native AQM does not mark (Th_len).
        th_len: Packets = (Packets(1.0)), in Range::between(0.0, 1e9).whole(), from "rfc9332 Appendix A.1: 1 packet";
        /// Packets of a nearly empty queue that are never signalled.
        sparing: Sparing = (Sparing::Rfc9332), in Range::ANY, from "rfc9332 Appendix A.2, figure 7; A.1 and A.2 describe Linux";
        /// Choice of the packets to signal, given a probability.
        choice: Choice = (Choice::Counted), in Range::ANY, from "rfc9332 Appendix A.1, figure 4: counted; Linux, sch_dualpi2.c: random";
        /// Choice of the queue that sends when both queues have packets.
        scheduler: Scheduler = (Scheduler::Wrr), in Range::ANY, from "rfc9332 Appendix A.2: wrr is recommended";
        /// Share of the link for the C queue while both queues have packets, under wrr.
        classic_share: Probability = (Probability(0.0625)), in Range::ANY, from "rfc9332 Appendix A.2: 1/16";
        /// Additional waiting time that a packet of C needs to be sent before a packet of L, under
        /// ts-fifo (tshift).
        time_shift: Duration = (Duration::from_millis(50)), in Range::at_least(0.0), from "rfc9332 Appendix A.2: 50 ms";
        /// Number of bytes that must be free under a limit in bytes before a packet of any size is
        /// stored.
        mtu: Bytes = (Bytes(1500)), in Range::between(1.0, 65535.0), from "rfc9332 Appendix A.1, figure 3: 1 MTU";
    }
}

impl DisciplineParams for DualPi2 {
    type Discipline = DualPi2Queue;
    /// Default limit of figure 2, line 5: limit = MAX_LINK_RATE * 250 ms.
    const LIMIT: Room = Room::Time(Duration::from_millis(250));

    fn discipline(&self, buffer: &Buffer, context: QueueContext) -> DualPi2Queue {
        let k = self.coupling;
        DualPi2Queue {
            limit: Limit::of(buffer, context.limit),
            marks: buffer.ecn == Marking::Mark,
            ticks: Ticks::every(self.t_update),
            p_cmax: (1.0 / (k * k)).min(1.0),
            params: self.clone(),
            l: Side::default(),
            c: Side::default(),
            may_ramp: VecDeque::new(),
            credit: 0.0,
            random: context.random,
            probability: 0.0,
            previous: 0.0,
        }
    }
}

/// One of the two queues L and C.
#[derive(Debug, Default)]
struct Side {
    store: Store,
    count: f64,
}

impl Side {
    /// Return the time that the packet at the head has waited, in seconds.
    fn time(&self, now: Time) -> f64 {
        self.store.get(0).map_or(0.0, |head| now.since(head.entered).seconds())
    }

    /// Return true with a given likelihood, in evenly spaced calls (figure 4, recur()).
    fn recur(&mut self, likelihood: f64) -> bool {
        self.count += likelihood;
        let whole = self.count > 1.0;
        self.count -= f64::from(u8::from(whole));
        whole
    }
}

/// State of DualPI2.
#[derive(Debug)]
pub struct DualPi2Queue {
    params: DualPi2,
    limit: Limit,
    marks: bool,
    ticks: Ticks,
    p_cmax: f64,
    l: Side,
    c: Side,
    /// For each packet in L: true if at least Th_len packets were in L when it arrived.
    may_ramp: VecDeque<bool>,
    /// Bytes that the C queue may send in its current turn.
    credit: f64,
    random: Stream,
    /// Base probability p'.
    probability: f64,
    /// Queueing delay at the previous update, in seconds.
    previous: f64,
}

impl DualPi2Queue {
    /// Update the probability p' for every period that has ended (figure 8, dualpi2_update()).
    fn update(&mut self, now: Time) {
        while let Some(tick) = self.ticks.due(now) {
            let current = self.c.time(tick).max(self.l.time(tick));
            let (p, target) = (&self.params, self.params.target.seconds());
            let change = p.alpha * (current - target) + p.beta * (current - self.previous);
            let probability = (self.probability + change).clamp(0.0, 1.0);
            let same = probability == self.probability && current == self.previous;
            (self.probability, self.previous) = (probability, current);
            if same && self.l.store.is_empty() && self.c.store.is_empty() {
                self.ticks.pass_over(now);
            }
        }
    }

    /// Return the marking probability of the native AQM of the L queue for a delay (figure 5,
    /// laqm()).
    fn native(&self, delay: Duration) -> f64 {
        let (least, range) = (self.params.min_th, self.params.range);
        if delay.0 >= least.0 + range.0 {
            1.0
        } else if delay > least {
            (delay.0 - least.0) as f64 / range.0 as f64
        } else {
            0.0
        }
    }

    /// Return true if the L queue sends next when both queues have packets (scheduler()).
    fn is_turn_of_l(&self, now: Time) -> bool {
        match self.params.scheduler {
            Scheduler::Wrr => self.credit <= 0.0,
            Scheduler::TsFifo => self.l.time(now) + self.params.time_shift.seconds() >= self.c.time(now),
        }
    }

    /// Update the credit for a packet that is sent while both queues have packets.
    fn charge(&mut self, is_l: bool, size: u16) {
        let (share, size) = (self.params.classic_share.0, f64::from(size));
        self.credit += if is_l { share * size } else { -(1.0 - share) * size };
    }

    /// Mark a packet, or drop it if the queue does not mark. Return true if the packet was marked
    /// and will be sent.
    fn mark(&self, held: &mut QueuedPacket, fates: &mut Fates) -> bool {
        if self.marks {
            fates.mark(&mut held.packet, Why::Early);
        } else {
            fates.drop(held.packet, Why::Early);
        }
        self.marks
    }

    /// Decide with the given likelihood if a packet of L, or of C, is signalled.
    fn chooses(&mut self, is_l: bool, likelihood: f64) -> bool {
        match self.params.choice {
            Choice::Counted => (if is_l { &mut self.l } else { &mut self.c }).recur(likelihood),
            Choice::Random => likelihood > 0.0 && self.random.uniform() < likelihood,
        }
    }

    /// Return true if p' does not apply because the packet leaves a nearly empty queue.
    fn is_spared(&self) -> bool {
        self.params.sparing == Sparing::Linux && self.backlog().bytes < 2 * self.params.mtu.0
    }

    /// Return the marking probability of the native AQM of the L queue (figure 7, lines 5a to 5d).
    /// `found` is true if at least Th_len packets were in L when the packet arrived.
    fn ramp(&self, held: &QueuedPacket, found: bool, now: Time) -> f64 {
        let long = match self.params.sparing {
            Sparing::Rfc9332 => f64::from(self.l.store.backlog().packets) > self.params.th_len.0,
            Sparing::Linux => found,
        };
        if long { self.native(now.since(held.entered)) } else { 0.0 }
    }

    /// Decide on a packet of L (figure 7, lines 4b to 8j). Return true unless the packet is
    /// dropped.
    fn passes_l(&mut self, held: &mut QueuedPacket, now: Time, fates: &mut Fates) -> bool {
        let found = self.may_ramp.pop_front().unwrap_or(false);
        let spared = self.is_spared();
        let coupled = if spared { 0.0 } else { (self.params.coupling * self.probability).min(1.0) };
        let likelihood = if coupled < 1.0 {
            self.ramp(held, found, now).max(coupled)
        } else {
            if self.chooses(true, self.probability * self.probability) {
                fates.drop(held.packet, Why::Early);
                return false;
            }
            coupled
        };
        !self.chooses(true, likelihood) || self.mark(held, fates)
    }

    /// Decide on a packet of C (figure 7, lines 11 to 17). Return true unless the packet is
    /// dropped.
    fn passes_c(&mut self, held: &mut QueuedPacket, fates: &mut Fates) -> bool {
        let p_c = self.probability * self.probability;
        if self.is_spared() || !self.chooses(false, p_c) {
            return true;
        }
        if !held.packet.ecn.is_capable() || p_c >= self.p_cmax {
            fates.drop(held.packet, Why::Early);
            return false;
        }
        self.mark(held, fates)
    }
}

impl QueueDiscipline for DualPi2Queue {
    /// Store a packet, or drop it at the limit (figure 3, dualpi2_enqueue()).
    fn enqueue(&mut self, held: QueuedPacket, at: &Arrival, fates: &mut Fates) {
        self.update(at.now);
        let full = match self.limit {
            Limit::Bytes(limit) => at.backlog.bytes + self.params.mtu.0 > limit,
            limit => limit.is_full(&held.packet, at),
        };
        if full {
            return fates.drop(held.packet, Why::Full);
        }
        if matches!(held.packet.ecn, Ecn::Ect1 | Ecn::Ce) {
            self.may_ramp.push_back(self.l.store.len() as f64 >= self.params.th_len.0);
            self.l.store.push(held);
        } else {
            self.c.store.push(held);
        }
    }

    /// Return the next packet to send (figure 7, dualpi2_dequeue()).
    fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Next {
        self.update(now);
        loop {
            let contended = !self.l.store.is_empty() && !self.c.store.is_empty();
            let is_l = self.c.store.is_empty() || (contended && self.is_turn_of_l(now));
            let Some(mut held) = (if is_l { &mut self.l } else { &mut self.c }).store.pop() else {
                self.credit = 0.0;
                return Next::Empty;
            };
            let left =
                if is_l { self.passes_l(&mut held, now, fates) } else { self.passes_c(&mut held, fates) };
            if left {
                if contended {
                    self.charge(is_l, held.packet.size);
                }
                return Next::Packet(held);
            }
        }
    }

    fn backlog(&self) -> Backlog {
        let (l, c) = (self.l.store.backlog(), self.c.store.backlog());
        Backlog { packets: l.packets + c.packets, bytes: l.bytes + c.bytes }
    }

    fn each(&self, see: &mut dyn FnMut(&QueuedPacket)) {
        self.l.store.iter().chain(self.c.store.iter()).for_each(see);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use units::{Depth, Rate, Read};

    use super::*;
    use crate::fifo::{Counting, DropFrom, MarkAt};

    /// Return the share of 20,000 decisions that signal with a likelihood of 0.1, and the variance
    /// of the gaps between the signals.
    fn decisions(choice: &str) -> (f64, f64) {
        let params = DualPi2::read(&json!({"choice": choice}), "dualpi2").unwrap();
        let buffer = Buffer {
            limit: Room::Depth(Depth::Packets(100.0)),
            limit_counts: Counting::Waiting,
            drop_from: DropFrom::Tail,
            mark_at: MarkAt::Tail,
            ecn: Marking::Mark,
        };
        let context = QueueContext::new(Rate(10_000_000), Depth::Packets(100.0), Stream::new(1, "dualpi2"));
        let mut queue = params.discipline(&buffer, context);
        let chosen: Vec<usize> = (0..20_000).filter(|_| queue.chooses(false, 0.1)).collect();
        let gaps: Vec<f64> = chosen.windows(2).map(|w| (w[1] - w[0]) as f64).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        (chosen.len() as f64 / 20_000.0, variance)
    }

    /// With the counted choice all gaps between signals are equal. Random gaps are geometric, with
    /// a variance of (1 - p)/p^2 = 90.
    #[test]
    fn random_choice_is_independent_and_counted_choice_is_regular() {
        let (share, variance) = decisions("counted");
        assert!((share - 0.1).abs() < 1e-3 && variance < 0.1, "{share} {variance}");
        let (share, variance) = decisions("random");
        assert!((share - 0.1).abs() < 0.01 && (variance - 90.0).abs() < 15.0, "{share} {variance}");
    }
}
