//! Token bucket filter (TBF).
//!
//! Source: tc-tbf(8) (`tc_tbf`). A packet leaves when the bucket has tokens for all its bytes. A
//! second bucket, as deep as the maximum packet, enforces the peak rate. Tokens and times are exact
//! to the picosecond. A queue that selects its packet only at dequeue may return a packet that is
//! too large for the tokens. A packet that is too large for the tokens waits in the shaper.

use net::{Arrival, Backlog, Fates, Next, QueueDiscipline, QueuedPacket};
use units::param::{Invalid, join};
use units::{Bytes, Range, Rate, Read, Time, params};

use super::bucket::Bucket;
use super::{Child, Classes, HasClasses, Schedules};
use crate::aqm::{DisciplineParams, QueueContext};
use crate::discipline::Queue;
use crate::fifo::Buffer;

params! {
    /// Token bucket filter, a shaper that limits the traffic of its queue to `rate`. After an idle
    /// time the shaper sends a burst of up to `burst` bytes at `peak_rate`, or at the rate of the
    /// link. Packets larger than the burst are dropped, because they could never leave. The limit
    /// for waiting packets is the limit of the queue inside the shaper.
    pub struct Tbf: "tbf", checked by check {
        /// Rate at which tokens arrive.
        rate: Rate = required, in Range::ANY, from "tc_tbf";
        /// Depth of the bucket in bytes.
        burst: Bytes = (Bytes(5000)), in Range::between(1.0, 1e12), from "tc_tbf: the operator's choice; its example has 5 kB";
        /// Rate of bursts. If the key is absent, the value is the rate of the link.
        peak_rate: Option<Rate> = (None), in Range::ANY, from "tc_tbf";
        /// Depth of the peak rate's bucket in bytes, which is the maximum packet size.
        mtu: Bytes = (Bytes(1500)), in Range::between(1.0, 1e9), from "tc_tbf: mtu, also called minburst";
        /// Queue that the shaper serves, of any kind.
        queue: Box<Queue> = (Box::default()), in Range::ANY, from "tc_tbf: an inner queue may be attached";
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

/// State of a token bucket filter.
#[derive(Debug)]
pub struct TbfQueue {
    /// Queue that the shaper serves, as its only class.
    pub(crate) classes: Classes,
    largest: u64,
    bucket: Bucket,
    peak: Option<Bucket>,
    /// Packet that was removed from the queue and waits for tokens.
    chosen: Option<QueuedPacket>,
}

impl TbfQueue {
    /// Return the time at which the tokens for `bytes` bytes have arrived, or `None` if they are
    /// there now.
    fn allows(&self, bytes: u64, now: Time) -> Option<Time> {
        let wait =
            self.bucket.wait(bytes).max(self.peak.map_or(units::Duration::ZERO, |peak| peak.wait(bytes)));
        (wait > units::Duration::ZERO).then(|| now + wait)
    }

    /// Send a packet if the bucket has tokens for it, or else store the packet until the tokens
    /// have arrived.
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
            return self.classes.refuse(held, fates);
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
