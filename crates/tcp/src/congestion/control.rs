//! What a congestion control says of itself, so that nothing else knows it by name.

use serde_json::json;
use units::Params;
use units::param::Json;

use super::CongestionControl;
use crate::config::Tcp;
use crate::ecn::words::Ecn;

/// The parameters of a congestion control, and what follows from its kind alone.
pub trait Control: Params {
    /// Its state in a connection.
    type State: CongestionControl;
    /// What marks are to it.
    const MARKS: Marks = Marks::AsLosses;
    /// What it presumes of loss recovery.
    const PRESUMED: Presumed = Presumed::Nothing;
    /// Whether it has the slow start of RFC 5681 or one that takes its place.
    const HAS_SLOW_START: bool = true;

    /// Its state before the first ACK; `tcp`: the other parameters of the endpoint.
    fn begin(&self, tcp: &Tcp) -> Self::State;

    /// What Linux changes of its defaults: the parameters that the preset `linux` lays under it.
    fn in_linux() -> Json {
        json!({})
    }
}

/// What marks are to a congestion control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marks {
    /// Nothing: it does not answer them.
    Unanswered,
    /// One a round trip is answered, much as a loss is (RFC 3168 §6.1.2).
    AsLosses,
    /// Their share is answered, as the echo of RFC 8257 tells it.
    ByShare,
    /// Their share is answered, as L4S demands: by Accurate ECN, with packets that say so (RFC 9331 §4.1, §4.2).
    L4s,
}

impl Marks {
    /// The ECN that is agreed on where this much is asked for. A sender that does not answer marks agrees on none: an
    /// ECN-capable one must (RFC 3168 §6.1.2).
    pub fn ecn(self, asked: Ecn) -> Ecn {
        match (self, asked) {
            (Marks::Unanswered, _) => Ecn::Off,
            (Marks::ByShare, Ecn::Off | Ecn::Passive | Ecn::Rfc3168 | Ecn::EcnPlusPlus) => Ecn::Dctcp,
            (Marks::L4s, Ecn::Off | Ecn::Passive) => Ecn::Accurate,
            _ => asked,
        }
    }
}

/// What a congestion control presumes of loss recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presumed {
    /// Nothing.
    Nothing,
    /// That losses are repaired by SACK.
    BySack,
    /// That they are found by time too, and probed for at the tail (RACK-TLP).
    BySackAndTime,
    /// That, and that the window comes down in proportion (PRR).
    InProportion,
}

impl Presumed {
    /// As parameters of the endpoint.
    pub fn parameters(self) -> Json {
        match self {
            Presumed::Nothing => json!({}),
            Presumed::BySack => json!({"sack": true, "recovery": "sack"}),
            Presumed::BySackAndTime => {
                json!({"sack": true, "recovery": "sack", "rack": true, "tail_loss_probe": true})
            }
            Presumed::InProportion => json!({
                "sack": true,
                "recovery": "sack",
                "rate_reduction": "prr",
                "rack": true,
                "tail_loss_probe": true,
            }),
        }
    }
}
