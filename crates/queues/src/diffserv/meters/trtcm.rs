//! Meter of the two rate three colour marker (trTCM).
//!
//! Source: RFC 2698 §2 and §3 (`rfc2698`), which the meter follows exactly. Each of the two token
//! buckets, P and C, has its own token rate.

use net::Packet;
use units::param::{Invalid, join};
use units::{Bytes, Range, Rate, Read, Time, params};

use crate::diffserv::colour::{Colour, Mode, Precolours, high, medium};
use crate::diffserv::dscp::Dscp;
use crate::diffserv::tokens::Tokens;

params! {
    /// trTCM, the two rate three colour marker, meters a stream by two rates. Each rate has its own
    /// burst size. A packet is red if it exceeds the peak rate, yellow if it exceeds only the
    /// committed rate, and green otherwise.
    ///
    /// Packet sizes are those of IP packets. The buckets of the committed burst and of the peak
    /// burst are full at the start.
    pub struct Trtcm: "trtcm", checked by check {
        /// Peak information rate (PIR), at least cir.
        pir: Rate = required, in Range::ANY, from "rfc2698 §2";
        /// Peak burst size (PBS).
        pbs: Bytes = required, in Range::above(0.0), from "rfc2698 §2: should be at least the size of the largest packet";
        /// Committed information rate (CIR).
        cir: Rate = required, in Range::ANY, from "rfc2698 §2";
        /// Committed burst size (CBS).
        cbs: Bytes = required, in Range::above(0.0), from "rfc2698 §2: should be at least the size of the largest packet";
        /// Use of the colour that a packet carries when it arrives.
        mode: Mode = (Mode::Blind), in Range::ANY, from "rfc2698 §3";
        /// Codepoints that a colour-aware meter reads as yellow.
        yellow_dscp: Vec<Dscp> = (medium()), in Range::ANY, from "rfc2597 §6: codepoints of medium drop precedence";
        /// Codepoints that a colour-aware meter reads as red. A colour-aware meter reads all other
        /// codepoints as green.
        red_dscp: Vec<Dscp> = (high()), in Range::ANY, from "rfc2597 §6: codepoints of high drop precedence";
    }
}

/// Refuse a peak rate below the committed rate. RFC 2698 §2: "The PIR must be equal to or greater
/// than the CIR".
fn check(meter: &Trtcm, path: &str) -> Result<(), Invalid> {
    if meter.pir.0 < meter.cir.0 {
        let problem = format!("must be at least cir, {} (rfc2698 §2)", meter.cir);
        return Err(
            Invalid::new(&join(path, "pir"), &meter.pir.write(), problem).remedy("raise pir or lower cir")
        );
    }
    Ok(())
}

impl Trtcm {
    /// Create the state of the meter at time 0.
    pub fn build(&self) -> TrtcmState {
        TrtcmState {
            peak: Tokens::new(self.pir),
            committed: Tokens::new(self.cir),
            pbs: self.pbs.0,
            cbs: self.cbs.0,
            tp: self.pbs.0,
            tc: self.cbs.0,
            precolours: Precolours::new(self.mode, &self.yellow_dscp, &self.red_dscp),
        }
    }
}

/// State of trTCM.
#[derive(Clone, Copy, Debug)]
pub struct TrtcmState {
    peak: Tokens,
    committed: Tokens,
    pbs: u64,
    cbs: u64,
    /// Number of tokens in bucket P. `tc` is the number of tokens in bucket C.
    tp: u64,
    tc: u64,
    precolours: Precolours,
}

