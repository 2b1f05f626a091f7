//! Segments of new data that wait until they fill a super-packet, as in Linux with segmentation
//! offload (6.12, net/ipv4/tcp_output.c: tcp_write_xmit, tcp_tso_should_defer, tcp_tso_autosize,
//! tcp_cwnd_test; tcp_input.c: tcp_update_pacing_rate).
//!
//! Since autumn 2025 ("tcp: fix tcp_tso_should_defer() vs large RTT", in 6.12.55) segments wait
//! only for an ACK that is due within 1 ms.

use units::{Duration, Rate, Time};

use super::send_queue::{MAX_SUPER_PACKET, SendQueue};
use super::tcb::Tcb;
use crate::config::Tcp;
use crate::congestion::CongestionControl;
use crate::congestion::control::MIN_SUPER_PACKET;
use crate::recovery::scoreboard::Scoreboard;

/// Time since the last transmission after which new segments no longer wait for a larger
/// super-packet.
const MAX_SEND_GAP: Duration = Duration::from_millis(1);
/// Maximum time to the expected next ACK. If the next ACK is expected later, the sender sends
/// segments without waiting for a larger super-packet. If half of the round-trip time is shorter
/// than this maximum, segments wait at most for half of the round-trip time.
const MAX_ACK_WAIT: Duration = Duration::from_millis(1);
/// Divisor of the window: segments do not wait if they fill the window divided by this number
/// (tcp_tso_win_divisor).
const WINDOW_DIVISOR: u32 = 3;

/// State of the sender from which it decides whether segments wait.
pub(super) struct SendAllowance<'a> {
    /// Number of segments of new data that cwnd permits.
    pub cwnd: u32,
    /// Number of bytes of new data that the send window permits.
    pub window: u32,
    /// Number of bytes of new data in the send buffer.
    pub buffered: u32,
    /// Scoreboard of the segments in flight.
    pub board: &'a Scoreboard,
    /// Time at which the last segment was sent.
    pub last_sent: Time,
    /// Minimum round-trip time.
    pub min_rtt: Duration,
    /// True during a recovery. In a recovery, segments do not wait for a larger super-packet.
    pub in_recovery: bool,
}

impl Tcb {
    /// Return true if the next segment of new data waits for the segments after it, although cwnd
    /// and the send window permit the segment. If the function returns false, the next segment
    /// begins a super-packet.
    #[inline(always)]
    pub(super) fn waits_for_super_packet(
        &self,
        queue: &mut SendQueue,
        allowance: SendAllowance,
        now: Time,
        tcp: &Tcp,
    ) -> bool {
        let smss = self.smss;
        let half_cwnd = || ((self.cwnd / f64::from(smss)) as u32 / 2).max(1);
        let low_cwnd = || f64::from(allowance.cwnd) * 2.0 * f64::from(smss) <= self.cwnd;
        let mut quota =
            if allowance.cwnd <= 1 || low_cwnd() { allowance.cwnd } else { allowance.cwnd.min(half_cwnd()) };
        let mut whole = None;
        let paces = self.congestion.paces();
        if quota > MIN_SUPER_PACKET || paces {
            let segments = self.super_packet_segments(allowance.min_rtt, paces, tcp);
            (whole, quota) = (Some(segments), quota.min(segments));
        }
        // The first super-packet takes data from the second super-packet until the first one has as
        // much data as the windows permit (tcp_grow_skb).
        let first = queue.first(self.max).max((quota * smss).min(allowance.buffered));
        let may_wait =
            first > smss && !allowance.in_recovery && now.since(allowance.last_sent) <= MAX_SEND_GAP;
        if may_wait && self.should_defer(queue, &allowance, (first, whole), now, tcp) {
            return true;
        }
        let bytes = first.min(quota * smss).min(allowance.window / smss * smss).max(smss.min(first));
        queue.begin_burst(self.una, self.max + bytes, bytes > smss);
        false
    }

    /// Return true if the first super-packet of the write queue, which has `first` bytes, waits
    /// (tcp_tso_should_defer). `whole` is the number of segments of a full super-packet, if this
    /// number is known.
    #[inline(always)]
    fn should_defer(
        &self,
        queue: &mut SendQueue,
        allowance: &SendAllowance,
        (first, whole): (u32, Option<u32>),
        now: Time,
        tcp: &Tcp,
    ) -> bool {
        let smss = self.smss;
        let by_cwnd = allowance.cwnd.saturating_mul(smss);
        let limit = by_cwnd.min(allowance.window);
        let alone = queue.is_last();
        if (!alone && limit >= first) || limit >= self.rwnd.min(self.cwnd as u32) / WINDOW_DIVISOR {
            return false;
        }
        let srtt = self.rto.srtt(tcp);
        let ack_wait = Duration(srtt.0 / 2).min(MAX_ACK_WAIT);
        if allowance.board.first().is_none_or(|first| first.at + srtt > now + ack_wait) {
            return false;
        }
        let whole = match whole {
            Some(segments) => segments,
            // if the windows do not permit a super-packet of this minimum size, they do not permit
            // a larger one
            None if limit < MIN_SUPER_PACKET * smss => MIN_SUPER_PACKET,
            None => self.super_packet_segments(allowance.min_rtt, false, tcp),
        };
        if limit >= whole * smss {
            return false;
        }
        let by_window = by_cwnd >= allowance.window;
        if !by_window && by_cwnd <= first {
            queue.waited_for_cwnd = true;
            return true;
        }
        (by_window && allowance.window <= first)
            || !(self.closing && alone && u64::from(allowance.buffered) >= self.unsent)
    }

    /// Return the number of segments of a full super-packet, which is the number sent in about 1
    /// ms, or more on paths with a short round-trip time (tcp_tso_autosize). `paces` is true if the
    /// congestion controller paces segments.
    #[inline(never)]
    fn super_packet_segments(&self, min_rtt: Duration, paces: bool, tcp: &Tcp) -> u32 {
        let srtt = self.rto.srtt(tcp);
        let paced = if paces { self.pacing_rate(srtt) } else { None };
        let gain = if self.cwnd < self.ssthresh / 2.0 { 2.0 } else { 1.2 };
        let rate = match paced {
            Some(rate) => rate.0 as f64 / 8.0,
            None if srtt > Duration::ZERO => gain * self.cwnd.max(f64::from(self.flight())) / srtt.seconds(),
            None => f64::INFINITY,
        };
        let min_segments = paced.map_or(MIN_SUPER_PACKET, |rate| self.congestion.min_super_packet(rate));
        let halvings = (min_rtt.0 / 1_000_000) >> 9;
        let near_bonus = if halvings < 32 { f64::from(MAX_SUPER_PACKET >> halvings) } else { 0.0 };
        let bytes = (rate / 1024.0 + near_bonus).min(f64::from(MAX_SUPER_PACKET));
        ((bytes / f64::from(self.smss)) as u32).max(min_segments)
    }

    /// Return the pacing rate, if the congestion controller paces segments.
    #[inline(never)]
    fn pacing_rate(&self, srtt: Duration) -> Option<Rate> {
        self.congestion.pacing_rate(&self.window(0.0), srtt)
    }
}
