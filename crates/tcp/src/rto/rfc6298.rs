//! The estimator of RFC 6298 §2 (`rfc6298`): SRTT and RTTVAR in full precision.

use units::Duration;

/// State of the estimator, in seconds. SRTT is zero before the first measurement.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rfc6298 {
    srtt: f64,
    rttvar: f64,
}

impl Rfc6298 {
    /// Record a round-trip time. Return the new timeout.
    pub fn on_sample(&mut self, rtt: Duration, granularity: Duration) -> Duration {
        let r = rtt.seconds();
        if self.srtt > 0.0 {
            self.rttvar = 0.75 * self.rttvar + 0.25 * (self.srtt - r).abs(); // equation (2.3), beta = 1/4
            self.srtt = 0.875 * self.srtt + 0.125 * r; // alpha = 1/8
        } else {
            (self.srtt, self.rttvar) = (r, r / 2.0); // equation (2.2)
        }
        Duration::from_seconds(self.srtt + granularity.seconds().max(4.0 * self.rttvar))
    }

    /// Return SRTT.
    pub fn srtt(&self) -> Duration {
        Duration::from_seconds(self.srtt)
    }

    /// Return SRTT and RTTVAR.
    pub fn smoothed(&self) -> (Duration, Duration) {
        (Duration::from_seconds(self.srtt), Duration::from_seconds(self.rttvar))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected timeouts were computed by hand from equations (2.2) and (2.3) of RFC 6298.
    #[test]
    fn the_estimator_follows_the_equations() {
        let g = Duration::from_millis(1);
        let mut e = Rfc6298::default();
        assert_eq!(e.on_sample(Duration::from_millis(100), g), Duration::from_millis(300));
        // rttvar = 37.5 + 25 = 62.5 ms, srtt = 87.5 + 25 = 112.5 ms
        assert_eq!(e.on_sample(Duration::from_millis(200), g), Duration(362_500_000_000));
        for _ in 0..200 {
            e.on_sample(Duration::from_millis(80), g);
        }
        assert!((e.on_sample(Duration::from_millis(80), g).seconds() - 0.081).abs() < 1e-6, "srtt + G");
    }
}
