//! BBR, versions 1 and 3, and their common parts: the full pipe estimator, the cwnd saved before
//! recovery, the aggregation of ACKs, and the pacing rate.

mod max_filter;
pub mod v1;
pub mod v3;

use units::{Duration, Rate, Time};

use crate::congestion::control::{Ack, MIN_SUPER_PACKET};

/// Pacing rate below which each segment is sent alone (Linux, bbr_min_tso_rate).
const MIN_SUPER_PACKET_RATE: Rate = Rate(1_200_000);

/// Return the minimum number of segments of a super-packet that is paced at `rate` (Linux,
/// bbr_min_tso_segs).
pub fn min_super_packet(rate: Rate) -> u32 {
    if rate < MIN_SUPER_PACKET_RATE { 1 } else { MIN_SUPER_PACKET }
}

/// Value of a round-trip time before its first measurement.
const UNMEASURED: Duration = Duration(u64::MAX);

/// Full pipe estimator (draft-ietf-ccwg-bbr §5.3.1.2): the pipe is full after three rounds in which
/// the bandwidth grows by less than a quarter.
#[derive(Clone, Copy, Debug, Default)]
struct FullPipe {
    /// Bandwidth, in bytes/s, that the next round must exceed by a quarter to show that the pipe is
    /// not full.
    baseline: f64,
    /// Number of rounds in which the bandwidth did not grow by a quarter.
    count: u32,
    /// True if the pipe is full since the last reset (BBR.full_bw_now).
    full_bw_now: bool,
    /// True once the pipe was full (BBR.full_bw_reached).
    reached: bool,
}

impl FullPipe {
    /// Reset the full pipe estimator. `baseline` is the bandwidth with which later bandwidths are
    /// compared.
    fn reset(&mut self, baseline: f64) {
        (self.baseline, self.count, self.full_bw_now) = (baseline, 0, false);
    }

    /// Update the full pipe estimator at the start of a round that was not application-limited
    /// (CheckFullBWReached()).
    fn check(&mut self, rate: f64) {
        if self.full_bw_now {
            return;
        }
        if rate >= self.baseline * 1.25 {
            return self.reset(rate);
        }
        self.count += 1;
        self.full_bw_now = self.count >= 3;
        self.reached |= self.full_bw_now;
    }

    /// Return cwnd after an ACK. Until the pipe is full, cwnd never shrinks. Once the pipe is full,
    /// cwnd is at most `max_cwnd`.
    fn grow_cwnd(&self, cwnd: f64, ack: &Ack, max_cwnd: f64, initial_window: f64) -> f64 {
        let delivered = f64::from(ack.delivered);
        if self.reached {
            (cwnd + delivered).min(max_cwnd)
        } else if cwnd < max_cwnd || (ack.total_delivered as f64) < initial_window {
            cwnd + delivered
        } else {
            cwnd
        }
    }
}

/// Last good cwnd before recovery or ProbeRTT.
#[derive(Clone, Copy, Debug, Default)]
struct SavedCwnd {
    cwnd: f64,
    in_recovery: bool,
    /// True if the next ACK restores cwnd.
    restore: bool,
}

impl SavedCwnd {
    /// Process an ACK, which restores cwnd if recovery has ended.
    fn on_ack(&mut self, in_recovery: bool) {
        self.restore = self.in_recovery && !in_recovery;
        self.in_recovery = in_recovery;
    }

    /// Save cwnd (SaveCwnd()).
    fn save(&mut self, cwnd: f64, in_probe_rtt: bool) {
        self.cwnd = if !self.in_recovery && !in_probe_rtt { cwnd } else { self.cwnd.max(cwnd) };
    }

    /// Return the restored cwnd if a restore is due, otherwise `cwnd` (RestoreCwnd()).
    fn take_restored(&mut self, cwnd: f64) -> f64 {
        if std::mem::take(&mut self.restore) { cwnd.max(self.cwnd) } else { cwnd }
    }
}

/// Excess of acknowledged data over the data that the bandwidth explains, caused by aggregated ACKs
/// (draft-ietf-ccwg-bbr §5.5.9; Linux, bbr_update_ack_aggregation).
#[derive(Clone, Copy, Debug, Default)]
struct Aggregation {
    /// Start of the interval.
    interval_start: Time,
    /// Bytes delivered in the interval over which the excess is computed.
    delivered: f64,
}

impl Aggregation {
    /// Count `newly_delivered` bytes, and return the excess of the delivered bytes over the bytes
    /// that `bandwidth` (in bytes/s) delivers in the same time. The returned excess is at most
    /// cwnd.
    fn update(&mut self, now: Time, bandwidth: f64, newly_delivered: f64, cwnd: f64) -> f64 {
        let mut expected = bandwidth * now.since(self.interval_start).seconds();
        if self.delivered <= expected {
            (self.delivered, self.interval_start, expected) = (0.0, now, 0.0);
        }
        self.delivered += newly_delivered;
        (self.delivered - expected).min(cwnd)
    }
}

/// Pacing rate in bytes/s; absent before the first round-trip time.
#[derive(Clone, Copy, Debug, Default)]
struct Pacing(Option<f64>);

impl Pacing {
    /// Return the pacing rate in bytes/s, or 0 before the first round-trip time.
    fn rate(self) -> f64 {
        self.0.unwrap_or(0.0)
    }

    /// Set the initial pacing rate once a round-trip time is measured (InitPacingRate()). The
    /// initial pacing rate is one `window` per round-trip time.
    fn init(&mut self, window: f64, srtt: Duration) {
        if self.0.is_none() && srtt > Duration::ZERO {
            self.0 = Some(window / srtt.seconds());
        }
    }

    /// Set the pacing rate. Before the pipe is full, the pacing rate never falls (SetPacingRate()).
    fn set(&mut self, rate: f64, full_bw_reached: bool) {
        if rate > 0.0 && (full_bw_reached || self.0.is_none_or(|now| rate > now)) {
            self.0 = Some(rate);
        }
    }

    /// Return the pacing rate. If the pacing rate is not set, return one `window` per round-trip
    /// time, with 1 ms as the round-trip time before the first measurement.
    fn rate_or_initial(self, window: f64, srtt: Duration) -> Rate {
        let rtt = if srtt == Duration::ZERO { 1e-3 } else { srtt.seconds() };
        rate_from_bytes(self.0.unwrap_or(window / rtt))
    }
}

/// Convert bytes/s to a pacing rate.
pub(super) fn rate_from_bytes(bytes_per_s: f64) -> Rate {
    Rate((bytes_per_s * 8.0).clamp(1.0, 1e13) as u64)
}

#[cfg(test)]
mod tests;
