//! The average queue of RED and its kin.
//!
//! Source: Floyd & Jacobson 1993 (`floyd1993red`), figure 2, "calculate the new average queue size". A packet
//! that finds the queue empty and is dropped leaves it empty: by the letter of the figure the next one would
//! count the idle time before it again. Here, as in ns-2 and Linux, each idle time counts once.

use units::{Bytes, Rate, Time};

/// An exponentially weighted moving average of the queue that decays while the queue is idle.
#[derive(Clone, Debug)]
pub struct Average {
    weight: f64,
    /// Picoseconds that a pretended packet takes on this link (s of section 4).
    idle_packet_time: f64,
    value: f64,
    /// Up to when idle time has been counted.
    counted: Time,
}

impl Average {
    /// An average with weight `wq` on a link of this rate, where packets of `idle_packet_size` are
    /// pretended to arrive while it is idle.
    pub fn new(wq: f64, rate: Rate, idle_packet_size: Bytes) -> Self {
        let idle_packet_time = rate.transmission_time(idle_packet_size).0 as f64;
        Average { weight: wq, idle_packet_time, value: 0.0, counted: Time::ZERO }
    }

    /// An arriving packet finds `queue`; `idle_since`: when the link fell idle, if it is (q_time).
    #[inline]
    pub fn update(&mut self, now: Time, idle_since: Option<Time>, queue: f64) {
        self.decay(now, idle_since);
        self.sample(queue);
    }

    /// The link has been idle since `idle_since`, if it is.
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

    /// Weighs in the present queue.
    #[inline]
    pub fn sample(&mut self, queue: f64) {
        self.value += self.weight * (queue - self.value);
    }

    /// The average (avg).
    #[inline]
    pub fn value(&self) -> f64 {
        self.value
    }

    /// Sets the average.
    #[cfg(test)]
    pub fn set(&mut self, value: f64) {
        self.value = value;
    }
}
