//! FQ-PIE: flow queueing with PIE.
//!
//! Source: Ramakrishnan and others 2019, "FQ-PIE queue discipline in the Linux kernel: design,
//! implementation and challenges" (`ramakrishnan2019fqpie`). The queues and their turns are those
//! of FQ-CoDel (RFC 8290 §4, in `flow_queues.rs`). Each queue has its own PIE, which uses the
//! backlog and the delay of the queue: that of RFC 8033 Appendix A (`pie.rs`) or that of Linux
//! (`tc_pie.rs`). One limit applies to all queues together, and drops the arriving packet. PIE
//! exempts packets while at most twice MEAN_PKTSIZE bytes wait, and this rule applies to each queue
//! separately, as in Linux.
//!
//! With Linux's rules all queues update their probabilities at the same time, as in sch_fq_pie.c
//! with up to 2048 queues. With more queues, Linux needs one more tick for each further 2048
//! queues. These extra ticks are not modelled.
//!
//! The paper on FQ-PIE was not available. RFC 8033 and RFC 8290 were available. The defaults are
//! those of tc-fq_pie(8).

use engine::Stream;
use net::{
    Arrival, Backlog, Declared, Explanation, Fates, Next, Packet, QueueDiscipline, QueuedPacket, Verdict, Why,
};
use units::param::Invalid;
use units::{Bytes, Duration, Packets, Probability, Range, Time, params, words};

use crate::aqm::{DisciplineParams, QueueContext};
use crate::fifo::{Buffer, Counting, Limit, Marking};
use crate::flow_queues::{FlowQueues, Takes};
use crate::fq_codel::check_quantum;
use crate::pie::{self, Pie, Tosses};
use crate::store::Store;
use crate::tc_pie;

words! {
    /// Variant of PIE that controls each queue.
    pub enum Rules {
        /// PIE of RFC 8033, Appendix A.
        Rfc8033 = "rfc8033",
        /// PIE of Linux, as in `tc_pie`.
        Linux = "linux",
    }
}

params! {
    /// FQ-PIE hashes flows to queues, which take turns. In each turn a queue may send a quantum of
    /// bytes. In each queue a separate PIE controls the queueing delay at a target. The queue of a
    /// flow that sends less than its share is often empty. If a packet arrives at an empty queue,
    /// FQ-PIE serves this queue before all queues that have already used up a quantum. A flow that
    /// does not slow down raises only the drop probability of its own queue. Therefore mostly
    /// packets of this flow are dropped. A packet that arrives while all queues together contain
    /// `packet_limit` packets is dropped. FQ-PIE ignores the limit of the buffer.
    pub struct FqPie: "fq_pie", checked by check {
        /// Variant of PIE that controls each queue.
        rules: Rules = (Rules::Rfc8033), in Range::ANY, from "rfc8033 Appendix A; fq_pie of Linux has its own rules";
        /// Target queueing delay of each queue (QDELAY_REF).
        target: Duration = (Duration::from_millis(15)), in Range::above(0.0), from "rfc8033 Appendix A, tc-fq_pie(8): 15 ms";
        /// Duration of the burst that passes without drops after a quiet period (MAX_BURST).
        max_burst: Duration = (Duration::from_millis(150)), in Range::at_least(0.0), from "rfc8033 Appendix A: 150 ms";
        /// Time between two updates of the drop probabilities (T_UPDATE). With Linux's rules the
        /// actual time between two updates is longer than t_update, and depends on `hz`.
        t_update: Duration = (Duration::from_millis(15)), in Range::at_least(1e-6), from "rfc8033 Appendix A, tc-fq_pie(8): 15 ms";
        /// Timer frequency of the kernel (HZ). Only Linux's rules use this key. Linux rounds
        /// t_update up to whole timer ticks, and its timer expires one tick late. A t_update of 15
        /// ms becomes 16 ms at 1000 Hz, 20 ms at 250 Hz and 30 ms at 100 Hz.
        hz: u64 = (1000), in Range::between(1.0, 10_000.0), from "sch_fq_pie.c: usecs_to_jiffies; timer.c of Linux 6.12: calc_index";
        /// Integral gain of PIE in 1/s: each update adds alpha times the difference between the
        /// delay and the target to the drop probability.
        alpha: f64 = (0.125), in Range::at_least(0.0), from "rfc8033 Appendix A: 1/8; tc-fq_pie(8): 2 sixteenths";
        /// Proportional gain of PIE in 1/s: each update adds beta times the change of the delay
        /// since the previous update to the drop probability.
        beta: f64 = (1.25), in Range::at_least(0.0), from "rfc8033 Appendix A: 1 + 1/4; tc-fq_pie(8): 20 sixteenths";
        /// Mean packet size (MEAN_PKTSIZE). PIE never drops a packet that arrives while its queue
        /// contains at most twice as many bytes. By default the mean packet size is 1024 B, or 1500
        /// B with Linux's rules.
        mean_packet_size: Option<Bytes> = (None), in Range::between(1.0, 65535.0), from "rfc8034 A.1.2: 1024 B; rfc8033 §4.1 has no value; Linux uses an MTU";
        /// Drop probability below which PIE marks ECN-capable packets instead of dropping them
        /// (MAX_ECNTH). When the drop probability reaches mark_below, ECN-capable packets are
        /// dropped like other packets. Linux's rules round mark_below to whole per cent.
        mark_below: Probability = (Probability(0.1)), in Range::ANY, from "rfc8033 §5.1, tc-fq_pie(8): 10 %";
        /// Number of bytes that the queue of a flow may send per turn.
        quantum: Bytes = (Bytes(1514)), in Range::between(1.0, 1e9), from "rfc8290 §5.2.4, tc-fq_pie(8): 1514 B";
        /// Number of queues.
        flows: u64 = (1024), in Range::between(1.0, 65536.0), from "rfc8290 §5.2.5, tc-fq_pie(8): 1024";
        /// Maximum number of packets in all queues together.
        packet_limit: Packets = (Packets(10_240.0)), in Range::between(1.0, 1e9).whole(), from "rfc8290 §5.2.3, tc-fq_pie(8): 10240 packets";
    }
}

