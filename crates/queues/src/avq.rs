//! AVQ: an adaptive virtual queue.
//!
//! Source: Kunniyur & Srikant 2001, "Analysis and design of an adaptive virtual queue (AVQ) algorithm
//! for active queue management" (`kunniyur2001avq`), the pseudo-code of its figure "AVQ algorithm".
//! The virtual capacity begins at that of the link.
//!
//! The paper was not at hand. Compared with the authors' ns-2 code (vq.cc): the virtual queue, gamma and
//! alpha agree, and so does every decision while packets are marked, but that C~ is bounded by C after
//! alpha b is taken off, not before. Where packets are dropped that code leaves C~ alone, so that the
//! accepted rate is adapted to; here every arrival counts, as in the pseudo-code. It begins at 0.8 C, and
//! its virtual buffer is as large as the real one.

use net::{Aqm, Arrival, Packet, Verdict, Why};
use units::{Bytes, Probability, Range, Rate, Time, params};

use crate::law::{Configures, Place};

params! {
    /// AVQ keeps a virtual queue beside the real one, with its own, smaller capacity. A packet that
    /// would overflow it is signalled. The virtual capacity is adapted so that the link is used to the
    /// wished share: signals come before the real queue builds up, and by rate instead of length.
    pub struct Avq: "avq" {
        /// Share of the link that is to be used (gamma).
        utilization: Probability = (Probability(0.98)), in Range::above_to(0.0, 1.0), from "kunniyur2001avq §4: 0.98";
        /// How fast the virtual capacity is adapted (alpha).
        smoothing: f64 = (0.15), in Range::above(0.0), from "kunniyur2001avq §4: 0.15";
        /// Size of the virtual buffer (B).
        virtual_buffer: Bytes = (Bytes(100_000)), in Range::at_least(1.0), from "kunniyur2001avq §4: 100 packets of 1000 B, the size of the real buffer";
    }
}

impl Configures for Avq {
    type Law = AvqLaw;

    fn law(&self, place: Place) -> AvqLaw {
        let Rate(bits) = place.rate;
        let capacity = bits as f64 / 8.0;
        AvqLaw {
            params: self.clone(),
            capacity,
            virtual_capacity: capacity,
            virtual_queue: 0.0,
            last: Time::ZERO,
        }
    }
}

/// The state of AVQ.
#[derive(Clone, Debug)]
pub struct AvqLaw {
    params: Avq,
    /// Bytes a second (C).
    capacity: f64,
    /// Bytes a second (C~).
    virtual_capacity: f64,
    /// Bytes (VQ).
    virtual_queue: f64,
    /// When the last packet arrived (s).
    last: Time,
}

impl Aqm for AvqLaw {
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
}
