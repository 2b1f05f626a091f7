//! Self-configuring RED, which changes maxp when the average crosses a threshold.
//!
//! Source: Feng, Kandlur, Saha & Shin 1999, "A self-configuring RED gateway"
//! (`feng1999selfconfiguring`), the algorithm of its figure "Adaptive RED algorithm". Each update
//! compares the range of the average queue length (below minth, between the thresholds or above
//! maxth) with the range at the previous update. The paper on self-configuring RED does not bound
//! maxp. In aqmlab maxp is limited to 1, because maxp is a probability.
//!
//! Neither the paper on self-configuring RED nor its authors' code was available. Every decision
//! agrees with ns-2's red.cc (`feng_adaptive_`), except that ns-2 does not limit maxp to 1.

use net::{Aqm, Arrival, Declared, Explanation, Packet, Verdict, Why};
use units::param::Invalid;
use units::{Bytes, Depth, Packets, Probability, Range, Time, params};

use crate::aqm::{AqmParams, FORMER_BACKLOG_KEY, QueueContext};
use crate::red::{ChanceBy, Red, RedAqm, check_thresholds};
use crate::spacing::{AboveMaxth, Spacing};

params! {
    /// Self-configuring RED adapts maxp when the average queue length crosses a threshold. When the
    /// average queue length falls below minth, RED has been too aggressive, and maxp is divided by
    /// alpha. When the average queue length rises above maxth, RED has not been aggressive enough,
    /// and maxp is multiplied by beta. Each crossing of a threshold changes maxp once.
    pub struct SelfConfiguringRed: "self_configuring_red", checked by check, renamed by FORMER_BACKLOG_KEY {
        /// Average queue length below which no packet is signalled (minth).
        minth: Depth = (Depth::Packets(5.0)), in Range::above(0.0), from "floyd1993red §6";
        /// Average queue length above which every packet is signalled (maxth).
        maxth: Depth = (Depth::Packets(15.0)), in Range::above(0.0), from "floyd1997parameters: maxth is three times minth";
        /// Initial maxp, the signal probability when the average queue length reaches maxth.
        maxp: Probability = (Probability(0.1)), in Range::above_to(0.0, 1.0), from "floyd1997parameters: 1/10";
        /// Number by which maxp is divided when the average queue length falls below minth.
        alpha: f64 = (3.0), in Range::above(1.0), from "feng1999selfconfiguring: 3";
        /// Number by which maxp is multiplied when the average queue length rises above maxth.
        beta: f64 = (2.0), in Range::above(1.0), from "feng1999selfconfiguring: 2";
        /// Weight of the current queue length in the moving average of the queue length (wq).
        wq: Probability = (Probability(0.002)), in Range::above_to(0.0, 1.0), from "floyd1993red §6: 0.002";
        /// If gentle is true, the signal probability rises linearly from maxp at maxth to 1 at
        /// twice maxth. If gentle is false, the signal probability jumps from maxp to 1 at maxth.
        gentle: bool = (false), in Range::ANY, from "feng1999selfconfiguring was published before gentle RED";
        /// Distribution of the number of packets between two signals.
        spacing: Spacing = (Spacing::Uniform), in Range::ANY, from "floyd1993red §7, method 2";
        /// Action on a packet while the average queue length is above maxth (above twice maxth if
        /// gentle).
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

fn check(red: &SelfConfiguringRed, path: &str) -> Result<(), Invalid> {
    check_thresholds(red.minth, red.maxth, path)
}

impl AqmParams for SelfConfiguringRed {
    type Aqm = SelfConfiguringRedAqm;
    const DECLARED: &'static [Declared] = crate::red::DECLARED;

    fn aqm(&self, context: QueueContext) -> SelfConfiguringRedAqm {
        let red = Red {
            minth: self.minth,
            maxth: self.maxth,
            maxp: self.maxp,
            wq: self.wq,
            gentle: self.gentle,
            spacing: self.spacing,
            above_maxth: self.above_maxth,
            chance_by: ChanceBy::Packet,
            reference_size: self.idle_packet_size,
            min_backlog: self.min_backlog,
            mark_below: Probability(1.0),
            idle_packet_size: self.idle_packet_size,
        };
        SelfConfiguringRedAqm {
            alpha: self.alpha,
            beta: self.beta,
            status: Status::Between,
            red: red.aqm(context),
        }
    }
}

/// Range of the average queue length, relative to the thresholds.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Status {
    Between,
    Below,
    Above,
}

/// State of self-configuring RED.
#[derive(Clone, Debug)]
pub struct SelfConfiguringRedAqm {
    alpha: f64,
    beta: f64,
    status: Status,
    red: RedAqm,
}

impl SelfConfiguringRedAqm {
    /// Adapt maxp after an update of the average.
    fn adapt(&mut self, average: f64) {
        let curve = &mut self.red.curve;
        if curve.minth < average && average < curve.maxth {
            self.status = Status::Between;
        } else if average < curve.minth && self.status != Status::Below {
            self.status = Status::Below;
            curve.maxp /= self.alpha;
        } else if average > curve.maxth && self.status != Status::Above {
            self.status = Status::Above;
            curve.maxp = (curve.maxp * self.beta).min(1.0);
        }
    }
}

impl Aqm for SelfConfiguringRedAqm {
    #[inline]
    fn on_arrival(&mut self, packet: &Packet, at: &Arrival) -> Verdict {
        let average = self.red.update_average(at);
        self.adapt(average);
        self.red.judge(packet, at)
    }

    fn on_overflow(&mut self, now: Time) {
        self.red.on_overflow(now);
    }

    fn average(&self) -> Option<Depth> {
        self.red.average()
    }

    fn explain(&self, why: Why, to: &mut Explanation) {
        self.red.explain(why, to);
    }
}