fn check(fq: &FqPie, path: &str) -> Result<(), Invalid> {
    check_quantum(fq.quantum, path)
}

impl DisciplineParams for FqPie {
    type Discipline = FqPieQueue;
    const DECLARED: &'static [Declared] =
        &[Declared { rules: &[], variables: crate::flow_queues::DECLARED.variables }, crate::pie::DECLARED];

    fn discipline(&self, buffer: &Buffer, mut context: QueueContext) -> FqPieQueue {
        FqPieQueue {
            limit: self.packet_limit.0 as u32,
            marks: buffer.ecn == Marking::Mark,
            queues: FlowQueues::new(self.flows, self.quantum, self.of_a_queue(), &mut context.random),
            random: context.random,
        }
    }
}

impl FqPie {
    fn of_a_queue(&self) -> InQueue {
        let size = |default| self.mean_packet_size.unwrap_or(Bytes(default));
        match self.rules {
            Rules::Rfc8033 => InQueue::Rfc8033(pie::State::new(&Pie {
                target: self.target,
                max_burst: self.max_burst,
                t_update: self.t_update,
                alpha: self.alpha,
                beta: self.beta,
                mean_packet_size: size(1024),
                mark_below: self.mark_below,
                tosses: Tosses::Independent,
            })),
            Rules::Linux => {
                let mut settings = tc_pie::Settings::of(self.target, self.max_burst, [self.alpha, self.beta]);
                settings.mark_up_to = tc_pie::share(self.mark_below.0);
                settings.mtu = size(1500).0;
                InQueue::Linux(tc_pie::State::new(settings, tc_pie::period(self.t_update, self.hz)))
            }
        }
    }
}

/// PIE of one queue.
#[derive(Clone, Debug)]
enum InQueue {
    Rfc8033(pie::State),
    Linux(tc_pie::State),
}

impl InQueue {
    /// Process every update period that ended by the time `until`. During the update periods
    /// `backlog` was constant.
    fn pass_periods(&mut self, until: Time, backlog: u64) {
        match self {
            InQueue::Rfc8033(pie) => {
                while pie.ticks.due(until).is_some() {
                    if !pie.calculate_drop_prob() {
                        pie.ticks.pass_over(until);
                    }
                }
            }
            InQueue::Linux(pie) => {
                while pie.ticks.due(until).is_some() {
                    if !pie.calculate_probability(backlog) {
                        pie.ticks.pass_over(until);
                    }
                }
            }
        }
    }

