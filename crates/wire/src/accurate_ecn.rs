//! The Accurate ECN option (RFC 9768 §3.2.3): byte counters of what arrived with which ECN field.

use crate::few::Few;

/// Which of the two kinds of option, and so the order of its counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AccEcnOrder {
    /// Kind 172: ECT(0), CE, ECT(1).
    #[default]
    Ect0First,
    /// Kind 174: ECT(1), CE, ECT(0).
    Ect1First,
}

/// An Accurate ECN option: none to three counters, each 24 bits on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AccEcn {
    /// The order of the counters.
    pub order: AccEcnOrder,
    /// The counters in that order, of which the low 24 bits are sent.
    pub counters: Few<u32, 3>,
}

impl AccEcn {
    pub(crate) const KIND_0: u8 = 172;
    pub(crate) const KIND_1: u8 = 174;

    /// The first `count` (up to three) of the counters of bytes that arrived with ECT(0), CE and ECT(1), in
    /// this order.
    pub fn of(order: AccEcnOrder, ee0b: u32, eceb: u32, ee1b: u32, count: usize) -> AccEcn {
        let all = match order {
            AccEcnOrder::Ect0First => [ee0b, eceb, ee1b],
            AccEcnOrder::Ect1First => [ee1b, eceb, ee0b],
        };
        AccEcn { order, counters: Few::of(&all[..count.min(3)]).unwrap_or_default() }
    }

    /// Bytes that arrived with ECT(0) (r.e0b), if it is in the option.
    pub fn ee0b(&self) -> Option<u32> {
        self.counters.get(if self.order == AccEcnOrder::Ect0First { 0 } else { 2 }).copied()
    }

    /// Bytes that arrived with CE (r.ceb), if it is in the option.
    pub fn eceb(&self) -> Option<u32> {
        self.counters.get(1).copied()
    }

    /// Bytes that arrived with ECT(1) (r.e1b), if it is in the option.
    pub fn ee1b(&self) -> Option<u32> {
        self.counters.get(if self.order == AccEcnOrder::Ect0First { 2 } else { 0 }).copied()
    }

    pub(crate) fn kind(&self) -> u8 {
        match self.order {
            AccEcnOrder::Ect0First => Self::KIND_0,
            AccEcnOrder::Ect1First => Self::KIND_1,
        }
    }

    /// "For forward compatibility, if the AccECN Option is of any other length, implementations MUST use
    /// those whole 3-octet fields that fit within the length and ignore the remainder" (§3.2.3).
    pub(crate) fn read(order: AccEcnOrder, data: &[u8]) -> AccEcn {
        let mut counters = Few::new();
        for field in data.chunks_exact(3).take(3) {
            let added = counters.extend(&[u32::from_be_bytes([0, field[0], field[1], field[2]])]);
            debug_assert!(added);
        }
        AccEcn { order, counters }
    }
}
