//! The sender without SACK, which counts bytes and returns to SND.UNA when the retransmission timer
//! expires.

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

/// State of a sender without SACK.
#[derive(Clone, Debug)]
pub(super) struct CumulativeSender {
    /// Next sequence number to send (SND.NXT).
    nxt: Seq,
    /// Bytes that fast recovery adds to cwnd.
    inflation: u32,
    /// SND.MAX at the last reduction of cwnd (recover of RFC 6582).
    recover: Seq,
    /// Duplicate ACKs, and the state of fast recovery.
    duplicates: DuplicateAcks,
    /// Cause of the last reduction of cwnd.
    last_reduction: Option<Congestion>,
    /// Sequence number of the segment whose round-trip time is being measured.
    timed: Seq,
    /// Transmission time of the timed segment; [`Time::NEVER`] if no segment is timed.
    timed_at: Time,
    /// Optional measurements.
    measurements: Option<Box<Measurements>>,
}

/// Measurements that a parameter or the congestion controller requires.
#[derive(Clone, Debug)]
struct Measurements {
    /// Optional state that senders with and without SACK share.
    tracking: Tracking,
    /// Bytes delivered.
    delivered: u64,
    /// For each segment that was sent only once, its end, its transmission time, and the number of
    /// bytes delivered at the transmission time. The queue of sent segments is empty unless the
    /// congestion controller needs measurements.
    sent: VecDeque<(Seq, Time, u64)>,
}

impl CumulativeSender {
    /// Create the sender before its SYN, whose sequence number is `iss`.
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

    /// Measure the round-trip time of the SYN that was sent at `at`. If `at` is [`Time::NEVER`], do
    /// not measure the round-trip time.
    pub fn time_syn(&mut self, at: Time) {
        self.timed_at = at;
    }

    /// Set SND.NXT to SND.MAX.
    pub fn skip_to_max(&mut self, tcb: &Tcb) {
        self.nxt = tcb.max;
    }

    /// Set SND.NXT to SND.UNA, so that all data in flight is retransmitted, and stop the current
    /// measurement of the round-trip time.
    pub fn rewind_to_una(&mut self, tcb: &Tcb) {
        (self.nxt, self.timed_at) = (tcb.una, Time::NEVER);
    }

    /// Process the acknowledgement of the SYN, and store the optional state `tracking` if the
    /// sender needs it.
    pub fn on_syn_acked(&mut self, tcb: &Tcb, tracking: Option<Tracking>) {
        // RFC 6582 §3.2: the ACK of the SYN acknowledges all earlier data
        self.recover = Seq(tcb.una.0.wrapping_sub(1));
        self.measurements =
            tracking.map(|tracking| Box::new(Measurements { tracking, delivered: 0, sent: VecDeque::new() }));
    }

    pub fn tracking(&self) -> Option<&Tracking> {
        self.measurements.as_ref().map(|m| &m.tracking)
    }

    pub fn tracking_mut(&mut self) -> Option<&mut Tracking> {
        self.measurements.as_mut().map(|m| &mut m.tracking)
    }

    /// Return the windows as a congestion control reads them.
    pub fn window(&self, tcb: &Tcb) -> Window {
        Window { inflation: f64::from(self.inflation), ..tcb.window(f64::from(tcb.flight())) }
    }

    /// Return the number of bytes delivered, if the sender counts delivered bytes.
    pub fn delivered(&self) -> Option<u64> {
        self.measurements.as_ref().map(|m| m.delivered)
    }

    /// Return the degree of reordering in segments.
    pub fn reordering_degree(&self, tcp: &Tcp) -> u32 {
        self.tracking().map_or(tcp.recovery.duplicate_acks.0 as u32, |m| m.reordering.segments())
    }

    /// Return the state of congestion avoidance, derived from the cause of the last reduction of
    /// cwnd.
    pub fn state(&self, tcb: &Tcb) -> CaState {
        match self.last_reduction {
            _ if self.duplicates.in_recovery() => CaState::Recovery,
            Some(Congestion::Timeout { .. }) if tcb.una.before(self.recover) => CaState::Loss,
            Some(Congestion::Ecn) if tcb.una.before(self.recover) => CaState::Cwr,
            _ => CaState::Open,
        }
    }

