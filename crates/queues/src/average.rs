//! Average queue length of RED and its variants.
//!
//! Source: Floyd & Jacobson 1993 (`floyd1993red`), figure 2, "calculate the new average queue
//! size". If a packet arrives at an empty queue and is dropped, the queue stays empty. A literal
//! implementation of figure 2 would count the idle time before the dropped packet twice: when the
//! dropped packet arrives and when the next packet arrives. In aqmlab, as in ns-2 and Linux, the
//! average decays only once for each idle time.

use net::{Declared, Explanation, Variables as _, variables};
use units::{Bytes, Rate, Time};

variables! {
    /// Average queue length.
    pub struct AverageVariables {
        /// Average queue length (avg), in the unit of the thresholds.
        avg in "packets or bytes", from "floyd1993red fig. 2";
    }
}

/// Variables of the average queue length.
pub(crate) const DECLARED: Declared = Declared { rules: &[], variables: AverageVariables::LIST };

/// Exponentially weighted moving average of the queue length, which decays while the queue is idle.
#[derive(Clone, Debug)]
pub struct Average {
    weight: f64,
    /// Transmission time, in picoseconds, of the virtual packets that are assumed to arrive during
    /// idle time (s in section 4 of the paper).
    idle_packet_time: f64,
    value: f64,
    /// Time up to which the average includes the decay of idle time.
    counted: Time,
}

impl Average {
    /// Create an average with the weight `wq`. While the link is idle, the average decays as if
    /// packets of `idle_packet_size` arrived at the rate `rate`.
    pub fn new(wq: f64, rate: Rate, idle_packet_size: Bytes) -> Self {
        let idle_packet_time = rate.transmission_time(idle_packet_size).0 as f64;
        Average { weight: wq, idle_packet_time, value: 0.0, counted: Time::ZERO }
    }

    /// Update the average for an arrival at a queue of length `queue`. `idle_since` is the time at
    /// which the idle link became idle (q_time), or `None` if the link is busy.
    #[inline]
    pub fn update(&mut self, now: Time, idle_since: Option<Time>, queue: f64) {
        self.decay(now, idle_since);
        self.sample(queue);
    }

    /// Let the average decay up to the time `now` if the link has been idle since `idle_since`.
    #[inline]
    pub fn decay(&mut self, now: Time, idle_since: Option<Time>) {
        if let Some(idle_since) = idle_since {
            // m = (time - q_time)/s;  avg = (1 - wq)^m avg
            let q_time = idle_since.max(self.counted);
            let m = now.since(q_time).0 as f64 / self.idle_packet_time;
            self.value *= libm::pow(1.0 - self.weight, m);
            self.counted = now;
        }
    }

    /// Update the average with the current queue length.
    #[inline]
    pub fn sample(&mut self, queue: f64) {
        self.value += self.weight * (queue - self.value);
    }

    /// Return the average (avg).
    #[inline]
    pub fn value(&self) -> f64 {
        self.value
    }

    /// Add the average to an explanation.
    pub(crate) fn explain(&self, to: &mut Explanation) {
        to.with(AverageVariables { avg: self.value });
    }

    /// Set the average.
    #[cfg(test)]
    pub fn set(&mut self, value: f64) {
        self.value = value;
    }
}
