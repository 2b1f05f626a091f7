//! H-TCP in the arithmetic of Linux (net/ipv4/tcp_htcp.c): integers, and times in milliseconds (HZ
//! = 1000).
//!
//! Each segment of growth restarts the count of ACKs. β follows from an average of the throughput
//! and from a maximum round-trip time that decreases at each congestion.

use units::{Duration, Time};

use crate::congestion::control::linux_ticks;

/// Value 1 in the fixed-point numbers α and β.
const ONE: u64 = 128;
/// Minimum and maximum of the decrease factor β.
const BETA_RANGE: (u64, u64) = (64, 102);

/// State of a connection. Times are in milliseconds, windows and counts in segments.
#[derive(Clone, Debug)]
pub(super) struct LinuxState {
    alpha: u64,
    beta: u64,
    /// True if the decrease factor β may differ from one half (modeswitch).
    is_adaptive: bool,
    /// Segments that the last ACK acknowledged, and that are counted at the next ACK.
    acked: u64,
    /// Segments counted since cwnd last grew (snd_cwnd_cnt).
    counted: u64,
    rtt_min: u64,
    rtt_max: u64,
    /// Time at which the last congestion ended (last_cong).
    epoch_start: u64,
    /// Start of the previous epoch, stored until loss recovery ends.
    undo_epoch_start: Option<u64>,
    /// Segments acknowledged since the last sample of the throughput.
    acked_since_sample: u64,
    /// Time of the last sample of the throughput.
    sampled_at: u64,
    /// Throughput in segments per second: the moving average, its maximum in this epoch, and its
    /// maximum in the previous epoch.
    throughput: [u64; 3],
}

/// Return a time in whole milliseconds.
fn milliseconds(t: Time) -> u64 {
    t.0 / 1_000_000_000
}

impl LinuxState {
    /// Create the state of H-TCP in a connection before the first ACK of the connection.
    pub fn new() -> Self {
        LinuxState {
            alpha: ONE,
            beta: BETA_RANGE.0,
            is_adaptive: false,
            acked: 1,
            counted: 0,
            rtt_min: 0,
            rtt_max: 0,
            epoch_start: 0,
            undo_epoch_start: None,
            acked_since_sample: 0,
            sampled_at: 0,
            throughput: [0; 3],
        }
    }

    /// Observe an ACK of `acked` segments (measure_achieved_throughput).
    pub fn observe(&mut self, now: Time, cwnd: u64, acked: u64, rtt: Option<Duration>, in_recovery: bool) {
        let now = milliseconds(now);
        if !in_recovery {
            self.acked = acked;
            if self.undo_epoch_start.take().is_some() {
                self.epoch_start = now; // htcp_state: loss recovery has ended
            }
        }
        if let Some(rtt) = rtt.map(linux_ticks) {
            self.record_rtt(rtt, in_recovery);
        }
        if in_recovery {
            (self.acked_since_sample, self.sampled_at) = (0, now);
            return;
        }
        self.acked_since_sample += acked;
        let interval = now.saturating_sub(self.sampled_at);
        let window_acked = self.acked_since_sample + (self.alpha / ONE).max(1) >= cwnd;
        if window_acked && interval >= self.rtt_min && self.rtt_min > 0 {
            let sample = self.acked_since_sample * 1000 / interval.max(1);
            let [average, max, _] = &mut self.throughput;
            if now.saturating_sub(self.epoch_start) / self.rtt_min <= 3 {
                (*average, *max) = (sample, sample);
            } else {
                *average = (3 * *average + sample) / 4;
                *max = (*max).max(*average);
            }
            (self.acked_since_sample, self.sampled_at) = (0, now);
        }
    }

    /// Record a round-trip time in milliseconds (measure_rtt).
    fn record_rtt(&mut self, rtt: u64, in_recovery: bool) {
        if self.rtt_min > rtt || self.rtt_min == 0 {
            self.rtt_min = rtt;
        }
        if !in_recovery {
            self.rtt_max = self.rtt_max.max(self.rtt_min);
            if self.rtt_max < rtt && rtt <= self.rtt_max + 20 {
                self.rtt_max = rtt;
            }
        }
    }

    /// Count an ACK above ssthresh, and return true if cwnd grows by a segment (htcp_cong_avoid).
    pub fn grow(&mut self, now: Time, cwnd: u64, scales_by_rtt: bool, low_speed: Duration) -> bool {
        let grows = (self.counted * self.alpha) / ONE >= cwnd;
        if grows {
            self.counted = 0;
            self.update_alpha(now, scales_by_rtt, low_speed);
        } else {
            self.counted += self.acked;
        }
        self.acked = 1;
        grows
    }

