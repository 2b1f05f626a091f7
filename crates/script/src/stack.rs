//! The endpoint under test, as a host sees it: window fields instead of windows, PSH, and data that an
//! application reads. Everything asked of `tcp` is asked here.

use std::sync::Arc;

use net::{Segment, Seq};
use tcp::{Endpoint, State, Tcp};
use units::{Duration, Time};

use crate::syntax::Flags;

/// TCP options (RFC 9293 §3.2).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Maximum segment size.
    pub mss: Option<u16>,
    /// Window scale (RFC 7323 §2).
    pub window_scale: Option<u8>,
    /// SACK permitted (RFC 2018 §2).
    pub sack_permitted: bool,
    /// Timestamps (RFC 7323 §3): value and echo reply.
    pub timestamps: Option<(u32, u32)>,
    /// SACK blocks (RFC 2018 §3).
    pub sack: Vec<(u32, u32)>,
}

/// A TCP header as it stands on the wire, its sequence numbers those of the endpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgement.
    pub ack: u32,
    /// The window field: scaled, except in a SYN.
    pub window: u16,
    /// Payload in bytes; more than a segment holds when several are taken together.
    pub len: u32,
    /// Control bits.
    pub flags: Flags,
    /// Options.
    pub options: Options,
    /// The ECN field of the IP header.
    pub ecn: net::Ecn,
}

impl Header {
    /// Bytes of sequence space.
    pub fn seq_len(&self) -> u32 {
        self.len + u32::from(self.flags.has(Flags::SYN)) + u32::from(self.flags.has(Flags::FIN))
    }
}

/// Why a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// The other side reset it.
    Reset,
    /// The other side refused it.
    Refused,
    /// It gave up sending again.
    TimedOut,
}

/// An endpoint and what its host keeps beside it.
#[derive(Debug)]
pub struct Stack {
    endpoint: Endpoint,
    /// Shifts of the window field: ours and the other side's, once offered.
    our_shift: Option<u8>,
    their_shift: Option<u8>,
    iss: Option<u32>,
    written: u64,
    /// Ends of writes as sequence numbers: the segment that ends there carries PSH.
    pushes: Vec<u32>,
    consumed: u64,
    /// The last acknowledgement that went out.
    expects: u32,
}

impl Stack {
    /// A closed one.
    pub fn new(tcp: Tcp) -> Stack {
        Stack {
            endpoint: Endpoint::new(Arc::new(tcp), Duration::ZERO),
            our_shift: None,
            their_shift: None,
            iss: None,
            written: 0,
            pushes: Vec::new(),
            consumed: 0,
            expects: 0,
        }
    }

    /// Opens actively.
    pub fn connect(&mut self) {
        self.endpoint.connect();
    }

    /// Opens passively.
    pub fn listen(&mut self) {
        self.endpoint.listen();
    }

    /// The application writes `bytes`. A write that is appended to data not yet sent takes over its PSH
    /// (RFC 9293 §3.9.1.2: the last segment of a buffer pushes).
    pub fn write(&mut self, bytes: u64) {
        if self.unsent() > 0 {
            self.pushes.pop();
        } else if self.outstanding() == 0 {
            self.pushes.clear();
        }
        self.written += bytes;
        self.endpoint.write(bytes);
        self.pushes.push(self.iss.unwrap_or(0).wrapping_add(1).wrapping_add(self.written as u32));
    }

    /// The application has no more to write.
    pub fn close(&mut self) {
        self.endpoint.close();
    }

    /// Resets the connection.
    pub fn abort(&mut self) {}

    /// Nagle's algorithm is off.
    pub fn set_nodelay(&mut self, _on: bool) {}

    /// Partial segments wait.
    pub fn set_cork(&mut self, _on: bool, _now: Time) {}

    /// No ACK is delayed, until the connection becomes interactive.
    pub fn set_quickack(&mut self, _on: bool) {}

    /// The other side has closed.
    pub fn peer_closed(&self) -> bool {
        matches!(
            self.state(),
            State::CloseWait | State::LastAck | State::Closing | State::TimeWait | State::Closed
        )
    }

