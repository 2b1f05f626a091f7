//! BBR, versions 1 and 3, and what they have in common: the estimate of a full pipe, the window that
//! comes back after recovery, and the pacing rate.

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

const NONE: Duration = Duration(u64::MAX);

/// The full pipe estimator (draft-ietf-ccwg-bbr §5.3.1.2): three rounds in which the bandwidth grows by less
/// than a quarter.
#[derive(Clone, Copy, Debug, Default)]
struct FullPipe {
    baseline: f64,
    count: u32,
    now: bool,
    reached: bool,
}

impl FullPipe {
    fn reset(&mut self, baseline: f64) {
        (self.baseline, self.count, self.now) = (baseline, 0, false);
    }

    /// CheckFullBWReached(), at the start of a round that was not application-limited.
    fn check(&mut self, rate: f64) {
        if self.now {
            return;
        }
        if rate >= self.baseline * 1.25 {
            return self.reset(rate);
        }
        self.count += 1;
        self.now = self.count >= 3;
        self.reached |= self.now;
    }

    /// cwnd after an ACK: up to `most`, and in Startup never down.
    fn grown(&self, cwnd: f64, ack: &Ack, most: f64, initial_window: f64) -> f64 {
        let delivered = f64::from(ack.delivered);
        if self.reached {
            (cwnd + delivered).min(most)
        } else if cwnd < most || (ack.total_delivered as f64) < initial_window {
            cwnd + delivered
        } else {
            cwnd
        }
    }
}

/// The last good cwnd before recovery or ProbeRTT.
#[derive(Clone, Copy, Debug, Default)]
struct Prior {
    cwnd: f64,
    in_recovery: bool,
    /// It comes back with the next ACK.
    restore: bool,
}

impl Prior {
    /// An ACK: the end of recovery brings cwnd back.
    fn on_ack(&mut self, in_recovery: bool) {
        self.restore = self.in_recovery && !in_recovery;
        self.in_recovery = in_recovery;
    }

    /// SaveCwnd(); `probing`: in ProbeRTT.
    fn save(&mut self, cwnd: f64, probing: bool) {
        self.cwnd = if !self.in_recovery && !probing { cwnd } else { self.cwnd.max(cwnd) };
    }

    /// RestoreCwnd(), if that is due.
    fn restored(&mut self, cwnd: f64) -> f64 {
        if std::mem::take(&mut self.restore) { cwnd.max(self.cwnd) } else { cwnd }
    }
}

/// What is acknowledged beyond what the bandwidth explains, because ACKs come in bunches or cover several segments
/// (draft-ietf-ccwg-bbr §5.5.9; Linux, bbr_update_ack_aggregation).
#[derive(Clone, Copy, Debug, Default)]
struct Aggregation {
    since: Time,
    delivered: f64,
}

impl Aggregation {
    /// An ACK delivers so much, with this bandwidth in bytes/s: the excess, no more than cwnd.
    fn update(&mut self, now: Time, bandwidth: f64, newly: f64, cwnd: f64) -> f64 {
        let mut expected = bandwidth * now.since(self.since).seconds();
        if self.delivered <= expected {
            (self.delivered, self.since, expected) = (0.0, now, 0.0);
        }
        self.delivered += newly;
        (self.delivered - expected).min(cwnd)
    }
}

/// The pacing rate in bytes/s; none before the first round trip.
#[derive(Clone, Copy, Debug, Default)]
struct Pacing(Option<f64>);

impl Pacing {
    fn rate(self) -> f64 {
        self.0.unwrap_or(0.0)
    }

    /// InitPacingRate(): this window a round trip, once one is measured.
    fn begin(&mut self, window: f64, srtt: Duration) {
        if self.0.is_none() && srtt > Duration::ZERO {
            self.0 = Some(window / srtt.seconds());
        }
    }

    /// SetPacingRate(): never down before the pipe is full.
    fn set(&mut self, rate: f64, full: bool) {
        if rate > 0.0 && (full || self.0.is_none_or(|now| rate > now)) {
            self.0 = Some(rate);
        }
    }

    /// As the sender paces by it; before the first, this window a round trip, or a millisecond.
    fn or_first(self, window: f64, srtt: Duration) -> Rate {
        let rtt = if srtt == Duration::ZERO { 1e-3 } else { srtt.seconds() };
        paced(self.0.unwrap_or(window / rtt))
    }
}

/// A rate in bytes/s as the sender paces by it.
pub(super) fn paced(bytes_per_s: f64) -> Rate {
    Rate((bytes_per_s * 8.0).clamp(1.0, 1e13) as u64)
}

#[cfg(test)]
mod tests;
