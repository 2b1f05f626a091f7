//! The retransmission timeout: three estimators of the timeout, and the back-off that the
//! estimators share.

pub mod choices;
pub mod jacobson1988;
pub mod linux;
pub mod parameters;
pub mod rfc6298;

use net::Seq;
use units::{Duration, Time};

use crate::config::{RtoEstimator, Tcp};
use jacobson1988::Jacobson1988;
use linux::Linux;
use rfc6298::Rfc6298;

/// Maximum number of doublings. The maximum timeout bounds the timeout for any number of doublings.
const MAX_DOUBLINGS: u32 = 16;
/// Maximum number of times that 4.3BSD doubles the timeout.
const MAX_DOUBLINGS_1988: u32 = 6;

#[derive(Clone, Copy, Debug)]
enum Estimator {
    Rfc6298(Rfc6298),
    Jacobson1988(Jacobson1988),
    Linux(Linux),
}

/// Retransmission timeout of a sender.
#[derive(Clone, Copy, Debug)]
pub struct Rto {
    estimator: Estimator,
    /// Retransmission timeout without back-off, limited to the range from the minimum to the
    /// maximum timeout.
    base: Duration,
    /// Round-trip time that was measured last.
    last: Duration,
    samples: u32,
    doublings: u32,
}

impl Rto {
    /// Create the retransmission timeout before the first measured round-trip time. `phase` is the
    /// part of a tick of the host's clock that has passed at time zero.
    pub fn new(tcp: &Tcp, phase: Duration) -> Self {
        let estimator = match tcp.rto.estimator {
            RtoEstimator::Rfc6298 => Estimator::Rfc6298(Rfc6298::default()),
            RtoEstimator::Jacobson1988 => Estimator::Jacobson1988(Jacobson1988::new(phase)),
            RtoEstimator::Linux => Estimator::Linux(Linux::default()),
        };
        Rto {
            estimator,
            base: tcp.rto.initial.clamp(tcp.rto.min, tcp.rto.max),
            last: Duration::ZERO,
            samples: 0,
            doublings: 0,
        }
    }

    /// Record that a segment, sent once at `sent`, is acknowledged at `now`, and end the back-off
    /// (RFC 6298 §5.7). The caller excludes retransmitted segments (Karn & Partridge 1987). `una`
    /// is SND.UNA and `nxt` is SND.NXT.
    pub fn on_sample(&mut self, tcp: &Tcp, sent: Time, now: Time, (una, nxt): (Seq, Seq)) {
        let g = tcp.rto.granularity;
        let rto = match &mut self.estimator {
            Estimator::Rfc6298(e) => e.on_sample(now.since(sent), g),
            Estimator::Jacobson1988(e) => e.on_sample(sent, now, g),
            Estimator::Linux(e) => e.on_sample(now.since(sent), tcp.rto.min, una, nxt),
        };
        self.base = rto.clamp(tcp.rto.min, tcp.rto.max);
        self.last = now.since(sent);
        self.samples = self.samples.wrapping_add(1);
        self.doublings = 0;
    }

    /// Double the timeout, because the timer expired (RFC 6298 §5.5).
    pub fn back_off(&mut self) {
        let max = if matches!(self.estimator, Estimator::Jacobson1988(_)) {
            MAX_DOUBLINGS_1988
        } else {
            MAX_DOUBLINGS
        };
        self.doublings = (self.doublings + 1).min(max);
        if let Estimator::Jacobson1988(e) = &mut self.estimator
            && self.doublings > 3
        {
            e.discard_mean();
        }
    }

    /// Raise the timeout to at least `min` and end the back-off. The caller uses this method if no
    /// round-trip time was measured because a SYN was lost (RFC 6298 §5.7).
    pub fn restart_at(&mut self, min: Duration, tcp: &Tcp) {
        self.base = self.base.max(min).min(tcp.rto.max);
        self.doublings = 0;
    }

    /// End the back-off, because new data was acknowledged.
    pub fn end_back_off(&mut self) {
        self.doublings = 0;
    }

    /// Return the number of times that the current back-off doubles the timeout.
    pub fn doublings(&self) -> u32 {
        self.doublings
    }

    /// Return the number of measured round-trip times, and the last measured round-trip time.
    pub fn round_trips(&self) -> (u32, Duration) {
        (self.samples, self.last)
    }

    /// Return SRTT; zero before the first sample.
    #[inline]
    pub fn srtt(&self, tcp: &Tcp) -> Duration {
        match &self.estimator {
            Estimator::Rfc6298(e) => e.srtt(),
            Estimator::Jacobson1988(e) => e.smoothed(tcp.rto.granularity).0,
            Estimator::Linux(e) => e.srtt(),
        }
    }

    /// Return SRTT and the mean deviation; zero before the first sample.
    #[inline]
    pub fn smoothed(&self, tcp: &Tcp) -> (Duration, Duration) {
        match &self.estimator {
            Estimator::Rfc6298(e) => e.smoothed(),
            Estimator::Jacobson1988(e) => e.smoothed(tcp.rto.granularity),
            Estimator::Linux(e) => (e.srtt(), e.deviation()),
        }
    }

    /// Return the present timeout.
    #[inline]
    pub fn timeout(&self, tcp: &Tcp) -> Duration {
        if self.doublings == 0 {
            return self.base; // the base is within the bounds already
        }
        Duration(self.base.0.saturating_mul(1 << self.doublings)).min(tcp.rto.max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn back_off_doubles_the_timeout_up_to_the_maximum_and_a_sample_ends_it() {
        let tcp = Tcp::default();
        let mut rto = Rto::new(&tcp, Duration::ZERO);
        let mut seen = Vec::new();
        for _ in 0..8 {
            seen.push(rto.timeout(&tcp).seconds());
            rto.back_off();
        }
        assert_eq!(seen, [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0]);
        rto.on_sample(&tcp, Time::ZERO, Time::ZERO + Duration::from_millis(100), (Seq(0), Seq(0)));
        assert_eq!(rto.timeout(&tcp).seconds(), 1.0);
    }
}
