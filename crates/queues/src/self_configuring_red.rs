//! Self-configuring RED: maxp follows which threshold the average crosses.
//!
//! Source: Feng, Kandlur, Saha & Shin 1999, "A self-configuring RED gateway"
//! (`feng1999selfconfiguring`), the algorithm of its figure "Adaptive RED algorithm": every time the
//! average is updated, its place beside the thresholds is compared with its last. The paper bounds
//! maxp on neither side; here it stays at most 1, since it is a probability.
//!
//! The paper was not at hand, nor code by its authors. Compared with ns-2's red.cc (`feng_adaptive_`):
//! every decision agrees, but that the bound of 1 is not there.

use net::{Aqm, Arrival, Packet, Verdict};
use units::param::Invalid;
use units::{Bytes, Depth, Packets, Probability, Range, Time, params};

use crate::law::{Configures, Place};
use crate::red::{ChanceBy, Red, RedLaw, check_thresholds};
use crate::spacing::{AboveMaxth, Spacing};

params! {
    /// RED that sets maxp by its own success. When the average falls below minth RED has been too
    /// aggressive, and maxp is divided by alpha; when it rises above maxth RED has been too timid, and
    /// maxp is multiplied by beta. It is changed once a crossing.
    pub struct SelfConfiguringRed: "self_configuring_red", checked by check {
        /// Average queue below which no packet is signalled (minth).
        minth: Depth = (Depth::Packets(5.0)), in Range::above(0.0), from "floyd1993red §6";
        /// Average queue above which every packet is signalled (maxth).
        maxth: Depth = (Depth::Packets(15.0)), in Range::above(0.0), from "floyd1997parameters: three times minth";
        /// maxp at the start.
        maxp: Probability = (Probability(0.1)), in Range::above_to(0.0, 1.0), from "floyd1997parameters: 1/10";
        /// What maxp is divided by when the average falls below minth.
        alpha: f64 = (3.0), in Range::above(1.0), from "feng1999selfconfiguring: 3";
        /// What maxp is multiplied by when the average rises above maxth.
        beta: f64 = (2.0), in Range::above(1.0), from "feng1999selfconfiguring: 2";
        /// Weight of the present queue in the average (wq).
        wq: Probability = (Probability(0.002)), in Range::above_to(0.0, 1.0), from "floyd1993red §6: 0.002";
        /// Above maxth the probability rises from maxp to 1 at twice maxth, instead of jumping to 1.
        gentle: bool = (false), in Range::ANY, from "feng1999selfconfiguring is older than gentle RED";
        /// How signals are spaced.
        spacing: Spacing = (Spacing::Uniform), in Range::ANY, from "floyd1993red §7, method 2";
        /// What happens to a packet above maxth (twice maxth when gentle).
        above_maxth: AboveMaxth = (AboveMaxth::Drop), in Range::ANY, from "rfc3168 §7";
        /// No packet is signalled while this many or fewer wait, whatever the average; 0: the average alone decides.
        least_backlog: Packets = (Packets(0.0)), in Range::at_least(0.0).whole(), from "floyd1993red has none; ns-2 has 1";
        /// Size of the packets that are pretended to have arrived while the queue was idle.
        idle_packet_size: Bytes = (Bytes(500)), in Range::between(1.0, 65535.0), from "floyd1993red §4; 500 B is ns-2's";
    }
}

fn check(red: &SelfConfiguringRed, path: &str) -> Result<(), Invalid> {
    check_thresholds(red.minth, red.maxth, path)
}

impl Configures for SelfConfiguringRed {
    type Law = SelfConfiguringRedLaw;

    fn law(&self, place: Place) -> SelfConfiguringRedLaw {
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
            least_backlog: self.least_backlog,
            mark_below: Probability(1.0),
            idle_packet_size: self.idle_packet_size,
        };
        SelfConfiguringRedLaw {
            alpha: self.alpha,
            beta: self.beta,
            status: Status::Between,
            red: red.law(place),
        }
    }
}

/// Where the average stands.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Status {
    Between,
    Below,
    Above,
}

/// The state of self-configuring RED.
#[derive(Clone, Debug)]
pub struct SelfConfiguringRedLaw {
    alpha: f64,
    beta: f64,
    status: Status,
    red: RedLaw,
}

impl SelfConfiguringRedLaw {
    /// Every Q(ave) update.
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

impl Aqm for SelfConfiguringRedLaw {
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
}
