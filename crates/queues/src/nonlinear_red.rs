//! Nonlinear RED: a RED whose signal probability is proportional to the square of the difference
//! between the average queue length and minth.
//!
//! Source: Zhou, Yeung & Li 2006, "Nonlinear RED: a simple yet efficient active queue management
//! scheme" (`zhou2006nonlinear`), equation (2). All other parts of the algorithm are those of RED.
//!
//! Only the beginning of the paper on Nonlinear RED was available. The abstract of the paper states
//! that the signal probability is a quadratic function, and that all other parts of the algorithm
//! are those of RED. The quadratic curve and the factor 1.5 agree with ns-3's RED queue disc, which
//! cites section 3.1 of the paper.

use engine::Stream;
use net::{Aqm, Arrival, Declared, Explanation, Packet, Verdict, Why};
use units::param::Invalid;
use units::{Bytes, Depth, Packets, Probability, Range, Time, params};

use crate::aqm::{AqmParams, FORMER_BACKLOG_KEY, QueueContext, measure};
use crate::average::Average;
use crate::red::{check_thresholds, is_spared};
use crate::spacing::{AboveMaxth, Chooser, Pressure, Spacing};

params! {
    /// RED with a quadratic signal probability. Nonlinear RED signals less often than RED near
    /// minth and more often near maxth. Therefore the queue can grow more under light load, and the
    /// values of the thresholds matter less.
    pub struct NonlinearRed: "nonlinear_red", checked by check, renamed by FORMER_BACKLOG_KEY {
        /// Average queue length below which no packet is signalled (minth).
        minth: Depth = (Depth::Packets(5.0)), in Range::above(0.0), from "floyd1993red §6";
        /// Average queue length above which every packet is signalled (maxth).
        maxth: Depth = (Depth::Packets(15.0)), in Range::above(0.0), from "floyd1997parameters: maxth is three times minth";
        /// Signal probability when the average queue length reaches maxth (maxp). If maxp is 1.5
        /// times the maxp of RED, the mean signal probability between the thresholds equals that of
        /// RED.
        maxp: Probability = (Probability(0.15)), in Range::above_to(0.0, 1.0), from "zhou2006nonlinear: 1.5 maxp, maxp 0.1";
        /// Weight of the current queue length in the moving average of the queue length (wq).
        wq: Probability = (Probability(0.002)), in Range::above_to(0.0, 1.0), from "floyd1993red §6: 0.002";
        /// Distribution of the number of packets between two signals.
        spacing: Spacing = (Spacing::Uniform), in Range::ANY, from "floyd1993red §7, method 2";
        /// Action on a packet while the average queue length is above maxth.
        above_maxth: AboveMaxth = (AboveMaxth::Drop), in Range::ANY, from "rfc3168 §7";
        /// Maximum number of waiting packets at which every arriving packet passes, for any average
        /// queue length. If min_backlog is 0 packets, the average queue length alone decides on a
        /// signal.
        min_backlog: Packets = (Packets(0.0)), in Range::at_least(0.0).whole(), from "floyd1993red has no minimum backlog; ns-2 has 1 packet";
        /// Packet size that converts idle time into a number of virtual packets, each of which lets
        /// the average queue length decay.
        idle_packet_size: Bytes = (Bytes(500)), in Range::between(1.0, 65535.0), from "floyd1993red §4; ns-2 uses 500 B";
    }
}

fn check(red: &NonlinearRed, path: &str) -> Result<(), Invalid> {
    check_thresholds(red.minth, red.maxth, path)
}

impl AqmParams for NonlinearRed {
    type Aqm = NonlinearRedAqm;
    const DECLARED: &'static [Declared] = &[crate::average::DECLARED, crate::spacing::DECLARED];

    fn aqm(&self, context: QueueContext) -> NonlinearRedAqm {
        NonlinearRedAqm {
            minth: self.minth,
            maxth: self.maxth.amount(),
            maxp: self.maxp.0,
            min_backlog: self.min_backlog.0 as u32,
            average: Average::new(self.wq.0, context.rate, self.idle_packet_size),
            chooser: Chooser::new(self.spacing, self.above_maxth),
            random: context.random,
        }
    }
}

/// State of nonlinear RED.
#[derive(Clone, Debug)]
pub struct NonlinearRedAqm {
    minth: Depth,
    maxth: f64,
    maxp: f64,
    min_backlog: u32,
    average: Average,
    chooser: Chooser,
    random: Stream,
}

impl NonlinearRedAqm {
    /// Return the signal probability for an average queue length (equation (2)).
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

impl Aqm for NonlinearRedAqm {
    #[inline]
    fn on_arrival(&mut self, _: &Packet, at: &Arrival) -> Verdict {
        self.average.update(at.now, at.idle_since(), measure(at.backlog, self.minth));
        let spared = is_spared(at, self.min_backlog);
        let pressure = if spared { Pressure::None } else { self.pressure(self.average.value()) };
        self.chooser.judge(pressure, &mut self.random)
    }

    fn on_overflow(&mut self, _: Time) {
        self.chooser.restart();
    }

    fn average(&self) -> Option<Depth> {
        Some(self.minth.like(self.average.value()))
    }

    fn explain(&self, why: Why, to: &mut Explanation) {
        self.average.explain(to);
        self.chooser.explain(why, to);
    }
}
