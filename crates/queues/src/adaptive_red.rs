//! Adaptive RED.
//!
//! Source: Floyd, Gummadi & Shenker 2001, "Adaptive RED: an algorithm for increasing the robustness of
//! RED's active queue management" (`floyd2001adaptive`): the algorithm of figure 1, and the automatic
//! setting of wq and the thresholds of sections 4.3 and 5. maxp is adapted at the end of each interval
//! with the average as the last arrival left it.
//!
//! The paper was not at hand. Figure 1 agrees as Linux's red.h has it. Compared with its first author's ns-2
//! code (red.cc): the target, the steps, their upper bound, the thresholds and wq agree. There maxp is
//! adapted by the first arrival that comes more than an interval after the last change; here at the end of
//! every interval. Since 2004 its lower bound is below 0.01 on fast links; here it is the paper's. It is
//! gentle with the initial maxp, here with the present one.

use net::{Aqm, Arrival, Packet, Verdict};
use units::param::Invalid;
use units::{Bytes, Depth, Duration, Packets, Probability, Range, Time, params};

use crate::law::{Configures, Place};
use crate::lazy::Ticks;
use crate::red::{Chance, Red, RedLaw, check_thresholds};
use crate::spacing::{AboveMaxth, Spacing};

params! {
    /// RED that sets itself: maxp is adapted, slowly and within 1 to 50 %, so that the average stays in
    /// the middle fifth between minth and maxth, whatever the load. Unless they are given, the
    /// thresholds follow from a target delay and the weight from the rate of the link. Gentle, as the
    /// paper asks.
    pub struct AdaptiveRed: "adaptive_red", checked by check {
        /// Queueing delay that the thresholds are set for: minth is half of it, 5 packets at least.
        target_delay: Duration = (Duration::from_millis(5)), in Range::above(0.0), from "floyd2001adaptive §5: minth = max(5, delay C / 2)";
        /// Average queue below which no packet is signalled; absent: by the target delay.
        minth: Option<Depth> = (None), in Range::above(0.0), from "floyd2001adaptive §5";
        /// Average queue where gentle begins; absent: three times minth.
        maxth: Option<Depth> = (None), in Range::above(0.0), from "floyd2001adaptive §5";
        /// Weight of the present queue in the average; absent: 1 - exp(-1/C), C the packets the link sends in a second.
        wq: Option<Probability> = (None), in Range::above_to(0.0, 1.0), from "floyd2001adaptive §4.3";
        /// Size of the packets that C counts.
        mean_packet_size: Bytes = (Bytes(500)), in Range::between(1.0, 65535.0), from "floyd2001adaptive §4.3: a default packet size; 500 B is ns-2's";
        /// maxp at the start.
        maxp: Probability = (Probability(0.1)), in Range::above_to(0.0, 0.5), from "floyd1997parameters: 1/10";
        /// Time between two changes of maxp.
        interval: Duration = (Duration::from_millis(500)), in Range::at_least(1e-6), from "floyd2001adaptive fig. 1: 0.5 s";
        /// Most that is added to maxp at once; a quarter of maxp, if that is less (alpha).
        increment: Probability = (Probability(0.01)), in Range::above_to(0.0, 1.0), from "floyd2001adaptive fig. 1: min(0.01, maxp/4)";
        /// What maxp is multiplied with when the average is too low (beta).
        decrease: Probability = (Probability(0.9)), in Range::above_to(0.0, 1.0), from "floyd2001adaptive fig. 1: 0.9";
        /// How signals are spaced.
        spacing: Spacing = (Spacing::Uniform), in Range::ANY, from "floyd1993red §7, method 2";
        /// What happens to a packet above twice maxth.
        above_maxth: AboveMaxth = (AboveMaxth::Drop), in Range::ANY, from "rfc3168 §7";
    }
}

impl AdaptiveRed {
    fn thresholds(&self, packets_per_second: f64) -> (Depth, Depth) {
        let automatic = (self.target_delay.seconds() * packets_per_second / 2.0).max(5.0);
        let minth = self.minth.unwrap_or(Depth::Packets(automatic));
        (minth, self.maxth.unwrap_or(minth.like(3.0 * minth.amount())))
    }
}

fn check(red: &AdaptiveRed, path: &str) -> Result<(), Invalid> {
    match (red.minth, red.maxth) {
        (Some(minth), Some(maxth)) => check_thresholds(minth, maxth, path),
        (None, Some(_)) => Err(Invalid::at(path, "has maxth without minth").remedy("give both, or neither")),
        _ => Ok(()),
    }
}

impl Configures for AdaptiveRed {
    type Law = AdaptiveRedLaw;

    fn law(&self, place: Place) -> AdaptiveRedLaw {
        let c = place.packets_per_second(self.mean_packet_size);
        let (minth, maxth) = self.thresholds(c);
        let red = Red {
            minth,
            maxth,
            maxp: self.maxp,
            wq: self.wq.unwrap_or(Probability(1.0 - libm::exp(-1.0 / c))),
            gentle: true,
            spacing: self.spacing,
            above_maxth: self.above_maxth,
            chance_by: Chance::Packet,
            reference_size: self.mean_packet_size,
            least_backlog: Packets(0.0),
            idle_packet_size: self.mean_packet_size,
        };
        let (low, width) = (minth.amount(), maxth.amount() - minth.amount());
        AdaptiveRedLaw {
            target: (low + 0.4 * width, low + 0.6 * width),
            increment: self.increment.0,
            decrease: self.decrease.0,
            ticks: Ticks::every(self.interval),
            red: red.law(place),
        }
    }
}

/// The state of Adaptive RED.
#[derive(Clone, Debug)]
pub struct AdaptiveRedLaw {
    /// Between which averages maxp stays as it is.
    target: (f64, f64),
    increment: f64,
    decrease: f64,
    ticks: Ticks,
    red: RedLaw,
}

impl AdaptiveRedLaw {
    /// Figure 1, every interval seconds: whether maxp changed.
    fn adapt(&mut self, average: f64) -> bool {
        let maxp = &mut self.red.curve.maxp;
        if average > self.target.1 && *maxp <= 0.5 {
            *maxp += self.increment.min(*maxp / 4.0);
        } else if average < self.target.0 && *maxp >= 0.01 {
            *maxp *= self.decrease;
        } else {
            return false;
        }
        true
    }
}

impl Aqm for AdaptiveRedLaw {
    #[inline]
    fn on_arrival(&mut self, packet: &Packet, at: &Arrival) -> Verdict {
        while self.ticks.due(at.now).is_some() {
            let average = self.red.average().unwrap_or_default();
            if !self.adapt(average) {
                // The average stays until a packet comes, and so does maxp.
                self.ticks.pass_over(at.now);
            }
        }
        self.red.on_arrival(packet, at)
    }

    fn on_overflow(&mut self, now: Time) {
        self.red.on_overflow(now);
    }

    fn average(&self) -> Option<f64> {
        self.red.average()
    }
}
