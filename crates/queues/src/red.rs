//! Random Early Detection.
//!
//! Source: Floyd & Jacobson 1993, "Random early detection gateways for congestion avoidance"
//! (`floyd1993red`): the algorithm of figure 2, with the idle-time decay of section 4 and the two
//! spacings of section 7. `gentle`: Floyd 2000 (`floyd2000gentle`). Marking instead of dropping
//! above maxth, as RFC 3168 §7 allows. Wait spacing and the least backlog are ns-2's.
//!
//! The average is kept in packets. Missing: byte mode.

use engine::Stream;
use net::{Aqm, Arrival, Packet, Verdict, Why};
use units::param::{Invalid, join};
use units::{Bytes, Packets, Probability, Range, Rate, Read, Time, params, words};

words! {
    /// How the signals of one drop probability are spaced.
    pub enum Spacing {
        /// Each packet is chosen with the same probability: gaps are geometric (method 1 of section 7).
        Geometric = "geometric",
        /// The probability grows with the packets since the last signal: gaps are uniform in 1..1/p (method 2 of section 7).
        Uniform = "uniform",
        /// As uniform, but no signal within 1/p packets of the last: gaps are uniform in 1/p..2/p (ns-2's `wait_`).
        Wait = "wait",
    }
}

words! {
    /// What happens to a packet while the average is above the upper threshold.
    pub enum AboveMaxth {
        /// It is dropped, ECN-capable or not.
        Drop = "drop",
        /// It is marked if ECN-capable, else dropped (RED* of Kuzmanovic 2005).
        Mark = "mark",
    }
}

params! {
    /// RED keeps an exponentially weighted average of the queue. Below minth every packet passes;
    /// between minth and maxth packets are signalled (marked if ECN-capable, else dropped) with a
    /// probability that rises linearly to maxp; above maxth every packet is.
    pub struct Red: "red", checked by check {
        /// Average queue below which no packet is signalled (minth).
        minth: Packets = (Packets(5.0)), in Range::above(0.0), from "floyd1993red §6: a useful least value is 5 packets";
        /// Average queue above which every packet is signalled (maxth).
        maxth: Packets = (Packets(15.0)), in Range::above(0.0), from "floyd1997parameters: three times minth";
        /// Signal probability when the average reaches maxth (maxp).
        maxp: Probability = (Probability(0.1)), in Range::above_to(0.0, 1.0), from "floyd1997parameters: 1/10";
        /// Weight of the present queue in the average (wq).
        wq: Probability = (Probability(0.002)), in Range::above_to(0.0, 1.0), from "floyd1993red §6: 0.002";
        /// Above maxth the probability rises from maxp to 1 at twice maxth, instead of jumping to 1.
        gentle: bool = (true), in Range::ANY, from "floyd2000gentle";
        /// How signals are spaced.
        spacing: Spacing = (Spacing::Uniform), in Range::ANY, from "floyd1993red §7, method 2";
        /// What happens to a packet above maxth (twice maxth when gentle).
        above_maxth: AboveMaxth = (AboveMaxth::Drop), in Range::ANY, from "rfc3168 §7";
        /// No packet is signalled while this many or fewer wait, whatever the average; 0: the average alone decides.
        least_backlog: Packets = (Packets(0.0)), in Range::at_least(0.0).whole(), from "floyd1993red has none; ns-2 has 1";
        /// Size of the packets that are pretended to have arrived while the queue was idle.
        idle_packet_size: Bytes = (Bytes(500)), in Range::between(1.0, 65535.0), from "floyd1993red §4, the time s of a small packet; 500 B is ns-2's";
    }
}

fn check(red: &Red, path: &str) -> Result<(), Invalid> {
    if red.minth >= red.maxth {
        return Err(Invalid::new(
            &join(path, "minth"),
            &red.minth.write(),
            format!("must be below maxth ({})", red.maxth),
        )
        .remedy("lower minth or raise maxth"));
    }
    Ok(())
}

/// The state of RED.
#[derive(Clone, Debug)]
pub struct RedLaw {
    params: Red,
    least_backlog: u32,
    /// Picoseconds that a pretended packet takes on this link (s of section 4).
    idle_packet_time: f64,
    /// Average queue in packets (avg).
    average: f64,
    /// Packets since the last signal while the average was above minth; -1 below (count).
    count: i64,
    random: Stream,
}

