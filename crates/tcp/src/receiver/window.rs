//! The window that is advertised (RFC 9293 §3.8.6).

use net::Seq;
use units::{Duration, Time};

use super::Receiver;
use crate::config::{Tcp, WindowScaling, WindowTuning};
use crate::timestamp::timestamp;
use crate::tuning::Tuning;

impl Receiver {
    /// The window that the parameters give before anything arrives.
    pub fn whole_window(tcp: &Tcp) -> u32 {
        match tcp.window.tuning {
            WindowTuning::Off => tcp.receive_window.0 as u32,
            WindowTuning::Linux => Tuning::first_window(tcp),
        }
    }

    /// The window that a SYN or SYN-ACK tells, which is never scaled (RFC 7323 §2.2).
    pub fn first_window(tcp: &Tcp) -> u32 {
        let buffer = Self::whole_window(tcp);
        if tcp.window.scaling == WindowScaling::Full { buffer } else { buffer.min(65_535) }
    }

    /// Room for received data.
    #[inline]
    pub fn buffer(&self, tcp: &Tcp) -> u32 {
        self.tuning.as_ref().map_or(tcp.receive_window.0 as u32, |t| t.window(self.unread))
    }

    /// What was read in a round trip, where the window is tuned.
    pub fn space(&self) -> Option<u32> {
        self.tuning.as_ref().map(|t| t.bytes_read())
    }

    /// A segment with data arrives, with a timestamp of ours or none. While the window grows the number of quick ACKs stays odd, and
    /// does not come to its end (Linux, tcp_grow_window).
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

    /// The application has read all that it wants for now.
    pub fn on_read(&mut self, now: Time) {
        let to = Seq(self.next.0.wrapping_sub(self.unread));
        if let Some(tuning) = &mut self.tuning {
            tuning.on_read(now, to);
        }
    }

    /// Return the window to advertise, with a buffer of `buffer` bytes, of which the window field can
    /// express `most`: never taken back (RFC 9293 §3.8.6), and opened by no less than a segment or half the
    /// buffer (§3.8.6.2.2).
    #[inline]
    pub fn window(&mut self, buffer: u32, most: u32, smss: impl FnOnce() -> u32) -> u32 {
        let free = buffer.saturating_sub(self.unread).min(most);
        let old = if self.edge.after(self.next) { self.edge - self.next } else { 0 };
        let window = if free >= buffer.min(most) || free >= old.saturating_add(smss().min(buffer / 2)) {
            free.max(old)
        } else {
            old
        };
        self.edge = self.next + window;
        self.window_stands = true;
        window
    }

    /// The window that was advertised last, as far as it is not used.
    #[inline]
    pub fn advertised(&self) -> u32 {
        if self.edge.after(self.next) { self.edge - self.next } else { 0 }
    }

    /// The application reads up to `bytes`; whether the window has opened so far that the other side
    /// should be told. `most`: of which the window field can tell.
    pub fn read(&mut self, bytes: u32, buffer: u32, most: u32, smss: u32) -> (u32, bool) {
        let n = bytes.min(self.unread);
        self.unread -= n;
        self.window_stands = false;
        let free = buffer.saturating_sub(self.unread).min(most);
        let told = self.advertised();
        (n, n > 0 && free >= 2 * told && free >= told + smss.min(buffer / 2))
    }
}
