//! DualPI2: two coupled queues, a shallow one for Scalable traffic and one for Classic traffic.
//!
//! Source: RFC 9332 Appendix A (`rfc9332`), which DualPI2 follows line by line: figure 2 (the limit
//! and other defaults), figure 3 (enqueue), figure 7 (dequeue with its edge cases), figure 5
//! (native L4S AQM), figure 8 (PI update), and A.2 for the schedulers, with figure 10 for TS-FIFO.
//! Queueing delays are sojourn times (note a). The coupled probability p_CL is limited to 1. A p_CL
//! above 1 would increase the count of `recur` without bound, and the queue would continue to mark
//! after the overload. The RFC recommends a weighted round robin, but does not define one. The
//! weighted round robin of aqmlab follows the RFC's description of the Linux implementation. The
//! credit of the round robin changes only while both queues have packets. When the link is idle,
//! the credit is set to 0, so that the L queue sends next. As in Linux's sch_dualpi2.c, a dropped
//! packet does not change the credit. If an update of the probability and an arrival or a departure
//! have the same time, the update comes first.
//!
//! The tests also compare this queue with two versions of sch_dualpi2.c: that of Linux 6.17, and
//! that of the L4S team's kernel of August 2020. While the queue is nearly empty, both versions of
//! sch_dualpi2.c send packets without a signal (`sparing = "linux"`). Both versions choose the
//! packets to signal at random (`choice = "random"`). In both versions of sch_dualpi2.c the L queue
//! marks by a step at 1 ms instead of the ramp, the C queue gets a tenth of the link, and the limit
//! is 10,000 packets. In Linux 6.17 the step applies to every packet (min_qlen_step = 0), which is
//! a Th_len of 0 here. In the kernel of 2020 the step marks a packet only if the packet arrives
//! while the L queue contains more than one packet, as with a Th_len of 2 in aqmlab.

use std::collections::VecDeque;

use engine::Stream;
use net::{
    Arrival, Backlog, Declared, Ecn, Explanation, Fates, Next, QueueDiscipline, QueuedPacket, Rule,
    Variables as _, Why, rules, variables,
};
use units::{Bytes, Duration, Packets, Probability, Range, Room, Time, params, words};

use crate::aqm::{DisciplineParams, QueueContext};
use crate::fifo::{Buffer, Limit, Marking};
use crate::lazy::Ticks;
use crate::store::Store;

words! {
    /// Exemption from signals for packets of a nearly empty queue.
    pub enum Sparing {
        /// The native AQM exempts a packet if at most Th_len packets remain in the L queue when the
        /// packet leaves. The base AQM (p') does not exempt any packet.
        Rfc9332 = "rfc9332",
        /// The native AQM exempts a packet that arrived while fewer than Th_len packets were in the
        /// L queue. The native AQM can therefore mark the last packets of a burst. The base AQM
        /// (p') exempts a packet if less than two MTU remain in both queues together when the
        /// packet leaves.
        Linux = "linux",
    }
}

words! {
    /// Method that selects the packets to signal, given a signal probability.
    pub enum Choice {
        /// The queue adds up the signal probabilities of successive packets. Each time the sum
        /// exceeds 1, the queue signals a packet and subtracts 1 from the sum.
        Counted = "counted",
        /// The queue signals each packet at random, independently of the other packets.
        Random = "random",
    }
}

words! {
    /// Method that selects the queue to send from when both queues have packets.
    pub enum Scheduler {
        /// Weighted round robin, in which the C queue has the share `classic_share` of the link.
        Wrr = "wrr",
        /// Time-shifted FIFO: the scheduler compares the waiting times of the packets at the heads
        /// of both queues, after it has added time_shift to the waiting time in the L queue. Of the
        /// packets at the two heads, the scheduler sends the packet with the longer waiting time,
        /// including time_shift in the L queue.
        TsFifo = "ts-fifo",
    }
}

