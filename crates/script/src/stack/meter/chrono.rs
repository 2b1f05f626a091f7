//! Where the time of a sender went: busy, held by the other side's window, or by a small send buffer (Linux, enum
//! tcp_chrono, tcp_get_info_chrono_stats).

use tcp::{Endpoint, State};
use units::Time;

/// What holds a sender; the last holds most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// Nothing is out or to be sent.
    #[default]
    Idle,
    /// Data is out or waits.
    Busy,
    /// The other side's window.
    Window,
    /// The send buffer.
    Buffer,
}

/// What holds an endpoint, when everything that can go has gone.
pub fn kind(endpoint: &Endpoint, no_space: bool) -> Kind {
    let (held, unsent) = endpoint.outstanding();
    let window = endpoint.window();
    let (out, smss) = (held - unsent, window.smss.max(1.0));
    let next = (unsent as f64).min(smss);
    let room_in_cwnd = endpoint.segments_in_flight() * smss + next <= window.cwnd + window.inflation;
    let opens = endpoint.state() <= State::SynReceived && !endpoint.is_early();
    if opens && endpoint.sender_stats().segments > 0 {
        Kind::Busy // data went with the SYN
    } else if held == 0 || opens {
        Kind::Idle
    } else if unsent > 0 && room_in_cwnd && out as f64 + next > window.rwnd {
        Kind::Window
    } else if unsent == 0 && no_space && room_in_cwnd {
        Kind::Buffer
    } else {
        Kind::Busy
    }
}

/// A clock of each.
#[derive(Clone, Debug, Default)]
pub struct Chrono {
    kind: Kind,
    since: Time,
    /// In milliseconds.
    spent: [u64; 3],
}

impl Chrono {
    /// From now on it is this that holds.
    pub fn turn(&mut self, now: Time, kind: Kind) {
        if kind != self.kind {
            self.spent = self.spent(now).map(|us| us / 1000);
            (self.kind, self.since) = (kind, now);
        }
    }

    /// Microseconds busy, held by the window, and by the buffer.
    pub fn spent(&self, now: Time) -> [u64; 3] {
        let mut spent = self.spent;
        if self.kind != Kind::Idle {
            spent[self.kind as usize - 1] += super::milliseconds(now, self.since);
        }
        spent.map(|ms| ms * 1000)
    }
}
