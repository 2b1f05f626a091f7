//! H-TCP as Linux computes it (net/ipv4/tcp_htcp.c): integers, times in milliseconds (HZ = 1000), a count of ACKs that
//! begins anew with each segment of growth, β from an average of the throughput and a longest round trip that fades.

use units::{Duration, Time};

use crate::congestion::control::linux_ticks;

/// 1 in the fixed point of α and β.
const ONE: u64 = 128;
/// The least and the greatest β.
const BETA: (u64, u64) = (64, 102);

/// State of a connection. Times are in milliseconds, windows and counts in segments.
#[derive(Clone, Debug)]
pub(super) struct Kernel {
    alpha: u64,
    beta: u64,
    /// β may be other than a half (modeswitch).
    adapts: bool,
    /// Segments that the last ACK acknowledged, for the next count.
    acked: u64,
    /// Those counted since cwnd last grew (snd_cwnd_cnt).
    counted: u64,
    rtt_min: u64,
    rtt_max: u64,
    /// The end of the last congestion (last_cong), and that before it until it is over.
    congestion: u64,
    before: Option<u64>,
    /// Segments acknowledged since the throughput was last measured, and when that was.
    packets: u64,
    measured: u64,
    /// Segments a second: the average, the greatest of the epoch, and that of the epoch before.
    throughput: [u64; 3],
}

fn ticks(t: Time) -> u64 {
    t.0 / 1_000_000_000
}

impl Kernel {
    /// Before the first ACK.
    pub fn new() -> Self {
        Kernel {
            alpha: ONE,
            beta: BETA.0,
            adapts: false,
            acked: 1,
            counted: 0,
            rtt_min: 0,
            rtt_max: 0,
            congestion: 0,
            before: None,
            packets: 0,
            measured: 0,
            throughput: [0; 3],
        }
    }

    /// measure_achieved_throughput: an ACK of so many segments.
    pub fn observe(&mut self, now: Time, cwnd: u64, acked: u64, rtt: Option<Duration>, recovers: bool) {
        let now = ticks(now);
        if !recovers {
            self.acked = acked;
            if self.before.take().is_some() {
                self.congestion = now; // htcp_state: the recovery is over
            }
        }
        if let Some(rtt) = rtt.map(linux_ticks) {
            self.measure(rtt, recovers);
        }
        if recovers {
            (self.packets, self.measured) = (0, now);
            return;
        }
        self.packets += acked;
        let round = now.saturating_sub(self.measured);
        let whole = self.packets + (self.alpha / ONE).max(1) >= cwnd;
        if whole && round >= self.rtt_min && self.rtt_min > 0 {
            let last = self.packets * 1000 / round.max(1);
            let [average, greatest, _] = &mut self.throughput;
            if now.saturating_sub(self.congestion) / self.rtt_min <= 3 {
                (*average, *greatest) = (last, last);
            } else {
                *average = (3 * *average + last) / 4;
                *greatest = (*greatest).max(*average);
            }
            (self.packets, self.measured) = (0, now);
        }
    }

    /// measure_rtt.
    fn measure(&mut self, rtt: u64, recovers: bool) {
        if self.rtt_min > rtt || self.rtt_min == 0 {
            self.rtt_min = rtt;
        }
        if !recovers {
            self.rtt_max = self.rtt_max.max(self.rtt_min);
            if self.rtt_max < rtt && rtt <= self.rtt_max + 20 {
                self.rtt_max = rtt;
            }
        }
    }

    /// htcp_cong_avoid, above ssthresh: whether cwnd grows by a segment.
    pub fn grows(&mut self, now: Time, cwnd: u64, scales: bool, low_speed: Duration) -> bool {
        let grows = (self.counted * self.alpha) / ONE >= cwnd;
        if grows {
            self.counted = 0;
            self.find_alpha(now, scales, low_speed);
        } else {
            self.counted += self.acked;
        }
        self.acked = 1;
        grows
    }

