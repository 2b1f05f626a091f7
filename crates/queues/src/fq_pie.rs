//! FQ-PIE: flow queueing with PIE.
//!
//! Source: Ramakrishnan et al. 2019, "FQ-PIE queue discipline in the Linux kernel: design, implementation
//! and challenges" (`ramakrishnan2019fqpie`): the queues and turns of FQ-CoDel (RFC 8290 §4, in
//! `flow_queues.rs`), in each queue PIE (RFC 8033 Appendix A, in `pie.rs`) by its own backlog and
//! delay, and one limit for all of them, at the tail. A queue that runs empty has no delay, as Linux has
//! it: otherwise the probability of a flow that pauses would go on rising.
//!
//! The paper was not at hand; the RFCs were. The defaults are those of tc-fq_pie(8).

use engine::Stream;
use net::{Arrival, Backlog, Fates, Held, Next, QueueDiscipline, Verdict, Why};
use units::param::Invalid;
use units::{Bytes, Duration, Packets, Probability, Range, Time, params};

use crate::fifo::{Buffer, Marking};
use crate::flow_queues::{FlowQueues, Takes};
use crate::fq_codel::check_quantum;
use crate::law::{Keeps, Place};
use crate::pie::{Pie, State};
use crate::store::Store;

params! {
    /// FQ-PIE gives each flow a queue of its own, served in turn, a quantum of bytes each, and in each queue
    /// PIE holds the delay at a target. A flow that sends less than its share finds its queue empty and goes
    /// first; one that does not slow down is dropped by its own probability. A packet that finds
    /// `packet_limit` packets in all queues together is dropped. The limit of the buffer is not used.
    pub struct FqPie: "fq_pie", checked by check {
        /// The delay that is held in each queue (QDELAY_REF).
        target: Duration = (Duration::from_millis(15)), in Range::above(0.0), from "rfc8033 Appendix A, tc-fq_pie(8): 15 ms";
        /// How long a burst is let pass (MAX_BURST).
        max_burst: Duration = (Duration::from_millis(150)), in Range::at_least(0.0), from "rfc8033 Appendix A: 150 ms";
        /// Time between two changes of the probabilities (T_UPDATE).
        t_update: Duration = (Duration::from_millis(15)), in Range::at_least(1e-6), from "rfc8033 Appendix A, tc-fq_pie(8): 15 ms";
        /// Weight of the delay's distance from the target, per second.
        alpha: f64 = (0.125), in Range::at_least(0.0), from "rfc8033 Appendix A: 1/8; tc-fq_pie(8): 2 sixteenths";
        /// Weight of the delay's change, per second.
        beta: f64 = (1.25), in Range::at_least(0.0), from "rfc8033 Appendix A: 1 + 1/4; tc-fq_pie(8): 20 sixteenths";
        /// Twice this may wait in a queue without a drop (MEAN_PKTSIZE).
        mean_packet_size: Bytes = (Bytes(1024)), in Range::between(1.0, 65535.0), from "rfc8033 §4.1 leaves it open; 1024 B is Linux's least";
        /// ECN-capable packets are marked below this probability and dropped above it (MAX_ECNTH).
        mark_below: Probability = (Probability(0.1)), in Range::ANY, from "rfc8033 §5.1, tc-fq_pie(8): 10 %";
        /// Bytes that a queue may send in its turn.
        quantum: Bytes = (Bytes(1514)), in Range::between(1.0, 1e9), from "rfc8290 §5.2.4, tc-fq_pie(8): 1514 B";
        /// Number of queues.
        flows: u64 = (1024), in Range::between(1.0, 65536.0), from "rfc8290 §5.2.5, tc-fq_pie(8): 1024";
        /// Most packets in all queues together.
        packet_limit: Packets = (Packets(10_240.0)), in Range::between(1.0, 1e9).whole(), from "rfc8290 §5.2.3, tc-fq_pie(8): 10240 packets";
    }
}

fn check(fq: &FqPie, path: &str) -> Result<(), Invalid> {
    check_quantum(fq.quantum, path)
}

impl Keeps for FqPie {
    type Discipline = FqPieQueue;

    fn discipline(&self, buffer: &Buffer, mut place: Place) -> FqPieQueue {
        let pie = Pie {
            target: self.target,
            max_burst: self.max_burst,
            t_update: self.t_update,
            alpha: self.alpha,
            beta: self.beta,
            mean_packet_size: self.mean_packet_size,
            mark_below: self.mark_below,
        };
        FqPieQueue {
            limit: self.packet_limit.0 as u32,
            marks: buffer.ecn == Marking::Mark,
            queues: FlowQueues::new(self.flows, self.quantum, State::new(&pie), &mut place.random),
            random: place.random,
        }
    }
}

impl State {
    /// Makes up for the periods that ended by `until`, in which the queue did not change.
    fn pass_periods(&mut self, until: Time) {
        while self.ticks.due(until).is_some() {
            if !self.calculate_drop_prob() {
                self.ticks.pass_over(until);
            }
        }
    }
}

impl Takes for State {
    /// A departure comes before the end of a period at the same instant.
    fn dequeue(&mut self, store: &mut Store, now: Time, _: &mut Fates) -> Option<Held> {
        let held = store.pop()?;
        self.pass_periods(Time(now.0.saturating_sub(1)));
        let delay = if store.is_empty() { 0.0 } else { now.since(held.entered).seconds() };
        self.current_qdelay = delay;
        Some(held)
    }
}

/// The state of FQ-PIE.
#[derive(Debug)]
pub struct FqPieQueue {
    limit: u32,
    marks: bool,
    queues: FlowQueues<State>,
    random: Stream,
}

impl QueueDiscipline for FqPieQueue {
    fn enqueue(&mut self, mut held: Held, at: &Arrival, fates: &mut Fates) {
        if self.queues.backlog().packets >= self.limit {
            return fates.drop(held.packet, Why::Full);
        }
        let place = self.queues.place(held.packet.flow);
        let (pie, store) = self.queues.law(place);
        pie.pass_periods(at.now);
        match pie.judge(store.backlog().bytes, &mut self.random) {
            Verdict::Pass => {}
            Verdict::Signal(why) if self.marks && held.packet.ecn.is_capable() => {
                fates.mark(&mut held.packet, why);
            }
            Verdict::Signal(why) | Verdict::Drop(why) => return fates.drop(held.packet, why),
        }
        self.queues.push(place, held);
    }

    fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Next {
        self.queues.dequeue(now, fates).into()
    }

    fn backlog(&self) -> Backlog {
        self.queues.backlog()
    }

    fn each(&self, see: &mut dyn FnMut(&Held)) {
        self.queues.each(see);
    }
}
