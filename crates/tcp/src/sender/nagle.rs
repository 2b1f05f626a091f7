//! What the application socket_flags of small segments: they wait for more to come, or for nothing (tcp(7), TCP_CORK,
//! TCP_NODELAY; send(2), MSG_MORE, MSG_EOR); and Nagle's algorithm.

use net::Seq;
use units::{Duration, Time};

use super::Sender;
use super::socket_flags::SocketFlags;
use super::tcb::{Tcb, TimerPurpose};
use super::tracking::Tracking;
use crate::config::{Nagle, RtoEstimator, Tcp};

/// The longest that a small segment waits for more while nothing is out (tcp(7)); Linux counts it as it counts a probe of
/// the window, and waits for a timeout at least.
const MAX_CORK_TIME: Duration = Duration::from_millis(200);

impl Tracking {
    /// Whether a record ends within (`seq`, `end`].
    #[inline(never)]
    pub(super) fn ends_record(&self, seq: Seq, end: Seq) -> bool {
        self.records.iter().any(|r| r.after(seq) && !r.after(end))
    }

    /// How much of `len` bytes of new data from `seq` on goes into one segment: up to the end of a record.
    pub(super) fn within_record(&self, seq: Seq, len: u32) -> u32 {
        match self.records.iter().find(|end| end.after(seq)) {
            Some(end) => len.min(*end - seq),
            None => len,
        }
    }
}

impl Sender {
    /// What is written from now on goes into other segments than what was written before.
    pub fn end_record(&mut self) {
        let (una, end) = (self.tcb.una, self.tcb.data_end() + self.tcb.unsent as u32);
        if let Some(tracking) = self.kind.tracking_mut() {
            while tracking.records.front().is_some_and(|r| !r.after(una)) {
                tracking.records.pop_front();
            }
            tracking.records.push_back(end);
        }
    }
}

impl Tcb {
    /// Small segments never wait for ACKs. What waits goes now, even corked (Linux, __tcp_sock_set_nodelay).
    pub fn nodelay(&mut self, on: bool) {
        if on && !self.socket_flags.any(SocketFlags::NODELAY) {
            self.socket_flags.set(SocketFlags::PUSH, true);
        }
        self.socket_flags.set(SocketFlags::NODELAY, on);
        self.release_small_segment();
    }

    /// The delivery rate is asked for.
    pub fn measure_delivery_rate(&mut self, on: bool) {
        self.socket_flags.set(SocketFlags::RATE, on);
    }

    /// Small segments wait for more.
    pub fn cork(&mut self, on: bool) {
        self.socket_flags.set(SocketFlags::CORK, on);
        self.release_small_segment();
    }

    /// The last write is followed by another.
    pub fn expect_more(&mut self, on: bool) {
        self.socket_flags.set(SocketFlags::MORE, on);
        self.release_small_segment();
    }

    /// Whether more is to follow what is written now.
    pub(super) fn expects_more(&self) -> bool {
        self.socket_flags.any(SocketFlags::MORE)
    }

    /// Whether nothing was wished.
    pub(super) fn has_no_socket_flags(&self) -> bool {
        !self.socket_flags.any(SocketFlags::NODELAY | SocketFlags::CORK | SocketFlags::MORE)
    }

    /// Something new was written or wished: what waits may go. While what probed the window is out, its timer goes on.
    pub fn release_small_segment(&mut self) {
        let waits = self.is_persisting() && self.una == self.max;
        if waits && self.avoids_silly_window(self.rwnd) && !self.is_corked() {
            (self.timer, self.timer_purpose) = (Time::NEVER, TimerPurpose::Rto);
        }
    }

    /// Whether all that there is to send is a small segment that waits for more.
    pub(super) fn is_corked(&self) -> bool {
        let socket_flags = self.socket_flags;
        let waits = socket_flags.any(SocketFlags::CORK | SocketFlags::MORE)
            && !socket_flags.any(SocketFlags::PUSH)
            && !self.closing;
        waits && self.unsent > 0 && self.unsent < u64::from(self.smss)
    }

    /// How long a small segment waits for more.
    pub(super) fn cork_time(&self, tcp: &Tcp) -> Duration {
        match tcp.rto.estimator {
            RtoEstimator::Linux => self.rto.timeout(tcp).max(MAX_CORK_TIME),
            _ => MAX_CORK_TIME,
        }
    }

    /// It has waited for so long.
    pub(super) fn end_cork_time(&mut self) {
        self.socket_flags.set(SocketFlags::PUSH, true);
        self.push = self.data_end() + self.unsent as u32;
        (self.timer, self.timer_purpose) = (Time::NEVER, TimerPurpose::Rto);
    }

    /// The application writes: only what waited before goes whatever was wished.
    pub(super) fn on_write(&mut self) {
        self.socket_flags.set(SocketFlags::PUSH, false);
        self.release_small_segment();
    }

    /// Whether a segment of `len` bytes of new data, with nothing behind it, waits.
    pub(super) fn holds_small_segment(&self, tracking: &Tracking, tcp: &Tcp) -> bool {
        let socket_flags = self.socket_flags;
        match tcp.connection.nagle {
            _ if socket_flags.any(SocketFlags::PUSH) => false,
            _ if socket_flags.any(SocketFlags::CORK | SocketFlags::MORE) => true,
            _ if socket_flags.any(SocketFlags::NODELAY) => false,
            Nagle::Off => false,
            Nagle::Rfc896 => self.una != self.max,
            Nagle::Minshall => tracking.small.after(self.una),
        }
    }
}
