//! Measurements from which Linux computes the size of the receive buffer: the round-trip time, and
//! the demand of the receiver (tcp_rcv_rtt_measure, tcp_rcv_rtt_measure_ts, tcp_rcv_space_adjust).
//! The demand of the receiver is the amount of data that the application reads per round-trip time.
//! This module reports the round-trip time and the demand of the receiver, but does not size its
//! buffer.

use units::Time;

use crate::stack::header::Header;

/// Measurements of a receiver.
#[derive(Clone, Debug, Default)]
pub struct Receiving {
    /// Eight times the measured round-trip time in microseconds, or 0 before the first sample.
    rtt: u64,
    /// Size of the largest segment received, and the echoed timestamp of the last round-trip time
    /// sample.
    largest: u32,
    echo: u32,
    /// Start time of the present receive window, and the sequence number at its end.
    window: Option<(Time, u32)>,
    /// Maximum number of bytes that the application read in a round trip (0 before the first
    /// sample). Number of bytes that the application read in the present round trip, and the time
    /// when this round trip began.
    space: u64,
    read: u64,
    since: Time,
}

fn microseconds(now: Time, then: Time) -> u64 {
    now.0.saturating_sub(then.0) / 1_000_000
}

impl Receiving {
    /// Record that data has arrived. The argument `next` is the value of RCV.NXT after the data has
    /// arrived.
    pub fn on_data(&mut self, now: Time, header: &Header, next: u32, window: u32) {
        self.largest = self.largest.max(header.len);
        if let Some((_, echo)) = header.options.timestamps {
            let ms = (now.0 / 1_000_000_000) as u32;
            if echo != self.echo && header.len >= self.largest && echo != 0 {
                self.sample(u64::from(ms.wrapping_sub(echo).max(1)) * 1000, false);
            }
            self.echo = echo;
            return;
        }
        match self.window {
            Some((_, end)) if (next.wrapping_sub(end) as i32) < 0 => return,
            Some((since, _)) => self.sample(microseconds(now, since).max(1), true),
            None => {}
        }
        self.window = Some((now, next.wrapping_add(window)));
    }

    /// Add a sample. If each sample is the time in which one receive window of data arrives, the
    /// round-trip time is the minimum of the samples. If the samples of the round-trip time come
    /// from timestamps, the result is their average.
    fn sample(&mut self, us: u64, by_window: bool) {
        self.rtt = match self.rtt {
            0 => us << 3,
            rtt if by_window => rtt.min(us << 3),
            rtt => rtt - (rtt >> 3) + us,
        };
    }

    /// Record that the application read data.
    pub fn on_read(&mut self, now: Time, bytes: u64) {
        self.read += bytes;
        if self.rtt == 0 || microseconds(now, self.since) < self.rtt >> 3 {
            return;
        }
        self.space = self.space.max(self.read);
        (self.read, self.since) = (0, now);
    }

    /// Return the round-trip time that the receiver measured, in microseconds.
    pub fn rtt(&self) -> u64 {
        self.rtt >> 3
    }

    /// Return the demand of the receiver in bytes. Initially the demand is ten segments or the
    /// window, whichever is smaller.
    pub fn space(&self, window: u64, mss: u64) -> u64 {
        self.space.max(window.min(10 * mss))
    }
}
