//! Small segments that wait: Nagle's algorithm, and the socket options TCP_CORK and TCP_NODELAY
//! (tcp(7)) and flags MSG_MORE and MSG_EOR (send(2)).

use net::Seq;
use units::{Duration, Time};

use super::Sender;
use super::socket_flags::SocketFlags;
use super::tcb::{Tcb, TimerPurpose};
use super::tracking::Tracking;
use crate::config::{Nagle, RtoEstimator, Tcp};

/// Maximum time that a corked segment waits while no data is in flight (tcp(7)). Linux uses the
/// timer of window probes for corked segments, so that a corked segment waits at least one RTO.
const MAX_CORK_TIME: Duration = Duration::from_millis(200);

impl Tracking {
    /// Return true if a record ends within (`seq`, `end`].
    #[inline(never)]
    pub(super) fn ends_record(&self, seq: Seq, end: Seq) -> bool {
        self.records.iter().any(|r| r.after(seq) && !r.after(end))
    }

    /// Return how many of `len` bytes of new data from `seq` on fit into one segment, which may not
    /// extend beyond the end of the record.
    pub(super) fn within_record(&self, seq: Seq, len: u32) -> u32 {
        match self.records.iter().find(|end| end.after(seq)) {
            Some(end) => len.min(*end - seq),
            None => len,
        }
    }
}

impl Sender {
    /// End a record: later writes do not share a segment with earlier writes.
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
    /// Set TCP_NODELAY, with which small segments never wait for ACKs. When the application sets
    /// TCP_NODELAY, the sender sends all waiting data now, even if the socket is corked (Linux,
    /// __tcp_sock_set_nodelay).
    pub fn nodelay(&mut self, on: bool) {
        if on && !self.socket_flags.any(SocketFlags::NODELAY) {
            self.socket_flags.set(SocketFlags::PUSH, true);
        }
        self.socket_flags.set(SocketFlags::NODELAY, on);
        self.release_small_segment();
    }

    /// Enable or disable delivery rate samples for TCP_INFO.
    pub fn measure_delivery_rate(&mut self, on: bool) {
        self.socket_flags.set(SocketFlags::RATE, on);
    }

    /// Set TCP_CORK, with which small segments wait for more data.
    pub fn cork(&mut self, on: bool) {
        self.socket_flags.set(SocketFlags::CORK, on);
        self.release_small_segment();
    }

    /// Set MSG_MORE, by which the application announces another write.
    pub fn expect_more(&mut self, on: bool) {
        self.socket_flags.set(SocketFlags::MORE, on);
        self.release_small_segment();
    }

    /// Return true if the application has announced another write.
    pub(super) fn expects_more(&self) -> bool {
        self.socket_flags.any(SocketFlags::MORE)
    }

    /// Return true if none of the flags that the application has set affects small segments.
    pub(super) fn has_no_socket_flags(&self) -> bool {
        !self.socket_flags.any(SocketFlags::NODELAY | SocketFlags::CORK | SocketFlags::MORE)
    }

    /// Stop the persist timer if the waiting segment may now be sent, after a write or a change of
    /// a socket flag. The persist timer continues to run while a window probe is in flight.
    pub fn release_small_segment(&mut self) {
        let waits = self.is_persisting() && self.una == self.max;
        if waits && self.avoids_silly_window(self.rwnd) && !self.is_corked() {
            (self.timer, self.timer_purpose) = (Time::NEVER, TimerPurpose::Rto);
        }
    }

    /// Return true if the only unsent data is a small segment that waits for more data.
    pub(super) fn is_corked(&self) -> bool {
        let socket_flags = self.socket_flags;
        let waits = socket_flags.any(SocketFlags::CORK | SocketFlags::MORE)
            && !socket_flags.any(SocketFlags::PUSH)
            && !self.closing;
        waits && self.unsent > 0 && self.unsent < u64::from(self.smss)
    }

    /// Return the maximum time that a small segment waits for more data.
    pub(super) fn cork_time(&self, tcp: &Tcp) -> Duration {
        match tcp.rto.estimator {
            RtoEstimator::Linux => self.rto.timeout(tcp).max(MAX_CORK_TIME),
            _ => MAX_CORK_TIME,
        }
    }

    /// Send a corked segment whose maximum waiting time is over.
    pub(super) fn end_cork_time(&mut self) {
        self.socket_flags.set(SocketFlags::PUSH, true);
        self.write_end = self.data_end() + self.unsent as u32;
        (self.timer, self.timer_purpose) = (Time::NEVER, TimerPurpose::Rto);
    }

    /// Process a write by the application. The flag `PUSH` releases only data that the application
    /// wrote before the flag was set, so a new write clears the flag.
    pub(super) fn on_write(&mut self) {
        self.socket_flags.set(SocketFlags::PUSH, false);
        self.release_small_segment();
    }

    /// Return true if the last segment of the written data, which is smaller than SMSS, must wait.
    pub(super) fn holds_small_segment(&self, tracking: &Tracking, tcp: &Tcp) -> bool {
        let socket_flags = self.socket_flags;
        match tcp.connection.nagle {
            _ if socket_flags.any(SocketFlags::PUSH) => false,
            _ if socket_flags.any(SocketFlags::CORK | SocketFlags::MORE) => true,
            _ if socket_flags.any(SocketFlags::NODELAY) => false,
            Nagle::Off => false,
            Nagle::Rfc896 => self.una != self.max,
            Nagle::Minshall => tracking.small_end.after(self.una),
        }
    }
}
