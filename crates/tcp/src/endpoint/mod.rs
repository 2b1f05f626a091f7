//! An endpoint of a connection: the states of RFC 9293 §3.3.2 around a sender and a receiver.

mod application;
pub mod choices;
mod failed_checks;
mod fast_open;
mod handshake;
mod incidents;
mod info;
mod input;
mod negotiated;
mod output;
pub mod parameters;
mod query;
mod state;
mod timer;

use std::sync::Arc;

use net::Seq;
use units::{Duration, Time};

use crate::config::{Ecn, Tcp, WindowScaling, WindowTuning};
use crate::ecn::EcnEndpoint;
use crate::receiver::Receiver;
use crate::sender::Sender;
use incidents::Incidents;
use negotiated::NegotiatedOptions;

pub use info::Info;
pub use state::{Error, State};

/// One side of a TCP connection. The caller passes segments to the endpoint with
/// [`on_segment`](Endpoint::on_segment) and calls [`on_timer`](Endpoint::on_timer) at its
/// [`deadline`](Endpoint::deadline). After each call, the caller sends the segments that
/// [`poll`](Endpoint::poll) returns, until it returns `None`.
///
/// An endpoint creates its [`Sender`] and its [`Receiver`] at their first use. An endpoint that
/// only receives data therefore has no sender, and an endpoint that only sends data has no
/// receiver.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Endpoint {
    tcp: Arc<Tcp>,
    sender: Option<Box<Sender>>,
    receiver: Option<Box<Receiver>>,
    incidents: Option<Box<Incidents>>,
    state: State,
    /// True if a SYN or SYN-ACK is due.
    syn_due: bool,
    /// True if segments may carry options.
    uses_options: bool,
    last_has_options: bool,
    /// True if a window scale, the limit of 16 bits or the tuning of the receive buffer can change
    /// the advertised window.
    adjusts_window: bool,
    /// True if the endpoint must send an ACK for a reason other than received data.
    ack_due: bool,
    /// True if the endpoint cannot send another segment before the next event.
    output_done: bool,
    /// Initial sequence number of this endpoint (ISS).
    iss: Seq,
    irs: Seq,
    /// Window that the other side advertised, stored until this endpoint has a sender.
    rwnd: u32,
    acks_sent: u32,
    packets_sent: u32,
    ecn: EcnEndpoint,
    negotiated: NegotiatedOptions,
    /// Round-trip time that the SYN-ACK measured, stored until this endpoint has a sender.
    first_rtt: Duration,
    phase: Duration,
    established_at: Time,
    completed_at: Time,
    closed_at: Time,
}

impl Endpoint {
    /// Create a closed endpoint. `phase` is the part of a tick of the host's clock that has passed
    /// at time zero.
    pub fn new(tcp: Arc<Tcp>, phase: Duration) -> Self {
        Endpoint {
            sender: None,
            receiver: None,
            ecn: EcnEndpoint::default(),
            state: State::Closed,
            syn_due: false,
            adjusts_window: tcp.window.scaling != WindowScaling::Full
                || tcp.window.tuning != WindowTuning::Off,
            last_has_options: false,
            uses_options: tcp.window.scaling != WindowScaling::Full
                || tcp.window.tuning != WindowTuning::Off
                || tcp.ack.quick.0 > 0.0
                || tcp.sack
                || tcp.timestamps
                || tcp.ecn_in_force() == Ecn::Accurate,
            ack_due: false,
            output_done: false,
            iss: Seq(0),
            irs: Seq(0),
            rwnd: 0,
            acks_sent: 0,
            packets_sent: 0,
            negotiated: NegotiatedOptions::default(),
            first_rtt: Duration::ZERO,
            phase,
            established_at: Time::NEVER,
            completed_at: Time::NEVER,
            closed_at: Time::NEVER,
            incidents: None,
            tcp,
        }
    }

    /// Set the initial sequence number; 0 by default.
    pub fn set_iss(&mut self, iss: Seq) {
        self.iss = iss;
    }

    fn sender(&mut self) -> &mut Sender {
        let sender = self.sender.take().unwrap_or_else(|| Box::new(self.new_sender()));
        self.sender.insert(sender)
    }

    /// Create the sender in the state that precedes the first byte of data.
    fn new_sender(&self) -> Sender {
        let (tcp, negotiated) = (&self.tcp, &self.negotiated);
        let mut sender = Sender::new(tcp, self.iss, self.phase);
        if let Some(incidents) = &self.incidents {
            sender.tcb.measure_delivery_rate(incidents.measures_rate);
            if incidents.records_changes {
                sender.tcb.record_changes();
            }
        }
        if self.state > State::SynReceived {
            let window = (self.irs, self.rwnd);
            sender.resume(
                tcp,
                (self.established_at, self.first_rtt),
                window,
                negotiated.smss(tcp),
                negotiated.sack,
                negotiated.timestamps,
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

    /// Return RCV.NXT.
    #[inline]
    fn next(&self) -> Seq {
        self.receiver.as_ref().map_or(self.irs + 1, |r| r.next)
    }

    /// Return the sequence number after the highest sequence number sent.
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

    /// Return the size of the receive buffer, in bytes.
    fn buffer(&self) -> u32 {
        match &self.receiver {
            Some(receiver) => receiver.buffer(&self.tcp),
            None => Receiver::configured_window(&self.tcp),
        }
    }

    /// Return true if the advertised window depends on the earlier advertised windows, because the
    /// application reads explicitly or the window is tuned.
    fn tracks_window(&self) -> bool {
        self.tcp.window.tuning != WindowTuning::Off
            || self.incidents.as_ref().is_some_and(|r| r.explicit_reads)
    }

    /// Return the size of the receive buffer if the window is neither scaled, limited nor tuned.
    fn plain_buffer(&self) -> u32 {
        self.tcp.receive_window.0 as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_of_an_endpoint_is_128_bytes() {
        assert_eq!(size_of::<Endpoint>(), 128);
    }
}
