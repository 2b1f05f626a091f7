//! The advertised window (RFC 9293 §3.8.6).

use net::Seq;
use units::{Duration, Time};

use super::Receiver;
use crate::config::{Tcp, WindowScaling, WindowTuning};
use crate::timestamp::timestamp;
use crate::tuning::Tuning;

impl Receiver {
    /// Return the window that the parameters specify before data arrives.
    pub fn configured_window(tcp: &Tcp) -> u32 {
        match tcp.window.tuning {
            WindowTuning::Off => tcp.receive_window.0 as u32,
            WindowTuning::Linux => Tuning::first_window(tcp),
        }
    }

    /// Return the window that a SYN or SYN-ACK advertises. The window scale never applies to the
    /// window of a SYN or SYN-ACK (RFC 7323 §2.2).
    pub fn syn_window(tcp: &Tcp) -> u32 {
        let buffer = Self::configured_window(tcp);
        if tcp.window.scaling == WindowScaling::Full { buffer } else { buffer.min(65_535) }
    }

    /// Return the size of the receive buffer, in bytes.
    #[inline]
    pub fn buffer(&self, tcp: &Tcp) -> u32 {
        self.tuning.as_ref().map_or(tcp.receive_window.0 as u32, |t| t.window(self.unread))
    }

    /// Return the bytes that the application read in the last round trip, if the window is tuned.
    pub fn read_per_round_trip(&self) -> Option<u32> {
        self.tuning.as_ref().map(|t| t.bytes_read())
    }

    /// Update the tuning of the window for a segment with data. `echo` is the timestamp that the
    /// segment echoes, if any. While the window grows, the number of remaining quick ACKs is always
    /// odd, and therefore does not reach zero (Linux, tcp_grow_window).
    #[inline]
    pub fn tune(&mut self, now: Time, len: u16, echo: Option<u32>, tcp: &Tcp) {
        let next = self.next;
        let Some(tuning) = &mut self.tuning else { return };
        if let Some(echo) = echo.filter(|&e| e != 0) {
            let since = Duration::from_millis(u64::from(timestamp(now).wrapping_sub(echo)));
            tuning.on_timestamp_echo(echo, since, u32::from(len));
        }
        if tuning.on_data(now, u32::from(len), next) && tcp.ack.quick.0 > 0.0 {
            self.quick |= 1;
        }
    }

    /// Record that the application has read data.
    pub fn on_read(&mut self, now: Time) {
        let to = Seq(self.next.0.wrapping_sub(self.unread));
        if let Some(tuning) = &mut self.tuning {
            tuning.on_read(now, to);
        }
    }

    /// Return the window to advertise, with a buffer of `buffer` bytes and a window field that can
    /// represent at most `max` bytes. The right edge of the window never moves back (RFC 9293
    /// §3.8.6), and moves forward by at least a segment or half the buffer (RFC 9293 §3.8.6.2.2).
    #[inline]
    pub fn window(&mut self, buffer: u32, max: u32, smss: impl FnOnce() -> u32) -> u32 {
        let free = buffer.saturating_sub(self.unread).min(max);
        let old = if self.edge.after(self.next) { self.edge - self.next } else { 0 };
        let window = if free >= buffer.min(max) || free >= old.saturating_add(smss().min(buffer / 2)) {
            free.max(old)
        } else {
            old
        };
        self.edge = self.next + window;
        self.window_current = true;
        window
    }

    /// Return the unused part of the window that was advertised last.
    #[inline]
    pub fn advertised(&self) -> u32 {
        if self.edge.after(self.next) { self.edge - self.next } else { 0 }
    }

    /// Read up to `bytes` bytes for the application. Return the number of bytes read, and true if
    /// the growth of the window requires that the receiver advertises the new window at once. `max`
    /// is the largest window that the window field can represent.
    pub fn read(&mut self, bytes: u32, buffer: u32, max: u32, smss: u32) -> (u32, bool) {
        let n = bytes.min(self.unread);
        self.unread -= n;
        self.window_current = false;
        let free = buffer.saturating_sub(self.unread).min(max);
        let advertised = self.advertised();
        (n, n > 0 && free >= 2 * advertised && free >= advertised + smss.min(buffer / 2))
    }
}
