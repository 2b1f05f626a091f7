//! The sender without SACK: it knows of bytes alone, and goes back to SND.UNA when the timer expires.

mod ack;
mod output;
mod spurious;
mod timer;

use std::collections::VecDeque;

use net::Seq;
use units::{Duration, Time};

use super::ca_state::CaState;
use super::cwnd::{Outstanding, Progress};
use super::tcb::Tcb;
use super::tracking::Tracking;
use crate::config::{FrtoKind, Tcp};
use crate::congestion::{Congestion, RateSample};
use crate::recovery::eifel::Undo;
use crate::recovery::reno::DuplicateAcks;
use crate::window::Window;

/// What a sender without SACK has.
#[derive(Clone, Debug)]
pub(super) struct CumulativeSender {
    /// SND.NXT.
    nxt: Seq,
    /// What fast recovery adds to cwnd.
    inflation: u32,
    /// `max` at the last cut of the window (recover of RFC 6582).
    recover: Seq,
    duplicates: DuplicateAcks,
    /// The last reason for cutting the window.
    last_reduction: Option<Congestion>,
    /// The segment being timed and when it was sent; [`Time::NEVER`]: none.
    timed: Seq,
    timed_at: Time,
    measurements: Option<Box<Measurements>>,
}

/// What is measurements, where something needs it.
#[derive(Clone, Debug)]
struct Measurements {
    tracking: Tracking,
    delivered: u64,
    /// For controllers that measure: where each segment ends that was sent once, when it was sent, and the bytes delivered by then.
    sent: VecDeque<(Seq, Time, u64)>,
}

impl CumulativeSender {
    /// Before the SYN, whose sequence number is `iss`.
    pub fn new(iss: Seq) -> Self {
        CumulativeSender {
            nxt: iss,
            inflation: 0,
            recover: iss,
            duplicates: DuplicateAcks::default(),
            last_reduction: None,
            timed: iss,
            timed_at: Time::NEVER,
            measurements: None,
        }
    }

    /// The SYN is timed from then on ([`Time::NEVER`]: it is not).
    pub fn time_syn(&mut self, at: Time) {
        self.timed_at = at;
    }

    /// Everything up to SND.MAX was sent.
    pub fn skip_to_max(&mut self, tcb: &Tcb) {
        self.nxt = tcb.max;
    }

    /// What is out is to be sent again, and not timed.
    pub fn rewind_to_una(&mut self, tcb: &Tcb) {
        (self.nxt, self.timed_at) = (tcb.una, Time::NEVER);
    }

    /// The SYN is acknowledged; what it brings is kept track of if it must be.
    pub fn on_syn_acked(&mut self, tcb: &Tcb, tracking: Option<Tracking>) {
        self.recover = Seq(tcb.una.0.wrapping_sub(1)); // RFC 6582 §3.2: nothing was sent before
        self.measurements =
            tracking.map(|tracking| Box::new(Measurements { tracking, delivered: 0, sent: VecDeque::new() }));
    }

    pub fn tracking(&self) -> Option<&Tracking> {
        self.measurements.as_ref().map(|m| &m.tracking)
    }

    pub fn tracking_mut(&mut self) -> Option<&mut Tracking> {
        self.measurements.as_mut().map(|m| &mut m.tracking)
    }

    /// The window as it is.
    pub fn window(&self, tcb: &Tcb) -> Window {
        Window { inflation: f64::from(self.inflation), ..tcb.window(f64::from(tcb.flight())) }
    }

    /// Bytes delivered, if they are counted.
    pub fn delivered(&self) -> Option<u64> {
        self.measurements.as_ref().map(|m| m.delivered)
    }

    /// The degree of reordering, in segments.
    pub fn reordering_degree(&self, tcp: &Tcp) -> u32 {
        self.tracking().map_or(tcp.recovery.duplicate_acks.0 as u32, |m| m.reordering.segments())
    }

