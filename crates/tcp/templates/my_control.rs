//! AIMD: a template for a congestion control of your own. docs/how-to/add-a-congestion-control.md says where each line goes.
//!
//! Source: name the paper or RFC here, with its key in references.bib, and the section or equation
//! beside each line that follows it. (This control is made up.)

// What a control sees and says is in `control.rs`: the ACK, the congestion, and the trait with all that it may answer. What controls
// share is there too (`decreased`) and in `growth.rs` (slow start, and an increase of so many segments a window).
use units::{Range, Time, params};

use crate::congestion::control::{Ack, Congestion, CongestionControl, Control, decreased};
use crate::congestion::growth::{Avoidance, Growth};
use crate::congestion::slow_start::SlowStart;
use crate::window::Window;

// The one definition of the parameters: the struct, the reader with its errors, the JSON Schema, the
// manual page (the comments are its text) and the Python object are made from it. Each has a type with
// a unit, a default (or `required`), a range, and where the default is from. "my_control" is the kind.
params! {
    /// Adds so many segments a round trip, and keeps a share of the window when there is congestion.
    pub struct MyControl: "my_control" {
        /// Segments added a round trip.
        increase: f64 = (2.0), in Range::between(0.01, 100.0), from "made up";
        /// Share of the window that congestion leaves.
        kept: f64 = (0.75), in Range::between(0.1, 0.95), from "made up";
        /// Slow start.
        slow_start: SlowStart = (SlowStart::standard()), in Range::ANY, from "rfc5681 §3.1";
    }
}

// What follows from the kind alone. Beside this the trait (`control.rs`) has what marks are to it (`MARKS`: a share, as to DCTCP, L4S, or
// nothing), what it presumes of loss recovery (`IMPLIED_RECOVERY`), whether it has a slow start, and what Linux changes of its defaults.
impl Control for MyControl {
    type State = MyControlState;

    fn new_state(&self, _: &Window) -> MyControlState {
        MyControlState {
            increase: self.increase,
            kept: self.kept,
            growth: Growth::new(&self.slow_start, Avoidance::PerByte),
        }
    }
}

/// The state of a connection under the control.
#[derive(Clone, Debug)]
pub struct MyControlState {
    increase: f64,
    kept: f64,
    growth: Growth,
}

// The control only computes; numbers are bytes. The sender (`sender/cwnd.rs`) owns cwnd and ssthresh, keeps them above their least, and
// asks when loss recovery or a mark says so. `pacing_rate`, `undo`, `on_restart` and others may be added; see the trait.
impl CongestionControl for MyControlState {
    fn observe(&mut self, w: &Window, ack: &Ack) {
        self.growth.observe(w, ack, false);
    }

    fn cwnd_on_ack(&mut self, w: &Window, ack: &Ack) -> f64 {
        if ack.cwnd_limited { self.growth.cwnd_on_ack(w, ack, self.increase) } else { w.cwnd } // RFC 7661 §1
    }

    fn ssthresh_on_congestion(&mut self, w: &Window, congestion: Congestion, _now: Time) -> f64 {
        self.growth.on_congestion(congestion);
        decreased(w, self.kept, congestion)
    }

    fn ssthresh_on_ack(&mut self, _: &Window) -> Option<f64> {
        self.growth.take_slow_start_exit()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::harness::{MSS, Path, Sim, ack, window};
    use serde_json::json;
    use units::Read;

    fn control(change: serde_json::Value) -> MyControlState {
        MyControl::read(&change, "congestion").unwrap().new_state(&window(10.0, 50.0, 0.0))
    }

    #[test]
    fn it_adds_so_many_segments_a_round_trip() {
        let mut c = control(json!({"increase": 3}));
        let mut w = window(100.0, 50.0, 100.0);
        for _ in 0..100 {
            w.cwnd = c.cwnd_on_ack(&w, &ack(1.0));
        }
        assert!((w.cwnd / MSS - 103.0).abs() < 0.1, "{}", w.cwnd);
    }

    #[test]
    fn congestion_leaves_its_share() {
        let mut c = control(json!({}));
        let w = window(100.0, 50.0, 100.0);
        assert_eq!(c.ssthresh_on_congestion(&w, Congestion::FastRetransmit, Time::ZERO), 75.0 * MSS);
        let again = Congestion::Timeout { repeated: true };
        assert_eq!(c.ssthresh_on_congestion(&w, again, Time::ZERO), 50.0 * MSS, "a second timeout keeps it");
    }

    /// A whole connection, alone over one bottleneck: from a loss to where it was takes a quarter of the window, by two segments a
    /// round trip.
    #[test]
    fn the_window_comes_back() {
        let mut sim = Sim::new(control(json!({})), Path::new(10_000_000_000, 100), 80.0, 80.0);
        sim.drop_number = Some(0);
        let (mut lost, mut back) = (None, None);
        sim.run(4.0, |sim| {
            if lost.is_none() && !sim.events.is_empty() {
                lost = Some(sim.now.seconds());
            } else if lost.is_some() && back.is_none() && sim.segments() >= 80.0 {
                back = Some(sim.now.seconds());
            }
        });
        let rounds = (back.unwrap() - lost.unwrap()) / 0.1;
        assert!((10.0..13.0).contains(&rounds), "{rounds}");
    }
}
