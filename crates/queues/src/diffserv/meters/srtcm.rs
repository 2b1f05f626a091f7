//! The single rate three colour marker, its meter.
//!
//! Source: RFC 2697 §2 and §3 (`rfc2697`), to the letter: two buckets of tokens, C and E, which share one
//! rate; E gets the tokens that C has no room for.

use net::Packet;
use units::param::{Invalid, join};
use units::{Bytes, Range, Rate, Read, Time, params};

use crate::diffserv::colour::{Colour, Mode, Precolours, high, medium};
use crate::diffserv::dscp::Dscp;
use crate::diffserv::tokens::Tokens;

params! {
    /// srTCM, the single rate three colour marker, meters a stream by one rate and two bursts. A packet is
    /// green if it fits into the committed burst, yellow if it fits into the excess burst, and red otherwise.
    /// The rate fills the committed burst first, the excess burst with what is over: so after a pause a
    /// burst longer than the committed one is yellow, and what is sent above the rate for long is red.
    ///
    /// Bytes are those of IP packets. Both bursts are full at the start.
    pub struct Srtcm: "srtcm", checked by check {
        /// Committed information rate: that of the tokens (CIR).
        cir: Rate = required, in Range::ANY, from "rfc2697 §2";
        /// Committed burst size: most bytes at once that are green (CBS).
        cbs: Bytes = required, in Range::ANY, from "rfc2697 §2: at least the largest packet, if above 0";
        /// Excess burst size: most bytes at once that are yellow (EBS).
        ebs: Bytes = (Bytes(0)), in Range::ANY, from "rfc2697 §2: at least the largest packet, if above 0";
        /// Whether it looks at the colour that a packet came with.
        mode: Mode = (Mode::Blind), in Range::ANY, from "rfc2697 §3";
        /// Codepoints of packets that came yellow, to a colour-aware meter.
        yellow_dscp: Vec<Dscp> = (medium()), in Range::ANY, from "rfc2597 §6: medium drop precedence";
        /// Codepoints of packets that came red, to a colour-aware meter; with any other it came green.
        red_dscp: Vec<Dscp> = (high()), in Range::ANY, from "rfc2597 §6: high drop precedence";
    }
}

/// RFC 2697 §2: "at least one of them is larger than 0".
fn check(meter: &Srtcm, path: &str) -> Result<(), Invalid> {
    if meter.cbs.0 == 0 && meter.ebs.0 == 0 {
        let problem = "and ebs are both 0, so that every packet is red";
        return Err(Invalid::new(&join(path, "cbs"), &meter.cbs.write(), problem)
            .remedy("give one of them at least the size of a packet (rfc2697 §2)"));
    }
    Ok(())
}

impl Srtcm {
    /// The meter at time 0.
    pub fn build(&self) -> SrtcmState {
        SrtcmState {
            tokens: Tokens::new(self.cir),
            cbs: self.cbs.0,
            ebs: self.ebs.0,
            tc: self.cbs.0,
            te: self.ebs.0,
            precolours: Precolours::new(self.mode, &self.yellow_dscp, &self.red_dscp),
        }
    }
}

/// The state of srTCM.
#[derive(Clone, Copy, Debug)]
pub struct SrtcmState {
    tokens: Tokens,
    cbs: u64,
    ebs: u64,
    /// Tokens in C and in E.
    tc: u64,
    te: u64,
    precolours: Precolours,
}

impl SrtcmState {
    /// §3: for each token, "if Tc is less than CBS, Tc is incremented by one, else if Te is less than EBS, Te
    /// is incremented by one, else neither".
    fn fill(&mut self, now: Time) {
        let come = self.tokens.come(now);
        let to_c = come.min(self.cbs - self.tc);
        self.tc += to_c;
        self.te += (come - to_c).min(self.ebs - self.te);
    }

    /// The colour of a packet that arrives (§3; colour-blind, every packet came green).
    pub fn colour(&mut self, now: Time, packet: &Packet) -> Colour {
        self.fill(now);
        let (size, came) = (u64::from(packet.size), self.precolours.of(packet));
        if came == Colour::Green && self.tc >= size {
            self.tc -= size;
            Colour::Green
        } else if came <= Colour::Yellow && self.te >= size {
            self.te -= size;
            Colour::Yellow
        } else {
            Colour::Red
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::colours;
    use super::*;
    use serde_json::json;

    /// Worked out by hand from §3: a token each millisecond, C holds 1000, E 500. Beside each packet the tokens that
    /// it finds, where they changed, and its colour with what it leaves.
    #[test]
    fn colour_blind_by_hand() {
        let meter = json!({"kind": "srtcm", "cir": "8 kbit/s", "cbs": "1000 B", "ebs": "500 B"});
        let packets = [
            (0, 600, 0),     // Tc 1000, Te 500 → G: Tc 400
            (0, 600, 0),     // R: above both
            (0, 500, 0),     // Tc 400 < 500 <= Te 500 → Y: Te 0
            (0, 400, 0),     // G: Tc 0
            (100, 100, 0),   // Tc 100 → G: Tc 0
            (300, 200, 0),   // Tc 200 → G: Tc 0
            (1300, 101, 0),  // Tc 1000, Te 0 → G: Tc 899
            (1500, 1000, 0), // of 200 tokens 101 to C, 99 to E: Tc 1000, Te 99 → G: Tc 0
            (1500, 100, 0),  // R: Te 99 < 100
            (1500, 99, 0),   // Y: Te 0
            (1501, 2, 0),    // Tc 1 → R
            (1501, 1, 0),    // G: Tc 0
            (1502, 1, 0),    // Tc 1: the token of now has come → G: Tc 0
            (9999, 1000, 0), // 8497 tokens: Tc 1000, Te 500 → G: Tc 0
            (9999, 500, 0),  // Y: Te 0
            (9999, 1, 0),    // R
        ];
        assert_eq!(colours(meter, &packets), "GRYGGGGGRYRGGGYR");
    }

    /// By hand, with packets that came green (AF11, 10), yellow (AF12, 12) and red (AF13, 14).
    #[test]
    fn colour_aware_by_hand() {
        let meter = json!({
            "kind": "srtcm", "cir": "8 kbit/s", "cbs": "1000 B", "ebs": "500 B", "mode": "colour-aware"
        });
        let packets = [
            (0, 100, 14),     // R: came red, though Tc 1000, Te 500
            (0, 300, 12),     // Y: Te 200, and C is not touched
            (0, 300, 12),     // R: Te 200 < 300, though Tc 1000
            (0, 900, 10),     // G: Tc 100
            (0, 200, 10),     // Y: Tc 100 < 200 <= Te 200; Te 0
            (0, 200, 10),     // R
            (0, 100, 10),     // G: Tc 0
            (1000, 1, 12),    // R: 1000 tokens, all to C (1000), none to E
            (1000, 500, 0),   // G: another codepoint came green: Tc 500
            (1600, 100, 12),  // Y: 500 to C (1000), 100 to E: Te 0
            (1600, 1000, 22), // R: AF23 came red
            (1600, 1000, 18), // G: AF21 came green
        ];
        assert_eq!(colours(meter, &packets), "RYRGYRGRGYRG");
    }

    #[test]
    fn one_burst_must_be_above_0() {
        let e = Srtcm::read(&json!({"cir": "1 Mbit/s", "cbs": "0 B"}), "meter").unwrap_err().to_string();
        assert!(e.contains("meter.cbs") && e.contains("rfc2697"), "{e}");
        assert!(Srtcm::read(&json!({"cir": "1 Mbit/s", "cbs": "0 B", "ebs": "1 B"}), "m").is_ok());
    }
}