    /// Return the number of segments in flight and the number of duplicate ACKs.
    pub fn counts(&self, tcb: &Tcb) -> (u32, u32) {
        (tcb.flight().div_ceil(tcb.smss.max(1)), self.duplicates.count())
    }

    /// Reduce cwnd and ssthresh. `limited_transmit` is the number of bytes that limited transmit
    /// has sent.
    #[cold]
    fn reduce_cwnd(
        &mut self,
        tcb: &mut Tcb,
        congestion: Congestion,
        limited_transmit: u32,
        now: Time,
        tcp: &Tcp,
    ) {
        let before = tcb.windows();
        tcb.reduce_cwnd(
            now,
            congestion,
            tcb.window_at_reduction(self.window(tcb), tcb.una, limited_transmit),
            tcp,
        );
        tcb.record_response(congestion, before);
        (self.last_reduction, self.recover) = (Some(congestion), tcb.max);
    }

    /// Store cwnd and ssthresh before a reduction, so that the sender can undo the reduction if the
    /// retransmission is spurious.
    fn arm_undo(&mut self, tcb: &Tcb, tcp: &Tcp) {
        let window = self.window(tcb);
        if (tcp.recovery.eifel || tcp.recovery.frto != FrtoKind::Off)
            && let Some(tracking) = self.tracking_mut()
        {
            tracking.undo = Undo::begin(&window);
        }
    }

    /// Record whether cwnd limits the sender now.
    pub fn record_limit(&mut self, tcb: &mut Tcb) {
        if let Some(m) = &mut self.measurements {
            let flight = f64::from(tcb.flight());
            let outstanding =
                Outstanding { pipe: flight, segment: f64::from(tcb.smss), flight, delivered: m.delivered };
            tcb.record_limit(&mut m.tracking, outstanding);
        }
    }

    /// Measure a round-trip time if the ACK acknowledges the segment that is being timed.
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
    /// Count `delivered` newly delivered bytes. `rtt` is the round-trip time of the newest
    /// delivered segment, if this round-trip time is known.
    #[inline]
    fn record_delivered(&mut self, delivered: u32, rtt: Option<Duration>) {
        self.tracking.min_rtt = rtt.map_or(self.tracking.min_rtt, |rtt| rtt.min(self.tracking.min_rtt));
        self.delivered += u64::from(delivered);
    }

    /// Process an ACK up to `una`: measure its round-trip time and sample its delivery rate.
    fn on_ack(&mut self, una: Seq, now: Time, progress: &mut Progress) {
        self.record_delivered(progress.delivered, progress.rtt);
        let tracking = &mut self.tracking;
        if progress.delivered > 0 {
            let mut newest = None;
            while self.sent.front().is_some_and(|s| !s.0.after(una)) {
                newest = self.sent.pop_front();
            }
            if let Some((_, at, delivered_before)) = newest {
                let interval = now.since(at);
                tracking.min_rtt = tracking.min_rtt.min(interval);
                progress.rtt = Some(interval);
                progress.rate = Some(RateSample {
                    delivered: self.delivered - delivered_before,
                    interval,
                    app_limited: tracking.is_app_limited_at(delivered_before),
                    prior_delivered: delivered_before,
                    lost: 0,
                });
            }
        }
        progress.total_delivered = self.delivered;
    }

    /// Record that a segment of `len` bytes is sent. If the segment has new data, the segment ends
    /// at `max`.
    #[inline(never)]
    fn on_sent(&mut self, now: Time, max: Seq, len: u32, is_new: bool) {
        if is_new && len > 0 {
            self.sent.push_back((max, now, self.delivered));
        } else {
            self.sent.clear(); // Karn's algorithm: a later ACK may acknowledge either transmission
        }
    }
}
