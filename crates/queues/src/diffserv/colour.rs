//! Colours of a three-colour meter, and the colour that a packet carries when it arrives.
//!
//! Source: RFC 2697 and RFC 2698 §3 (`rfc2697`, `rfc2698`): a colour-aware meter assumes that
//! packets already have a colour, and each DiffServ domain defines the encoding of the colour in a
//! packet. RFC 2597 §6 (`rfc2597`): an AF codepoint encodes a drop precedence, which is the colour
//! here.

use net::Packet;
use units::words;

use super::dscp::Dscp;

/// Colour of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Colour {
    /// Green: the packet is within the first profile.
    Green,
    /// Yellow: the packet is outside the first profile and within the second.
    Yellow,
    /// Red: the packet is outside both profiles.
    Red,
}

impl Colour {
    /// All colours, from the best to the worst.
    pub const ALL: [Colour; 3] = [Colour::Green, Colour::Yellow, Colour::Red];

    /// Return the name of the colour, as the result tables write it.
    pub fn name(self) -> &'static str {
        match self {
            Colour::Green => "green",
            Colour::Yellow => "yellow",
            Colour::Red => "red",
        }
    }
}

words! {
    /// Use of the colour that a packet carries when it arrives.
    pub enum Mode {
        /// The meter ignores the colour that a packet carries.
        Blind = "colour-blind",
        /// The meter may change the colour of a packet, but never to a better colour than the
        /// packet carries.
        Aware = "colour-aware",
    }
}

/// Return the codepoints of low drop precedence: AF11, AF21, AF31, AF41 (RFC 2597 §6).
pub fn low() -> Vec<Dscp> {
    (1..5).map(|class| Dscp(class << 3 | 1 << 1)).collect()
}

/// Return the codepoints of medium drop precedence: AF12, AF22, AF32, AF42 (RFC 2597 §6).
pub fn medium() -> Vec<Dscp> {
    (1..5).map(|class| Dscp(class << 3 | 2 << 1)).collect()
}

/// Return the codepoints of high drop precedence: AF13, AF23, AF33, AF43 (RFC 2597 §6).
pub fn high() -> Vec<Dscp> {
    (1..5).map(|class| Dscp(class << 3 | 3 << 1)).collect()
}

/// Colours that packets carry in their codepoints.
#[derive(Clone, Copy, Debug)]
pub struct Precolours {
    yellow: u64,
    red: u64,
}

impl Precolours {
    /// Create the table from the codepoints of yellow and of red packets. Packets with any other
    /// codepoint are green. For a colour-blind meter all packets are green, because RFC 2697 §3 and
    /// RFC 2698 §3 treat an uncoloured packet as green.
    pub fn new(mode: Mode, yellow: &[Dscp], red: &[Dscp]) -> Self {
        let set = |list: &[Dscp]| list.iter().fold(0, |set, dscp| set | 1_u64 << (dscp.0 & 63));
        match mode {
            Mode::Blind => Precolours { yellow: 0, red: 0 },
            Mode::Aware => Precolours { yellow: set(yellow), red: set(red) },
        }
    }

    /// Return the colour that a packet carries.
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
