//! Round-trip time and demand of a receiver, as Linux measures them to size its buffer
//! (tcp_rcv_rtt_measure, tcp_rcv_rtt_measure_ts, tcp_rcv_space_adjust). This module only reports
//! the round-trip time and the demand.

use units::Time;

use crate::stack::header::Header;

/// Measurements of a receiver.
#[derive(Clone, Debug, Default)]
pub struct Receiving {
    /// Eight times the round-trip time in microseconds; 0 before the first sample.
    rtt: u64,
    /// Size of the largest segment, and the echoed timestamp of the last sample.
    largest: u32,
    echo: u32,
    /// Start time of the current window, and the sequence number at the end of the window.
    window: Option<(Time, u32)>,
    /// Maximum number of bytes read in a round trip (0 before the first sample), bytes read since
    /// the last round trip began, and the time of its beginning.
    space: u64,
    read: u64,
    since: Time,
}

fn microseconds(now: Time, then: Time) -> u64 {
    now.0.saturating_sub(then.0) / 1_000_000
}

impl Receiving {
    /// Record the arrival of data. `next` is RCV.NXT after the arrival.
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

    /// Add a sample. The result is the minimum of the round-trip times measured by windows, or the
    /// average of those measured by timestamps.
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

    /// Return the round-trip time in microseconds.
    pub fn rtt(&self) -> u64 {
        self.rtt >> 3
    }

    /// Return the demand of the receiver, initially ten segments or the window, whichever is
    /// smaller.
    pub fn space(&self, window: u64, mss: u64) -> u64 {
        self.space.max(window.min(10 * mss))
    }
}
