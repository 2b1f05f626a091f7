//! Step marking: the queue signals every packet that arrives while the queue length is above a
//! threshold.
//!
//! Source: RFC 8257 §3.1 and Alizadeh and others 2010 (`alizadeh2010dctcp`) §3.1: "an arriving
//! packet is marked with the CE codepoint if the queue occupancy is greater than K upon its
//! arrival". Kuzmanovic 2005 (`kuzmanovic2005ecnplus`) compares the same threshold marking with
//! RED, REM and PI.

use net::{Aqm, Arrival, Declared, Explanation, Packet, Variables as _, Verdict, Why, rules, variables};
use units::{Depth, Range, params};

use crate::aqm::{AqmParams, QueueContext, measure};

params! {
    /// Step marking is the marking rule for switches in DCTCP. A packet is signalled if the queue
    /// length is above the threshold when the packet arrives. A signalled packet is marked if it is
    /// ECN-capable, and dropped otherwise. Step marking uses neither an average queue length nor
    /// random numbers.
    pub struct Threshold: "threshold" {
        /// Queue length above which an arriving packet is signalled (K).
        threshold: Depth = (Depth::Packets(20.0)), in Range::at_least(0.0), from "alizadeh2010dctcp §4 has 20 packets at 1 Gbit/s and 65 packets at 10 Gbit/s";
    }
}

impl AqmParams for Threshold {
    type Aqm = ThresholdAqm;
    const DECLARED: &'static [Declared] = &[Declared { rules: RULES, variables: ThresholdVariables::LIST }];

    fn aqm(&self, _: QueueContext) -> ThresholdAqm {
        ThresholdAqm { threshold: self.threshold }
    }
}

rules! {
    /// The queue length is above the threshold K.
    ABOVE = "above-threshold", from "rfc8257 §3.1";
}

variables! {
    /// Variables of step marking.
    pub struct ThresholdVariables {
        /// Threshold (K), in packets or bytes.
        threshold in "packets or bytes", from "rfc8257 §3.1";
    }
}

/// AQM of step marking, which has no state.
#[derive(Clone, Debug)]
pub struct ThresholdAqm {
    threshold: Depth,
}

impl Aqm for ThresholdAqm {
    #[inline]
    fn on_arrival(&mut self, _: &Packet, at: &Arrival) -> Verdict {
        if measure(at.backlog, self.threshold) > self.threshold.amount() {
            Verdict::Signal(Why::Threshold)
        } else {
            Verdict::Pass
        }
    }

    fn explain(&self, why: Why, to: &mut Explanation) {
        if why == Why::Threshold {
            to.by(&ABOVE);
        }
        to.with(ThresholdVariables { threshold: self.threshold.amount() });
    }
}
