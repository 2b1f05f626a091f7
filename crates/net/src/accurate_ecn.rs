//! Accurate ECN option (RFC 9768 §3.2.3, `rfc9768`), with counters of the bytes that arrived with
//! each ECN field.

/// Kind of the Accurate ECN option, which defines the order of the counters in the option.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AccEcnOrder {
    /// Kind 172: ECT(0), CE, ECT(1).
    #[default]
    Ect0First,
    /// Kind 174: ECT(1), CE, ECT(0).
    Ect1First,
}

/// Accurate ECN option with 0 to 3 counters, each modulo 2^24.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AccEcn {
    counters: [u32; 3],
    order: AccEcnOrder,
    count: u8,
}

impl AccEcn {
    /// Create an Accurate ECN option with the first `count` (at most 3) counters in the given
    /// order. The arguments count the bytes that arrived with ECT(0), with CE and with ECT(1).
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

    /// Return the order of the counters in the Accurate ECN option.
    pub fn order(&self) -> AccEcnOrder {
        self.order
    }

    /// Return the counters of the Accurate ECN option in their order.
    pub fn counters(&self) -> &[u32] {
        &self.counters[..usize::from(self.count)]
    }

    /// Return the number of bytes that arrived with ECT(0) (r.e0b), if the Accurate ECN option
    /// contains this counter.
    pub fn ee0b(&self) -> Option<u32> {
        self.counters().get(if self.order == AccEcnOrder::Ect0First { 0 } else { 2 }).copied()
    }

    /// Return the number of bytes that arrived with CE (r.ceb), if the Accurate ECN option contains
    /// this counter.
    pub fn eceb(&self) -> Option<u32> {
        self.counters().get(1).copied()
    }

    /// Return the number of bytes that arrived with ECT(1) (r.e1b), if the Accurate ECN option
    /// contains this counter.
    pub fn ee1b(&self) -> Option<u32> {
        self.counters().get(if self.order == AccEcnOrder::Ect0First { 2 } else { 0 }).copied()
    }

    /// Return the length in a TCP header of an Accurate ECN option with `count` counters, in bytes,
    /// padded to a multiple of four.
    pub const fn room(count: u8) -> u16 {
        (2 + 3 * count as u16).next_multiple_of(4)
    }

    /// Return the length of the Accurate ECN option in a TCP header in bytes, padded to a multiple
    /// of four.
    pub fn wire_len(&self) -> u16 {
        AccEcn::room(self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Table 5 of RFC 9768 §3.2.3 lists the lengths 2, 5, 8 and 11 bytes of the Accurate ECN
    /// option.
    #[test]
    fn counters_beyond_the_count_are_absent() {
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