    /// htcp_alpha_update.
    fn find_alpha(&mut self, now: Time, scales: bool, low_speed: Duration) {
        let since = ticks(now).saturating_sub(self.congestion);
        let d = since.saturating_sub(low_speed.0 / 1_000_000_000).min(u64::from(u32::MAX));
        let mut factor = if d > 0 { 1 + (10 * d + (d / 2) * (d / 2) / 1000) / 1000 } else { 1 };
        if scales && self.rtt_min > 0 {
            let scale = (8000 / (10 * self.rtt_min)).clamp(4, 80);
            factor = (8 * factor / scale).max(1);
        }
        self.alpha = 2 * factor * (ONE - self.beta);
    }

    /// htcp_beta_update.
    fn find_beta(&mut self) {
        let [_, now, before] = self.throughput;
        self.throughput[2] = now;
        if 5 * now < 4 * before || 5 * now > 6 * before {
            (self.beta, self.adapts) = (BETA.0, false);
        } else if self.adapts && self.rtt_min > 10 && self.rtt_max > 0 {
            self.beta = (ONE * self.rtt_min / self.rtt_max).clamp(BETA.0, BETA.1);
        } else {
            (self.beta, self.adapts) = (BETA.0, true);
        }
    }

    /// htcp_param_update and htcp_recalc_ssthresh: what is left of cwnd.
    pub fn on_congestion(&mut self, now: Time, cwnd: u64, scales: bool, low_speed: Duration) -> u64 {
        self.find_beta();
        self.find_alpha(now, scales, low_speed);
        if self.rtt_min > 0 && self.rtt_max > self.rtt_min {
            self.rtt_max = self.rtt_min + (self.rtt_max - self.rtt_min) * 95 / 100;
        }
        self.before = Some(self.congestion);
        (self.congestion, self.counted) = (ticks(now), 0);
        cwnd * self.beta / ONE
    }

    /// htcp_cwnd_undo.
    pub fn undo(&mut self) {
        if let Some(before) = self.before.take() {
            self.congestion = before;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With α = 1 and two segments an ACK, a window of ten grows with the sixth ACK: five are counted, which are ten segments, and the
    /// sixth is counted for nothing.
    #[test]
    fn a_count_begins_anew_with_each_segment() {
        let mut k = Kernel::new();
        let mut grown = Vec::new();
        for _ in 0..12 {
            k.observe(Time::ZERO, 10, 2, Some(Duration::from_millis(100)), false);
            grown.push(k.grows(Time::ZERO, 10, false, Duration::from_millis(1000)));
        }
        let sixth = [false, false, false, false, false, true];
        assert_eq!(grown, [sixth, sixth].concat());
    }

    /// usecs_to_jiffies: what a round trip exceeds whole milliseconds by counts from a microsecond
    /// on.
    #[test]
    fn a_round_trip_is_measured_in_microseconds_and_rounded_up() {
        let rtt = |ns: u64| linux_ticks(Duration(ns * 1000));
        assert_eq!([rtt(40_000_000), rtt(40_000_999), rtt(40_001_000)], [40, 40, 41]);
    }

    /// The first congestion leaves a half, and the next RTTmin/RTTmax, if the throughput is as it was; RTTmax fades by a twentieth.
    #[test]
    fn the_decrease_adapts_from_the_second_congestion_on() {
        let mut k = Kernel::new();
        (k.rtt_min, k.rtt_max, k.throughput) = (60, 100, [1000, 1000, 1000]);
        let low = Duration::from_millis(1000);
        assert_eq!(k.on_congestion(Time::ZERO, 100, false, low), 50);
        assert_eq!(k.rtt_max, 98);
        assert_eq!(k.on_congestion(Time::ZERO, 100, false, low), 100 * (128 * 60 / 98) / 128);
        k.throughput[1] = 700;
        assert_eq!(k.on_congestion(Time::ZERO, 100, false, low), 50);
    }
}
