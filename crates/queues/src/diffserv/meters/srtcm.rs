//! Meter of the single rate three colour marker (srTCM).
//!
//! Source: RFC 2697 §2 and §3 (`rfc2697`), which the meter follows exactly. The two token buckets C
//! and E share one token rate. Tokens that do not fit into bucket C go to bucket E.

use net::Packet;
use units::param::{Invalid, join};
use units::{Bytes, Range, Rate, Read, Time, params};

use crate::diffserv::colour::{Colour, Mode, Precolours, high, medium};
use crate::diffserv::dscp::Dscp;
use crate::diffserv::tokens::Tokens;

params! {
    /// srTCM, the single rate three colour marker, meters a stream by one rate and two bursts. A
    /// packet is green if it fits into the committed burst, yellow if it fits into the excess
    /// burst, and red otherwise. The tokens fill the committed burst first. When the committed
    /// burst is full, the tokens fill the excess burst. If a stream sends a burst after a pause,
    /// the first bytes up to the committed burst size are green, and the next bytes up to the
    /// excess burst size are yellow. Traffic that exceeds the rate for a long time is red.
    ///
    /// Packet sizes are those of IP packets. The committed burst and the excess burst are full at
    /// the start.
    pub struct Srtcm: "srtcm", checked by check {
        /// Committed information rate: rate at which tokens arrive (CIR).
        cir: Rate = required, in Range::ANY, from "rfc2697 §2";
        /// Committed burst size: maximum number of green bytes at once (CBS).
        cbs: Bytes = required, in Range::ANY, from "rfc2697 §2: a burst size above 0 should be at least the size of the largest packet";
        /// Excess burst size: maximum number of yellow bytes at once (EBS).
        ebs: Bytes = (Bytes(0)), in Range::ANY, from "rfc2697 §2: a burst size above 0 should be at least the size of the largest packet";
        /// Use of the colour that a packet carries when it arrives.
        mode: Mode = (Mode::Blind), in Range::ANY, from "rfc2697 §3";
        /// Codepoints that a colour-aware meter reads as yellow.
        yellow_dscp: Vec<Dscp> = (medium()), in Range::ANY, from "rfc2597 §6: codepoints of medium drop precedence";
        /// Codepoints that a colour-aware meter reads as red. A colour-aware meter reads all other
        /// codepoints as green.
        red_dscp: Vec<Dscp> = (high()), in Range::ANY, from "rfc2597 §6: codepoints of high drop precedence";
    }
}

/// Refuse two empty bursts. RFC 2697 §2 about CBS and EBS: "at least one of them is larger than 0".
fn check(meter: &Srtcm, path: &str) -> Result<(), Invalid> {
    if meter.cbs.0 == 0 && meter.ebs.0 == 0 {
        let problem = "and ebs are both 0, so that every packet is red";
        return Err(Invalid::new(&join(path, "cbs"), &meter.cbs.write(), problem)
            .remedy("raise cbs or ebs to at least the size of a packet (rfc2697 §2)"));
    }
    Ok(())
}

impl Srtcm {
    /// Create the state of the meter at time 0.
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

/// State of srTCM.
#[derive(Clone, Copy, Debug)]
pub struct SrtcmState {
    tokens: Tokens,
    cbs: u64,
    ebs: u64,
    /// Number of tokens in bucket C. `te` is the number of tokens in bucket E.
    tc: u64,
    te: u64,
    precolours: Precolours,
}

impl SrtcmState {
    /// Add the tokens that have arrived. §3: for each token, "if Tc is less than CBS, Tc is
    /// incremented by one, else if Te is less than EBS, Te is incremented by one, else neither".
    fn fill(&mut self, now: Time) {
        let come = self.tokens.come(now);
        let to_c = come.min(self.cbs - self.tc);
        self.tc += to_c;
        self.te += (come - to_c).min(self.ebs - self.te);
    }

    /// Return the colour of an arriving packet (§3). A colour-blind meter treats every arriving
    /// packet as green.
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

    /// The expected colours were computed by hand from RFC 2697 §3: one token arrives per
    /// millisecond, bucket C has at most 1000 tokens, and bucket E has at most 500. The comment at
    /// each packet has the numbers of tokens at the packet's arrival if they changed, then the
    /// colour of the packet and the remaining tokens.
    #[test]
    fn colour_blind_marking_as_worked_out_by_hand() {
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

    /// The expected colours were computed by hand. Packets arrive green (AF11, 10), yellow
    /// (AF12, 12) and red (AF13, 14).
    #[test]
    fn colour_aware_marking_as_worked_out_by_hand() {
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
    fn two_empty_bursts_are_refused() {
        let e = Srtcm::read(&json!({"cir": "1 Mbit/s", "cbs": "0 B"}), "meter").unwrap_err().to_string();
        assert!(e.contains("meter.cbs") && e.contains("rfc2697"), "{e}");
        assert!(Srtcm::read(&json!({"cir": "1 Mbit/s", "cbs": "0 B", "ebs": "1 B"}), "m").is_ok());
    }
}
