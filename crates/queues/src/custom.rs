//! AQM that the calling program supplies, in Rust or, through the Python package, in Python. The
//! queue discipline around a custom AQM limits, marks and drops packets as for every other AQM.

use std::fmt;

use net::{Aqm, Arrival, Explanation, Packet, Verdict, Why};
use units::param::{Invalid, Renamed, join};
use units::{Depth, Range, Time, params};

use crate::aqm::{AqmParams, QueueContext};

/// Former keys of a custom AQM.
const RENAMED: &[Renamed] = &[Renamed::key("law", "aqm")];

params! {
    /// AQM that the calling program supplies: an object of a class derived from aqmlab.CustomQueue.
    /// A scenario file alone cannot define an AQM that the calling program supplies.
    pub struct Custom: "custom", checked by check, renamed by RENAMED {
        /// Name under which the calling program supplies the AQM.
        aqm: String = required, in Range::ANY, from "";
    }
}

fn check(custom: &Custom, path: &str) -> Result<(), Invalid> {
    if custom.aqm.is_empty() {
        return Err(Invalid::at(&join(path, "aqm"), "is empty")
            .remedy("write the name under which the program supplies the AQM"));
    }
    Ok(())
}

/// AQM that the calling program supplied.
pub struct CustomAqm(pub Box<dyn Aqm + Send>);

impl fmt::Debug for CustomAqm {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("CustomAqm")
    }
}

impl AqmParams for Custom {
    type Aqm = CustomAqm;

    fn aqm(&self, context: QueueContext) -> CustomAqm {
        CustomAqm(context.custom.aqm(&self.aqm, context.name, context.clone()))
    }
}

impl Aqm for CustomAqm {
    fn on_arrival(&mut self, packet: &Packet, at: &Arrival) -> Verdict {
        self.0.on_arrival(packet, at)
    }

    fn on_admitted(&mut self, packet: &Packet, at: &Arrival) {
        self.0.on_admitted(packet, at);
    }

    fn on_overflow(&mut self, now: Time) {
        self.0.on_overflow(now);
    }

    fn on_departure(&mut self, now: Time) {
        self.0.on_departure(now);
    }

    fn average(&self) -> Option<Depth> {
        self.0.average()
    }

    fn explain(&self, why: Why, to: &mut Explanation) {
        self.0.explain(why, to);
    }
}
