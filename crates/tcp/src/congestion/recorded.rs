//! Congestion controller that records the changes of cwnd and ssthresh, each with its rule.
//!
//! Only a series requests the record. [`RecordedState`] wraps the controller of a connection, so
//! that a connection without the record needs neither memory nor instructions for it. The growth by
//! an ACK is recorded here, and every other change where the sender makes it
//! ([`Tcb::record`](crate::sender::Tcb::record)). With the record, the sender passes every ACK to
//! the controller instead of Reno's count of bytes, which gives the same windows.

use net::Rule;
use units::{Duration, Rate, Time};

use super::control::{Ack, Congestion, CongestionControl};
use crate::window::{CwndChange, Window, Windows};

/// Controller with the record of the changes since the last call of [`RecordedState::take`].
#[derive(Clone, Debug)]
pub struct RecordedState<C> {
    controller: C,
    changes: Vec<CwndChange>,
    /// True after the handshake, when the connection has its first window.
    begun: bool,
}

impl<C> RecordedState<C> {
    /// Wrap the controller of a new connection.
    pub fn new(controller: C) -> Self {
        RecordedState { controller, changes: Vec::new(), begun: false }
    }

    /// Record the first window of the connection.
    pub fn begin(&mut self, rule: &'static Rule, after: Windows) {
        self.begun = true;
        self.changes.push(CwndChange { rule, before: [0.0; 2], after, at: None });
    }

    /// Record a change, unless the windows are unchanged.
    pub fn push(&mut self, change: CwndChange) {
        if self.begun && change.before != change.after {
            self.changes.push(change);
        }
    }

    /// Remove the recorded changes, and call the function `see` with each of them.
    pub fn take(&mut self, see: impl FnMut(CwndChange)) {
        self.changes.drain(..).for_each(see);
    }
}

impl<C: CongestionControl> CongestionControl for RecordedState<C> {
    fn on_ack(&mut self, window: &Window, ack: &Ack, may_grow: bool) -> (f64, Option<f64>) {
        let (cwnd, ssthresh) = self.controller.on_ack(window, ack, may_grow);
        let before = [window.cwnd, window.ssthresh];
        let after = [cwnd, ssthresh.unwrap_or(window.ssthresh)];
        if before != after {
            let rule = self.controller.rule_of_ack(window, after);
            self.push(CwndChange { rule, before, after, at: Some(ack.now) });
        }
        (cwnd, ssthresh)
    }

    fn cwnd_on_ack(&mut self, window: &Window, ack: &Ack) -> f64 {
        self.controller.cwnd_on_ack(window, ack)
    }

    fn before_reduction(&mut self, delivered: u32, marked: u32, round: bool) {
        self.controller.before_reduction(delivered, marked, round);
    }

    fn ssthresh_on_congestion(&mut self, window: &Window, congestion: Congestion, now: Time) -> f64 {
        self.controller.ssthresh_on_congestion(window, congestion, now)
    }

    fn cwnd_on_congestion(&mut self, window: &Window, congestion: Congestion, now: Time) -> Option<f64> {
        self.controller.cwnd_on_congestion(window, congestion, now)
    }

    fn observe(&mut self, window: &Window, ack: &Ack) {
        self.controller.observe(window, ack);
    }

    fn ssthresh_on_ack(&mut self, window: &Window) -> Option<f64> {
        self.controller.ssthresh_on_ack(window)
    }

    fn rule_of_ack(&self, window: &Window, after: Windows) -> &'static Rule {
        self.controller.rule_of_ack(window, after)
    }

    fn rule_of_congestion(&self, congestion: Congestion) -> Option<&'static Rule> {
        self.controller.rule_of_congestion(congestion)
    }

    fn undo(&mut self, window: &Window) {
        self.controller.undo(window);
    }

    fn on_restart(&mut self, now: Time, idle: Duration) {
        self.controller.on_restart(now, idle);
    }

    fn paces(&self) -> bool {
        self.controller.paces()
    }

    fn pacing_rate(&self, window: &Window, srtt: Duration) -> Option<Rate> {
        self.controller.pacing_rate(window, srtt)
    }

    fn responds_to_mark(&self, now: Time, new_window: bool) -> bool {
        self.controller.responds_to_mark(now, new_window)
    }

    fn is_scalable(&self) -> bool {
        self.controller.is_scalable()
    }

    fn governs_recovery(&self) -> bool {
        self.controller.governs_recovery()
    }

    fn needs_measurements(&self) -> bool {
        self.controller.needs_measurements()
    }

    fn needs_delivery_rate(&self) -> bool {
        self.controller.needs_delivery_rate()
    }

    fn send_buffer_windows(&self) -> u64 {
        self.controller.send_buffer_windows()
    }

    fn min_super_packet(&self, rate: Rate) -> u32 {
        self.controller.min_super_packet(rate)
    }
}
