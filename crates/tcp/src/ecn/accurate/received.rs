//! The Data Receiver of Accurate ECN (RFC 9768 §3.2, `rfc9768`): its counters, the ACKs that marks
//! require (RFC 9768 §3.2.2.5.1), and the content of the AccECN option (RFC 9768 §3.2.3.3, the
//! recommended simple scheme).

use net::{AccEcn, AccEcnOrder, Ecn, Flags};

use super::field;

/// Number of marks after which the receiver sends an ACK, if received data is not acknowledged (n
/// in RFC 9768 §3.2.2.5.1).
const MARKS_WITH_DATA: u8 = 2;
/// Number of marks after which the receiver sends an ACK, if all received data is acknowledged (n
/// in RFC 9768 §3.2.2.5.1).
const MARKS_WITHOUT_DATA: u8 = 3;

/// Bits that identify the byte counters.
const E0B: u8 = 1;
const CEB: u8 = 2;
const E1B: u8 = 4;

/// Counters of the packets that arrived.
#[derive(Clone, Copy, Debug)]
pub struct Received {
    /// r.cep: number of packets that arrived with CE, plus 5.
    packets: u32,
    /// r.e0b, r.ceb and r.e1b: bytes that arrived with ECT(0), CE and ECT(1).
    bytes: [u32; 3],
    /// Byte counters that have ever changed (`ever`), and byte counters that have changed since an
    /// AccECN option last contained them (`unreported`).
    ever: u8,
    unreported: u8,
    /// Number of marks since the last ACK.
    pending: u8,
    /// True if the last packet was marked.
    marked: bool,
    /// True after a marked SYN-ACK was counted.
    syn_ack: bool,
}

impl Default for Received {
    /// Return the initial counters (RFC 9768 §3.2.1).
    fn default() -> Self {
        Received {
            packets: 5,
            bytes: [1, 0, 1],
            ever: 0,
            unreported: 0,
            pending: 0,
            marked: false,
            syn_ack: false,
        }
    }
}

impl Received {
    /// Process a SYN-ACK. The counter r.cep increases only once even if several SYN-ACKs are marked
    /// (RFC 9768 §3.2.2.2).
    pub fn on_syn_ack(&mut self, field: Ecn) {
        self.marked = field == Ecn::Ce;
        if self.marked && !self.syn_ack {
            self.packets += 1;
            self.syn_ack = true;
        }
    }

    /// Process an acceptable packet with `bytes` bytes of data (RFC 9768 §3.2). Return true if an
    /// ACK must be sent now (RFC 9768 §3.2.2.5.1). An ACK is required after the first marked data
    /// that follows an unmarked packet, and after several marks since the last ACK. `ack_pending`
    /// is true if received data is not acknowledged yet.
    pub fn on_packet(&mut self, field: Ecn, bytes: u16, ack_pending: bool) -> bool {
        if bytes > 0 {
            self.count_bytes(field, bytes);
        }
        let changed = field == Ecn::Ce && !self.marked && bytes > 0;
        self.marked = field == Ecn::Ce;
        if !self.marked {
            return false;
        }
        self.packets = self.packets.wrapping_add(1);
        self.pending += 1;
        let limit = if ack_pending || bytes > 0 { MARKS_WITH_DATA } else { MARKS_WITHOUT_DATA };
        changed || self.pending >= limit
    }

    /// Count the data of a SYN or SYN-ACK (RFC 7413). The packet counter does not count the SYN or
    /// SYN-ACK itself (RFC 9768 §3.2.2.2).
    pub fn on_syn_data(&mut self, field: Ecn, bytes: u16) {
        if bytes > 0 {
            self.count_bytes(field, bytes);
        }
    }

