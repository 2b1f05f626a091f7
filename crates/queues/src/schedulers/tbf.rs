//! Token bucket filter (TBF).
//!
//! Source: tc-tbf(8) (`tc_tbf`). The shaper sends a packet when the bucket has tokens for all bytes
//! of the packet. A second bucket enforces the peak rate. The depth of the second bucket is the
//! maximum packet size. Tokens and times are exact to the picosecond. A queue that selects its
//! packet only at dequeue may return a larger packet than the shaper expected. If the tokens are
//! not sufficient for the packet, the packet waits in the shaper.

use net::{Arrival, Backlog, Declared, Fates, Next, QueueDiscipline, QueuedPacket, rules};
use units::param::{Invalid, join};
use units::{Bytes, Range, Rate, Read, Time, params};

use super::bucket::Bucket;
use super::{Child, Classes, HasClasses, Schedules};
use crate::aqm::{DisciplineParams, QueueContext};
use crate::discipline::Queue;
use crate::fifo::Buffer;

params! {
    /// Token bucket filter, a shaper that limits the traffic of its queue to `rate`. After an idle
    /// time the shaper sends a burst of up to `burst` bytes. The rate of the burst is `peak_rate`,
    /// or the rate of the link if `peak_rate` is absent. The shaper drops packets that are larger
    /// than the burst, because the bucket never has enough tokens for them. The queue inside the
    /// shaper limits the number of waiting packets.
    pub struct Tbf: "tbf", checked by check {
        /// Rate at which tokens arrive in the bucket.
        rate: Rate = required, in Range::ANY, from "tc_tbf";
        /// Depth of the bucket in bytes.
        burst: Bytes = (Bytes(5000)), in Range::between(1.0, 1e12), from "tc_tbf: the operator chooses the burst; the example has 5 kB";
        /// Rate of bursts. By default the rate of bursts is that of the link.
        peak_rate: Option<Rate> = (None), in Range::ANY, from "tc_tbf";
        /// Depth in bytes of the bucket that enforces the peak rate. The depth of this bucket is
        /// also the maximum packet size.
        mtu: Bytes = (Bytes(1500)), in Range::between(1.0, 1e9), from "tc_tbf: the parameter mtu, also called minburst";
        /// Queue of any kind from which the shaper sends packets.
        queue: Box<Queue> = (Box::default()), in Range::ANY, from "tc_tbf: a queue may be attached to the shaper";
    }
}

fn check(tbf: &Tbf, path: &str) -> Result<(), Invalid> {
    match tbf.peak_rate {
        Some(peak) if peak.0 <= tbf.rate.0 => {
            let problem = format!("must be above the rate ({})", tbf.rate);
            let remedy = "raise peak_rate or lower rate";
            Err(Invalid::new(&join(path, "peak_rate"), &peak.write(), problem).remedy(remedy))
        }
        _ => Ok(()),
    }
}

impl DisciplineParams for Tbf {
    type Discipline = TbfQueue;
    const DECLARED: &'static [Declared] = &[Declared { rules: RULES, variables: &[] }];

    fn discipline(&self, _: &Buffer, context: QueueContext) -> TbfQueue {
        let largest = if self.peak_rate.is_some() { self.burst.0.min(self.mtu.0) } else { self.burst.0 };
        TbfQueue {
            classes: Classes::new(&self.children(), &context),
            largest,
            bucket: Bucket::new(self.rate, self.burst.0),
            peak: self.peak_rate.map(|rate| Bucket::new(rate, self.mtu.0)),
            chosen: None,
        }
    }
}

impl Schedules for Tbf {
    fn children(&self) -> Vec<Child<'_>> {
        vec![Child { path: String::new(), takes: None, queue: &self.queue, rate: Some(self.rate) }]
    }
}

rules! {
    /// The packet is larger than the bucket, so that it would never be sent.
    TOO_LARGE = "larger-than-burst", from "tc-tbf(8)";
}

/// State of a token bucket filter.
#[derive(Debug)]
pub struct TbfQueue {
    /// List with one class: the queue from which the shaper sends packets.
    pub(crate) classes: Classes,
    largest: u64,
    bucket: Bucket,
    peak: Option<Bucket>,
    /// Packet that the shaper has dequeued and that waits for tokens.
    chosen: Option<QueuedPacket>,
}

impl TbfQueue {
    /// Return the time at which the tokens for `bytes` bytes will have arrived. Return `None` if
    /// the buckets have enough tokens now.
    fn allows(&self, bytes: u64, now: Time) -> Option<Time> {
        let wait =
            self.bucket.wait(bytes).max(self.peak.map_or(units::Duration::ZERO, |peak| peak.wait(bytes)));
        (wait > units::Duration::ZERO).then(|| now + wait)
    }

    /// Return the packet if the buckets have enough tokens for it. Otherwise store the packet, and
    /// return the time at which the tokens will have arrived.
    fn pay(&mut self, held: QueuedPacket, now: Time) -> Next {
        let bytes = u64::from(held.packet.size);
        if let Some(time) = self.allows(bytes, now) {
            self.chosen = Some(held);
            return Next::Later(time);
        }
        self.bucket.take(bytes);
        if let Some(peak) = &mut self.peak {
            peak.take(bytes);
        }
        Next::Packet(held)
    }
}

impl HasClasses for TbfQueue {
    fn classes(&self) -> &Classes {
        &self.classes
    }
}

impl QueueDiscipline for TbfQueue {
    fn enqueue(&mut self, held: QueuedPacket, at: &Arrival, fates: &mut Fates) {
        if u64::from(held.packet.size) > self.largest {
            return self.classes.refuse(held, &TOO_LARGE, fates);
        }
        self.classes.enqueue(held, at.now, fates);
    }

    fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Next {
        self.bucket.fill(now);
        if let Some(peak) = &mut self.peak {
            peak.fill(now);
        }
        if let Some(held) = self.chosen.take() {
            return self.pay(held, now);
        }
        if let Some(time) = self.allows(self.classes.next_size(0), now) {
            return Next::Later(time);
        }
        match self.classes.dequeue(0, now, fates) {
            Next::Packet(held) => self.pay(held, now),
            other => other,
        }
    }

    fn backlog(&self) -> Backlog {
        let Backlog { packets, bytes } = self.classes.backlog();
        let chosen = self.chosen.map_or(0, |held| u64::from(held.packet.size));
        Backlog { packets: packets + u32::from(self.chosen.is_some()), bytes: bytes + chosen }
    }

    fn next_size(&self) -> u64 {
        self.chosen.map_or_else(|| self.classes.next_size(0), |held| u64::from(held.packet.size))
    }

    fn each(&self, see: &mut dyn FnMut(&QueuedPacket)) {
        self.chosen.iter().for_each(&mut *see);
        self.classes.each(see);
    }
}