params! {
    /// DualPI2 stores Scalable packets, which carry ECT(1) or CE, in a queue of their own (L). The
    /// L queue is nearly always served first, and its AQM marks packets that wait about a
    /// millisecond. All other packets are Classic and wait in the C queue, whose delay PI2 controls
    /// at a target. PI2 signals a Classic packet with the probability p' squared: it marks a packet
    /// with ECT(0) and drops any other packet. DualPI2 marks Scalable packets with a probability of
    /// at least k p', so that Scalable and Classic flows have equal rates although their queues
    /// have different delays. When the signal probability of Classic packets reaches 1/k², DualPI2
    /// drops ECN-capable packets too. If the limit is given in bytes or as a time, it must be at
    /// least one MTU. The default limit is the traffic that the link sends in 250 ms (RFC 9332
    /// Appendix A.1).
    pub struct DualPi2: "dualpi2" {
        /// Target delay of the C queue.
        target: Duration = (Duration::from_millis(15)), in Range::above(0.0), from "rfc9332 Appendix A.1: 15 ms";
        /// Time between two updates of the probability p' (Tupdate).
        t_update: Duration = (Duration::from_millis(16)), in Range::at_least(1e-6), from "rfc9332 Appendix A.1: 16 ms";
        /// Integral gain in Hz (alpha).
        alpha: f64 = (0.16), in Range::at_least(0.0), from "rfc9332 Appendix A.1: 0.16 Hz";
        /// Proportional gain in Hz (beta).
        beta: f64 = (3.2), in Range::at_least(0.0), from "rfc9332 Appendix A.1: 3.2 Hz";
        /// Coupling factor (k): Scalable packets are marked with the probability k p', where p' is
        /// the square root of the Classic probability.
        coupling: f64 = (2.0), in Range::at_least(0.0), from "rfc9332 Appendix A.1, §2.5.1: 2";
        /// Delay above which the AQM of the L queue begins to mark packets (minTh).
        min_th: Duration = (Duration(800_000_000)), in Range::at_least(0.0), from "rfc9332 Appendix A.1: 800 us";
        /// Difference between min_th and the delay from which the AQM of the L queue marks every
        /// packet (range). With a range of 0 the ramp of the marking probability becomes a step.
        range: Duration = (Duration(400_000_000)), in Range::at_least(0.0), from "rfc9332 Appendix A.1: 400 us";
        /// Maximum number of packets in the L queue at which its native AQM does not mark (Th_len).
        th_len: Packets = (Packets(1.0)), in Range::between(0.0, 1e9).whole(), from "rfc9332 Appendix A.1: 1 packet";
        /// Exemption from signals for packets of a nearly empty queue.
        sparing: Sparing = (Sparing::Rfc9332), in Range::ANY, from "rfc9332 Appendix A.2, figure 7; A.1 and A.2 describe the exemptions of Linux";
        /// Method that selects the packets to signal, given a signal probability.
        choice: Choice = (Choice::Counted), in Range::ANY, from "rfc9332 Appendix A.1, figure 4, has counted; sch_dualpi2.c of Linux has random";
        /// Method that selects the queue to send from when both queues have packets.
        scheduler: Scheduler = (Scheduler::Wrr), in Range::ANY, from "rfc9332 Appendix A.2 recommends wrr";
        /// Share of the link that the C queue gets while both queues have packets, if the scheduler
        /// is wrr.
        classic_share: Probability = (Probability(0.0625)), in Range::ANY, from "rfc9332 Appendix A.2: 1/16";
        /// Extra waiting time after which a packet of the C queue is sent before a packet of the L
        /// queue, if the scheduler is ts-fifo (tshift).
        time_shift: Duration = (Duration::from_millis(50)), in Range::at_least(0.0), from "rfc9332 Appendix A.2: 50 ms";
        /// Number of bytes that must be free in a buffer with a limit in bytes, so that an arriving
        /// packet of any size is stored.
        mtu: Bytes = (Bytes(1500)), in Range::between(1.0, 65535.0), from "rfc9332 Appendix A.1, figure 3: 1 MTU";
    }
}

