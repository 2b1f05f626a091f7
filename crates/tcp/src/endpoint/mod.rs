//! One end of a connection: the states of RFC 9293 §3.3.2 around a sender and a receiver.

mod agreed;
mod application;
pub mod choices;
mod fast_open;
mod handshake;
mod incidents;
mod info;
mod input;
mod output;
pub mod parameters;
mod query;
mod state;
mod timer;
mod unacceptable;

use std::sync::Arc;

use net::Seq;
use units::{Duration, Time};

use crate::config::{Ecn, Tcp, WindowScaling, WindowTuning};
use crate::ecn::EcnEnd;
use crate::receiver::Receiver;
use crate::sender::Sender;
use agreed::Agreed;
use incidents::Incidents;

pub use info::Info;
pub use state::{Error, State};

/// One end of a TCP connection. Feed it with [`on_segment`](Endpoint::on_segment) and
/// [`on_timer`](Endpoint::on_timer), then send what [`poll`](Endpoint::poll) returns until it returns
/// nothing, and call it again no later than its [`deadline`](Endpoint::deadline).
///
/// Each half exists when it is first used: an end that only receives has no [`Sender`], one that only sends has no [`Receiver`].
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Endpoint {
    tcp: Arc<Tcp>,
    sender: Option<Box<Sender>>,
    receiver: Option<Box<Receiver>>,
    incidents: Option<Box<Incidents>>,
    state: State,
    /// A SYN or SYN-ACK is to go out.
    syn_due: bool,
    /// Whether its segments may carry options, and whether the last one does.
    optioned: bool,
    carries: bool,
    /// Whether windows are scaled, cut or tuned.
    windowed: bool,
    /// An ACK is to go out, of nothing that was received.
    ack_due: bool,
    /// Behind the last segment surely no other goes before something happens.
    said_all: bool,
    /// First sequence numbers, ours and theirs.
    iss: Seq,
    irs: Seq,
    /// The other side's window before anything was sent.
    rwnd: u32,
    acks_sent: u32,
    packets_sent: u32,
    ecn: EcnEnd,
    agreed: Agreed,
    /// The round trip of a SYN-ACK, for a sender yet to be.
    first_rtt: Duration,
    phase: Duration,
    established_at: Time,
    completed_at: Time,
    closed_at: Time,
}

impl Endpoint {
    /// A closed endpoint. `phase`: where in a tick its host's clock stands at time zero.
    pub fn new(tcp: Arc<Tcp>, phase: Duration) -> Self {
        Endpoint {
            sender: None,
            receiver: None,
            ecn: EcnEnd::default(),
            state: State::Closed,
            syn_due: false,
            windowed: tcp.window.scaling != WindowScaling::Full || tcp.window.tuning != WindowTuning::Off,
            carries: false,
            optioned: tcp.window.scaling != WindowScaling::Full
                || tcp.window.tuning != WindowTuning::Off
                || tcp.ack.quick.0 > 0.0
                || tcp.sack
                || tcp.timestamps
                || tcp.ecn_in_force() == Ecn::Accurate,
            ack_due: false,
            said_all: false,
            iss: Seq(0),
            irs: Seq(0),
            rwnd: 0,
            acks_sent: 0,
            packets_sent: 0,
            agreed: Agreed::default(),
            first_rtt: Duration::ZERO,
            phase,
            established_at: Time::NEVER,
            completed_at: Time::NEVER,
            closed_at: Time::NEVER,
            incidents: None,
            tcp,
        }
    }

    /// Sets the first sequence number; 0 unless said.
    pub fn set_iss(&mut self, iss: Seq) {
        self.iss = iss;
    }

    fn sender(&mut self) -> &mut Sender {
        let sender = self.sender.take().unwrap_or_else(|| Box::new(self.new_sender()));
        self.sender.insert(sender)
    }

    /// The sender as it is before its first byte.
    fn new_sender(&self) -> Sender {
        let (tcp, agreed) = (&self.tcp, &self.agreed);
        let mut sender = Sender::new(tcp, self.iss, self.phase);
        sender.tcb.sample_delivery_rate(self.incidents.as_ref().is_some_and(|r| r.rate));
        if self.state > State::SynReceived {
            let window = (self.irs, self.rwnd);
            sender.resume(
                tcp,
                (self.established_at, self.first_rtt),
                window,
                agreed.smss(tcp),
                agreed.sack,
                agreed.timestamps,
            );
        }
        sender
    }

    #[inline]
    fn receiver(&mut self) -> &mut Receiver {
        let (next, tcp) = (self.irs + 1, &self.tcp);
        self.receiver.get_or_insert_with(|| Box::new(Receiver::new(next, tcp)))
    }

    fn incidents(&mut self) -> &mut Incidents {
        self.incidents.get_or_insert_default()
    }

    /// RCV.NXT.
    #[inline]
    fn next(&self) -> Seq {
        self.receiver.as_ref().map_or(self.irs + 1, |r| r.next)
    }

    /// One past the highest sequence number sent.
    #[inline]
    fn max(&self) -> Seq {
        self.sender.as_ref().map_or(self.iss + 1, |s| s.tcb.max)
    }

    fn end(&mut self, now: Time, error: Option<Error>) {
        self.state = State::Closed;
        self.syn_due = false;
        self.ack_due = false;
        if self.closed_at == Time::NEVER {
            self.closed_at = now;
        }
        if let Some(sender) = &mut self.sender {
            sender.tcb.stop();
        }
        if let Some(receiver) = &mut self.receiver {
            (receiver.ack_at, receiver.ack_now) = (Time::NEVER, false);
        }
        if let Some(incidents) = &mut self.incidents {
            (incidents.hold_until, incidents.earlier) = (None, None);
        }
        if error.is_some() {
            self.incidents().error = error;
        }
    }

    /// Room for received data.
    fn buffer(&self) -> u32 {
        match &self.receiver {
            Some(receiver) => receiver.buffer(&self.tcp),
            None => Receiver::whole_window(&self.tcp),
        }
    }

    /// Whether the window depends on what was told before: where the application reads when it likes, or the window is tuned.
    fn tells_window(&self) -> bool {
        self.tcp.window.tuning != WindowTuning::Off || self.incidents.as_ref().is_some_and(|r| r.reads)
    }

    /// The same where nothing was agreed on: it is never tuned.
    fn plain_buffer(&self) -> u32 {
        self.tcp.receive_window.0 as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_stays_small() {
        assert_eq!(size_of::<Endpoint>(), 128);
    }
}
