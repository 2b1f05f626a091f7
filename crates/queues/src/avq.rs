//! Adaptive virtual queue (AVQ).
//!
//! Source: Kunniyur & Srikant 2001, "Analysis and design of an adaptive virtual queue (AVQ)
//! algorithm for active queue management" (`kunniyur2001avq`), the pseudo-code of its figure "AVQ
//! algorithm". The initial virtual capacity is the capacity of the link.
//!
//! The paper on AVQ was not available. The virtual queue, gamma and alpha agree with the authors'
//! ns-2 code (vq.cc). If AVQ marks packets, every decision of aqmlab agrees with vq.cc, with one
//! exception: aqmlab limits C~ to C before it subtracts alpha b, and vq.cc limits C~ afterwards. If
//! AVQ drops packets, vq.cc does not change C~ when it drops a packet, so that C~ adapts to the
//! accepted rate. In aqmlab every arrival changes C~, as in the pseudo-code. In vq.cc the initial
//! value of C~ is 0.8 C, and the virtual buffer has the same size as the real buffer.

use net::{Aqm, Arrival, Declared, Explanation, Packet, Variables as _, Verdict, Why, rules, variables};
use units::{Bytes, Probability, Range, Rate, Time, params};

use crate::aqm::{AqmParams, QueueContext};

params! {
    /// AVQ simulates a virtual queue whose capacity is lower than that of the real queue, and
    /// signals a packet that would overflow the virtual queue. AVQ adapts the capacity of the
    /// virtual queue, so that the utilization of the link reaches a target. Signals therefore begin
    /// before the real queue grows, and depend on the arrival rate instead of the queue length.
    pub struct Avq: "avq" {
        /// Target utilization of the link (gamma).
        utilization: Probability = (Probability(0.98)), in Range::above_to(0.0, 1.0), from "kunniyur2001avq §4: 0.98";
        /// Speed of adaptation of the virtual capacity (alpha).
        smoothing: f64 = (0.15), in Range::above(0.0), from "kunniyur2001avq §4: 0.15";
        /// Size of the virtual buffer (B).
        virtual_buffer: Bytes = (Bytes(100_000)), in Range::at_least(1.0), from "kunniyur2001avq §4 has 100 packets of 1000 B, the size of the real buffer";
    }
}

impl AqmParams for Avq {
    type Aqm = AvqAqm;
    const DECLARED: &'static [Declared] = &[Declared { rules: RULES, variables: AvqVariables::LIST }];

    fn aqm(&self, context: QueueContext) -> AvqAqm {
        let Rate(bits) = context.rate;
        let capacity = bits as f64 / 8.0;
        AvqAqm {
            params: self.clone(),
            capacity,
            virtual_capacity: capacity,
            virtual_queue: 0.0,
            last: Time::ZERO,
        }
    }
}

rules! {
    /// The packet would overflow the virtual queue.
    OVERFLOW = "virtual-overflow", from "kunniyur2001avq";
}

variables! {
    /// Variables of AVQ.
    pub struct AvqVariables {
        /// Length of the virtual queue before this packet (VQ).
        virtual_queue_bytes in "bytes", from "kunniyur2001avq";
        /// Virtual capacity after this packet, in bytes per second (C~).
        virtual_capacity in "bytes/s", from "kunniyur2001avq";
    }
}

/// State of AVQ.
#[derive(Clone, Debug)]
pub struct AvqAqm {
    params: Avq,
    /// Capacity of the link in bytes per second (C).
    capacity: f64,
    /// Virtual capacity in bytes per second (C~).
    virtual_capacity: f64,
    /// Length of the virtual queue in bytes (VQ).
    virtual_queue: f64,
    /// Time of the last arrival (s).
    last: Time,
}

impl Aqm for AvqAqm {
    #[inline]
    fn on_arrival(&mut self, packet: &Packet, at: &Arrival) -> Verdict {
        let (b, elapsed) = (f64::from(packet.size), at.now.since(self.last).seconds());
        // VQ <- max(VQ - C~(t - s), 0)
        self.virtual_queue = (self.virtual_queue - self.virtual_capacity * elapsed).max(0.0);
        let overflows = self.virtual_queue + b > self.params.virtual_buffer.0 as f64;
        if !overflows {
            self.virtual_queue += b;
        }
        // C~ <- max(min(C~ + alpha gamma C (t - s), C) - alpha b, 0)
        let alpha = self.params.smoothing;
        let grown = self.virtual_capacity + alpha * self.params.utilization.0 * self.capacity * elapsed;
        self.virtual_capacity = (grown.min(self.capacity) - alpha * b).max(0.0);
        self.last = at.now;
        if overflows { Verdict::Signal(Why::Early) } else { Verdict::Pass }
    }

    fn explain(&self, why: Why, to: &mut Explanation) {
        let virtual_queue_bytes = to.drawn(why, &OVERFLOW, self.virtual_queue);
        to.with(AvqVariables { virtual_queue_bytes, virtual_capacity: self.virtual_capacity });
    }
}