    fn count_bytes(&mut self, field: Ecn, bytes: u16) {
        let (counter, bit) = match field {
            Ecn::NotEct => return,
            Ecn::Ect0 => (0, E0B),
            Ecn::Ce => (1, CEB),
            Ecn::Ect1 => (2, E1B),
        };
        self.bytes[counter] = self.bytes[counter].wrapping_add(u32::from(bytes));
        self.ever |= bit;
        self.unreported |= bit;
    }

    /// Return the flags of a segment sent now (RFC 9768 §3.2.2.2).
    pub fn flags(&self) -> Flags {
        field::flags(self.packets % field::DIVACE)
    }

    /// Record that an ACK is sent.
    pub fn on_ack_sent(&mut self) {
        self.pending = 0;
    }

    /// Return the AccECN option for an ACK with `room` bytes left for TCP options, if a byte
    /// counter has changed since the last AccECN option. The AccECN option has every byte counter
    /// that ever changed or, if these counters do not fit, only the counters that changed since the
    /// last AccECN option. If the counters that changed since the last AccECN option do not fit
    /// into `room` bytes, the ACK has no AccECN option (RFC 9768 §3.2.3.3).
    pub fn option(&mut self, room: u16) -> Option<AccEcn> {
        if self.unreported == 0 {
            return None;
        }
        let fits = |counters| Some(self.shortest_with(counters)).filter(|option| option.wire_len() <= room);
        let option = fits(self.ever).or_else(|| fits(self.unreported))?;
        self.unreported = 0;
        Some(option)
    }

    /// Return an AccECN option that tests the path (RFC 9768 §3.2.3.2.1), with as many byte
    /// counters as fit, whether or not they have changed.
    pub fn test_option(&mut self, room: u16) -> Option<AccEcn> {
        let count = (0..=3u8).rev().find(|&count| AccEcn::room(count) <= room)?;
        if count == 3 {
            self.unreported = 0;
        }
        Some(self.option_with(AccEcnOrder::Ect0First, count.into()))
    }

    fn option_with(&self, order: AccEcnOrder, count: usize) -> AccEcn {
        let [e0b, ceb, e1b] = self.bytes;
        AccEcn::of(order, e0b, ceb, e1b, count)
    }

    /// Return the shortest AccECN option that contains these byte counters. The AccECN option omits
    /// byte counters at its end that need not be reported (RFC 9768 §3.2.3, table 5).
    fn shortest_with(&self, counters: u8) -> AccEcn {
        let count = |last: u8| match counters {
            c if c & last != 0 => 3,
            c if c & CEB != 0 => 2,
            _ => 1,
        };
        let (ect0_first, ect1_first) = (count(E1B), count(E0B));
        let only_ect1 = self.ever & (E0B | E1B) == E1B;
        if ect1_first < ect0_first || (ect1_first == ect0_first && only_ect1) {
            self.option_with(AccEcnOrder::Ect1First, ect1_first)
        } else {
            self.option_with(AccEcnOrder::Ect0First, ect0_first)
        }
    }