impl TrtcmState {
    /// Return the colour of an arriving packet (§3). A colour-blind meter treats every arriving
    /// packet as green.
    pub fn colour(&mut self, now: Time, packet: &Packet) -> Colour {
        self.tp = self.tp.saturating_add(self.peak.come(now)).min(self.pbs);
        self.tc = self.tc.saturating_add(self.committed.come(now)).min(self.cbs);
        let (size, came) = (u64::from(packet.size), self.precolours.of(packet));
        if came == Colour::Red || self.tp < size {
            return Colour::Red;
        }
        self.tp -= size;
        if came == Colour::Yellow || self.tc < size {
            return Colour::Yellow;
        }
        self.tc -= size;
        Colour::Green
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::colours;
    use super::*;
    use serde_json::json;

    fn meter(mode: &str) -> serde_json::Value {
        json!({
            "kind": "trtcm", "pir": "16 kbit/s", "pbs": "600 B", "cir": "8 kbit/s", "cbs": "1000 B", "mode": mode,
        })
    }

    /// The expected colours were computed by hand from RFC 2698 §3: bucket P gets 2 tokens per
    /// millisecond and has at most 600, bucket C gets 1 token per millisecond and has at most 1000.
    #[test]
    fn colour_blind_marking_as_worked_out_by_hand() {
        let packets = [
            (0, 601, 0),    // R: Tp 600 < 601; neither is touched
            (0, 400, 0),    // G: Tp 200, Tc 600
            (0, 300, 0),    // R: Tp 200 < 300
            (100, 400, 0),  // Tp 400, Tc 700 → G: Tp 0, Tc 300
            (300, 400, 0),  // Tp 400, Tc 500 → G: Tp 0, Tc 100
            (450, 300, 0),  // Tp 300, Tc 250 → Y: Tp 0, Tc 250
            (500, 100, 0),  // Tp 100, Tc 300 → G: Tp 0, Tc 200
            (501, 3, 0),    // Tp 2, Tc 201 → R
            (501, 2, 0),    // G: Tp 0, Tc 199
            (650, 298, 0),  // Tp 298, Tc 348 → G: Tp 0, Tc 50
            (700, 100, 0),  // Tp 100, Tc 100 → G: Tp 0, Tc 0
            (750, 60, 0),   // Tp 100, Tc 50 → Y: Tp 40, Tc 50
            (750, 50, 0),   // R: Tp 40
            (750, 40, 0),   // G: Tp 0, Tc 10
            (9000, 600, 0), // Tp 600, Tc 1000 → G: Tp 0, Tc 400
            (9000, 1, 0),   // R
        ];
        assert_eq!(colours(meter("colour-blind"), &packets), "RGRGGYGRGGGYRGGR");
    }

    /// The expected colours were computed by hand. Packets arrive green (AF31, 26), yellow
    /// (AF32, 28) and red (AF33, 30).
    #[test]
    fn colour_aware_marking_as_worked_out_by_hand() {
        let packets = [
            (0, 100, 30),   // R: came red; neither is touched
            (0, 300, 28),   // Y: Tp 300, Tc 1000
            (0, 300, 26),   // G: Tp 0, Tc 700
            (0, 1, 28),     // R: Tp 0
            (100, 200, 28), // Tp 200, Tc 800 → Y: Tp 0
            (200, 200, 26), // Tp 200, Tc 900 → G: Tp 0, Tc 700
            (500, 600, 0),  // Tp 600, Tc 1000 → another codepoint came green: G, Tp 0, Tc 400
            (700, 400, 26), // Tp 400, Tc 600 → G: Tp 0, Tc 200
            (850, 300, 26), // Tp 300, Tc 350 → G: Tp 0, Tc 50
            (900, 100, 26), // Tp 100, Tc 100 → G: Tp 0, Tc 0
            (950, 100, 26), // Tp 100, Tc 50 → Y: Tp 0, Tc 50
        ];
        assert_eq!(colours(meter("colour-aware"), &packets), "RYGRYGGGGGY");
    }

    #[test]
    fn a_peak_rate_below_the_committed_rate_is_refused() {
        let mut wrong = meter("colour-blind");
        wrong["pir"] = json!("7 kbit/s");
        let object = wrong.as_object_mut().unwrap();
        object.remove("kind");
        let e = Trtcm::read(&wrong, "meter").unwrap_err().to_string();
        assert!(e.contains("meter.pir: \"7 kbit/s\" must be at least cir"), "{e}");
    }
}
