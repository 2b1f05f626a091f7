//! Timestamps of sent data, which the application reads from the error queue (SO_TIMESTAMPING).
//!
//! Sources: Linux 6.12, Documentation/networking/timestamping.rst; net/ipv4/tcp.c:
//! tcp_tx_timestamp; net/core/skbuff.c: __skb_tstamp_tx; net/ipv4/tcp_input.c: tcp_ack_tstamp.

use units::Time;

use super::error_queue::{ByteEvent, Entry, ErrorQueue, Stamp};

/// Flag of SO_TIMESTAMPING that requests the hardware time of sending.
const TX_HARDWARE: i64 = 1;
/// Flag of SO_TIMESTAMPING that requests the time at which the driver sends a byte.
const TX_SOFTWARE: i64 = 1 << 1;
/// Flag of SO_TIMESTAMPING that requests software timestamps.
pub const SOFTWARE: i64 = 1 << 4;
/// Flag of SO_TIMESTAMPING that requests the number of the byte in each report.
pub const OPT_ID: i64 = 1 << 7;
/// Flag of SO_TIMESTAMPING that requests the time at which a byte arrives at the queue discipline.
const TX_SCHED: i64 = 1 << 8;
/// Flag of SO_TIMESTAMPING that requests the time at which all written data is acknowledged.
const TX_ACK: i64 = 1 << 9;
/// Flag of SO_TIMESTAMPING for reports with a timestamp but without the packet.
pub const OPT_TSONLY: i64 = 1 << 11;
/// Flags of SO_TIMESTAMPING that request timestamps of sent data.
pub const REQUESTS: i64 = TX_HARDWARE | TX_SOFTWARE | TX_SCHED | TX_ACK;

/// A request for timestamps of the last byte of a write.
#[derive(Clone, Copy, Debug)]
struct Request {
    /// Number of the byte in the connection, counted from 1.
    last: u64,
    flags: i64,
}

/// Requests of a connection for timestamps of sent data.
#[derive(Clone, Debug, Default)]
pub struct Stamps {
    /// Flags of SO_TIMESTAMPING.
    pub flags: i64,
    /// Number of bytes that were written to the connection before the byte that has the number 0 in
    /// timestamp reports.
    pub base: i64,
    /// Position in the written data at which the last kernel buffer of unsent data begins, in
    /// bytes.
    tail: u64,
    requests: Vec<Request>,
    /// True if the last kernel buffer is closed for further data, because a record ended there
    /// (MSG_EOR).
    closed: bool,
}

impl Stamps {
    /// Record a write of `bytes` bytes to a connection. The connection had `written` bytes before,
    /// and `unsent` of them are still unsent. Return the number of bytes in the connection before
    /// the kernel buffer that contains the first byte of the write.
    ///
    /// The kernel appends a write to its last buffer of unsent data, until the buffer has `goal`
    /// bytes.
    pub fn on_write(&mut self, written: u64, unsent: u64, bytes: u64, goal: u64, record_ends: bool) -> u64 {
        let appends = unsent > 0 && !self.closed;
        let start = if appends { self.tail.max(written.saturating_sub(unsent)) } else { written };
        let len = written.saturating_add(bytes).saturating_sub(start);
        self.tail = start + len.saturating_sub(1) / goal * goal;
        self.closed = record_ends;
        start
    }

    /// Request timestamps of the byte number `written`, which is the last byte of a write.
    ///
    /// A kernel buffer stores only one timestamp request, so a later request in the same buffer
    /// replaces an earlier one.
    pub fn request(&mut self, written: u64, flags: i64) {
        if flags & REQUESTS == 0 {
            return;
        }
        let mut flags = flags & REQUESTS;
        while let Some(earlier) = self.requests.pop_if(|r| r.last > self.tail) {
            flags |= earlier.flags;
        }
        self.requests.push(Request { last: written, flags });
    }

    /// Report the timestamps of a sent segment. The segment has `len` bytes and follows the first
    /// `before` bytes of the connection (modulo 2^32).
    pub fn on_sent(&mut self, now: Time, before: u32, len: u32, errors: &mut ErrorQueue) {
        for i in 0..self.requests.len() {
            let Request { last, flags } = self.requests[i];
            if (last as u32).wrapping_sub(1).wrapping_sub(before) < len {
                self.push(now, ByteEvent::Scheduled, last, flags & TX_SCHED, errors);
                self.push(now, ByteEvent::Sent, last, flags & TX_SOFTWARE, errors);
            }
        }
    }

    /// Report the acknowledgment of the first `acked` bytes of the connection.
    pub fn on_acked(&mut self, now: Time, acked: u64, errors: &mut ErrorQueue) {
        while let Some(&Request { last, flags }) = self.requests.first().filter(|r| r.last <= acked) {
            self.requests.remove(0);
            self.push(now, ByteEvent::Acknowledged, last, flags & TX_ACK, errors);
        }
    }

    fn push(&self, at: Time, event: ByteEvent, last: u64, wanted: i64, errors: &mut ErrorQueue) {
        if wanted == 0 {
            return;
        }
        let id = if self.flags & OPT_ID != 0 {
            (last as i64).wrapping_sub(1).wrapping_sub(self.base) as u32
        } else {
            0
        };
        errors.push(Entry::Stamp(Stamp { at, event, id, packet: self.flags & OPT_TSONLY == 0 }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(mut errors: ErrorQueue) -> Vec<(ByteEvent, u32)> {
        let mut all = Vec::new();
        while let Some(Entry::Stamp(stamp)) = errors.pop() {
            all.push((stamp.event, stamp.id));
        }
        all
    }

    #[test]
    fn a_kernel_buffer_holds_one_request() {
        let flags = OPT_ID | TX_SOFTWARE | TX_ACK;
        let (mut stamps, mut errors) = (Stamps { flags, ..Stamps::default() }, ErrorQueue::default());
        let mut write = |written: u64, unsent: u64, bytes: u64| {
            stamps.on_write(written, unsent, bytes, 1000, false);
            stamps.request(written + bytes, flags);
        };
        write(0, 0, 300);
        write(300, 300, 700); // fills the first buffer
        write(1000, 1000, 10); // a new buffer
        write(1010, 10, 10); // in the second buffer: only its 10 bytes are unsent
        stamps.on_sent(Time::ZERO, 0, 1000, &mut errors);
        stamps.on_sent(Time::ZERO, 1000, 20, &mut errors);
        stamps.on_acked(Time::ZERO, 1019, &mut errors);
        let expected = [(ByteEvent::Sent, 999), (ByteEvent::Sent, 1019), (ByteEvent::Acknowledged, 999)];
        assert_eq!(times(errors), expected);
    }

    #[test]
    fn a_retransmission_has_a_time_of_its_own() {
        let mut stamps = Stamps { flags: TX_SCHED, ..Stamps::default() };
        let mut errors = ErrorQueue::default();
        stamps.on_write(0, 0, u64::MAX, 1000, true);
        stamps.request(10, TX_SCHED);
        stamps.on_sent(Time::ZERO, 0, 9, &mut errors);
        stamps.on_sent(Time::ZERO, 9, 1, &mut errors);
        stamps.on_sent(Time::ZERO, 0, 10, &mut errors);
        stamps.on_acked(Time::ZERO, 10, &mut errors);
        stamps.on_sent(Time::ZERO, 0, 10, &mut errors);
        assert_eq!(times(errors), [(ByteEvent::Scheduled, 0); 2]);
    }
}