    /// Return the verdict on a packet that arrives while its queue has this backlog.
    fn judge(&mut self, packet: &Packet, backlog: u64, random: &mut Stream) -> Verdict {
        match self {
            InQueue::Rfc8033(pie) => pie.judge(backlog, random),
            InQueue::Linux(pie) => pie.judge(backlog, u64::from(packet.size), random),
        }
    }

    /// Explain the decision on the last packet of the queue.
    fn explain(&self, why: Why, to: &mut Explanation) {
        match self {
            InQueue::Rfc8033(pie) => pie.explain(why, to),
            InQueue::Linux(pie) => pie.explain(why, to),
        }
    }

    /// Record that the queue admitted the packet.
    fn admitted(&mut self) {
        if let InQueue::Linux(pie) = self {
            pie.admitted();
        }
    }

    /// Record that a packet arrived while all queues together had reached their limit.
    fn overflows(&mut self) {
        match self {
            InQueue::Rfc8033(pie) => pie.overflows(),
            InQueue::Linux(pie) => pie.overflows(),
        }
    }
}

impl Takes for InQueue {
    /// Process the update periods that ended before `now`, and then remove the next packet from the
    /// queue. If a departure and the end of a period have the same time, the departure is processed
    /// first.
    fn dequeue(
        &mut self,
        store: &mut Store,
        _: Backlog,
        now: Time,
        _: &mut Fates,
        _: impl Fn(&Store, &mut Explanation),
    ) -> Option<QueuedPacket> {
        self.pass_periods(Time(now.0.saturating_sub(1)), store.backlog().bytes);
        let held = store.pop()?;
        match self {
            InQueue::Rfc8033(pie) => pie.departed(now.since(held.entered), store.is_empty()),
            InQueue::Linux(pie) => {
                pie.departs([held.entered, now], u64::from(held.packet.size), store.backlog().bytes);
            }
        }
        Some(held)
    }
}

/// State of FQ-PIE.
#[derive(Debug)]
pub struct FqPieQueue {
    limit: u32,
    marks: bool,
    queues: FlowQueues<InQueue>,
    random: Stream,
}

impl QueueDiscipline for FqPieQueue {
    fn enqueue(&mut self, mut held: QueuedPacket, at: &Arrival, fates: &mut Fates) {
        let (total, limit) = (self.queues.backlog(), Limit::Packets(self.limit, Counting::Waiting));
        let full = total.packets >= self.limit;
        let place = self.queues.place(held.packet.connection);
        let (pie, store) = self.queues.aqm(place);
        let backlog = store.backlog().bytes;
        pie.pass_periods(at.now, backlog);
        if full {
            fates.drop(held.packet, Why::Full, |to| {
                limit.explain(total, to);
                FlowQueues::<InQueue>::explain(place, store, to);
                pie.explain(Why::Full, to);
            });
            return pie.overflows();
        }
        let verdict = pie.judge(&held.packet, backlog, &mut self.random);
        let explain = |why: Why, to: &mut Explanation| {
            limit.explain(total, to);
            FlowQueues::<InQueue>::explain(place, store, to);
            pie.explain(why, to);
        };
        match verdict {
            Verdict::Pass => {}
            Verdict::Signal(why) if self.marks && held.packet.ecn.is_capable() => {
                fates.mark(&mut held.packet, why, |to| explain(why, to));
            }
            Verdict::Signal(why) | Verdict::Drop(why) => {
                return fates.drop(held.packet, why, |to| explain(why, to));
            }
        }
        pie.admitted();
        self.queues.push(place, held);
    }

    fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Next {
        self.queues.dequeue(Limit::Packets(self.limit, Counting::Waiting), now, fates).into()
    }

    fn backlog(&self) -> Backlog {
        self.queues.backlog()
    }

    fn each(&self, see: &mut dyn FnMut(&QueuedPacket)) {
        self.queues.each(see);
    }
}
