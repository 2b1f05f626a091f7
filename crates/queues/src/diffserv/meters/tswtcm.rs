//! Meter of the time sliding window three colour marker (TSWTCM).
//!
//! Source: RFC 2859 (`rfc2859`): the rate estimator of figure 2, which is the estimator of Clark &
//! Fang 1998 (`clark1998rio`), and the marking algorithm of figure 3.

use engine::Stream;
use net::Packet;
use units::param::{Invalid, join};
use units::{Duration, Range, Rate, Read, Time, params};

use crate::diffserv::colour::Colour;

params! {
    /// TSWTCM, the time sliding window three colour marker, estimates the rate of a stream over a
    /// time window and colours packets at random. The part of the traffic between the committed
    /// rate and the peak rate is yellow, and the part above the peak rate is red. TSWTCM thus
    /// spreads the red and yellow packets over the stream, so that a TCP connection rarely loses
    /// several packets in one window.
    pub struct Tswtcm: "tswtcm", checked by check {
        /// Committed target rate (CTR).
        ctr: Rate = required, in Range::ANY, from "rfc2859 §5.2";
        /// Peak target rate (PTR), at least ctr. If ptr and ctr are equal, no packet is yellow.
        ptr: Rate = required, in Range::ANY, from "rfc2859 §5.2";
        /// Time window over which the rate is estimated (AVG_INTERVAL). For a stream of one
        /// connection, use the round-trip time of the connection. For a stream of several
        /// connections, use a value above the maximum round-trip time of the connections.
        avg_interval: Duration = (Duration::from_millis(1000)), in Range::above(0.0), from "rfc2859 §5.1 has 1 s for several connections";
    }
}

/// Refuse a peak rate below the committed rate. RFC 2859 §5.2: "The PTR MUST be equal to or greater
/// than the CTR".
fn check(meter: &Tswtcm, path: &str) -> Result<(), Invalid> {
    if meter.ptr.0 < meter.ctr.0 {
        let problem = format!("must be at least ctr, {} (rfc2859 §5.2)", meter.ctr);
        return Err(
            Invalid::new(&join(path, "ptr"), &meter.ptr.write(), problem).remedy("raise ptr or lower ctr")
        );
    }
    Ok(())
}

impl Tswtcm {
    /// Create the state of the meter at time 0.
    pub fn build(&self, random: Stream) -> TswtcmState {
        let [ctr, ptr] = [self.ctr, self.ptr].map(|rate| rate.0 as f64 / 8.0);
        let avg_interval = self.avg_interval.seconds();
        TswtcmState { ctr, ptr, avg_interval, avg_rate: ctr, t_front: Time::ZERO, random }
    }
}

/// State of TSWTCM. Rates are in bytes per second.
#[derive(Clone, Debug)]
pub struct TswtcmState {
    ctr: f64,
    ptr: f64,
    avg_interval: f64,
    avg_rate: f64,
    /// Time of the last arrival.
    t_front: Time,
    random: Stream,
}

impl TswtcmState {
    /// Update the estimate of the stream's rate (figure 2).
    fn estimate(&mut self, now: Time, size: u16) {
        let bytes_in_win = self.avg_rate * self.avg_interval;
        let new_bytes = bytes_in_win + f64::from(size);
        self.avg_rate = new_bytes / (now.since(self.t_front).seconds() + self.avg_interval);
        self.t_front = now;
    }

    /// Return the colour of an arriving packet (figure 3). If several colours are possible, one
    /// random number between 0 and 1 selects the colour. The packet is red if the number is below
    /// P1, and yellow if the number is from P1 up to P1 + P2. If the average rate is above CTR and
    /// at most PTR, the packet is yellow if the random number is below P0, and green otherwise.
    pub fn colour(&mut self, now: Time, packet: &Packet) -> Colour {
        self.estimate(now, packet.size);
        let TswtcmState { ctr, ptr, avg_rate, .. } = *self;
        if avg_rate <= ctr {
            return Colour::Green;
        }
        let drawn = self.random.uniform();
        if avg_rate <= ptr {
            let p0 = (avg_rate - ctr) / avg_rate;
            return if drawn < p0 { Colour::Yellow } else { Colour::Green };
        }
        let p1 = (avg_rate - ptr) / avg_rate;
        let p2 = (ptr - ctr) / avg_rate;
        if drawn < p1 {
            Colour::Red
        } else if drawn < p1 + p2 {
            Colour::Yellow
        } else {
            Colour::Green
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::colours;
    use super::*;
    use serde_json::json;

    /// For a steady stream above both rates, the shares of the colours agree with figure 3 within 4
    /// standard deviations.
    #[test]
    fn shares_of_colours_follow_from_the_rates() {
        // A stream of 1000 B per ms has 8 Mbit/s, so 2/8 of the packets are red, 2/8 are yellow and
        // 4/8 are green.
        let meter = json!({"kind": "tswtcm", "ctr": "4 Mbit/s", "ptr": "6 Mbit/s", "avg_interval": "100 ms"});
        let packets: Vec<_> = (0..41_000).map(|ms| (ms, 1000, 0)).collect();
        let all = &colours(meter, &packets)[1000..]; // the estimate has converged to the rate
        for (letter, share) in [("G", 0.5), ("Y", 0.25), ("R", 0.25)] {
            let n = all.matches(letter).count() as f64;
            let sd = (40_000.0 * share * (1.0_f64 - share)).sqrt();
            assert!((n - 40_000.0 * share).abs() < 4.0 * sd, "{letter}: {n}");
        }
    }

    #[test]
    fn packets_below_the_committed_rate_are_green_and_equal_rates_exclude_yellow() {
        let slow: Vec<_> = (0..1000).map(|i| (2 * i, 1000, 0)).collect();
        let meter = |ctr: &str, ptr: &str| json!({"kind": "tswtcm", "ctr": ctr, "ptr": ptr});
        assert_eq!(colours(meter("4.1 Mbit/s", "6 Mbit/s"), &slow), "G".repeat(1000));
        let one_rate = colours(meter("1 Mbit/s", "1 Mbit/s"), &slow);
        assert!(one_rate.contains('R') && one_rate.contains('G') && !one_rate.contains('Y'));
    }

    /// The expected rates were computed by hand from figure 2, with an initial estimate of 1000 B/s
    /// over 1 s. A packet of 500 B that arrives 0.5 s later changes the estimate to 1500 B in 1.5
    /// s.
    #[test]
    fn the_rate_estimate_follows_figure_2() {
        let meter = Tswtcm::read(&json!({"ctr": "8 kbit/s", "ptr": "8 kbit/s"}), "m").unwrap();
        let mut state = meter.build(Stream::new(1, "m"));
        let mut after = |ms: u64, size| {
            state.estimate(Time(ms * 1_000_000_000), size);
            state.avg_rate
        };
        assert_eq!([after(500, 500), after(500, 500), after(2500, 0)], [1000.0, 1500.0, 500.0]);
    }
}
