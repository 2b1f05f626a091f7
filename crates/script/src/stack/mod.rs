//! The endpoint under test, whose segments have encoded window fields instead of windows in bytes.
//! Only this module uses the type `Endpoint` of the crate `tcp`.

mod header;
mod meter;

use std::sync::Arc;

pub use header::Header;
use meter::{Before, Meter};
use net::{Options, Segment, Seq};
use tcp::fast_open::{Answer, Opening, Server};
use tcp::{Endpoint, Error, State, Tcp};
use units::{Duration, Time};

use crate::syntax::Flags;

/// A TCP endpoint with the additional state that scripts need.
#[derive(Debug)]
pub struct Stack {
    endpoint: Endpoint,
    iss: Option<u32>,
    /// Value of the socket option TCP_QUICKACK, until the handshake creates the receiver to which
    /// this option applies.
    quick_ack: Option<bool>,
    /// Acknowledgment number of the ACK that was sent last.
    expects: u32,
    /// True if the last write call had the flag MSG_MORE.
    expects_more: bool,
    meter: Meter,
}

impl Stack {
    /// Create a closed endpoint.
    pub fn new(tcp: Tcp) -> Stack {
        let mut endpoint = Endpoint::new(Arc::new(tcp), Duration::ZERO);
        endpoint.hold_data();
        endpoint.measure_delivery_rate();
        Stack {
            endpoint,
            iss: None,
            quick_ack: None,
            expects: 0,
            expects_more: false,
            meter: Meter::default(),
        }
    }

    /// Change the TCP parameters of the endpoint, except for parameters that the handshake fixed.
    pub fn configure(&mut self, tcp: Arc<Tcp>) {
        self.endpoint.configure(tcp);
    }

    /// Open actively.
    pub fn connect(&mut self) {
        self.endpoint.connect();
        self.meter.on_connect();
    }

    /// Open a connection actively, with TCP Fast Open.
    pub fn connect_fast(&mut self, opening: Opening) {
        self.endpoint.connect_fast(opening);
        self.meter.on_connect();
    }

    /// Open a connection passively, with TCP Fast Open.
    pub fn listen_fast(&mut self, server: Server) {
        self.endpoint.listen_fast(server);
    }

    /// Return true if the endpoint can exchange data although its handshake is not yet complete.
    pub fn is_early(&self) -> bool {
        self.endpoint.is_early()
    }

    /// Return the response of the server to a SYN that [`Stack::connect_fast`] sent.
    pub fn fast_open_answer(&self) -> Option<Answer> {
        self.endpoint.fast_open_answer()
    }

    /// Open passively.
    pub fn listen(&mut self) {
        self.endpoint.listen();
    }

    /// Write `bytes` bytes.
    pub fn write(&mut self, bytes: u64) {
        self.endpoint.write(bytes);
    }

    /// Record that the application will write as soon as the connection is open.
    pub fn await_write(&mut self) {
        self.endpoint.await_write();
    }

    /// Close the connection after all written data is sent.
    pub fn close(&mut self) {
        self.endpoint.close();
    }

    /// Reset the connection.
    pub fn abort(&mut self) {
        self.endpoint.abort();
    }

    /// Disable or enable the Nagle algorithm (TCP_NODELAY).
    pub fn set_nodelay(&mut self, on: bool) {
        self.endpoint.set_nodelay(on);
    }

    /// Delay small segments until the application writes more data (TCP_CORK).
    pub fn set_cork(&mut self, on: bool) {
        self.endpoint.set_cork(on);
    }

    /// Delay small segments until the next write call or the next arrival of a segment (MSG_MORE).
    pub fn expect_more(&mut self, on: bool) {
        if on || self.expects_more {
            self.endpoint.expect_more(on);
        }
        self.expects_more = on;
    }

    /// End a record after the data written so far (MSG_EOR).
    pub fn end_record(&mut self) {
        self.endpoint.end_record();
    }

    /// Send ACKs at once (TCP_QUICKACK).
    pub fn set_quickack(&mut self, on: bool) {
        self.quick_ack = Some(on);
        self.apply_quickack();
    }

    fn apply_quickack(&mut self) {
        let early =
            matches!(self.state(), State::Closed | State::Listen | State::SynSent | State::SynReceived);
        if let (false, Some(on)) = (early, self.quick_ack) {
            self.quick_ack = None;
            self.endpoint.set_quickack(on);
        }
    }

    /// Return true if the peer has closed.
    pub fn peer_closed(&self) -> bool {
        self.endpoint.fin_received()
    }

    /// Return the acknowledgment number of the ACK that was sent last.
    pub fn expects(&self) -> u32 {
        self.expects
    }

    /// Return the number of bytes that the application can read now.
    pub fn readable(&self) -> u64 {
        u64::from(self.endpoint.readable())
    }

    /// Read up to `bytes` bytes, and return the number of bytes read.
    pub fn read(&mut self, now: Time, bytes: u64) -> u64 {
        let read = u64::from(self.endpoint.read(now, bytes.min(u32::MAX.into()) as u32));
        self.meter.on_read(now, read);
        read
    }

    /// Record that the endpoint has sent all segments that it can send now. The argument `no_space`
    /// is true if a write found the send buffer full.
    pub fn settle(&mut self, now: Time, no_space: bool) {
        self.meter.settle(now, &self.endpoint, no_space);
    }

