//! The retransmission timeout of Linux (`net/ipv4/tcp_input.c`, `tcp_rtt_estimator`; described in
//! Sarolahti & Kuznetsov 2002 §4, `sarolahti2002linux`). SRTT is computed as in RFC 6298. The
//! deviation is the maximum within a round trip: the deviation increases at once and decreases
//! slowly, and a decreasing round-trip time hardly increases the deviation. The deviation is at
//! least the minimum timeout, so that the timeout exceeds SRTT by at least the minimum timeout.

use net::Seq;
use units::Duration;

/// State of the estimator, in microseconds. `scaled_mean` is SRTT times 8, and `deviation` is the
/// mean deviation times 4.
#[derive(Clone, Copy, Debug, Default)]
pub struct Linux {
    scaled_mean: u32,
    deviation: u32,
    max_deviation: u32,
    variance: u32,
    round: Seq,
}

fn micros(d: Duration) -> i64 {
    (d.0 / 1_000_000) as i64
}

impl Linux {
    /// Record a round-trip time, measured while SND.UNA was `una` and SND.NXT was `nxt`. Return the
    /// new timeout.
    pub fn on_sample(&mut self, rtt: Duration, min: Duration, una: Seq, nxt: Seq) -> Duration {
        let min = micros(min).min(i64::from(u32::MAX / 4)) as u32;
        let mut m = micros(rtt).clamp(1, i64::from(u32::MAX / 16));
        if self.scaled_mean == 0 {
            self.scaled_mean = (m as u32) << 3;
            self.deviation = (m as u32) << 1;
            self.variance = self.deviation.max(min);
            self.max_deviation = self.variance;
            self.round = nxt;
        } else {
            m -= i64::from(self.scaled_mean >> 3);
            self.scaled_mean = (i64::from(self.scaled_mean) + m).max(1) as u32;
            let fell = m < 0;
            m = m.abs() - i64::from(self.deviation >> 2);
            if fell && m > 0 {
                m >>= 3;
            }
            self.deviation = (i64::from(self.deviation) + m).max(0) as u32;
            self.max_deviation = self.max_deviation.max(self.deviation);
            self.variance = self.variance.max(self.max_deviation);
            if una.after(self.round) {
                self.variance -= self.variance.saturating_sub(self.max_deviation) >> 2;
                self.round = nxt;
                self.max_deviation = min;
            }
        }
        Duration(u64::from((self.scaled_mean >> 3) + self.variance) * 1_000_000)
    }

    /// Return SRTT.
    pub fn srtt(&self) -> Duration {
        Duration(u64::from(self.scaled_mean) * 125_000)
    }

    /// Return the mean deviation.
    pub fn deviation(&self) -> Duration {
        Duration(u64::from(self.deviation) * 250_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: a round-trip time of 100 ms gives a mean deviation of 50 ms. Four times the mean
    /// deviation is 200 ms, so the retransmission timeout is 300 ms. After a second sample of 100
    /// ms, the deviation decreases to 3/4 of its value, but the variance does not decrease before
    /// the end of the round trip.
    #[test]
    fn the_timeout_exceeds_srtt_by_the_minimum() {
        let (min, rtt) = (Duration::from_millis(200), Duration::from_millis(100));
        let mut e = Linux::default();
        assert_eq!(e.on_sample(rtt, min, Seq(1), Seq(5)), Duration::from_millis(300));
        assert_eq!(e.on_sample(rtt, min, Seq(6), Seq(9)), Duration::from_millis(300));
        assert_eq!((e.srtt(), e.deviation()), (rtt, Duration(37_500_000_000)));
        let mut short = Linux::default();
        assert_eq!(
            short.on_sample(Duration::from_millis(10), min, Seq(1), Seq(5)),
            Duration::from_millis(210)
        );
    }
}
