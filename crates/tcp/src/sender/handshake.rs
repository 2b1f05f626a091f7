//! What the handshake sets up.

use std::collections::VecDeque;

use net::Seq;
use units::{Duration, Time};

use super::push::{Push, Pushes};
use super::{Phase, Sender, Tracking};
use crate::config::{CwndValidation, FlightUnit, FrtoKind, IdleRestart, Nagle, Tcp};
use crate::recovery::RecoveryKind;
use crate::recovery::board::{Board, Clock};
use crate::recovery::eifel::Undo;
use crate::recovery::frto::Frto;
use crate::recovery::prr::Prr;
use crate::recovery::reordering::Degree;
use crate::recovery::tlp::Tlp;

/// Least timeout of data after a SYN was lost (RFC 6298 §5.7).
const AFTER_SYN_LOSS: Duration = Duration::from_millis(3000);

impl Sender {
    /// The SYN (or SYN-ACK) goes out.
    pub fn on_syn_sent(&mut self, now: Time, tcp: &Tcp) {
        let first = self.max == self.una;
        self.max = self.max.max(self.una + 1); // there may be data that the first had
        self.nxt = self.max;
        self.timed.1 = if first { now } else { Time::NEVER };
        self.timer = now + self.rto.timeout(tcp);
    }

    /// The SYN is acknowledged, up to `ack`: the connection is established, with this segment size, SACK and
    /// timestamps.
    pub fn on_syn_acked(&mut self, now: Time, ack: Seq, smss: u32, sack: bool, timestamps: bool, tcp: &Tcp) {
        if self.expirations > 0 && self.push == self.una {
            self.push = self.una + 1;
        }
        self.acked += u64::from(ack - (self.una + 1));
        self.una = ack;
        self.sample(now, tcp);
        self.timer = Time::NEVER;
        self.recover = Seq(self.una.0.wrapping_sub(1)); // RFC 6582 §3.2: nothing was sent before
        if !self.push.after(self.una) && self.unsent == 0 {
            self.push = self.una;
        }
        self.smss = smss;
        if let Some(n) = tcp.initial_ssthresh {
            self.ssthresh = n.0 * f64::from(smss);
        }
        let iw = tcp.initial_window.bytes(f64::from(smss));
        // RFC 5681 §3.1: one segment if the SYN or SYN-ACK was lost.
        self.cwnd = if u64::from(self.expirations) > tcp.syn_losses_forgiven { f64::from(smss) } else { iw };
        if self.expirations > 0 && self.rto.srtt(tcp) == Duration::ZERO {
            self.rto.restart_at(AFTER_SYN_LOSS, tcp); // RFC 6298 §5.7
        }
        self.expirations = 0;
        let by_board = sack && matches!(tcp.recovery, RecoveryKind::Sack | RecoveryKind::Fack);
        let needed = by_board
            || timestamps
            || self.congestion.measures()
            || tcp.frto != FrtoKind::Off
            || tcp.eifel
            || tcp.nagle != Nagle::Off
            || tcp.idle_restart != IdleRestart::Off
            || tcp.user_timeout.is_some()
            || tcp.push != Push::LastWrite
            || tcp.cwnd_validation != CwndValidation::None;
        if needed {
            let unit = if tcp.flight_unit == FlightUnit::Segments { smss } else { 0 };
            let clock = Clock { delivered: 0, delivered_at: now, first_sent: now };
            let syn_rtt = self.rto.srtt(tcp);
            self.tracking = Some(Box::new(Tracking {
                board: by_board.then(|| Board::new(unit, tcp.rack).timed(tcp.rack_times)),
                phase: Phase::Open,
                prr: Prr::default(),
                tlp: Tlp::default(),
                reordering: Degree::new(tcp.duplicate_acks.0 as u32),
                frto: Frto::Off,
                frto_may_send: 0,
                undo: Undo::default(),
                timestamps,
                saw_dsack: false,
                since: now,
                rescue: None,
                limited: 0,
                probe_due: false,
                min_rtt: if syn_rtt == Duration::ZERO { Duration(u64::MAX) } else { syn_rtt },
                round_end: self.una,
                clock,
                lost_bytes: 0,
                rate: None,
                app_limited: false,
                app_limited_until: 0,
                rto_from: now,
                records: VecDeque::new(),
                pushes: (tcp.push == Push::Linux).then(|| Pushes::new(self.una)),
                sent: VecDeque::new(),
                pace_at: Time::ZERO,
                last_sent: now,
                cwnd_limited: false,
                limited_until: self.una,
                most_out: 0.0,
                small: self.una,
                held: false,
            }));
        }
        if self.una != self.max {
            self.lose_syn_data(now, tcp);
        }
    }

    /// A sender that comes into being when the connection is established already: since `then`, with a first
    /// round trip (zero: none). `window`: the last that
    /// was told, and a sequence number no later than that of any segment to come.
    pub fn resume(
        &mut self,
        tcp: &Tcp,
        (then, rtt): (Time, Duration),
        window: (Seq, u32),
        smss: u32,
        sack: bool,
        timestamps: bool,
    ) {
        (self.nxt, self.max) = (self.una + 1, self.una + 1);
        (self.wl1, self.rwnd) = window;
        self.most_window = self.rwnd;
        if rtt > Duration::ZERO {
            self.rto.on_sample(tcp, Time::ZERO, Time::ZERO + rtt, (self.una, self.max));
        }
        self.on_syn_acked(then, self.max, smss, sack, timestamps, tcp);
        if let Some(mut tracking) = self.tracking.take() {
            self.note_limit(&mut tracking); // the application had nothing until now
            self.tracking = Some(tracking);
        }
    }

    /// The initial window is one segment: the SYN-ACK was marked (RFC 5562 §3.1).
    pub fn begin_with_one_segment(&mut self) {
        self.cwnd = f64::from(self.smss);
    }

    /// The time until the SYN goes out again counts anew (RFC 5562 §3.2).
    pub fn restart_syn_timer(&mut self, now: Time, tcp: &Tcp) {
        self.timer = now + self.rto.timeout(tcp);
    }

    /// The SYN got no answer: it goes out again, after the same time for so many `linear` timeouts, then after twice the
    /// time. Returns whether to give up, after so many `retries` more.
    pub fn on_syn_timeout(&mut self, retries: u64, linear: u64) -> bool {
        self.stats.timeouts += 1;
        self.expirations = self.expirations.saturating_add(1);
        if u64::from(self.expirations) > linear {
            self.rto.back_off();
        }
        u64::from(self.expirations) > retries + linear
    }
}