impl DisciplineParams for DualPi2 {
    type Discipline = DualPi2Queue;
    const DECLARED: &'static [Declared] = &[Declared { rules: RULES, variables: DualPi2Variables::LIST }];
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

rules! {
    /// The native AQM of the L queue marks with a probability of at least k p'.
    NATIVE = "native-l4s", from "rfc9332 Appendix A.1, figure 5 and figure 7, lines 5a to 6";
    /// The L queue marks with the probability p_CL = k p', which exceeds that of the native AQM.
    COUPLED = "coupled-l4s", from "rfc9332 Appendix A.1, figure 7, lines 5d to 6";
    /// k p' has reached 1, so that the L queue drops with the probability p' squared.
    OVERLOAD = "overload-l4s", from "rfc9332 Appendix A.2, figure 7, lines 8d to 8j";
    /// The C queue signals with the probability p_C = p' squared.
    CLASSIC = "classic", from "rfc9332 Appendix A.1, figure 7, lines 11 to 15";
    /// The C queue drops also ECN-capable packets, because p_C has reached its maximum 1/k².
    CLASSIC_OVERLOAD = "overload-classic", from "rfc9332 Appendix A.2, figure 7, line 12";
}

variables! {
    /// Variables of DualPI2.
    pub struct DualPi2Variables {
        /// 1 if the packet was in the L queue, 0 if it was in the C queue.
        l4s in "0 or 1", from "rfc9332 §2.1";
        /// Sojourn time of the packet.
        sojourn_s in "s", from "rfc9332 Appendix A.1";
        /// Base probability (p').
        p_base in "0..1", from "rfc9332 Appendix A.1, figure 8";
        /// Queueing delay at the last update of p'.
        qdelay_s in "s", from "rfc9332 Appendix A.1, figure 8";
        /// Probability of the signal.
        p in "0..1", from "rfc9332 Appendix A.1, figure 7";
        /// Sum of the probabilities that exceeded 1 (`choice = "counted"`).
        recur_count in "", from "rfc9332 Appendix A.1, figure 4";
        /// Random number between 0 and 1 that was compared with p (`choice = "random"`).
        random in "0..1", from "sch_dualpi2.c of Linux";
    }
}

/// Signal that one of the two queues chose.
#[derive(Clone, Copy, Debug)]
struct Chosen {
    probability: f64,
    /// Random number, or sum of the probabilities, that caused the choice.
    by: f64,
}

/// One of the two queues L and C.
#[derive(Debug, Default)]
struct Side {
    store: Store,
    count: f64,
}

impl Side {
    /// Return the waiting time, in seconds, of the packet at the head of the queue.
    fn time(&self, now: Time) -> f64 {
        self.store.get(0).map_or(0.0, |head| now.since(head.entered).seconds())
    }

