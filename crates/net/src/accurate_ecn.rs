//! The option of Accurate ECN (RFC 9768 §3.2.3, `rfc9768`): byte counters of what arrived with which ECN field.

/// Which of the two kinds of option, and so the order of its counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AccEcnOrder {
    /// Kind 172: ECT(0), CE, ECT(1).
    #[default]
    Ect0First,
    /// Kind 174: ECT(1), CE, ECT(0).
    Ect1First,
}

/// An option of Accurate ECN: none to three counters, each modulo 2^24.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AccEcn {
    counters: [u32; 3],
    order: AccEcnOrder,
    count: u8,
}

impl AccEcn {
    /// The first `count` (up to three) in this order of the counters of bytes that arrived with ECT(0), CE and ECT(1).
    pub fn of(order: AccEcnOrder, ee0b: u32, eceb: u32, ee1b: u32, count: usize) -> AccEcn {
        let counters = match order {
            AccEcnOrder::Ect0First => [ee0b, eceb, ee1b],
            AccEcnOrder::Ect1First => [ee1b, eceb, ee0b],
        };
        let mut option = AccEcn { counters: [0; 3], order, count: count.min(3) as u8 };
        for (to, from) in option.counters.iter_mut().zip(counters).take(count) {
            *to = from & 0xFF_FFFF;
        }
        option
    }

    /// The order of the counters.
    pub fn order(&self) -> AccEcnOrder {
        self.order
    }

    /// The counters, in this order.
    pub fn counters(&self) -> &[u32] {
        &self.counters[..usize::from(self.count)]
    }

    /// Bytes that arrived with ECT(0) (r.e0b), if it is in the option.
    pub fn ee0b(&self) -> Option<u32> {
        self.counters().get(if self.order == AccEcnOrder::Ect0First { 0 } else { 2 }).copied()
    }

    /// Bytes that arrived with CE (r.ceb), if it is in the option.
    pub fn eceb(&self) -> Option<u32> {
        self.counters().get(1).copied()
    }

    /// Bytes that arrived with ECT(1) (r.e1b), if it is in the option.
    pub fn ee1b(&self) -> Option<u32> {
        self.counters().get(if self.order == AccEcnOrder::Ect0First { 2 } else { 0 }).copied()
    }

    /// Bytes that an option with so many counters takes in a header, padded to four.
    pub const fn room(count: u8) -> u16 {
        (2 + 3 * count as u16).next_multiple_of(4)
    }

    /// Bytes that it takes in a header, padded to four.
    pub fn wire_len(&self) -> u16 {
        AccEcn::room(self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 9768 §3.2.3, table 5: lengths 2, 5, 8 and 11.
    #[test]
    fn what_is_cut_off_is_not_there() {
        use AccEcnOrder::{Ect0First, Ect1First};
        let read = |order, count| {
            let option = AccEcn::of(order, 1, 2, 0x100_0003, count);
            (option.ee0b(), option.eceb(), option.ee1b(), option.wire_len())
        };
        assert_eq!(read(Ect0First, 3), (Some(1), Some(2), Some(3), 12));
        assert_eq!(read(Ect0First, 2), (Some(1), Some(2), None, 8));
        assert_eq!(read(Ect1First, 2), (None, Some(2), Some(3), 8));
        assert_eq!(read(Ect1First, 1), (None, None, Some(3), 8));
        assert_eq!(read(Ect0First, 0), (None, None, None, 4));
        assert_eq!(AccEcn::of(Ect0First, 1, 2, 3, 1), AccEcn::of(Ect0First, 1, 9, 9, 1));
    }
}
