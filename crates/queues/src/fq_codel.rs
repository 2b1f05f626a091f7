//! FQ-CoDel: flow queueing with CoDel.
//!
//! Source: RFC 8290 §4 (`rfc8290`). The file `flow_queues.rs` implements the queues and their
//! turns, and each queue has its own CoDel (RFC 8289). Section 4.4 of RFC 8289 names FQ-CoDel and
//! requires that CoDel compares the backlog of all queues with the MTU. RFC 8290 does not mention
//! the backlog of all queues. Linux and ns-3 compare the backlog of all queues, as RFC 8289
//! requires. When the limit is exceeded, Linux differs from RFC 8290: Linux drops half of the bytes
//! of the longest queue instead of half of its packets, and adds these drops to CoDel's count.

use net::{Arrival, Backlog, Declared, Fates, Next, QueueDiscipline, QueuedPacket};
use units::param::{Invalid, join};
use units::{Bytes, Duration, Packets, Range, Read, Time, params};

use crate::aqm::{DisciplineParams, QueueContext};
use crate::codel::{Codel, Control, Occupancy, Root};
use crate::fifo::{Buffer, Counting, Limit, Marking};
use crate::flow_queues::FlowQueues;

params! {
    /// FQ-CoDel hashes flows to queues, which take turns. In each turn a queue may send a quantum
    /// of bytes. The queue of a flow that sends less than its share is often empty. When a packet
    /// arrives at an empty queue, the queue counts as new and is served first. CoDel controls the
    /// delay in each queue. When all queues together contain more than `packet_limit` packets, half
    /// of the packets of the longest queue are dropped from its head. FQ-CoDel ignores the limit of
    /// the buffer.
    pub struct FqCodel: "fq_codel", checked by check {
        /// Acceptable delay of a standing queue (TARGET of CoDel).
        target: Duration = (Duration::from_millis(5)), in Range::above(0.0), from "rfc8290 §5.2.2: 5 ms";
        /// Time within which the delay of a good queue falls below the target at least once
        /// (INTERVAL of CoDel).
        interval: Duration = (Duration::from_millis(100)), in Range::above(0.0), from "rfc8290 §5.2.1: 100 ms";
        /// Maximum number of waiting bytes at which CoDel does not signal any packet.
        mtu: Bytes = (Bytes(1500)), in Range::between(1.0, 65535.0), from "rfc8289 §5.3 recommends the MTU of the interface";
        /// Backlog that CoDel compares with mtu.
        occupancy: Occupancy = (Occupancy::AllQueues), in Range::ANY, from "rfc8289 §4.4 recommends the backlog of all queues that share the link, as in Linux and ns-3";
        /// Computation of 1/√count.
        root: Root = (Root::Newton), in Range::ANY, from "rfc8289 §5.6 allows integer multiplication; Linux has codel_Newton_step";
        /// Waiting time above which an ECN-capable packet is marked when it is sent, even if CoDel
        /// does not signal the packet. By default CoDel does not mark packets because of their
        /// waiting time alone.
        ce_threshold: Option<Duration> = (None), in Range::at_least(0.0), from "rfc8290 §5.2.7: absent";
        /// Number of bytes that the queue of a flow may send per turn.
        quantum: Bytes = (Bytes(1514)), in Range::between(1.0, 1e9), from "rfc8290 §5.2.4: 1514 B";
        /// Number of queues.
        flows: u64 = (1024), in Range::between(1.0, 65536.0), from "rfc8290 §5.2.5: 1024";
        /// Maximum number of packets in all queues together.
        packet_limit: Packets = (Packets(10_240.0)), in Range::between(1.0, 1e9).whole(), from "rfc8290 §5.2.3: 10240 packets";
    }
}

fn check(fq: &FqCodel, path: &str) -> Result<(), Invalid> {
    check_quantum(fq.quantum, path)
}

/// Refuse a quantum that exceeds the range of the credits of a queue.
pub(crate) fn check_quantum(quantum: Bytes, path: &str) -> Result<(), Invalid> {
    if quantum.0 > u64::from(u32::MAX) {
        return Err(Invalid::new(
            &join(path, "quantum"),
            &quantum.write(),
            format!("must be at most {} B", u32::MAX),
        )
        .remedy("lower quantum"));
    }
    Ok(())
}

impl DisciplineParams for FqCodel {
    type Discipline = FqCodelQueue;
    const DECLARED: &'static [Declared] = &[crate::flow_queues::DECLARED, crate::codel::DECLARED];

    fn discipline(&self, buffer: &Buffer, mut context: QueueContext) -> FqCodelQueue {
        let codel = Codel {
            target: self.target,
            interval: self.interval,
            mtu: self.mtu,
            root: self.root,
            ce_threshold: self.ce_threshold,
        };
        let control = Control::new(&codel, self.occupancy, buffer.ecn == Marking::Mark);
        FqCodelQueue {
            limit: self.packet_limit.0 as u32,
            queues: FlowQueues::new(self.flows, self.quantum, control, &mut context.random),
        }
    }
}

/// State of FQ-CoDel.
#[derive(Debug)]
pub struct FqCodelQueue {
    limit: u32,
    queues: FlowQueues<Control>,
}

impl FqCodelQueue {
    /// Return the limit of all queues together.
    fn limit(&self) -> Limit {
        Limit::Packets(self.limit, Counting::Waiting)
    }
}

impl QueueDiscipline for FqCodelQueue {
    fn enqueue(&mut self, held: QueuedPacket, _: &Arrival, fates: &mut Fates) {
        self.queues.push(self.queues.place(held.packet.connection), held);
        if self.queues.backlog().packets > self.limit {
            self.queues.shorten_longest(self.limit(), fates);
        }
    }

    fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Next {
        self.queues.dequeue(self.limit(), now, fates).into()
    }

    fn backlog(&self) -> Backlog {
        self.queues.backlog()
    }

    fn each(&self, see: &mut dyn FnMut(&QueuedPacket)) {
        self.queues.each(see);
    }
}
