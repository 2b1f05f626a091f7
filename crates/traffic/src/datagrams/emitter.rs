//! The sender of datagrams, and the parameters that all kinds of datagrams share.

use std::fmt::Debug;

use engine::Stream;
use net::Ecn;
use units::{Bytes, Duration, Rate, words};

/// Define a kind of datagrams: its own parameters, followed by the parameters that all paced kinds
/// share.
macro_rules! datagrams {
    ($(#[doc = $doc:literal])+ pub struct $Name:ident: $key:literal $(, checked by $check:path)? { $($own:tt)* }) => {
        units::params! {
            $(#[doc = $doc])+
            pub struct $Name: $key $(, checked by $check)? {
                $($own)*
                /// Size of the IP and UDP headers of a packet.
                headers: units::Bytes = ($crate::datagrams::emitter::HEADERS), in units::Range::between(1.0, 1000.0),
                    from "rfc791 §3.1, rfc768: 20 B and 8 B";
                /// ECN field of the packets.
                ecn: $crate::datagrams::emitter::Field = ($crate::datagrams::emitter::Field::NotEct), in units::Range::ANY, from "rfc3168 §5";
                /// Number of packets. If the number is absent, the sender continues until the end
                /// of the run.
                packets: Option<u64> = (None), in units::Range::between(1.0, 4e9), from "";
                /// Duration of sending. If the duration is absent, the sender continues until the
                /// end of the run.
                lasts: Option<units::Duration> = (None), in units::Range::above(0.0), from "";
            }
        }

        impl $Name {
            fn shared(&self) -> $crate::datagrams::emitter::Common {
                $crate::datagrams::emitter::Common {
                    payloads: [self.payload.0 as u16; 2],
                    headers: self.headers.0 as u16,
                    ecn: self.ecn.ecn(),
                    packets: self.packets,
                    lasts: self.lasts,
                }
            }
        }
    };
}

pub(super) use datagrams;

/// Size of the IPv4 and UDP headers (RFC 791 §3.1, RFC 768).
pub const HEADERS: Bytes = Bytes(28);

words! {
    /// ECN field of datagrams.
    pub enum Field {
        /// Not ECN-capable.
        NotEct = "not-ect",
        /// ECT(0).
        Ect0 = "ect0",
        /// ECT(1).
        Ect1 = "ect1",
    }
}

impl Field {
    /// Return the value of the ECN field in the packet.
    pub fn ecn(self) -> Ecn {
        match self {
            Field::NotEct => Ecn::NotEct,
            Field::Ect0 => Ecn::Ect0,
            Field::Ect1 => Ecn::Ect1,
        }
    }
}

/// Return the interval between packets of one size at a rate; the interval is at least one
/// picosecond.
pub fn interval(rate: Rate, payload: Bytes, headers: Bytes) -> Duration {
    rate.transmission_time(Bytes(payload.0 + headers.0)).max(Duration(1))
}

/// Parameters that all kinds of datagrams share.
#[derive(Clone, Copy, Debug)]
pub struct Common {
    /// Minimum and maximum payload, in bytes.
    pub payloads: [u16; 2],
    /// Size of the headers of a packet, in bytes.
    pub headers: u16,
    /// ECN field of the packets.
    pub ecn: Ecn,
    /// Maximum number of packets.
    pub packets: Option<u64>,
    /// Maximum time from the start to the last packet.
    pub lasts: Option<Duration>,
}

/// A kind of datagrams.
pub trait Datagrams {
    /// Return the parameters that all kinds of datagrams share.
    fn common(&self) -> Common;

    /// Return the generator of the intervals between the packets. `random` supplies the random
    /// numbers.
    fn gaps(&self, random: Stream) -> Box<dyn Gaps>;
}

/// Generator of the intervals between packets, and of their payloads.
pub trait Gaps: Debug + Send {
    /// Return the time from the previous packet, or from the start, to the next packet, and the
    /// payload of the next packet in bytes. The result is `None` after the last packet.
    fn next_packet(&mut self) -> Option<(Duration, u16)>;
}

/// Sender of datagrams.
#[derive(Debug)]
pub struct Emitter {
    gaps: Box<dyn Gaps>,
    common: Common,
    /// Number of packets sent, and the time from the start to the last packet sent.
    packets: u64,
    elapsed: Duration,
}

impl Emitter {
    /// Create the sender of a kind of datagrams. `random` supplies the random numbers.
    pub fn new(kind: &dyn Datagrams, random: Stream) -> Self {
        Emitter { gaps: kind.gaps(random), common: kind.common(), packets: 0, elapsed: Duration::ZERO }
    }

    /// Return the time from the previous packet, or from the start, to the next packet, and the
    /// payload of the next packet in bytes. The result is `None` after the last packet.
    pub fn next_packet(&mut self) -> Option<(Duration, u16)> {
        if self.common.packets.is_some_and(|most| self.packets >= most) {
            return None;
        }
        let (gap, payload) = self.gaps.next_packet()?;
        self.elapsed = self.elapsed + gap;
        self.packets += 1;
        // A packet that is due exactly at the end of the duration is not sent.
        let over = self.common.lasts.is_some_and(|lasts| self.elapsed >= lasts);
        (!over).then_some((gap, payload))
    }

    /// Return the size of the headers of a packet, in bytes.
    pub fn headers(&self) -> u16 {
        self.common.headers
    }

    /// Return the ECN field of the packets.
    pub fn ecn(&self) -> Ecn {
        self.common.ecn
    }

    /// Return the minimum and maximum size on the wire, in bytes.
    pub fn sizes(&self) -> (u16, u16) {
        let [least, largest] = self.common.payloads.map(|payload| payload + self.common.headers);
        (least, largest)
    }

    /// Return true if the number of packets or the duration of the sender is limited.
    pub fn ends(&self) -> bool {
        self.common.packets.is_some() || self.common.lasts.is_some()
    }

    /// Return the share of the packets or of the duration that is completed, from 0 to 1. An
    /// unlimited sender counts as complete.
    pub fn share_done(&self) -> f64 {
        let packets = self.common.packets.map_or(0.0, |most| self.packets as f64 / most as f64);
        let time = self.common.lasts.map_or(0.0, |lasts| self.elapsed.seconds() / lasts.seconds());
        if self.ends() { packets.max(time).min(1.0) } else { 1.0 }
    }
}