    /// Where the sender stands, as far as the last cut tells.
    pub fn state(&self, tcb: &Tcb) -> CaState {
        match self.last_reduction {
            _ if self.duplicates.in_recovery() => CaState::Recovery,
            Some(Congestion::Timeout { .. }) if tcb.una.before(self.recover) => CaState::Loss,
            Some(Congestion::Ecn) if tcb.una.before(self.recover) => CaState::Cwr,
            _ => CaState::Open,
        }
    }

    /// Segments out, and those of which duplicate ACKs told.
    pub fn counts(&self, tcb: &Tcb) -> (u32, u32) {
        (tcb.flight().div_ceil(tcb.smss.max(1)), self.duplicates.count())
    }

    /// Cuts the window; `limited`: bytes that duplicate ACKs let go.
    #[cold]
    fn reduce_cwnd(&mut self, tcb: &mut Tcb, congestion: Congestion, limited: u32, now: Time, tcp: &Tcp) {
        tcb.reduce_cwnd(now, congestion, tcb.window_at_reduction(self.window(tcb), tcb.una, limited), tcp);
        (self.last_reduction, self.recover) = (Some(congestion), tcb.max);
    }

    /// A recovery begins, which may be for nothing.
    fn arm_undo(&mut self, tcb: &Tcb, tcp: &Tcp) {
        let window = self.window(tcb);
        if (tcp.recovery.eifel || tcp.recovery.frto != FrtoKind::Off)
            && let Some(tracking) = self.tracking_mut()
        {
            tracking.undo = Undo::begin(&window);
        }
    }

    /// Whether cwnd is what stops the sender now.
    pub fn record_limit(&mut self, tcb: &mut Tcb) {
        if let Some(m) = &mut self.measurements {
            let flight = f64::from(tcb.flight());
            let outstanding =
                Outstanding { pipe: flight, segment: f64::from(tcb.smss), flight, delivered: m.delivered };
            tcb.record_limit(&mut m.tracking, outstanding);
        }
    }

    /// A round trip by the segment that is timed.
    #[inline]
    pub fn sample_rtt(&mut self, tcb: &mut Tcb, now: Time, tcp: &Tcp) -> Option<Duration> {
        let (seq, sent) = (self.timed, self.timed_at);
        if sent != Time::NEVER && tcb.una.after(seq) {
            tcb.rto.on_sample(tcp, sent, now, (tcb.una, tcb.max));
            self.timed_at = Time::NEVER;
            return Some(now.since(sent));
        }
        None
    }
}

impl Measurements {
    /// So many bytes were delivered; the round trip of what was sent last of them, if it is known.
    #[inline]
    fn record_delivered(&mut self, delivered: u32, rtt: Option<Duration>) {
        self.tracking.min_rtt = rtt.map_or(self.tracking.min_rtt, |rtt| rtt.min(self.tracking.min_rtt));
        self.delivered += u64::from(delivered);
    }

    /// An ACK up to `una` came: takes its round trip, and a sample of the delivery rate.
    fn on_ack(&mut self, una: Seq, now: Time, progress: &mut Progress) {
        self.record_delivered(progress.delivered, progress.rtt);
        let tracking = &mut self.tracking;
        if progress.delivered > 0 {
            let mut newest = None;
            while self.sent.front().is_some_and(|s| !s.0.after(una)) {
                newest = self.sent.pop_front();
            }
            if let Some((_, at, by_then)) = newest {
                let interval = now.since(at);
                tracking.min_rtt = tracking.min_rtt.min(interval);
                progress.rtt = Some(interval);
                progress.rate = Some(RateSample {
                    delivered: self.delivered - by_then,
                    interval,
                    app_limited: tracking.is_app_limited_at(by_then),
                    prior_delivered: by_then,
                    lost: 0,
                });
            }
        }
        progress.total_delivered = self.delivered;
    }

    /// A segment of `len` bytes went out, that ends at `max` if it is new.
    #[inline(never)]
    fn on_sent(&mut self, now: Time, max: Seq, len: u32, is_new: bool) {
        if is_new && len > 0 {
            self.sent.push_back((max, now, self.delivered));
        } else {
            self.sent.clear(); // Karn: an ACK may be of either
        }
    }
}