impl RedLaw {
    /// RED for a link of this rate; `random` decides which packets are signalled.
    pub fn new(params: &Red, rate: Rate, random: Stream) -> Self {
        let idle_packet_time = rate.transmission_time(params.idle_packet_size).0 as f64;
        let least_backlog = params.least_backlog.0 as u32;
        RedLaw { params: params.clone(), least_backlog, idle_packet_time, average: 0.0, count: -1, random }
    }

    /// Figure 2, "calculate the new average queue size".
    #[inline]
    fn update_average(&mut self, at: &Arrival) {
        let wq = self.params.wq.0;
        if let Some(q_time) = at.idle_since {
            // m = (time - q_time)/s;  avg = (1 - wq)^m avg
            let m = at.now.since(q_time).0 as f64 / self.idle_packet_time;
            self.average *= libm::pow(1.0 - wq, m);
        }
        self.average += wq * (f64::from(at.backlog.packets) - self.average);
    }

    /// The probability p_b at the present average; 1 or more means every packet.
    fn probability(&self) -> f64 {
        let p = &self.params;
        let (minth, maxth, maxp) = (p.minth.0, p.maxth.0, p.maxp.0);
        if self.average < maxth {
            maxp * (self.average - minth) / (maxth - minth)
        } else if p.gentle {
            maxp + (1.0 - maxp) * (self.average - maxth) / maxth
        } else {
            1.0
        }
    }

    /// The probability p_a of this packet, given how many went unsignalled before it (section 7).
    fn spaced(&self, pb: f64) -> f64 {
        let share = self.count as f64 * pb;
        match self.params.spacing {
            Spacing::Geometric => pb,
            Spacing::Uniform if share < 1.0 => pb / (1.0 - share),
            Spacing::Wait if share < 1.0 => 0.0,
            Spacing::Wait if share < 2.0 => pb / (2.0 - share),
            Spacing::Uniform | Spacing::Wait => 1.0,
        }
    }
}

impl Aqm for RedLaw {
    #[inline]
    fn on_arrival(&mut self, _: &Packet, at: &Arrival) -> Verdict {
        self.update_average(at);
        let spared = at.backlog.packets <= self.least_backlog && self.least_backlog > 0;
        if self.average < self.params.minth.0 || spared {
            self.count = -1;
            return Verdict::Pass;
        }
        let pb = self.probability();
        if pb >= 1.0 {
            self.count = 0;
            return match self.params.above_maxth {
                AboveMaxth::Drop => Verdict::Drop(Why::Threshold),
                AboveMaxth::Mark => Verdict::Signal(Why::Threshold),
            };
        }
        self.count += 1;
        if pb > 0.0 && self.random.uniform() < self.spaced(pb) {
            self.count = 0;
            return Verdict::Signal(Why::Early);
        }
        Verdict::Pass
    }

    fn on_overflow(&mut self, _: Time) {
        self.count = 0;
    }

