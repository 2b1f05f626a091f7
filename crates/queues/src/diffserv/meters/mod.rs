//! Meters: each meter assigns colours to the packets of a stream, depending on the stream's
//! previous traffic (RFC 2475 §2.3.2).

pub mod srtcm;
pub mod token_bucket;
pub mod trtcm;
pub mod tswtcm;

use engine::Stream;
use net::Packet;
use units::{Time, choice};

use super::colour::Colour;
use srtcm::{Srtcm, SrtcmState};
use token_bucket::{TokenBucket, TokenBucketState};
use trtcm::{Trtcm, TrtcmState};
use tswtcm::{Tswtcm, TswtcmState};

choice! {
    /// Meter that assigns a colour to each packet.
    pub enum Meter {
        TokenBucket(TokenBucket),
        Srtcm(Srtcm),
        Trtcm(Trtcm),
        Tswtcm(Tswtcm),
    }
}

impl Meter {
    /// Create the state of the meter at time 0. A meter that needs random numbers takes them from
    /// `random`.
    pub fn build(&self, random: Stream) -> Metering {
        match self {
            Meter::TokenBucket(m) => Metering::TokenBucket(m.build()),
            Meter::Srtcm(m) => Metering::Srtcm(m.build()),
            Meter::Trtcm(m) => Metering::Trtcm(m.build()),
            Meter::Tswtcm(m) => Metering::Tswtcm(Box::new(m.build(random))),
        }
    }
}

/// State of a meter.
#[derive(Clone, Debug)]
pub enum Metering {
    /// See [`TokenBucket`].
    TokenBucket(TokenBucketState),
    /// See [`Srtcm`].
    Srtcm(SrtcmState),
    /// See [`Trtcm`].
    Trtcm(TrtcmState),
    /// See [`Tswtcm`].
    Tswtcm(Box<TswtcmState>),
}

impl Metering {
    /// Return the colour of an arriving packet.
    pub fn colour(&mut self, now: Time, packet: &Packet) -> Colour {
        match self {
            Metering::TokenBucket(m) => m.colour(now, packet),
            Metering::Srtcm(m) => m.colour(now, packet),
            Metering::Trtcm(m) => m.colour(now, packet),
            Metering::Tswtcm(m) => m.colour(now, packet),
        }
    }
}

/// Functions that the tests of meters share.
#[cfg(test)]
mod tests {
    use super::*;
    use net::Label;
    use units::Read;

    /// Return the first letters of the colours that a meter assigns to packets. Each packet is a
    /// tuple of arrival time in ms, size in bytes and codepoint.
    pub fn colours(meter: serde_json::Value, packets: &[(u64, u16, u8)]) -> String {
        let mut metering = Meter::read(&meter, "meter").unwrap().build(Stream::new(1, "meter"));
        let colour = |&(ms, size, dscp): &(u64, u16, u8)| {
            let packet = Packet { size, label: Label::default().with_dscp(dscp), ..Packet::default() };
            metering.colour(Time(ms * 1_000_000_000), &packet).name()[..1].to_uppercase()
        };
        packets.iter().map(colour).collect()
    }
}
