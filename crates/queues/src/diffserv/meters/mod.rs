//! Meters: each colours the packets of a stream by what it has sent (RFC 2475 §2.3.2).

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
    /// A meter.
    pub enum Meter {
        TokenBucket(TokenBucket),
        Srtcm(Srtcm),
        Trtcm(Trtcm),
        Tswtcm(Tswtcm),
    }
}

impl Meter {
    /// The meter at time 0; `random` is for those that draw.
    pub fn build(&self, random: Stream) -> Metering {
        match self {
            Meter::TokenBucket(m) => Metering::TokenBucket(m.build()),
            Meter::Srtcm(m) => Metering::Srtcm(m.build()),
            Meter::Trtcm(m) => Metering::Trtcm(m.build()),
            Meter::Tswtcm(m) => Metering::Tswtcm(Box::new(m.build(random))),
        }
    }
}

/// A meter at work.
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
    /// The colour of a packet that arrives.
    pub fn colour(&mut self, now: Time, packet: &Packet) -> Colour {
        match self {
            Metering::TokenBucket(m) => m.colour(now, packet),
            Metering::Srtcm(m) => m.colour(now, packet),
            Metering::Trtcm(m) => m.colour(now, packet),
            Metering::Tswtcm(m) => m.colour(now, packet),
        }
    }
}

/// What the tests of meters share.
#[cfg(test)]
mod tests {
    use super::*;
    use net::Label;
    use units::Read;

    /// The colours that a meter gives packets of (time in ms, bytes, codepoint), as letters.
    pub fn colours(meter: serde_json::Value, packets: &[(u64, u16, u8)]) -> String {
        let mut metering = Meter::read(&meter, "meter").unwrap().build(Stream::new(1, "meter"));
        let colour = |&(ms, size, dscp): &(u64, u16, u8)| {
            let packet = Packet { size, label: Label::default().with_dscp(dscp), ..Packet::default() };
            metering.colour(Time(ms * 1_000_000_000), &packet).name()[..1].to_uppercase()
        };
        packets.iter().map(colour).collect()
    }
}
