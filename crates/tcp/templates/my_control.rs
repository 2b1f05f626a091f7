//! AIMD: a template for a congestion control.
//!
//! docs/how-to/add-a-congestion-control.md lists the lines that register a control. Source: name
//! the paper or RFC here, with its key in references.bib, and cite the section or equation at each
//! line that follows it. (The equations of this control are an example without a source.)

// `control.rs` defines the interface: the ACK, the congestion events, and the trait with all
// methods of a controller. Functions that the controls share are in `control.rs` (`decreased`) and
// `growth.rs` (slow start, and growth by a number of segments per round trip).
use net::{Rule, rules};
use units::{Range, Time, params};

use crate::congestion::control::{Ack, Congestion, CongestionControl, Control, decreased};
use crate::congestion::growth::{Avoidance, Growth};
use crate::congestion::slow_start::SlowStart;
use crate::window::{Window, Windows};

// The macro `params!` is the only definition of the parameters. The struct, its parser with the
// errors, the JSON Schema, the manual page (whose text is in these comments) and the Python object
// are generated from this macro. Each parameter has a type with a unit, a default (or `required`),
// a range, and the source of the default. "my_control" is the kind of the control in a scenario.
params! {
    /// AIMD. cwnd grows by a fixed number of segments per round trip, and congestion multiplies the
    /// window by a fixed factor.
    pub struct MyControl: "my_control" {
        /// Growth of cwnd, in segments per round trip.
        increase: f64 = (2.0), in Range::between(0.01, 100.0), from "example";
        /// Factor by which congestion multiplies the window.
        beta: f64 = (0.75), in Range::between(0.1, 0.95), from "example";
        /// Slow start.
        slow_start: SlowStart = (SlowStart::standard()), in Range::ANY, from "rfc5681 §3.1";
    }
}

// The series `why_cwnd` explains each change of cwnd and ssthresh by a rule. The macro `rules!`
// declares the rules of this control once, and the reference is generated from it. The rules of slow
// start and of standard TCP are in `growth.rs` and `sender/changes.rs`.
rules! {
    /// cwnd grows by `increase` segments per round trip.
    INCREASE = "my-increase", from "example";
    /// A loss or a mark multiplies the window by beta.
    DECREASE = "my-decrease", from "example";
}

// The following block declares the properties of the kind. The trait `Control` (`control.rs`) has
// more properties: the response to marks (`MARKS`), the loss recovery that the control requires
// (`IMPLIED_RECOVERY`), the presence of a slow start (`HAS_SLOW_START`), and the defaults of the
// control in the stack `linux` (`linux_defaults`).
impl Control for MyControl {
    type State = MyControlState;
    const RULES: &'static [Rule] = RULES;

    fn new_state(&self, _: &Window) -> MyControlState {
        MyControlState {
            increase: self.increase,
            beta: self.beta,
            growth: Growth::new(&self.slow_start, Avoidance::PerByte),
        }
    }
}

/// State of the control in a connection.
#[derive(Clone, Debug)]
pub struct MyControlState {
    increase: f64,
    beta: f64,
    growth: Growth,
}

// A congestion control only computes values of cwnd, ssthresh and the pacing rate. All windows are
// in bytes. The sender (`sender/cwnd.rs`) owns cwnd and ssthresh, applies their minimums, and calls
// these methods for ACKs, losses and marks. `pacing_rate`, `undo`, `on_restart` and other methods
// of the trait have defaults that a control can replace.
impl CongestionControl for MyControlState {
    fn observe(&mut self, w: &Window, ack: &Ack) {
        self.growth.observe(w, ack, false);
    }

    fn cwnd_on_ack(&mut self, w: &Window, ack: &Ack) -> f64 {
        // RFC 7661 §1
        if ack.cwnd_limited { self.growth.cwnd_on_ack(w, ack, self.increase) } else { w.cwnd }
    }

    fn ssthresh_on_congestion(&mut self, w: &Window, congestion: Congestion, _now: Time) -> f64 {
        self.growth.on_congestion(congestion);
        decreased(w, self.beta, congestion)
    }

    fn ssthresh_on_ack(&mut self, _: &Window) -> Option<f64> {
        self.growth.take_slow_start_exit()
    }

    fn rule_of_ack(&self, w: &Window, after: Windows) -> &'static Rule {
        self.growth.rule(w, after, Some(&INCREASE))
    }

    fn rule_of_congestion(&self, congestion: Congestion) -> Option<&'static Rule> {
        (!matches!(congestion, Congestion::Timeout { .. })).then_some(&DECREASE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::harness::{MSS, Path, Sim, ack, window};
    use serde_json::json;
    use units::Read;

    /// Return the state of a control with some parameters changed.
    fn control(change: serde_json::Value) -> MyControlState {
        MyControl::read(&change, "congestion").unwrap().new_state(&window(10.0, 50.0, 0.0))
    }

    #[test]
    fn cwnd_grows_by_the_increase_per_round_trip() {
        let mut c = control(json!({"increase": 3}));
        let mut w = window(100.0, 50.0, 100.0);
        for _ in 0..100 {
            w.cwnd = c.cwnd_on_ack(&w, &ack(1.0));
        }
        assert!((w.cwnd / MSS - 103.0).abs() < 0.1, "{}", w.cwnd);
    }

    #[test]
    fn congestion_multiplies_the_flight_size_by_beta() {
        let mut c = control(json!({}));
        let w = window(100.0, 50.0, 100.0);
        assert_eq!(c.ssthresh_on_congestion(&w, Congestion::FastRetransmit, Time::ZERO), 75.0 * MSS);
        let repeated = Congestion::Timeout { repeated: true };
        let ssthresh = c.ssthresh_on_congestion(&w, repeated, Time::ZERO);
        assert_eq!(ssthresh, 50.0 * MSS, "a repeated timeout leaves ssthresh unchanged");
    }

    /// After a loss, a single connection on a bottleneck has lost a quarter of its window, and
    /// regains this quarter by two segments per round trip.
    #[test]
    fn cwnd_recovers_from_a_loss_in_ten_round_trips() {
        let mut sim = Sim::new(control(json!({})), Path::new(10_000_000_000, 100), 80.0, 80.0);
        sim.drop_number = Some(0);
        let (mut loss_time, mut recovery_time) = (None, None);
        sim.run(4.0, |sim| {
            if loss_time.is_none() && !sim.events.is_empty() {
                loss_time = Some(sim.now.seconds());
            } else if loss_time.is_some() && recovery_time.is_none() && sim.segments() >= 80.0 {
                recovery_time = Some(sim.now.seconds());
            }
        });
        let rounds = (recovery_time.unwrap() - loss_time.unwrap()) / 0.1;
        assert!((10.0..13.0).contains(&rounds), "{rounds}");
    }
}
