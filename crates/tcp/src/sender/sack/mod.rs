//! The sender with SACK, whose [`Scoreboard`] determines lost segments, the pipe, and the next
//! segment to send.

mod ack;
mod losses;
mod output;
mod reduction;
mod reordering;
mod spurious;
mod timer;

use net::{Options, Seq};
use units::Time;

use super::ca_state::CaState;
use super::cwnd::Outstanding;
use super::socket_flags::SocketFlags;
use super::tcb::Tcb;
use super::tracking::Tracking;
use crate::config::{CwndValidation, FlightUnit, Tcp};
use crate::congestion::{CongestionControl, RateSample};
use crate::recovery::prr::Prr;
use crate::recovery::scoreboard::{DeliveryClock, Scoreboard};
use crate::recovery::tlp::Tlp;
use crate::window::Window;

/// State of a sender with SACK.
#[derive(Clone, Debug)]
pub(super) struct SackSender {
    /// Segments in flight.
    board: Scoreboard,
    /// Optional state that senders with and without SACK share.
    tracking: Tracking,
    /// State of congestion avoidance.
    state: CaState,
    /// RecoveryPoint (RFC 6675 §2): SND.MAX at the last reduction of cwnd.
    recovery_point: Seq,
    /// State of Proportional Rate Reduction.
    prr: Prr,
    /// State of the tail loss probe.
    tlp: Tlp,
    /// Number of new segments that F-RTO may send regardless of cwnd (RFC 5682 §3.1, step 2b).
    frto_may_send: u8,
    /// True once the receiver has sent a D-SACK.
    saw_dsack: bool,
    /// True if the sender must send a tail loss probe now.
    probe_due: bool,
    /// RescueRxt (RFC 6675 §2), or `None` after the rescue retransmission was sent.
    rescue: Option<Seq>,
    /// Bytes that limited transmit has sent since the last advance of SND.UNA.
    limited_transmit: u32,
    /// State of the delivery rate estimator.
    clock: DeliveryClock,
    /// Bytes marked as lost since the last delivery rate sample.
    lost_bytes: u64,
    /// Last delivery rate sample; while the application limits the sender, the highest sample
    /// (Linux, tcp_rate_gen).
    rate: Option<RateSample>,
    /// Time at which the retransmission timer was last started.
    rto_from: Time,
    /// Time at which the sender last scheduled a tail loss probe after new data, if no ACK has
    /// arrived since then.
    probe_set: Time,
}

impl SackSender {
    /// Create the sender of a connection established at `now`.
    pub fn new(tcb: &Tcb, tracking: Tracking, now: Time, tcp: &Tcp) -> Self {
        let unit = if tcp.details.flight_unit == FlightUnit::Segments { tcb.smss } else { 0 };
        let sampled = tcb.congestion.needs_delivery_rate() || tcb.socket_flags.any(SocketFlags::RATE);
        SackSender {
            board: Scoreboard::new(unit, tcp.recovery.rack)
                .with_rack_times(tcp.details.rack_times)
                .with_rate_samples(sampled),
            tracking,
            state: CaState::Open,
            recovery_point: Seq(tcb.una.0.wrapping_sub(1)), // all earlier data is acknowledged
            prr: Prr::default(),
            tlp: Tlp::default(),
            frto_may_send: 0,
            saw_dsack: false,
            probe_due: false,
            rescue: None,
            limited_transmit: 0,
            clock: DeliveryClock { delivered: 0, delivered_at: now, first_sent: now },
            lost_bytes: 0,
            rate: None,
            rto_from: now,
            probe_set: Time::NEVER,
        }
    }

    /// Mark all data in flight as lost and add this data to the scoreboard, which does not contain
    /// data that was sent during the handshake.
    pub fn mark_all_lost(&mut self, tcb: &Tcb, now: Time) {
        self.rto_from = now;
        let mut start = tcb.una;
        while start.before(tcb.max) {
            let end = start + tcb.smss.min(tcb.max - start);
            self.board.on_sent(start, end, now, &self.clock, false);
            start = end;
        }
        self.board.lose_all(true);
        self.state = CaState::Loss;
        self.recovery_point = tcb.max;
    }

    /// Record that the retransmission timer is started.
    pub fn on_timer_started(&mut self, now: Time) {
        self.rto_from = now;
    }

    pub fn tracking(&self) -> &Tracking {
        &self.tracking
    }

    pub fn tracking_mut(&mut self) -> &mut Tracking {
        &mut self.tracking
    }

    /// Return the windows as a congestion control reads them.
    pub fn window(&self, tcb: &Tcb) -> Window {
        tcb.window(self.pipe())
    }

    /// Return the number of bytes in the network (pipe).
    pub fn pipe(&self) -> f64 {
        self.board.pipe() as f64
    }

    /// Return the number of bytes delivered.
    pub fn delivered(&self) -> u64 {
        self.clock.delivered
    }

    /// Return the last delivery rate sample in bytes per second, and true if the sample was
    /// application-limited.
    pub fn delivery_rate(&self) -> Option<(u64, bool)> {
        let rate = self.rate?;
        let seconds = rate.interval.seconds();
        (seconds > 0.0).then(|| ((rate.delivered as f64 / seconds) as u64, rate.app_limited))
    }

    /// Return the number of detected reorderings, in which segments arrived in a different order
    /// from their transmission.
    pub fn reorderings(&self) -> u64 {
        u64::from(self.board.rack.reorderings)
    }

    /// Return the state of congestion avoidance.
    pub fn state(&self) -> CaState {
        self.state
    }

    /// Return the numbers of unacknowledged, SACKed, lost and retransmitted segments.
    pub fn counts(&self) -> (u32, u32, u32, u32) {
        self.board.counts()
    }

    /// Return the numbers of bytes and segments that an ACK will deliver for the first time.
    pub fn newly_acked(&self, tcb: &Tcb, ack: Seq, options: &Options) -> (u32, u32) {
        self.board.newly_acked(tcb.una, ack, options.sack(), tcb.max)
    }

    /// Store cwnd and ssthresh before a reduction, so that the sender can undo the reduction if the
    /// retransmission is spurious.
    fn arm_undo(&mut self, tcb: &Tcb) {
        let in_flight = self.board.counts().3;
        self.tracking.undo = self.tracking.undo.begin_again(&self.window(tcb), in_flight);
    }

    /// Record whether cwnd limits the sender, if a parameter or the congestion controller uses this
    /// information.
    #[inline(always)]
    pub fn record_limit(&mut self, tcb: &mut Tcb, tcp: &Tcp) {
        if tcp.cwnd.validation != CwndValidation::None || self.board.is_sampled() {
            self.record_limit_now(tcb);
        }
    }

    /// Record whether cwnd limits the sender.
    #[inline(never)]
    fn record_limit_now(&mut self, tcb: &mut Tcb) {
        let outstanding = Outstanding {
            pipe: self.pipe(),
            segment: self.board.weight_of(tcb.smss) as f64,
            flight: self.board.len() as f64 * f64::from(tcb.smss),
            delivered: self.clock.delivered,
        };
        tcb.record_limit(&mut self.tracking, outstanding);
    }
}
