//! Counters of the bytes that endpoints send, receive and acknowledge. The counters check that the
//! sequence numbers and acknowledgement numbers of segments are possible.

use net::{Flags, Options, Segment, Seq};

/// Bytes that one endpoint sent and the other received, counted from the first byte.
#[derive(Clone, Debug, Default)]
pub struct Counters {
    pub iss: Seq,
    pub written: u64,
    pub closed: bool,
    /// Disjoint ranges that arrived, in ascending order.
    arrived: Vec<(u64, u64)>,
    /// End of the data, from a FIN that arrived.
    fin: Option<u64>,
    /// Highest acknowledgement that the receiver sent.
    pub acked: u64,
    edge: i64,
    /// Highest right edge of the window that arrived at the sender.
    known_edge: i64,
    /// Number of segments that require an answer and that were sent since the last ACK of new data.
    pub attempts: u64,
    advanced: u64,
    /// Number of bytes that the application read.
    pub read: u64,
}

impl Counters {
    /// Return the position of a sequence number in the data, where the first byte has position 0. A
    /// sequence number has several possible positions, and the function returns the position that
    /// is nearest to the last acknowledgement.
    fn position(&self, seq: Seq) -> i64 {
        let base = self.iss + 1 + self.acked as u32;
        self.acked as i64 + i64::from(seq.minus(base))
    }

    pub fn in_order(&self) -> u64 {
        self.arrived.first().filter(|r| r.0 == 0).map_or(0, |r| r.1)
    }

    fn has_arrived(&self, start: i64, end: i64) -> bool {
        self.arrived.iter().any(|r| r.0 as i64 <= start && end <= r.1 as i64)
    }

    fn add_range(&mut self, start: u64, end: u64) {
        if start == end {
            return;
        }
        let (mut s, mut e) = (start, end);
        self.arrived.retain(|r| {
            let apart = r.1 < s || r.0 > e;
            if !apart {
                (s, e) = (s.min(r.0), e.max(r.1));
            }
            apart
        });
        let i = self.arrived.partition_point(|r| r.0 < s);
        self.arrived.insert(i, (s, e));
    }

    /// Check a segment from the sender of the counted bytes.
    pub fn on_sent(&mut self, segment: &Segment) {
        if segment.flags.has(Flags::RST) {
            return;
        }
        self.attempts +=
            u64::from(segment.seq_len() > 0 || self.position(segment.seq) < self.advanced as i64);
        if segment.seq_len() == 0 {
            return;
        }
        let start = self.position(segment.seq);
        if segment.flags.has(Flags::SYN) {
            assert_eq!(start, -1, "{segment:?} is a SYN at the wrong sequence number");
            assert!(
                u64::from(segment.len) <= self.written,
                "{segment:?} contains bytes that were not written: {self:?}"
            );
            // The sender sends and retransmits a SYN before it receives a window.
            self.known_edge = self.known_edge.max(segment.len.into());
            return;
        }
        let end = start + i64::from(segment.len);
        assert!(
            start >= 0 && end as u64 <= self.written,
            "{segment:?} holds bytes that were not written: {self:?}"
        );
        let fin = segment.flags.has(Flags::FIN);
        assert!(!fin || (self.closed && end as u64 == self.written), "{segment:?} ends too early: {self:?}");
        let probe = i64::from(segment.len <= 1);
        assert!(end + i64::from(fin) <= self.known_edge + probe, "{segment:?} exceeds the window: {self:?}");
    }

    /// Check a segment from the receiver of the counted bytes.
    pub fn on_answered(&mut self, segment: &Segment, options: &Options, slack: i64) {
        if segment.flags.has(Flags::RST) || !segment.flags.has(Flags::ACK) {
            return;
        }
        let ack = self.position(segment.ack);
        let max = self.in_order() + u64::from(self.fin == Some(self.in_order()));
        assert!(ack <= max as i64, "{segment:?} acknowledges data that did not arrive: {self:?}");
        assert!(ack >= self.acked as i64, "{segment:?} acknowledges less than before: {self:?}");
        self.acked = ack as u64;
        let edge = ack + i64::from(segment.window);
        if !segment.flags.has(Flags::SYN) {
            assert!(edge + slack >= self.edge, "{segment:?} shrinks the window: {self:?}");
            self.edge = self.edge.max(edge);
        }
        for &(start, end) in options.sack() {
            let (s, e) = (self.position(start), self.position(end));
            let fin = self.fin.is_some_and(|fin| e == fin as i64 + 1);
            let data = e - i64::from(fin);
            let syn = (s, e) == (-1, 0); // the SYN of a simultaneous open, which arrived again with the SYN-ACK
            assert!(
                syn || s == data || self.has_arrived(s, data),
                "{options:?} reports data that did not arrive: {self:?}"
            );
        }
    }

    /// Record the arrival of a segment of the sender.
    pub fn on_arrival(&mut self, segment: &Segment) {
        if segment.flags.has(Flags::SYN) || segment.flags.has(Flags::RST) || segment.seq_len() == 0 {
            return;
        }
        let start = self.position(segment.seq) as u64;
        let end = start + u64::from(segment.len);
        self.add_range(start, end);
        if segment.flags.has(Flags::FIN) {
            self.fin = Some(end);
        }
    }

    /// Record the arrival of data in a SYN that the receiver accepted.
    pub fn on_syn_data(&mut self, len: u16) {
        self.add_range(0, len.into());
    }

    /// Record the arrival at the sender of a segment of the receiver.
    pub fn on_feedback(&mut self, segment: &Segment) {
        if segment.flags.has(Flags::RST) {
            return;
        }
        let ack = if segment.flags.has(Flags::ACK) { self.position(segment.ack) } else { 0 };
        self.known_edge = self.known_edge.max(ack + i64::from(segment.window));
        if ack > self.advanced as i64 || (segment.flags.has(Flags::SYN) && ack == 0) {
            self.advanced = ack as u64;
            self.attempts = 0;
        }
        if segment.window == 0 {
            self.attempts = 0; // RFC 9293 §3.8.6.1: an answered probe keeps the connection open
        }
    }
}