    fn average(&self) -> Option<f64> {
        Some(self.average)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use net::Backlog;
    use serde_json::json;

    fn law(change: serde_json::Value) -> RedLaw {
        RedLaw::new(&Red::read(&change, "red").unwrap(), Rate(1_500_000), Stream::new(1, "red"))
    }

    /// Arrivals that meet `queue` waiting packets, one each 8 ms.
    fn arrive(law: &mut RedLaw, n: usize, queue: u32) -> Vec<Verdict> {
        (0..n)
            .map(|i| {
                let backlog = Backlog { packets: queue, bytes: 0 };
                let now = Time(i as u64 * 8_000_000_000);
                law.on_arrival(&Packet::default(), &Arrival { now, backlog, idle_since: None })
            })
            .collect()
    }

    /// Equation (1) of section 4: after n arrivals at a constant queue L, avg = L (1 - (1-wq)^n).
    #[test]
    fn the_average_follows_its_closed_form() {
        let mut l = law(json!({"minth": "50 packets", "maxth": "150 packets"}));
        arrive(&mut l, 1000, 10);
        let expected = 10.0 * (1.0 - 0.998_f64.powi(1000));
        assert!((l.average - expected).abs() < 1e-9, "{} {expected}", l.average);
    }

    /// Section 4: while idle the average decays as if m = idle/s small packets had arrived.
    #[test]
    fn idle_time_decays_the_average() {
        let mut l = law(json!({}));
        l.average = 4.0;
        let s = 500.0 * 8.0 / 1.5e6;
        let now = Time((300.0 * s * 1e12) as u64);
        let at = Arrival { now, backlog: Backlog::default(), idle_since: Some(Time::ZERO) };
        l.on_arrival(&Packet::default(), &at);
        let expected = 4.0 * 0.998_f64.powf(300.0) * 0.998;
        assert!((l.average - expected).abs() < 1e-6, "{} {expected}", l.average);
    }

    #[test]
    fn nothing_below_minth_and_everything_above_maxth() {
        let mut l = law(json!({"gentle": false}));
        l.average = 4.0;
        assert!(arrive(&mut l, 100, 4).iter().all(|v| *v == Verdict::Pass));
        l.average = 20.0;
        assert!(arrive(&mut l, 100, 20).iter().all(|v| *v == Verdict::Drop(Why::Threshold)));
        let mut l = law(json!({"gentle": false, "above_maxth": "mark"}));
        l.average = 20.0;
        assert!(arrive(&mut l, 100, 20).iter().all(|v| *v == Verdict::Signal(Why::Threshold)));
    }

    #[test]
    fn gentle_reaches_one_at_twice_maxth() {
        let mut l = law(json!({"maxp": 0.1}));
        for (average, p) in [(10.0, 0.05), (15.0, 0.1), (22.5, 0.55), (30.0, 1.0)] {
            l.average = average;
            assert!((l.probability() - p).abs() < 1e-12, "{average}");
        }
    }

    fn gaps(spacing: &str, n: usize) -> Vec<usize> {
        // The average stands at 10 of 5..15, so p_b = maxp/2 = 0.05.
        let mut l = law(json!({"maxp": 0.1, "wq": 1e-9, "spacing": spacing}));
        l.average = 10.0;
        let signals: Vec<usize> = arrive(&mut l, n, 10)
            .iter()
            .enumerate()
            .filter(|(_, v)| **v != Verdict::Pass)
            .map(|(i, _)| i)
            .collect();
        signals.windows(2).map(|w| w[1] - w[0]).collect()
    }

    fn mean(gaps: &[usize]) -> f64 {
        gaps.iter().sum::<usize>() as f64 / gaps.len() as f64
    }

    /// Section 7: the gap is geometric with mean 1/p, or uniform up to 1/p. Figure 2 counts the packet
    /// that is being judged, so a uniform gap is in 1..1/p-1 with mean 1/(2p), where the text of
    /// section 7 has 1..1/p; the figure is followed. With wait (ns-2) it is in 1/p..2/p-1.
    #[test]
    fn gaps_have_the_law_of_their_spacing() {
        let geometric = gaps("geometric", 400_000);
        assert!((mean(&geometric) - 20.0).abs() < 0.6, "{}", mean(&geometric));
        assert!(geometric.iter().any(|&g| g > 60));
        let uniform = gaps("uniform", 400_000);
        assert!((mean(&uniform) - 10.0).abs() < 0.2, "{}", mean(&uniform));
        assert!(uniform.iter().all(|g| (1..=19).contains(g)));
        let wait = gaps("wait", 400_000);
        assert!((mean(&wait) - 29.5).abs() < 0.4, "{}", mean(&wait));
        assert!(
            wait.iter().all(|g| (20..=39).contains(g)),
            "{:?} {:?}",
            wait.iter().min(),
            wait.iter().max()
        );
    }

    #[test]
    fn thresholds_in_the_wrong_order_are_refused() {
        let e = Red::read(&json!({"minth": "70 packets", "maxth": "60 packets"}), "queue")
            .unwrap_err()
            .to_string();
        assert!(e.contains("queue.minth: \"70 packets\" must be below maxth (60 packets)"), "{e}");
    }

    #[test]
    fn a_short_queue_is_spared_when_asked() {
        let mut l = law(json!({"least_backlog": "1 packet", "gentle": false}));
        l.average = 20.0;
        assert_eq!(arrive(&mut l, 1, 1), [Verdict::Pass]);
        assert_eq!(arrive(&mut l, 1, 2), [Verdict::Drop(Why::Threshold)]);
    }
}
