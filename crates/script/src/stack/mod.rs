//! The endpoint under test, as it is seen on the wire: window fields instead of windows. Everything asked
//! of `tcp` is asked here.

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

/// An endpoint and what its host keeps beside it.
#[derive(Debug)]
pub struct Stack {
    endpoint: Endpoint,
    iss: Option<u32>,
    /// TCP_QUICKACK, until there is a receiver to be told.
    quick_ack: Option<bool>,
    /// The last acknowledgement that went out.
    expects: u32,
    /// MSG_MORE was the last write's.
    expects_more: bool,
    meter: Meter,
}

impl Stack {
    /// A closed one.
    pub fn new(tcp: Tcp) -> Stack {
        let mut endpoint = Endpoint::new(Arc::new(tcp), Duration::ZERO);
        endpoint.hold_data();
        endpoint.tell_rate();
        Stack {
            endpoint,
            iss: None,
            quick_ack: None,
            expects: 0,
            expects_more: false,
            meter: Meter::default(),
        }
    }

    /// Its parameters are these from now on, but for what was agreed on.
    pub fn configure(&mut self, tcp: Arc<Tcp>) {
        self.endpoint.configure(tcp);
    }

    /// Opens actively.
    pub fn connect(&mut self) {
        self.endpoint.connect();
        self.meter.on_connect();
    }

    /// Opens actively, with Fast Open.
    pub fn connect_fast(&mut self, opening: Opening) {
        self.endpoint.connect_fast(opening);
        self.meter.on_connect();
    }

    /// Opens passively, with Fast Open.
    pub fn listen_fast(&mut self, server: Server) {
        self.endpoint.listen_fast(server);
    }

    /// Whether data flows though the handshake has not ended.
    pub fn is_early(&self) -> bool {
        self.endpoint.is_early()
    }

    /// How the SYN of [`Stack::connect_fast`] was answered.
    pub fn fast_open_answer(&self) -> Option<Answer> {
        self.endpoint.fast_open_answer()
    }

    /// Opens passively.
    pub fn listen(&mut self) {
        self.endpoint.listen();
    }

    /// The application writes `bytes`.
    pub fn write(&mut self, bytes: u64) {
        self.endpoint.write(bytes);
    }

    /// Record that the application waits for the connection in order to write.
    pub fn await_write(&mut self) {
        self.endpoint.await_write();
    }

    /// The application has no more to write.
    pub fn close(&mut self) {
        self.endpoint.close();
    }

    /// Resets the connection.
    pub fn abort(&mut self) {
        self.endpoint.abort();
    }

    /// Small segments never wait.
    pub fn set_nodelay(&mut self, on: bool) {
        self.endpoint.set_nodelay(on);
    }

    /// Small segments wait for more.
    pub fn set_cork(&mut self, on: bool) {
        self.endpoint.set_cork(on);
    }

    /// Small segments wait for the next write, until something arrives.
    pub fn expect_more(&mut self, on: bool) {
        if on || self.expects_more {
            self.endpoint.expect_more(on);
        }
        self.expects_more = on;
    }

    /// What was written ends a record.
    pub fn end_record(&mut self) {
        self.endpoint.end_record();
    }

    /// ACKs go out at once.
    pub fn set_quickack(&mut self, on: bool) {
        self.quick_ack = Some(on);
        self.tell_quickack();
    }

    fn tell_quickack(&mut self) {
        let early =
            matches!(self.state(), State::Closed | State::Listen | State::SynSent | State::SynReceived);
        if let (false, Some(on)) = (early, self.quick_ack) {
            self.quick_ack = None;
            self.endpoint.set_quickack(on);
        }
    }

    /// The other side has closed.
    pub fn peer_closed(&self) -> bool {
        self.endpoint.fin_received()
    }

    /// The next sequence number that it expects, as it last said.
    pub fn expects(&self) -> u32 {
        self.expects
    }

    /// Bytes that could be read.
    pub fn readable(&self) -> u64 {
        u64::from(self.endpoint.readable())
    }

    /// The application reads up to `bytes`.
    pub fn read(&mut self, now: Time, bytes: u64) -> u64 {
        let read = u64::from(self.endpoint.read(now, bytes.min(u32::MAX.into()) as u32));
        self.meter.on_read(now, read);
        read
    }

    /// Everything that can go has gone; `no_space`: a write found no room.
    pub fn settle(&mut self, now: Time, no_space: bool) {
        self.meter.settle(now, &self.endpoint, no_space);
    }

    /// The other side has closed and everything before its FIN has been read.
    pub fn at_eof(&self) -> bool {
        self.endpoint.at_eof()
    }

    /// Return the number of bytes of data that the other side acknowledged.
    pub fn acked(&self) -> u64 {
        self.endpoint.acked()
    }

    /// Bytes written and not acknowledged.
    pub fn held(&self) -> u64 {
        self.endpoint.outstanding().0
    }

    /// Sequence numbers of a FIN that is not acknowledged, and of one that was not sent: one or none.
    pub fn fin_held(&self) -> (u64, u64) {
        let (held, unsent) = self.endpoint.fin_outstanding();
        (u64::from(held), u64::from(unsent))
    }

    /// The size of a full segment, its options left out.
    pub fn segment_size(&self) -> u32 {
        self.endpoint.segment_size()
    }

    /// The window that the other side has told.
    pub fn peer_window(&self) -> u64 {
        self.endpoint.window().rwnd as u64
    }

    /// Whether ACKs go out at once.
    pub fn acks_quickly(&self) -> bool {
        self.quick_ack.unwrap_or_else(|| self.endpoint.acks_quickly())
    }

    /// Return the number of unsent bytes that the windows allow at once, in whole segments.
    pub fn sendable(&self) -> u64 {
        let window = self.endpoint.window();
        let room = (window.cwnd.min(window.rwnd) - window.flight).max(0.0) as u64;
        let size = u64::from(self.segment_size().max(1));
        if self.endpoint.paces() { 0 } else { room / size * size }
    }

    /// Return whether the congestion control spaces segments.
    pub fn paces(&self) -> bool {
        self.endpoint.paces()
    }

    /// Bytes written and never sent.
    pub fn unsent(&self) -> u64 {
        self.endpoint.outstanding().1
    }

    /// Its state.
    pub fn state(&self) -> State {
        self.endpoint.state_told()
    }

    /// Why it ended before its time.
    pub fn error(&self) -> Option<Error> {
        self.endpoint.error()
    }

    /// Its first sequence number, once a SYN has gone out.
    pub fn iss(&self) -> Option<u32> {
        self.iss
    }

    /// Its retransmission timeout.
    pub fn rto(&self) -> Duration {
        self.endpoint.rto()
    }

    /// When it must be called again.
    pub fn deadline(&self) -> Time {
        self.endpoint.deadline()
    }

    /// Time has come to `now`.
    pub fn on_timer(&mut self, now: Time) {
        let timeouts = self.endpoint.sender_stats().timeouts;
        self.endpoint.on_timer(now);
        self.meter.on_timer(now, timeouts, &self.endpoint);
    }

    /// A segment arrives.
    pub fn on_segment(&mut self, now: Time, header: &Header) {
        let (_, _, scaling, theirs, _) = self.endpoint.agreed();
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
        self.tell_quickack();
    }

    /// The next segment to send now.
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

    /// Fields of TCP_INFO (tcp(7)) without their prefix.
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

/// Names of the fields of TCP_INFO.
pub fn info_names() -> impl Iterator<Item = &'static str> {
    Stack::new(Tcp::default()).info(Time::ZERO).into_iter().map(|field| field.0)
}
