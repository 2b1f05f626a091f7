//! The Data Receiver of Accurate ECN (RFC 9768 §3.2, `rfc9768`): its counters, when they must be told (§3.2.2.5.1),
//! and what an option says of them (§3.2.3.3, the recommended simple scheme).

use net::{AccEcn, AccEcnOrder, Ecn, Flags};

use super::field;

/// Marks after which an ACK goes out (n, §3.2.2.5.1): with data to acknowledge, and without.
const MARKS_WITH_DATA: u8 = 2;
const MARKS_WITHOUT_DATA: u8 = 3;

/// Counters of bytes, as bits.
const E0B: u8 = 1;
const CEB: u8 = 2;
const E1B: u8 = 4;

/// What arrived.
#[derive(Clone, Copy, Debug)]
pub struct Received {
    /// r.cep.
    packets: u32,
    /// r.e0b, r.ceb, r.e1b.
    bytes: [u32; 3],
    /// Counters of bytes that have ever changed, and those that have since an option last held them.
    ever: u8,
    unreported: u8,
    /// Marks since the last ACK.
    pending: u8,
    /// Whether the last packet was marked.
    marked: bool,
    /// A marked SYN-ACK was counted.
    syn_ack: bool,
}

impl Default for Received {
    /// §3.2.1.
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
    /// A SYN-ACK arrives: however many are marked, one counts (§3.2.2.2).
    pub fn on_syn_ack(&mut self, field: Ecn) {
        self.marked = field == Ecn::Ce;
        if self.marked && !self.syn_ack {
            self.packets += 1;
            self.syn_ack = true;
        }
    }

    /// An acceptable packet arrives with so many bytes of data (§3.2). Whether an ACK must go out now (§3.2.2.5.1):
    /// for the first marked data after a packet without mark, or for so many marks. `owes_ack`: data waits to be
    /// acknowledged.
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

    /// Data came with a SYN or SYN-ACK (RFC 7413), which is no packet that counts (§3.2.2.2).
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

    /// The flags of a segment that goes out now (§3.2.2.2).
    pub fn flags(&self) -> Flags {
        field::flags(self.packets % field::DIVACE)
    }

    /// An ACK goes out.
    pub fn on_ack_sent(&mut self) {
        self.pending = 0;
    }

    /// The option for an ACK with `room` for it, if a counter has changed since the last: with every counter that
    /// ever changed, or with those that changed since, or none (§3.2.3.3).
    pub fn option(&mut self, room: u16) -> Option<AccEcn> {
        if self.unreported == 0 {
            return None;
        }
        let fits = |counters| Some(self.shortest_with(counters)).filter(|option| option.wire_len() <= room);
        let option = fits(self.ever).or_else(|| fits(self.unreported))?;
        self.unreported = 0;
        Some(option)
    }

    /// An option that tests the path (§3.2.3.2.1): every counter that there is room for, changed or not.
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

    /// The shortest option that holds these counters: unchanged ones are left out at the end (§3.2.3, table 5).
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

    /// Packets that arrived marked, and bytes that arrived with ECT(0), CE and ECT(1).
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

    /// §3.2.3.3: the examples given for the recommended scheme.
    #[test]
    fn an_option_holds_what_ever_changed() {
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

    /// "If it chooses, say, EE0B but it turns out never to receive ECT(0), it can start sending EE1B and ECEB instead".
    #[test]
    fn the_order_is_that_of_the_shorter_option() {
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

    /// Necessary Option Length: what changed since the last option is not cut off; without room for it there is no
    /// option, and it is not forgotten.
    #[test]
    fn a_short_option_holds_what_changed_since() {
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

    /// §3.2.2.5.1.
    #[test]
    fn marks_ask_for_acks() {
        let mut r = Received::default();
        let mut data = |field| r.on_packet(field, 100, false);
        assert!(!data(Ecn::Ect0));
        assert!(data(Ecn::Ce), "the first after others");
        r.on_ack_sent();
        assert!(!r.on_packet(Ecn::Ce, 100, false));
        assert!(r.on_packet(Ecn::Ce, 100, false), "the second since the last ACK");
        r.on_ack_sent();
        let mut r = Received::default();
        let mut ack = |owes| r.on_packet(Ecn::Ce, 0, owes);
        assert!(!ack(false), "no data");
        assert!(!ack(false));
        assert!(ack(false), "the third");
        let mut r = Received::default();
        r.on_packet(Ecn::Ect0, 100, false);
        r.on_packet(Ecn::Ce, 0, true);
        assert!(r.on_packet(Ecn::Ce, 0, true), "data waits");
    }

    /// §3.2.2.2: r.cep goes from 5 to 6 "but no further", and the data after a marked SYN-ACK changes nothing.
    #[test]
    fn a_marked_syn_ack_counts_once() {
        let mut r = Received::default();
        r.on_syn_ack(Ecn::Ce);
        r.on_syn_ack(Ecn::Ce);
        assert_eq!(r.counts(), (1, [0; 3]));
        assert!(!r.on_packet(Ecn::Ce, 100, false));
    }
}
