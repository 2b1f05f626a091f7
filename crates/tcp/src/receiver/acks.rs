//! Times at which the receiver sends ACKs (RFC 5681 §4.2): at once, delayed, quick after a pause,
//! or compressed for data behind a gap.

use units::{Duration, Time};

use super::Receiver;
use crate::config::{DelayedAckUnit, Tcp};
use crate::timestamp::timestamp;

/// Number of ACKs of data behind a gap that are never compressed (TCP_FASTRETRANS_THRESH). Later
/// ACKs of data behind the gap wait for a round trip divided by `RTT_PARTS`, and at most for
/// `MAX_COMPRESSION_DELAY` (tcp_comp_sack_delay_ns).
const MAX_UNCOMPRESSED: u8 = 3;
const RTT_PARTS: u64 = 20;
const MAX_COMPRESSION_DELAY: Duration = Duration::from_millis(1);

impl Receiver {
    #[inline]
    pub(super) fn delay_ack(&mut self, now: Time, len: u16, tcp: &Tcp) {
        let n = tcp.delayed_ack.0 as u32;
        let due = match tcp.ack.unit {
            DelayedAckUnit::Segments => {
                self.unacknowledged += 1;
                self.unacknowledged >= n
            }
            DelayedAckUnit::FullSegments => {
                self.unacknowledged += u32::from(len);
                self.unacknowledged > (n - 1) * u32::from(self.largest.max(1))
            }
        };
        if due || self.quick > 0 {
            self.ack_now = true;
        } else if self.ack_at == Time::NEVER {
            self.ack_at = now + tcp.ack.timeout;
        }
    }

    /// Return true if the ACK of data behind a gap must wait, so that it can be merged with the
    /// next ACKs (Linux, __tcp_ack_snd_check).
    #[inline]
    pub(super) fn compresses_ack(&mut self, now: Time, tcp: &Tcp) -> bool {
        let max = tcp.ack.compressed.0 as u8;
        if max == 0 {
            return false;
        }
        let rtt = self.tuning.as_ref().and_then(|t| t.rtt()).unwrap_or(Duration::ZERO);
        let Some(queue) = self.queue.as_mut() else { return false };
        if queue.gap != self.next {
            (queue.gap, queue.at_once) = (self.next, 0);
        }
        if queue.at_once < MAX_UNCOMPRESSED {
            queue.at_once += 1;
            return false;
        }
        queue.compressed = queue.compressed.saturating_add(1);
        if self.quick > 0 || self.unacknowledged > 0 || queue.compressed > max || rtt == Duration::ZERO {
            return false;
        }
        let delay = Duration(rtt.0 / RTT_PARTS).min(MAX_COMPRESSION_DELAY);
        if queue.compressed == 1 {
            self.ack_at = now + delay;
        }
        true
    }

    /// Record that an ACK was sent. An ACK usually acknowledges all received data. Return true if
    /// the receiver must send another ACK.
    #[inline]
    pub fn on_ack_sent(&mut self) -> bool {
        if let Some(queue) = &mut self.queue
            && let Some(followed) = queue.on_ack_sent()
        {
            self.ack_now = followed;
            return followed;
        }
        if self.unacknowledged > 0 || self.ack_now {
            self.quick = self.quick.saturating_sub(1);
        }
        self.unacknowledged = 0;
        self.ack_now = false;
        self.ack_at = Time::NEVER;
        self.last_ack = self.next;
        false
    }

    /// Record that data is sent. If data is sent soon after data arrived, the connection is
    /// interactive, so that ACKs can wait for outgoing data (Linux, tcp_event_data_sent).
    pub fn on_conversation(&mut self, now: Time, tcp: &Tcp) {
        let since = Duration::from_millis(u64::from(timestamp(now).wrapping_sub(self.data_at)));
        let has_data = self.stats.segments > 0 || self.data_at != 0;
        if self.quick > 0 && has_data && since < tcp.ack.timeout {
            self.quick = 0;
        }
    }

    /// Acknowledge each of the next `max` segments immediately, but at most `ack.quick` segments
    /// (Linux, tcp_incr_quickack).
    #[inline(never)]
    pub fn enter_quick_ack(&mut self, max: u16, tcp: &Tcp) {
        self.quick = self.quick.max(max.min(tcp.ack.quick.0 as u16));
    }

    /// Return the time since data last arrived. If no data arrived for longer than the RTO, the
    /// sender of the data may have a small cwnd (Linux, tcp_event_data_recv).
    #[inline]
    pub fn pause(&self, now: Time) -> Option<Duration> {
        let since = Duration::from_millis(u64::from(timestamp(now).wrapping_sub(self.data_at)));
        (self.stats.segments > 0).then_some(since)
    }

    /// Turn quick ACKs on or off, as the application sets the socket option TCP_QUICKACK.
    pub fn set_quick(&mut self, on: bool) {
        self.quick = if on { u16::MAX } else { 0 };
        self.ack_now |= on && self.unacknowledged > 0;
    }

    /// Return true if ACKs are sent at once.
    #[inline]
    pub fn is_quick(&self) -> bool {
        self.quick > 0
    }

    /// Return true if an ACK is delayed and the last segment, of `len` bytes, was a full segment.
    pub fn has_delayed_ack_of(&self, len: u16) -> bool {
        self.unacknowledged > 0 && len >= self.largest
    }

    /// Return true if an ACK is delayed.
    #[inline]
    pub fn has_delayed_ack(&self) -> bool {
        self.unacknowledged > 0
    }
}