    /// Compute the increase α (htcp_alpha_update).
    fn update_alpha(&mut self, now: Time, scales_by_rtt: bool, low_speed: Duration) {
        let elapsed = milliseconds(now).saturating_sub(self.epoch_start);
        let d = elapsed.saturating_sub(low_speed.0 / 1_000_000_000).min(u64::from(u32::MAX));
        let mut factor = if d > 0 { 1 + (10 * d + (d / 2) * (d / 2) / 1000) / 1000 } else { 1 };
        if scales_by_rtt && self.rtt_min > 0 {
            let scale = (8000 / (10 * self.rtt_min)).clamp(4, 80);
            factor = (8 * factor / scale).max(1);
        }
        self.alpha = 2 * factor * (ONE - self.beta);
    }

    /// Compute the decrease factor β (htcp_beta_update).
    fn update_beta(&mut self) {
        let [_, now, previous] = self.throughput;
        self.throughput[2] = now;
        if 5 * now < 4 * previous || 5 * now > 6 * previous {
            (self.beta, self.is_adaptive) = (BETA_RANGE.0, false);
        } else if self.is_adaptive && self.rtt_min > 10 && self.rtt_max > 0 {
            self.beta = (ONE * self.rtt_min / self.rtt_max).clamp(BETA_RANGE.0, BETA_RANGE.1);
        } else {
            (self.beta, self.is_adaptive) = (BETA_RANGE.0, true);
        }
    }

    /// Return cwnd after a congestion event (htcp_param_update and htcp_recalc_ssthresh).
    pub fn on_congestion(&mut self, now: Time, cwnd: u64, scales_by_rtt: bool, low_speed: Duration) -> u64 {
        self.update_beta();
        self.update_alpha(now, scales_by_rtt, low_speed);
        if self.rtt_min > 0 && self.rtt_max > self.rtt_min {
            self.rtt_max = self.rtt_min + (self.rtt_max - self.rtt_min) * 95 / 100;
        }
        self.undo_epoch_start = Some(self.epoch_start);
        (self.epoch_start, self.counted) = (milliseconds(now), 0);
        cwnd * self.beta / ONE
    }

    /// Restore the epoch from before the last congestion event (htcp_cwnd_undo).
    pub fn undo(&mut self) {
        if let Some(undo_epoch_start) = self.undo_epoch_start.take() {
            self.epoch_start = undo_epoch_start;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With α = 1 and ACKs of two segments, a window of ten segments grows with the sixth ACK. The
    /// first five ACKs acknowledge the ten segments that the increase requires. The sixth ACK
    /// increases cwnd, and the segments of the sixth ACK are not counted for the next increase.
    #[test]
    fn each_segment_of_growth_restarts_the_count() {
        let mut k = LinuxState::new();
        let mut growth = Vec::new();
        for _ in 0..12 {
            k.observe(Time::ZERO, 10, 2, Some(Duration::from_millis(100)), false);
            growth.push(k.grow(Time::ZERO, 10, false, Duration::from_millis(1000)));
        }
        let sixth = [false, false, false, false, false, true];
        assert_eq!(growth, [sixth, sixth].concat());
    }

    /// usecs_to_jiffies: a round-trip time that exceeds whole milliseconds by a microsecond is
    /// rounded up.
    #[test]
    fn round_trip_times_are_in_microseconds_and_rounded_up() {
        let rtt = |ns: u64| linux_ticks(Duration(ns * 1000));
        assert_eq!([rtt(40_000_000), rtt(40_000_999), rtt(40_001_000)], [40, 40, 41]);
    }

    /// The first congestion halves the window. The second congestion multiplies the window by
    /// RTTmin/RTTmax if the throughput has not changed. RTTmax decreases by a twentieth at each
    /// congestion.
    #[test]
    fn decrease_adapts_from_the_second_congestion_on() {
        let mut k = LinuxState::new();
        (k.rtt_min, k.rtt_max, k.throughput) = (60, 100, [1000, 1000, 1000]);
        let low = Duration::from_millis(1000);
        assert_eq!(k.on_congestion(Time::ZERO, 100, false, low), 50);
        assert_eq!(k.rtt_max, 98);
        assert_eq!(k.on_congestion(Time::ZERO, 100, false, low), 100 * (128 * 60 / 98) / 128);
        k.throughput[1] = 700;
        assert_eq!(k.on_congestion(Time::ZERO, 100, false, low), 50);
    }
}
