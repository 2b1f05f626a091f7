//! Transmitter of a link: transmission times and the end of each transmission.

use units::{Bytes, Duration, Rate, Time};

use super::{Link, Pace};
use crate::discipline::LinkQueue;
use crate::packet::Packet;

/// Number of fractional bits of the value `byte_time`, the transmission time per byte.
const FRACTION: u32 = 20;

/// Value of the transmission time per byte if the rate is variable, so that [`Pace`] computes the
/// transmission times. At every constant rate, the transmission time per byte is less than
/// `CHANGES`.
pub(super) const CHANGES: u64 = u64::MAX;

/// Return the transmission time per byte at a rate, in the unit that [`time_to_send`] expects.
pub fn byte_time(rate: Rate) -> u64 {
    ((8_000_000_000_000_u128 << FRACTION) / u128::from(rate.0)) as u64
}

/// Return the transmission time of `size` bytes to the picosecond, exactly as a link computes it.
#[inline]
pub fn time_to_send(byte_time: u64, size: Bytes) -> Duration {
    let scaled = u128::from(size.0) * u128::from(byte_time);
    Duration(((scaled + (1 << (FRACTION - 1))) >> FRACTION) as u64)
}

impl<Q: LinkQueue> Link<Q> {
    /// Replace the constant rate of the link by a variable rate.
    pub fn with_pace(mut self, pace: Pace) -> Self {
        (self.byte_time, self.pace) = (CHANGES, Some(Box::new(pace)));
        self
    }

    /// Return true if an admitted packet would arrive after the end of the clock, so that the run
    /// never processes its arrival.
    pub fn is_beyond_time(&self) -> bool {
        self.pace.is_none() && !self.resumes && self.free_at + self.delay == Time::NEVER
    }

    /// Return the transmission time of `size` bytes at a constant rate, to the picosecond.
    #[inline]
    pub fn transmission_time(&self, size: Bytes) -> Duration {
        time_to_send(self.byte_time, size)
    }

    /// Schedule the transmission of an admitted packet, and return the time of its arrival at the
    /// far end.
    #[inline]
    pub(super) fn send(&mut self, now: Time, packet: &Packet) -> Time {
        if self.byte_time == CHANGES {
            return self.send_at_pace(now, packet);
        }
        let time = self.transmission_time(Bytes(u64::from(packet.size)));
        self.free_at = self.free_at.max(now) + time;
        self.counters.admit(packet, time.0);
        self.free_at + self.delay
    }

    /// Schedule the transmission of an admitted packet at a variable rate.
    #[cold]
    #[inline(never)]
    fn send_at_pace(&mut self, now: Time, packet: &Packet) -> Time {
        let begins = self.free_at.max(now);
        if let Some(pace) = &mut self.pace {
            self.free_at = pace.send(begins, u64::from(packet.size));
        }
        self.counters.admit(packet, self.free_at.since(begins).0);
        self.free_at + self.delay
    }

    /// Return the time at which the transmission of a packet begins, given its size and the time
    /// `arrives` of its arrival at the far end. If the rate is variable, the result is the end of
    /// the transmission instead of its beginning.
    pub fn begins(&self, arrives: Time, size: u16) -> Time {
        if self.pace.is_some() {
            return arrives - self.delay;
        }
        arrives - self.delay - self.transmission_time(Bytes(u64::from(size)))
    }

    /// Return true if a packet is in service at the time `now`.
    pub fn is_transmitting(&self, now: Time) -> bool {
        self.free_at > now && !self.resumes
    }
}