    /// The next sequence number that it expects, as it last said.
    pub fn expects(&self) -> u32 {
        self.expects
    }

    /// Bytes that could be read.
    pub fn readable(&self) -> u64 {
        let stats = self.endpoint.receiver_stats();
        (stats.bytes - stats.duplicate_bytes).saturating_sub(self.consumed)
    }

    /// The application reads up to `bytes`.
    pub fn read(&mut self, _now: Time, bytes: u64) -> u64 {
        let taken = bytes.min(self.readable());
        self.consumed += taken;
        taken
    }

    /// The other side has closed and everything before its FIN has been read.
    pub fn at_eof(&self) -> bool {
        self.peer_closed() && self.readable() == 0
    }

    /// Bytes sent and not acknowledged.
    pub fn outstanding(&self) -> u64 {
        self.endpoint.window().flight as u64
    }

    /// Bytes written and never sent.
    pub fn unsent(&self) -> u64 {
        (self.written - self.endpoint.acked()).saturating_sub(self.outstanding())
    }

    /// Its state.
    pub fn state(&self) -> State {
        self.endpoint.state()
    }

    /// Why it ended.
    pub fn broken(&self) -> Option<Broken> {
        None
    }

    /// Its parameters.
    pub fn tcp(&self) -> &Tcp {
        self.endpoint.tcp()
    }

    /// Its first sequence number, once a SYN has gone out.
    pub fn iss(&self) -> Option<u32> {
        self.iss
    }

    /// When it must be called again.
    pub fn deadline(&self) -> Time {
        self.endpoint.deadline()
    }

    /// Time has come to `now`.
    pub fn on_timer(&mut self, now: Time) {
        self.endpoint.on_timer(now);
    }

    /// A segment arrives.
    pub fn on_segment(&mut self, now: Time, header: &Header) {
        let syn = header.flags.has(Flags::SYN);
        if syn {
            self.their_shift = header.options.window_scale.map(|s| s.min(14)); // RFC 7323 §2.3
        }
        let shift = if syn || self.our_shift.is_none() { 0 } else { self.their_shift.unwrap_or(0) };
        let segment = Segment {
            seq: Seq(header.seq),
            ack: Seq(header.ack),
            window: u32::from(header.window) << shift,
            len: header.len as u16,
            flags: net::Flags(header.flags.0 as u8),
        };
        self.endpoint.on_segment(now, &segment, header.ecn);
    }

    /// The next segment to send now.
    pub fn poll(&mut self, now: Time) -> Option<Header> {
        let (segment, ecn) = self.endpoint.poll(now)?;
        let mut flags = Flags(u16::from(segment.flags.0));
        let syn = flags.has(Flags::SYN);
        if syn {
            self.iss = Some(segment.seq.0);
        }
        self.expects = segment.ack.0;
        let end = segment.seq.0.wrapping_add(u32::from(segment.len));
        if segment.len > 0 && self.pushes.contains(&end) {
            flags |= Flags::PSH;
        }
        let shift = if syn || self.their_shift.is_none() { 0 } else { self.our_shift.unwrap_or(0) };
        Some(Header {
            seq: segment.seq.0,
            ack: segment.ack.0,
            window: (segment.window >> shift).min(65_535) as u16,
            len: u32::from(segment.len),
            flags,
            options: Options::default(),
            ecn,
        })
    }

    /// Fields of TCP_INFO (tcp(7)) that are known.
    pub fn info(&self, _now: Time) -> Vec<(&'static str, u64)> {
        let (window, stats) = (self.endpoint.window(), self.endpoint.sender_stats());
        let segments = |bytes: f64| (bytes / window.smss) as u64;
        vec![
            ("snd_cwnd", segments(window.cwnd)),
            (
                "tcpi_snd_ssthresh",
                if window.ssthresh.is_finite() { segments(window.ssthresh) } else { 0x7fff_ffff },
            ),
            ("unacked", (window.flight / window.smss).ceil() as u64),
            ("total_retrans", stats.retransmitted_segments),
            ("rto", self.endpoint.rto().0 / 1_000_000),
        ]
    }
}
