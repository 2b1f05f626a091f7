//! A law that is not of this crate: the program that runs a scenario gives it, in Rust or, through the
//! Python package, in Python. The shell around it limits, marks and drops as for every law.

use std::fmt;

use net::{Aqm, Arrival, Packet, Verdict};
use units::param::{Invalid, join};
use units::{Depth, Range, Time, params};

params! {
    /// A law that the program gives which runs the scenario: an object of a class derived from
    /// aqmlab.CustomQueue. A file alone cannot say what it does.
    pub struct Custom: "custom", checked by check {
        /// Name under which the program gives it.
        law: String = required, in Range::ANY, from "";
    }
}

fn check(custom: &Custom, path: &str) -> Result<(), Invalid> {
    if custom.law.is_empty() {
        return Err(Invalid::at(&join(path, "law"), "is empty").remedy("name the law"));
    }
    Ok(())
}

/// A law that was given.
pub struct CustomLaw(pub Box<dyn Aqm + Send>);

impl fmt::Debug for CustomLaw {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("CustomLaw")
    }
}

impl Aqm for CustomLaw {
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
}
