//! What sends packets that nobody answers, and what its kinds have in common.

use std::fmt::Debug;

use engine::Stream;
use net::Ecn;
use units::{Bytes, Duration, Rate, words};

/// A kind of datagrams: its own parameters, then those that all have who send at a pace of their own.
macro_rules! datagrams {
    ($(#[doc = $doc:literal])+ pub struct $Name:ident: $key:literal $(, checked by $check:path)? { $($own:tt)* }) => {
        units::params! {
            $(#[doc = $doc])+
            pub struct $Name: $key $(, checked by $check)? {
                $($own)*
                /// IP and UDP headers of a packet.
                headers: units::Bytes = ($crate::datagrams::emitter::HEADERS), in units::Range::between(1.0, 1000.0),
                    from "rfc791 §3.1, rfc768: 20 B and 8 B";
                /// Their ECN field.
                ecn: $crate::datagrams::emitter::Field = ($crate::datagrams::emitter::Field::NotEct), in units::Range::ANY, from "rfc3168 §5";
                /// How many packets; absent: no end.
                packets: Option<u64> = (None), in units::Range::between(1.0, 4e9), from "";
                /// For how long it sends; absent: no end.
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

/// IPv4 and UDP (RFC 791 §3.1, RFC 768).
pub const HEADERS: Bytes = Bytes(28);

words! {
    /// The ECN field of packets that nobody answers.
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
    /// As the packet has it.
    pub fn ecn(self) -> Ecn {
        match self {
            Field::NotEct => Ecn::NotEct,
            Field::Ect0 => Ecn::Ect0,
            Field::Ect1 => Ecn::Ect1,
        }
    }
}

/// The time between packets of a rate, at least a picosecond.
pub fn interval(rate: Rate, payload: Bytes, headers: Bytes) -> Duration {
    rate.transmission_time(Bytes(payload.0 + headers.0)).max(Duration(1))
}

/// What all kinds have.
#[derive(Clone, Copy, Debug)]
pub struct Common {
    /// The least and the largest payload.
    pub payloads: [u16; 2],
    /// Headers of a packet.
    pub headers: u16,
    /// The ECN field of packets.
    pub ecn: Ecn,
    /// Packets in all.
    pub packets: Option<u64>,
    /// Time from the first possible packet to the last.
    pub lasts: Option<Duration>,
}

/// A kind of datagrams.
pub trait Datagrams {
    /// What all kinds have.
    fn common(&self) -> Common;

    /// The times between its packets; `random` gives their randomness.
    fn gaps(&self, random: Stream) -> Box<dyn Gaps>;
}

/// The times between packets, and their payloads.
pub trait Gaps: Debug + Send {
    /// The next packet: how long after the one before, or after the start, and its payload. `None`: there is none.
    fn next_packet(&mut self) -> Option<(Duration, u16)>;
}

/// A sender of packets that nobody answers.
#[derive(Debug)]
pub struct Emitter {
    gaps: Box<dyn Gaps>,
    common: Common,
    /// Packets so far, and the time from the start to the last.
    packets: u64,
    elapsed: Duration,
}

impl Emitter {
    /// That of a kind; `random` gives its randomness.
    pub fn new(kind: &dyn Datagrams, random: Stream) -> Self {
        Emitter { gaps: kind.gaps(random), common: kind.common(), packets: 0, elapsed: Duration::ZERO }
    }

    /// The next packet: how long after the one before, or after the start, and its payload. `None`: there is none.
    pub fn next_packet(&mut self) -> Option<(Duration, u16)> {
        if self.common.packets.is_some_and(|most| self.packets >= most) {
            return None;
        }
        let (gap, payload) = self.gaps.next_packet()?;
        self.elapsed = self.elapsed + gap;
        self.packets += 1;
        // The end itself is after the last.
        let over = self.common.lasts.is_some_and(|lasts| self.elapsed >= lasts);
        (!over).then_some((gap, payload))
    }

    /// Bytes of the headers of a packet.
    pub fn headers(&self) -> u16 {
        self.common.headers
    }

    /// The ECN field of its packets.
    pub fn ecn(&self) -> Ecn {
        self.common.ecn
    }

    /// The least and the largest size on the wire.
    pub fn sizes(&self) -> (u16, u16) {
        let [least, largest] = self.common.payloads.map(|payload| payload + self.common.headers);
        (least, largest)
    }

    /// Whether it ends.
    pub fn ends(&self) -> bool {
        self.common.packets.is_some() || self.common.lasts.is_some()
    }

    /// What is done of it, between 0 and 1; of one that does not end, all.
    pub fn share_done(&self) -> f64 {
        let packets = self.common.packets.map_or(0.0, |most| self.packets as f64 / most as f64);
        let time = self.common.lasts.map_or(0.0, |lasts| self.elapsed.seconds() / lasts.seconds());
        if self.ends() { packets.max(time).min(1.0) } else { 1.0 }
    }
}