    /// Return the sum of the likelihoods for the fraction `likelihood` of the calls, evenly spaced
    /// among all calls, and `None` for the other calls (figure 4, recur()).
    fn recur(&mut self, likelihood: f64) -> Option<f64> {
        self.count += likelihood;
        let sum = self.count;
        let whole = sum > 1.0;
        self.count -= f64::from(u8::from(whole));
        whole.then_some(sum)
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
    /// One entry per packet in L: true if at least Th_len packets were in L when the packet
    /// arrived.
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
    /// Update the probability p' once for every period that has ended (figure 8, dualpi2_update()).
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

    /// Return the probability with which the native AQM of the L queue marks a packet with this
    /// delay (figure 5, laqm()).
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

    /// Return true if the L queue sends the next packet while both queues have packets
    /// (scheduler()).
    fn is_turn_of_l(&self, now: Time) -> bool {
        match self.params.scheduler {
            Scheduler::Wrr => self.credit <= 0.0,
            Scheduler::TsFifo => self.l.time(now) + self.params.time_shift.seconds() >= self.c.time(now),
        }
    }

    /// Update the credit of the round robin for a packet that is sent while both queues have
    /// packets.
    fn charge(&mut self, is_l: bool, size: u16) {
        let (share, size) = (self.params.classic_share.0, f64::from(size));
        self.credit += if is_l { share * size } else { -(1.0 - share) * size };
    }

    /// Mark a packet, or drop it if marking is turned off. The function `explain` explains the
    /// signal. Return true if the packet was marked and will be sent.
    fn mark(
        &self,
        held: &mut QueuedPacket,
        fates: &mut Fates,
        explain: impl FnOnce(&mut Explanation),
    ) -> bool {
        if self.marks {
            fates.mark(&mut held.packet, Why::Early, explain);
        } else {
            fates.drop(held.packet, Why::Early, explain);
        }
        self.marks
    }

    /// Return the function that explains the signal of a packet by a rule.
    fn explainer(
        &self,
        is_l: bool,
        sojourn: Duration,
        rule: &'static Rule,
        chosen: Chosen,
    ) -> impl FnOnce(&mut Explanation) {
        move |to| {
            self.limit.explain(self.backlog(), to);
            let (recur_count, random) = match self.params.choice {
                Choice::Counted => (chosen.by, f64::NAN),
                Choice::Random => (f64::NAN, chosen.by),
            };
            to.by(rule).with(DualPi2Variables {
                l4s: f64::from(u8::from(is_l)),
                sojourn_s: sojourn.seconds(),
                p_base: self.probability,
                qdelay_s: self.previous,
                p: chosen.probability,
                recur_count,
                random,
            });
        }
    }

    /// Decide if a packet of the L queue, or of the C queue, is to be signalled with this
    /// likelihood. Return `None` if the packet passes.
    fn chooses(&mut self, is_l: bool, likelihood: f64) -> Option<Chosen> {
        let by = match self.params.choice {
            Choice::Counted => (if is_l { &mut self.l } else { &mut self.c }).recur(likelihood)?,
            Choice::Random if likelihood > 0.0 => {
                Some(self.random.uniform()).filter(|drawn| *drawn < likelihood)?
            }
            Choice::Random => return None,
        };
        Some(Chosen { probability: likelihood, by })
    }

    /// Return true if the base AQM (p') exempts the packet, because the packet leaves a nearly
    /// empty queue.
    fn is_spared(&self) -> bool {
        self.params.sparing == Sparing::Linux && self.backlog().bytes < 2 * self.params.mtu.0
    }

    /// Return the probability with which the native AQM of the L queue marks a packet (figure 7,
    /// lines 5a to 5d). `found` is true if at least Th_len packets were in L when the packet
    /// arrived.
    fn ramp(&self, held: &QueuedPacket, found: bool, now: Time) -> f64 {
        let long = match self.params.sparing {
            Sparing::Rfc9332 => f64::from(self.l.store.backlog().packets) > self.params.th_len.0,
            Sparing::Linux => found,
        };
        if long { self.native(now.since(held.entered)) } else { 0.0 }
    }

    /// Decide if a packet of the L queue is marked or dropped (figure 7, lines 4b to 8j). Return
    /// true unless the packet is dropped.
    fn passes_l(&mut self, held: &mut QueuedPacket, now: Time, fates: &mut Fates) -> bool {
        let found = self.may_ramp.pop_front().unwrap_or(false);
        let spared = self.is_spared();
        let coupled = if spared { 0.0 } else { (self.params.coupling * self.probability).min(1.0) };
        let sojourn = now.since(held.entered);
        let (rule, likelihood) = if coupled < 1.0 {
            let native = self.ramp(held, found, now);
            (if native >= coupled { &NATIVE } else { &COUPLED }, native.max(coupled))
        } else {
            if let Some(chosen) = self.chooses(true, self.probability * self.probability) {
                fates.drop(held.packet, Why::Early, self.explainer(true, sojourn, &OVERLOAD, chosen));
                return false;
            }
            (&COUPLED, coupled)
        };
        let Some(chosen) = self.chooses(true, likelihood) else { return true };
        self.mark(held, fates, self.explainer(true, sojourn, rule, chosen))
    }

    /// Decide if a packet of the C queue is marked or dropped (figure 7, lines 11 to 17). Return
    /// true unless the packet is dropped.
    fn passes_c(&mut self, held: &mut QueuedPacket, now: Time, fates: &mut Fates) -> bool {
        let p_c = self.probability * self.probability;
        if self.is_spared() {
            return true;
        }
        let Some(chosen) = self.chooses(false, p_c) else { return true };
        let overload = held.packet.ecn.is_capable() && p_c >= self.p_cmax;
        let rule = if overload { &CLASSIC_OVERLOAD } else { &CLASSIC };
        let explain = self.explainer(false, now.since(held.entered), rule, chosen);
        if overload || !held.packet.ecn.is_capable() {
            fates.drop(held.packet, Why::Early, explain);
            return false;
        }
        self.mark(held, fates, explain)
    }
}

impl QueueDiscipline for DualPi2Queue {
    /// Store a packet, or drop it if the buffer is full (figure 3, dualpi2_enqueue()).
    fn enqueue(&mut self, held: QueuedPacket, at: &Arrival, fates: &mut Fates) {
        self.update(at.now);
        let full = match self.limit {
            Limit::Bytes(limit) => at.backlog.bytes + self.params.mtu.0 > limit,
            limit => limit.is_full(&held.packet, at),
        };
        if full {
            return fates.drop(held.packet, Why::Full, |to| self.limit.explain(at.backlog, to));
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
            let left = if is_l {
                self.passes_l(&mut held, now, fates)
            } else {
                self.passes_c(&mut held, now, fates)
            };
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

    /// Make 20,000 decisions with a likelihood of 0.1. Return the share of decisions to signal, and
    /// the variance of the gaps between two signals.
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
        let chosen: Vec<usize> = (0..20_000).filter(|_| queue.chooses(false, 0.1).is_some()).collect();
        let gaps: Vec<f64> = chosen.windows(2).map(|w| (w[1] - w[0]) as f64).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        (chosen.len() as f64 / 20_000.0, variance)
    }

    /// With the choice `counted`, all gaps between two signals are equal. With the choice `random`,
    /// the gaps are geometric, with a variance of (1 - p)/p^2 = 90.
    #[test]
    fn random_choice_is_independent_and_counted_choice_is_regular() {
        let (share, variance) = decisions("counted");
        assert!((share - 0.1).abs() < 1e-3 && variance < 0.1, "{share} {variance}");
        let (share, variance) = decisions("random");
        assert!((share - 0.1).abs() < 0.01 && (variance - 90.0).abs() < 15.0, "{share} {variance}");
    }
}
