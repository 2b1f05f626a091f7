//! Time that a sender has spent in each state: busy, limited by the peer's window, or limited by a
//! small send buffer (Linux, enum tcp_chrono, tcp_get_info_chrono_stats).

use tcp::{Endpoint, State};
use units::Time;

/// State of a sender. Later states have precedence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// No data is in flight, and no data waits to be sent.
    #[default]
    Idle,
    /// Data is in flight, or data waits to be sent.
    Busy,
    /// The window of the peer limits the sender.
    Window,
    /// The send buffer limits the sender.
    Buffer,
}

/// Return the state of an endpoint that has sent all segments that it can send now.
pub fn kind(endpoint: &Endpoint, no_space: bool) -> Kind {
    let (held, unsent) = endpoint.outstanding();
    let window = endpoint.window();
    let (out, smss) = (held - unsent, window.smss.max(1.0));
    let next = (unsent as f64).min(smss);
    let room_in_cwnd = endpoint.segments_in_flight() * smss + next <= window.cwnd + window.inflation;
    let opens = endpoint.state() <= State::SynReceived && !endpoint.is_early();
    if opens && endpoint.sender_stats().segments > 0 {
        Kind::Busy // the SYN carried data
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

/// Clock that measures the time in each state of the sender.
#[derive(Clone, Debug, Default)]
pub struct Chrono {
    kind: Kind,
    since: Time,
    /// Time in milliseconds.
    spent: [u64; 3],
}

impl Chrono {
    /// Change the state.
    pub fn turn(&mut self, now: Time, kind: Kind) {
        if kind != self.kind {
            self.spent = self.spent(now).map(|us| us / 1000);
            (self.kind, self.since) = (kind, now);
        }
    }

    /// Return the time that the sender has spent in each state except idle, in microseconds.
    pub fn spent(&self, now: Time) -> [u64; 3] {
        let mut spent = self.spent;
        if self.kind != Kind::Idle {
            spent[self.kind as usize - 1] += super::milliseconds(now, self.since);
        }
        spent.map(|ms| ms * 1000)
    }
}
