//! The round trip and the demand of a receiver, as Linux measures them to size its buffer (tcp_rcv_rtt_measure,
//! tcp_rcv_rtt_measure_ts, tcp_rcv_space_adjust). Here they only are told.

use units::Time;

use crate::stack::header::Header;

/// What is measured.
#[derive(Clone, Debug, Default)]
pub struct Receiving {
    /// Eight times the round trip in microseconds; 0: none.
    rtt: u64,
    /// The largest segment, and the echo that was measured last.
    largest: u32,
    echo: u32,
    /// When a window was begun, and where it ends.
    window: Option<(Time, u32)>,
    /// Bytes read in the last round trip; 0: not known. Bytes read since it began, and when that was.
    space: u64,
    read: u64,
    since: Time,
}

fn microseconds(now: Time, then: Time) -> u64 {
    now.0.saturating_sub(then.0) / 1_000_000
}

impl Receiving {
    /// Data arrived; `next`: RCV.NXT after it.
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

    /// By a window the least of all counts, by timestamps their average.
    fn sample(&mut self, us: u64, by_window: bool) {
        self.rtt = match self.rtt {
            0 => us << 3,
            rtt if by_window => rtt.min(us << 3),
            rtt => rtt - (rtt >> 3) + us,
        };
    }

    /// The application read.
    pub fn on_read(&mut self, now: Time, bytes: u64) {
        self.read += bytes;
        if self.rtt == 0 || microseconds(now, self.since) < self.rtt >> 3 {
            return;
        }
        self.space = self.space.max(self.read);
        (self.read, self.since) = (0, now);
    }

    /// The round trip in microseconds.
    pub fn rtt(&self) -> u64 {
        self.rtt >> 3
    }

    /// The demand, at first no more than ten segments or the window.
    pub fn space(&self, window: u64, mss: u64) -> u64 {
        self.space.max(window.min(10 * mss))
    }
}