    /// Return true if the peer has closed and the application has read all data.
    pub fn at_eof(&self) -> bool {
        self.endpoint.at_eof()
    }

    /// Return the number of bytes of data that the peer has acknowledged.
    pub fn acked(&self) -> u64 {
        self.endpoint.acked()
    }

    /// Return the number of bytes that the peer has not acknowledged, including unsent bytes.
    pub fn held(&self) -> u64 {
        self.endpoint.outstanding().0
    }

    /// Return two numbers, each 0 or 1: the number of unacknowledged FINs, and the number of unsent
    /// FINs.
    pub fn fin_held(&self) -> (u64, u64) {
        let (held, unsent) = self.endpoint.fin_outstanding();
        (u64::from(held), u64::from(unsent))
    }

    /// Return the maximum payload of a segment, which is the size of a full segment without its
    /// options.
    pub fn segment_size(&self) -> u32 {
        self.endpoint.segment_size()
    }

    /// Return the receive window that the peer announced last.
    pub fn peer_window(&self) -> u64 {
        self.endpoint.window().rwnd as u64
    }

    /// Return true if the endpoint sends its ACKs at once, without delay.
    pub fn acks_quickly(&self) -> bool {
        self.quick_ack.unwrap_or_else(|| self.endpoint.acks_quickly())
    }

    /// Return the number of unsent bytes that the windows allow the endpoint to send now, in whole
    /// segments.
    pub fn sendable(&self) -> u64 {
        let window = self.endpoint.window();
        let room = (window.cwnd.min(window.rwnd) - window.flight).max(0.0) as u64;
        let size = u64::from(self.segment_size().max(1));
        if self.endpoint.paces() { 0 } else { room / size * size }
    }

    /// Return true if the congestion control paces segments.
    pub fn paces(&self) -> bool {
        self.endpoint.paces()
    }

    /// Return the number of bytes that were written but not yet sent.
    pub fn unsent(&self) -> u64 {
        self.endpoint.outstanding().1
    }

    /// Return the state.
    pub fn state(&self) -> State {
        self.endpoint.application_state()
    }

    /// Return the error that ended the connection.
    pub fn error(&self) -> Option<Error> {
        self.endpoint.error()
    }

    /// Return the initial sequence number of the endpoint, or `None` before the first SYN.
    pub fn iss(&self) -> Option<u32> {
        self.iss
    }

    /// Return the retransmission timeout.
    pub fn rto(&self) -> Duration {
        self.endpoint.rto()
    }

    /// Return the time when the next timer of the endpoint expires.
    pub fn deadline(&self) -> Time {
        self.endpoint.deadline()
    }

    /// Process the timers of the endpoint that have expired.
    pub fn on_timer(&mut self, now: Time) {
        let timeouts = self.endpoint.sender_stats().timeouts;
        self.endpoint.on_timer(now);
        self.meter.on_timer(now, timeouts, &self.endpoint);
    }

    /// Process a segment.
    pub fn on_segment(&mut self, now: Time, header: &Header) {
        let (_, _, scaling, theirs, _) = self.endpoint.negotiated_options();
        let shift = if scaling && !header.flags.has(Flags::SYN) { theirs } else { 0 };
        let segment = Segment {
            seq: Seq(header.seq),
            ack: Seq(header.ack),
            window: u32::from(header.window) << shift,
            len: header.len as u16,
            flags: header.flags,
        };
        self.expect_more(false);
        let before = Before::of(&self.endpoint);
        self.endpoint.on_segment(now, &segment, &header.options, header.ecn);
        self.meter.on_arrival(now, header, before, &self.endpoint);
        self.apply_quickack();
    }

    /// Return the next segment that the endpoint sends now.
    pub fn poll(&mut self, now: Time) -> Option<Header> {
        let mut options = Options::default();
        let (segment, ecn) = self.endpoint.poll(now, &mut options)?;
        let flags = segment.flags;
        let syn = flags.has(Flags::SYN);
        if syn {
            self.iss = Some(segment.seq.0);
        }
        if flags.has(Flags::ACK) {
            self.expects = segment.ack.0;
        }
        let shift = if syn { 0 } else { self.endpoint.scale() };
        let header = Header {
            seq: segment.seq.0,
            ack: segment.ack.0,
            window: (segment.window >> shift).min(65_535) as u16,
            len: u32::from(segment.len),
            flags,
            options,
            ecn,
            dscp: 0,
        };
        self.meter.on_departure(now, &header, segment.window);
        Some(header)
    }

    /// Return the fields of TCP_INFO (tcp(7)), named without the prefix `tcpi_`.
    pub fn info(&self, now: Time) -> Vec<(&'static str, u64)> {
        let mut fields = self.endpoint.info().fields;
        for (name, value) in self.meter.fields(now, &self.endpoint) {
            match fields.iter_mut().find(|f| f.0 == name) {
                Some(field) => field.1 = value,
                None => fields.push((name, value)),
            }
        }
        if let Some(options) = fields.iter_mut().find(|f| f.0 == "options") {
            options.1 |= self.meter.options();
        }
        fields
    }
}

/// Return the names of all fields of TCP_INFO.
pub fn info_names() -> impl Iterator<Item = &'static str> {
    Stack::new(Tcp::default()).info(Time::ZERO).into_iter().map(|field| field.0)
}