    /// Return the number of marked packets, and the bytes that arrived with ECT(0), CE and ECT(1).
    pub fn counts(&self) -> (u32, [u32; 3]) {
        let from = Received::default();
        let bytes = [0, 1, 2].map(|i| self.bytes[i].wrapping_sub(from.bytes[i]));
        (self.packets.wrapping_sub(from.packets), bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(option: Option<AccEcn>) -> Vec<u32> {
        option.map_or(vec![], |o| o.counters().to_vec())
    }

    /// RFC 9768 §3.2.3.3: the examples of the recommended scheme.
    #[test]
    fn an_option_has_every_counter_that_ever_changed() {
        let mut r = Received::default();
        assert_eq!(r.option(40), None);
        r.on_packet(Ecn::Ect0, 100, false);
        assert_eq!(text(r.option(40)), [101]);
        assert_eq!(r.option(40), None, "nothing has changed");
        r.on_packet(Ecn::Ce, 100, false);
        assert_eq!(text(r.option(40)), [101, 100]);
        r.on_packet(Ecn::Ect0, 100, false);
        assert_eq!(text(r.option(40)), [201, 100], "every counter that ever changed");
        r.on_packet(Ecn::NotEct, 100, false);
        r.on_packet(Ecn::Ce, 0, false);
        assert_eq!(r.option(40), None, "no byte was counted");
    }

    /// "If it chooses, say, EE0B but it turns out never to receive ECT(0), it can start sending
    /// EE1B and ECEB instead".
    #[test]
    fn the_order_of_counters_gives_the_shorter_option() {
        let mut r = Received::default();
        r.on_packet(Ecn::Ce, 100, false);
        let option = r.option(40).unwrap();
        assert_eq!((option.order(), option.counters()), (AccEcnOrder::Ect0First, &[1, 100][..]));
        r.on_packet(Ecn::Ect1, 100, false);
        let option = r.option(40).unwrap();
        assert_eq!((option.order(), option.counters()), (AccEcnOrder::Ect1First, &[101, 100][..]));
        r.on_packet(Ecn::Ect0, 100, false);
        let option = r.option(40).unwrap();
        assert_eq!((option.order(), option.counters()), (AccEcnOrder::Ect0First, &[101, 100, 101][..]));
    }

    /// Necessary Option Length (RFC 9768 §3.2.3.3): an AccECN option has at least the byte counters
    /// that changed since the last AccECN option. If the changed byte counters do not fit, the ACK
    /// has no AccECN option, and a later ACK reports the counters.
    #[test]
    fn a_short_option_has_the_counters_that_changed_since_the_last() {
        let mut r = Received::default();
        for field in [Ecn::Ect0, Ecn::Ce, Ecn::Ect1] {
            r.on_packet(field, 100, false);
        }
        assert_eq!(r.option(8), None, "all three changed");
        assert_eq!(text(r.option(12)), [101, 100, 101]);
        r.on_packet(Ecn::Ect1, 100, false);
        let option = r.option(8).unwrap();
        assert_eq!((option.order(), option.counters()), (AccEcnOrder::Ect1First, &[201][..]));
        r.on_packet(Ecn::Ce, 100, false);
        assert_eq!(text(r.option(8)), [101, 200]);
        assert!(r.test_option(4).unwrap().counters().is_empty());
    }

    /// RFC 9768 §3.2.2.5.1: the first mark requires an ACK, and so does every further group of
    /// several marks.
    #[test]
    fn marks_require_acks() {
        let mut r = Received::default();
        let mut data = |field| r.on_packet(field, 100, false);
        assert!(!data(Ecn::Ect0));
        assert!(data(Ecn::Ce), "the first mark after a packet without mark");
        r.on_ack_sent();
        assert!(!r.on_packet(Ecn::Ce, 100, false));
        assert!(r.on_packet(Ecn::Ce, 100, false), "the second mark since the last ACK");
        r.on_ack_sent();
        let mut r = Received::default();
        let mut ack = |ack_pending| r.on_packet(Ecn::Ce, 0, ack_pending);
        assert!(!ack(false), "no data awaits its ACK");
        assert!(!ack(false));
        assert!(ack(false), "the third mark");
        let mut r = Received::default();
        r.on_packet(Ecn::Ect0, 100, false);
        r.on_packet(Ecn::Ce, 0, true);
        assert!(r.on_packet(Ecn::Ce, 0, true), "data awaits its ACK");
    }

    /// RFC 9768 §3.2.2.2: r.cep increases from 5 to 6 "but no further", and data after a marked
    /// SYN-ACK does not change it.
    #[test]
    fn a_marked_syn_ack_counts_once() {
        let mut r = Received::default();
        r.on_syn_ack(Ecn::Ce);
        r.on_syn_ack(Ecn::Ce);
        assert_eq!(r.counts(), (1, [0; 3]));
        assert!(!r.on_packet(Ecn::Ce, 100, false));
    }
}
