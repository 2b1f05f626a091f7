//! The sender with SACK: it asks the scoreboard ([`Scoreboard`]) what is lost, what is in the network and what goes out.

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

/// What a sender with SACK has.
#[derive(Clone, Debug)]
pub(super) struct SackSender {
    board: Scoreboard,
    tracking: Tracking,
    state: CaState,
    /// RecoveryPoint (RFC 6675 §2): `max` at the last cut of the window.
    recovery_point: Seq,
    prr: Prr,
    tlp: Tlp,
    /// New segments that F-RTO sends whatever cwnd says (RFC 5682 §3.1, step 2b).
    frto_may_send: u8,
    saw_dsack: bool,
    probe_due: bool,
    /// RescueRxt (RFC 6675 §2); `None`: the rescue was sent.
    rescue: Option<Seq>,
    /// Bytes that limited transmit let go since an ACK last advanced.
    limited_transmit: u32,
    clock: DeliveryClock,
    lost_bytes: u64,
    /// The delivery rate: the last sample, or the highest if the application limited it (Linux, tcp_rate_gen).
    rate: Option<RateSample>,
    /// When the retransmission timer was last started.
    rto_from: Time,
    /// When new data last set the timer for a probe, if no ACK came since.
    probe_set: Time,
}

impl SackSender {
    /// Of a connection established at `now`.
    pub fn new(tcb: &Tcb, tracking: Tracking, now: Time, tcp: &Tcp) -> Self {
        let unit = if tcp.details.flight_unit == FlightUnit::Segments { tcb.smss } else { 0 };
        let sampled = tcb.congestion.needs_delivery_rate() || tcb.socket_flags.any(SocketFlags::RATE);
        SackSender {
            board: Scoreboard::new(unit, tcp.recovery.rack)
                .with_rack_times(tcp.details.rack_times)
                .with_rate_samples(sampled),
            tracking,
            state: CaState::Open,
            recovery_point: Seq(tcb.una.0.wrapping_sub(1)), // nothing was sent before
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

    /// What is out was sent without the scoreboard's knowledge, and is lost.
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

    /// The retransmission timer was started.
    pub fn on_timer_started(&mut self, now: Time) {
        self.rto_from = now;
    }

    pub fn tracking(&self) -> &Tracking {
        &self.tracking
    }

    pub fn tracking_mut(&mut self) -> &mut Tracking {
        &mut self.tracking
    }

    /// The window as it is.
    pub fn window(&self, tcb: &Tcb) -> Window {
        tcb.window(self.pipe())
    }

    /// Bytes in the network.
    pub fn pipe(&self) -> f64 {
        self.board.pipe() as f64
    }

    /// Bytes delivered.
    pub fn delivered(&self) -> u64 {
        self.clock.delivered
    }

    /// Bytes a second in the last sample of the delivery rate, and whether the application limited it.
    pub fn delivery_rate(&self) -> Option<(u64, bool)> {
        let rate = self.rate?;
        let seconds = rate.interval.seconds();
        (seconds > 0.0).then(|| ((rate.delivered as f64 / seconds) as u64, rate.app_limited))
    }

    /// How often segments were seen to be delivered in another order than they were sent in.
    pub fn reorderings(&self) -> u64 {
        u64::from(self.board.rack.reorderings)
    }

    /// Where the sender stands.
    pub fn state(&self) -> CaState {
        self.state
    }

    /// Segments out, SACKed, lost and sent again.
    pub fn counts(&self) -> (u32, u32, u32, u32) {
        self.board.counts()
    }

    /// Bytes and segments that an ACK will deliver for the first time.
    pub fn newly_acked(&self, tcb: &Tcb, ack: Seq, options: &Options) -> (u32, u32) {
        self.board.newly_acked(tcb.una, ack, options.sack(), tcb.max)
    }

    /// A recovery begins, which may be for nothing.
    fn arm_undo(&mut self, tcb: &Tcb) {
        let in_flight = self.board.counts().3;
        self.tracking.undo = self.tracking.undo.begin_again(&self.window(tcb), in_flight);
    }

    /// Whether cwnd is what stops the sender now, where that matters.
    #[inline(always)]
    pub fn record_limit(&mut self, tcb: &mut Tcb, tcp: &Tcp) {
        if tcp.cwnd.validation != CwndValidation::None || self.board.is_sampled() {
            self.record_limit_now(tcb);
        }
    }

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
