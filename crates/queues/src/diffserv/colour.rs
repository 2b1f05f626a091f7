//! The colours of a three-colour meter, and how a packet tells the one it came with.
//!
//! Source: RFC 2697 and RFC 2698 §3 (`rfc2697`, `rfc2698`): a colour-aware meter takes the packets to be coloured
//! already; how it tells is left to the domain. RFC 2597 §6 (`rfc2597`): the drop precedence of an AF
//! codepoint.

use net::Packet;
use units::words;

use super::dscp::Dscp;

/// A colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Colour {
    /// In profile.
    Green,
    /// Out of the first profile, within the second.
    Yellow,
    /// Out of both.
    Red,
}

impl Colour {
    /// Every colour, the best first.
    pub const ALL: [Colour; 3] = [Colour::Green, Colour::Yellow, Colour::Red];

    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Colour::Green => "green",
            Colour::Yellow => "yellow",
            Colour::Red => "red",
        }
    }
}

words! {
    /// Whether a meter looks at the colour that a packet came with.
    pub enum Mode {
        /// It takes every packet to have none.
        Blind = "colour-blind",
        /// It makes no packet better than it came.
        Aware = "colour-aware",
    }
}

/// The codepoints of low drop precedence: AF11, AF21, AF31, AF41 (RFC 2597 §6).
pub fn low() -> Vec<Dscp> {
    (1..5).map(|class| Dscp(class << 3 | 1 << 1)).collect()
}

/// The codepoints of medium drop precedence: AF12, AF22, AF32, AF42 (RFC 2597 §6).
pub fn medium() -> Vec<Dscp> {
    (1..5).map(|class| Dscp(class << 3 | 2 << 1)).collect()
}

/// The codepoints of high drop precedence: AF13, AF23, AF33, AF43 (RFC 2597 §6).
pub fn high() -> Vec<Dscp> {
    (1..5).map(|class| Dscp(class << 3 | 3 << 1)).collect()
}

/// Tells the colour that a packet came with by its codepoint.
#[derive(Clone, Copy, Debug)]
pub struct Precolours {
    yellow: u64,
    red: u64,
}

impl Precolours {
    /// Yellow and red have these codepoints, green all others; to a colour-blind meter all are green, which
    /// is what RFC 2697 §3 and RFC 2698 §3 make of a packet without colour.
    pub fn new(mode: Mode, yellow: &[Dscp], red: &[Dscp]) -> Self {
        let set = |list: &[Dscp]| list.iter().fold(0, |set, dscp| set | 1_u64 << (dscp.0 & 63));
        match mode {
            Mode::Blind => Precolours { yellow: 0, red: 0 },
            Mode::Aware => Precolours { yellow: set(yellow), red: set(red) },
        }
    }

    /// The colour that a packet came with.
    pub fn of(&self, packet: &Packet) -> Colour {
        let bit = 1_u64 << packet.label.dscp();
        if self.red & bit != 0 {
            Colour::Red
        } else if self.yellow & bit != 0 {
            Colour::Yellow
        } else {
            Colour::Green
        }
    }
}
