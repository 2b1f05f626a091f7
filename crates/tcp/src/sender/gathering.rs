//! Segments that wait to be sent together, as Linux gathers them for a segmentation offload, whose buffers take several (6.12,
//! net/ipv4/tcp_output.c: tcp_tso_should_defer, tcp_tso_autosize, tcp_cwnd_test; tcp_input.c: tcp_update_pacing_rate).

use units::{Duration, Time};

use super::tcb::Tcb;
use super::tracking::Tracking;
use crate::config::Tcp;

/// A write longer ago than this lets go what waits.
const RECENT: Duration = Duration::from_millis(1);
/// The most that a buffer takes, in bytes.
const BUFFER: f64 = 65_535.0;
/// A buffer takes two segments at least (tcp_min_tso_segs).
const LEAST: u32 = 2;
/// What waits goes when it is so large a part of the window (tcp_tso_win_divisor).
const PART: u32 = 3;

/// What lets new data go, or makes it wait.
pub(super) struct Room {
    /// Segments that cwnd lets go.
    pub cwnd: u32,
    /// When the oldest segment out was last sent.
    pub first: Option<Time>,
    /// In a recovery nothing waits.
    pub in_recovery: bool,
}

impl Tcb {
    /// Whether the next segment of new data waits for others, though the windows let it go.
    #[inline(never)]
    pub(super) fn gathers(&self, tracking: &mut Tracking, room: &Room, now: Time, tcp: &Tcp) -> bool {
        if tracking.in_buffer > 0 {
            tracking.in_buffer -= 1;
            return false;
        }
        let smss = self.smss;
        if self.unsent <= u64::from(smss) {
            return false;
        }
        let (cwnd, most) = ((self.cwnd / f64::from(smss)) as u32, self.buffer_takes(tracking, tcp));
        let may = room.cwnd.min(self.room_in_window() / smss);
        let window = (self.rwnd / smss).min(cwnd);
        let goes = room.in_recovery
            || now.since(tracking.last_sent) > RECENT
            || may >= most
            || may * PART >= window
            || room.first.is_none_or(|at| now.since(at).0 < self.rto.srtt(tcp).0 / 2)
            || (self.closing && self.unsent <= BUFFER as u64);
        if goes {
            let waiting = (self.unsent / u64::from(smss)).min(u64::from(u32::MAX)) as u32;
            tracking.in_buffer = may.min(most).min((cwnd / 2).max(1)).min(waiting).saturating_sub(1);
        }
        tracking.gathers = !goes;
        !goes
    }

    /// Segments that a buffer takes: what is sent in about a millisecond, or more on short paths.
    fn buffer_takes(&self, tracking: &Tracking, tcp: &Tcp) -> u32 {
        let srtt = self.rto.srtt(tcp).seconds();
        let gain = if self.cwnd < self.ssthresh / 2.0 { 2.0 } else { 1.2 };
        let rate =
            if srtt > 0.0 { gain * self.cwnd.max(f64::from(self.flight())) / srtt } else { f64::INFINITY };
        let halvings = (tracking.min_rtt.0 / 1_000_000) >> 9;
        let near = if halvings < 32 { BUFFER / f64::from(1u32 << halvings) } else { 0.0 };
        let bytes = (rate / 1024.0 + near).min(BUFFER);
        ((bytes / f64::from(self.smss)) as u32).max(LEAST)
    }
}
