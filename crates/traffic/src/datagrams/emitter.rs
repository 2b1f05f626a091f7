//! The sender of datagrams, and the parameters that all kinds of datagrams share.

use std::fmt::Debug;

use engine::Stream;
use net::Ecn;
use units::{Bytes, Duration, Rate, words};

/// Define a kind of datagrams: first its own parameters, then the parameters that all kinds except
/// `replay` share.
macro_rules! datagrams {
    ($(#[doc = $doc:literal])+ pub struct $Name:ident: $key:literal $(, checked by $check:path)? { $($own:tt)* }) => {
        units::params! {
            $(#[doc = $doc])+
            pub struct $Name: $key $(, checked by $check)? {
                $($own)*
                /// Size of the IP and UDP headers of each packet.
                headers: units::Bytes = ($crate::datagrams::emitter::HEADERS), in units::Range::between(1.0, 1000.0),
                    from "rfc791 §3.1, rfc768: 20 B and 8 B";
                /// ECN field of each packet.
                ecn: $crate::datagrams::emitter::Field = ($crate::datagrams::emitter::Field::NotEct), in units::Range::ANY, from "rfc3168 §5";
                /// Number of packets. If the number of packets is absent, the sender continues
                /// until the end of the run.
                packets: Option<u64> = (None), in units::Range::between(1.0, 4e9), from "";
                /// Duration of sending. If the duration of sending is absent, the sender continues
                /// until the end of the run.
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
    /// Return the ECN field of the packets in the form that queues use.
    pub fn ecn(self) -> Ecn {
        match self {
            Field::NotEct => Ecn::NotEct,
            Field::Ect0 => Ecn::Ect0,
            Field::Ect1 => Ecn::Ect1,
        }
    }
}

/// Return the interval between packets of equal size at a constant rate. The interval is at least
/// one picosecond.
pub fn interval(rate: Rate, payload: Bytes, headers: Bytes) -> Duration {
    rate.transmission_time(Bytes(payload.0 + headers.0)).max(Duration(1))
}

/// Parameters that all kinds of datagrams share.
#[derive(Clone, Copy, Debug)]
pub struct Common {
    /// Minimum and maximum size of the payload, in bytes.
    pub payloads: [u16; 2],
    /// Size of the headers of a packet, in bytes.
    pub headers: u16,
    /// ECN field of each packet.
    pub ecn: Ecn,
    /// Maximum number of packets.
    pub packets: Option<u64>,
    /// Maximum time from the start of the sender to its last packet.
    pub lasts: Option<Duration>,
}

/// A kind of datagrams.
pub trait Datagrams {
    /// Return the parameters that all kinds of datagrams share.
    fn common(&self) -> Common;

    /// Return the generator of the intervals between packets. `random` is the stream of random
    /// numbers of the sender.
    fn gaps(&self, random: Stream) -> Box<dyn Gaps>;
}

/// Generator of the intervals between packets, and of their payloads.
pub trait Gaps: Debug + Send {
    /// Return the interval before the next packet, and the payload of this packet in bytes. For the
    /// first packet, the interval counts from the start of the sender. The result is `None` if the
    /// last packet has already been sent.
    fn next_packet(&mut self) -> Option<(Duration, u16)>;
}

/// Sender of datagrams.
#[derive(Debug)]
pub struct Emitter {
    gaps: Box<dyn Gaps>,
    common: Common,
    /// Number of packets sent so far, and the time from the start of the sender to the last packet
    /// sent.
    packets: u64,
    elapsed: Duration,
}

impl Emitter {
    /// Create a sender of datagrams of the given kind. `random` is the stream of random numbers of
    /// the sender.
    pub fn new(kind: &dyn Datagrams, random: Stream) -> Self {
        Emitter { gaps: kind.gaps(random), common: kind.common(), packets: 0, elapsed: Duration::ZERO }
    }

    /// Return the interval before the next packet, and the payload of this packet in bytes. For the
    /// first packet, the interval counts from the start of the sender. The result is `None` if the
    /// last packet has already been sent.
    pub fn next_packet(&mut self) -> Option<(Duration, u16)> {
        if self.common.packets.is_some_and(|most| self.packets >= most) {
            return None;
        }
        let (gap, payload) = self.gaps.next_packet()?;
        self.elapsed = self.elapsed + gap;
        self.packets += 1;
        // A packet is not sent if it is due exactly when the duration of sending ends.
        let over = self.common.lasts.is_some_and(|lasts| self.elapsed >= lasts);
        (!over).then_some((gap, payload))
    }

    /// Return the size of the headers of a packet, in bytes.
    pub fn headers(&self) -> u16 {
        self.common.headers
    }

    /// Return the ECN field of each packet.
    pub fn ecn(&self) -> Ecn {
        self.common.ecn
    }

    /// Return the minimum and maximum size of a packet on the wire, in bytes.
    pub fn sizes(&self) -> (u16, u16) {
        let [least, largest] = self.common.payloads.map(|payload| payload + self.common.headers);
        (least, largest)
    }

    /// Return true if the sender stops after a given number of packets or a given duration.
    pub fn ends(&self) -> bool {
        self.common.packets.is_some() || self.common.lasts.is_some()
    }

    /// Return the completed fraction of the sender's work, from 0 to 1. The work of a sender is the
    /// number of its packets or its duration of sending. If a sender has neither a maximum number
    /// of packets nor a maximum duration, the fraction is 1.
    pub fn share_done(&self) -> f64 {
        let packets = self.common.packets.map_or(0.0, |most| self.packets as f64 / most as f64);
        let time = self.common.lasts.map_or(0.0, |lasts| self.elapsed.seconds() / lasts.seconds());
        if self.ends() { packets.max(time).min(1.0) } else { 1.0 }
    }
}
