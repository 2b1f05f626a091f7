//! Nonlinear RED: the probability rises with the square of the average's way between the thresholds.
//!
//! Source: Zhou, Yeung & Li 2006, "Nonlinear RED: a simple yet efficient active queue management
//! scheme" (`zhou2006nonlinear`), equation (2); everything else is RED's.
//!
//! Of the paper only the beginning was at hand (its abstract: a quadratic function, all else RED's).
//! Compared with ns-3's RED queue disc, which cites its section 3.1: the curve and the factor 1.5 agree.

use engine::Stream;
use net::{Aqm, Arrival, Packet, Verdict};
use units::param::Invalid;
use units::{Bytes, Depth, Packets, Probability, Range, Time, params};

use crate::average::Average;
use crate::law::{Configures, Place, measure};
use crate::red::{check_thresholds, is_spared};
use crate::spacing::{AboveMaxth, Chooser, Pressure, Spacing};

params! {
    /// RED with a quadratic curve: gentler than RED near minth, more aggressive near maxth, so that a
    /// light load is let use the buffer and the thresholds matter less.
    pub struct NonlinearRed: "nonlinear_red", checked by check {
        /// Average queue below which no packet is signalled (minth).
        minth: Depth = (Depth::Packets(5.0)), in Range::above(0.0), from "floyd1993red §6";
        /// Average queue above which every packet is signalled (maxth).
        maxth: Depth = (Depth::Packets(15.0)), in Range::above(0.0), from "floyd1997parameters: three times minth";
        /// Signal probability when the average reaches maxth: 1.5 times RED's maxp gives the same mean probability.
        maxp: Probability = (Probability(0.15)), in Range::above_to(0.0, 1.0), from "zhou2006nonlinear: 1.5 maxp, maxp 0.1";
        /// Weight of the present queue in the average (wq).
        wq: Probability = (Probability(0.002)), in Range::above_to(0.0, 1.0), from "floyd1993red §6: 0.002";
        /// How signals are spaced.
        spacing: Spacing = (Spacing::Uniform), in Range::ANY, from "floyd1993red §7, method 2";
        /// What happens to a packet above maxth.
        above_maxth: AboveMaxth = (AboveMaxth::Drop), in Range::ANY, from "rfc3168 §7";
        /// No packet is signalled while this many or fewer wait, whatever the average; 0: the average alone decides.
        least_backlog: Packets = (Packets(0.0)), in Range::at_least(0.0).whole(), from "floyd1993red has none; ns-2 has 1";
        /// Size of the packets that are pretended to have arrived while the queue was idle.
        idle_packet_size: Bytes = (Bytes(500)), in Range::between(1.0, 65535.0), from "floyd1993red §4; 500 B is ns-2's";
    }
}

fn check(red: &NonlinearRed, path: &str) -> Result<(), Invalid> {
    check_thresholds(red.minth, red.maxth, path)
}

impl Configures for NonlinearRed {
    type Law = NonlinearRedLaw;

    fn law(&self, place: Place) -> NonlinearRedLaw {
        NonlinearRedLaw {
            minth: self.minth,
            maxth: self.maxth.amount(),
            maxp: self.maxp.0,
            least_backlog: self.least_backlog.0 as u32,
            average: Average::new(self.wq.0, place.rate, self.idle_packet_size),
            chooser: Chooser::new(self.spacing, self.above_maxth),
            random: place.random,
        }
    }
}

/// The state of nonlinear RED.
#[derive(Clone, Debug)]
pub struct NonlinearRedLaw {
    minth: Depth,
    maxth: f64,
    maxp: f64,
    least_backlog: u32,
    average: Average,
    chooser: Chooser,
    random: Stream,
}

impl NonlinearRedLaw {
    /// Equation (2).
    fn pressure(&self, average: f64) -> Pressure {
        let minth = self.minth.amount();
        if average < minth {
            Pressure::None
        } else if average < self.maxth {
            let way = (average - minth) / (self.maxth - minth);
            Pressure::Early(self.maxp * way * way)
        } else {
            Pressure::Full
        }
    }
}

impl Aqm for NonlinearRedLaw {
    #[inline]
    fn on_arrival(&mut self, _: &Packet, at: &Arrival) -> Verdict {
        self.average.update(at.now, at.idle_since(), measure(at.backlog, self.minth));
        let spared = is_spared(at, self.least_backlog);
        let pressure = if spared { Pressure::None } else { self.pressure(self.average.value()) };
        self.chooser.judge(pressure, &mut self.random)
    }

    fn on_overflow(&mut self, _: Time) {
        self.chooser.restart();
    }

    fn average(&self) -> Option<Depth> {
        Some(self.minth.like(self.average.value()))
    }
}
