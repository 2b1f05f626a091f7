//! The transmitter of a link: how long a packet takes it, and when it has sent it.

use units::{Bytes, Duration, Rate, Time};

use super::{Link, Pace};
use crate::discipline::LinkQueue;
use crate::packet::Packet;

/// Binary digits of the fraction in which the time to send a byte is held.
const FRACTION: u32 = 20;

/// In place of the time to send a byte: it changes, and [`Pace`] knows it. No rate takes that long.
pub(super) const CHANGES: u64 = u64::MAX;

/// The time to send a byte at this rate, as [`time_to_send`] wants it.
pub fn byte_time(rate: Rate) -> u64 {
    ((8_000_000_000_000_u128 << FRACTION) / u128::from(rate.0)) as u64
}

/// The time to send `size`, to the picosecond, exactly as a link computes it.
#[inline]
pub fn time_to_send(byte_time: u64, size: Bytes) -> Duration {
    let scaled = u128::from(size.0) * u128::from(byte_time);
    Duration(((scaled + (1 << (FRACTION - 1))) >> FRACTION) as u64)
}

impl<Q: LinkQueue> Link<Q> {
    /// The link with a rate that changes.
    pub fn with_pace(mut self, pace: Pace) -> Self {
        (self.byte_time, self.pace) = (CHANGES, Some(Box::new(pace)));
        self
    }

    /// Whether something was admitted whose arrival is later than the clock goes: it would seem never to come.
    pub fn is_beyond_time(&self) -> bool {
        self.pace.is_none() && !self.resumes && self.free_at + self.delay == Time::NEVER
    }

    /// The time to send `size` at a rate that does not change, to the picosecond.
    #[inline]
    pub fn transmission_time(&self, size: Bytes) -> Duration {
        time_to_send(self.byte_time, size)
    }

    /// Schedules the transmission of an admitted packet: its arrival at the far end.
    #[inline]
    pub(super) fn send(&mut self, now: Time, packet: &Packet) -> Time {
        if self.byte_time == CHANGES {
            return self.send_at_pace(now, packet);
        }
        let time = self.transmission_time(Bytes(u64::from(packet.size)));
        self.free_at = self.free_at.max(now) + time;
        self.ledger.admit(packet, time.0);
        self.free_at + self.delay
    }

    /// The same at a rate that changes.
    #[cold]
    #[inline(never)]
    fn send_at_pace(&mut self, now: Time, packet: &Packet) -> Time {
        let begins = self.free_at.max(now);
        if let Some(pace) = &mut self.pace {
            self.free_at = pace.send(begins, u64::from(packet.size));
        }
        self.ledger.admit(packet, self.free_at.since(begins).0);
        self.free_at + self.delay
    }

    /// When the transmission of a packet of `size` bytes begins that arrives at the far end at `arrives`; at a rate
    /// that changes, when it ends.
    pub fn begins(&self, arrives: Time, size: u16) -> Time {
        if self.pace.is_some() {
            return arrives - self.delay;
        }
        arrives - self.delay - self.transmission_time(Bytes(u64::from(size)))
    }

    /// Whether a packet is in service at `now`.
    pub fn is_transmitting(&self, now: Time) -> bool {
        self.free_at > now && !self.resumes
    }
}
