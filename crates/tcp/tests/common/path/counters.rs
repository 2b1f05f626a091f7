//! The ledger of bytes, known by their sequence numbers: whether what the ends claim can be true.

use net::{Flags, Options, Segment, Seq};

/// What one end sent and the other got, in bytes from the first.
#[derive(Clone, Debug, Default)]
pub struct Counters {
    pub iss: Seq,
    pub written: u64,
    pub closed: bool,
    /// Disjoint ranges that arrived, in order.
    arrived: Vec<(u64, u64)>,
    /// Where the data ends, by a FIN that arrived.
    fin: Option<u64>,
    /// The highest acknowledgement the receiver sent, and the right edge of its window.
    pub acked: u64,
    edge: i64,
    /// The farthest right edge that arrived at the sender.
    known_edge: i64,
    /// Segments sent that ask for an answer, since an ACK last advanced.
    pub attempts: u64,
    advanced: u64,
    /// Bytes the application read.
    pub read: u64,
}

impl Counters {
    /// Position of a sequence number, 0 for the first byte: that nearest to what was acknowledged last.
    fn at(&self, seq: Seq) -> i64 {
        let base = self.iss + 1 + self.acked as u32;
        self.acked as i64 + i64::from(seq.minus(base))
    }

    pub fn in_order(&self) -> u64 {
        self.arrived.first().filter(|r| r.0 == 0).map_or(0, |r| r.1)
    }

    fn has(&self, start: i64, end: i64) -> bool {
        self.arrived.iter().any(|r| r.0 as i64 <= start && end <= r.1 as i64)
    }

    fn arrives(&mut self, start: u64, end: u64) {
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

    /// The sender of this data sends a segment.
    pub fn on_sent(&mut self, segment: &Segment) {
        if segment.flags.has(Flags::RST) {
            return;
        }
        self.attempts += u64::from(segment.seq_len() > 0 || self.at(segment.seq) < self.advanced as i64);
        if segment.seq_len() == 0 {
            return;
        }
        let start = self.at(segment.seq);
        if segment.flags.has(Flags::SYN) {
            assert_eq!(start, -1, "a SYN of {segment:?}");
            assert!(
                u64::from(segment.len) <= self.written,
                "{segment:?} holds bytes that were not written: {self:?}"
            );
            // It goes out before any window is known, and again whatever that is.
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

    /// The receiver of this data sends a segment.
    pub fn on_answered(&mut self, segment: &Segment, options: &Options, slack: i64) {
        if segment.flags.has(Flags::RST) || !segment.flags.has(Flags::ACK) {
            return;
        }
        let ack = self.at(segment.ack);
        let max = self.in_order() + u64::from(self.fin == Some(self.in_order()));
        assert!(ack <= max as i64, "{segment:?} acknowledges what did not arrive: {self:?}");
        assert!(ack >= self.acked as i64, "{segment:?} takes an acknowledgement back: {self:?}");
        self.acked = ack as u64;
        let edge = ack + i64::from(segment.window);
        if !segment.flags.has(Flags::SYN) {
            assert!(edge + slack >= self.edge, "{segment:?} takes the window back: {self:?}");
            self.edge = self.edge.max(edge);
        }
        for &(start, end) in options.sack() {
            let (s, e) = (self.at(start), self.at(end));
            let fin = self.fin.is_some_and(|fin| e == fin as i64 + 1);
            let data = e - i64::from(fin);
            let syn = (s, e) == (-1, 0); // that crossed ours, and came copy with the SYN-ACK
            assert!(
                syn || s == data || self.has(s, data),
                "{options:?} reports what did not arrive: {self:?}"
            );
        }
    }

    /// A segment of the sender arrives.
    pub fn on_arrival(&mut self, segment: &Segment) {
        if segment.flags.has(Flags::SYN) || segment.flags.has(Flags::RST) || segment.seq_len() == 0 {
            return;
        }
        let start = self.at(segment.seq) as u64;
        let end = start + u64::from(segment.len);
        self.arrives(start, end);
        if segment.flags.has(Flags::FIN) {
            self.fin = Some(end);
        }
    }

    /// Data of a SYN arrived, and was taken.
    pub fn on_syn_data(&mut self, len: u16) {
        self.arrives(0, len.into());
    }

    /// A segment of the receiver arrives at the sender.
    pub fn on_feedback(&mut self, segment: &Segment) {
        if segment.flags.has(Flags::RST) {
            return;
        }
        let ack = if segment.flags.has(Flags::ACK) { self.at(segment.ack) } else { 0 };
        self.known_edge = self.known_edge.max(ack + i64::from(segment.window));
        if ack > self.advanced as i64 || (segment.flags.has(Flags::SYN) && ack == 0) {
            self.advanced = ack as u64;
            self.attempts = 0;
        }
        if segment.window == 0 {
            self.attempts = 0; // RFC 9293 §3.8.6.1: a probe that is answered keeps the connection open
        }
    }
}
