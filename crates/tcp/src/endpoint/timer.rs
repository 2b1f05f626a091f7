//! Deadlines of an endpoint, and the actions at each deadline.

use units::{Duration, Time};

use super::Endpoint;
use super::state::{Error, State};
use crate::config::UserTimeoutFrom;

impl Endpoint {
    /// Return the time at which the caller must call [`Endpoint::on_timer`], or [`Time::NEVER`] if
    /// no timer is set.
    #[inline]
    pub fn deadline(&self) -> Time {
        let sender = self.sender.as_ref().map_or(Time::NEVER, |s| s.deadline());
        let receiver = self.receiver.as_ref().map_or(Time::NEVER, |r| r.ack_at);
        let at = sender.min(receiver);
        if self.state == State::TimeWait || self.incidents.is_some() {
            self.deadline_of_incidents(at)
        } else {
            at
        }
    }

    /// Return the earliest deadline of an endpoint that is in TIME-WAIT or stores `Incidents`
    /// (state for rare events). `at` is the earlier deadline of the endpoint's sender and receiver.
    #[inline(never)]
    fn deadline_of_incidents(&self, at: Time) -> Time {
        match (&self.incidents, self.state) {
            (_, State::TimeWait) => at.min(self.time_wait_ends()),
            (Some(_), State::SynReceived) => self.early_deadline().unwrap_or(at),
            (Some(incidents), _) => at.min(incidents.hold_until.unwrap_or(Time::NEVER)),
            _ => at,
        }
    }

    /// Return true if the user timeout has passed since the first SYN.
    fn handshake_is_over(&self, now: Time) -> bool {
        let since = self.incidents.as_ref().and_then(|r| r.syn_at);
        since.zip(self.tcp.connection.user_timeout).is_some_and(|(since, max)| now >= since + max)
    }

    fn time_wait_ends(&self) -> Time {
        let from = self.incidents.as_ref().and_then(|r| r.time_wait_from).unwrap_or(self.closed_at);
        if self.tcp.connection.msl == Duration::ZERO {
            Time::NEVER
        } else {
            from + self.tcp.connection.msl + self.tcp.connection.msl
        }
    }

    /// Process all timers that have expired at time `now`.
    pub fn on_timer(&mut self, now: Time) {
        if self.state == State::TimeWait && self.time_wait_ends() <= now {
            return self.end(now, None);
        }
        if let Some(receiver) = &mut self.receiver
            && receiver.ack_at <= now
        {
            receiver.ack_now = true;
        }
        if let Some(incidents) = &mut self.incidents
            && incidents.hold_until.is_some_and(|t| t <= now)
        {
            incidents.hold_until = None;
        }
        if self.is_early() {
            return self.on_early_timer(now);
        }
        let Some(sender) = &mut self.sender else { return };
        if sender.tcb.timer > now {
            return;
        }
        if matches!(self.state, State::SynSent | State::SynReceived) {
            let answers =
                self.state == State::SynReceived && self.incidents.as_ref().is_none_or(|r| !r.simultaneous);
            let tcp = &self.tcp;
            let over = match answers {
                true => sender.on_syn_timeout(tcp.connection.synack_retries, 0),
                false => {
                    sender.on_syn_timeout(tcp.connection.syn_retries, tcp.connection.syn_linear_timeouts)
                }
            };
            let first = sender.tcb.expirations == 1
                && self.tcp.connection.user_timeout_from == UserTimeoutFrom::FirstRetransmission;
            sender.tcb.timer = Time::NEVER;
            if over || (!first && self.handshake_is_over(now)) {
                return self.end(now, Some(Error::TimedOut));
            }
            self.syn_due = true;
            return;
        }
        match sender.on_timer(now, &self.tcp) {
            None => self.end(now, Some(Error::TimedOut)),
            Some(true) => self.ecn.on_cwnd_reduction(self.max()),
            Some(false) => {}
        }
    }
}
