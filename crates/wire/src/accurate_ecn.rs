//! Encoding of the Accurate ECN option (RFC 9768 §3.2.3).

use net::{AccEcn, AccEcnOrder};

pub(crate) const KIND_0: u8 = 172;
pub(crate) const KIND_1: u8 = 174;

pub(crate) fn kind(option: &AccEcn) -> u8 {
    match option.order() {
        AccEcnOrder::Ect0First => KIND_0,
        AccEcnOrder::Ect1First => KIND_1,
    }
}

/// Decode the counters of an Accurate ECN option. "For forward compatibility, if the AccECN Option
/// is of any other length, implementations MUST use those whole 3-octet fields that fit within the
/// length and ignore the remainder" (RFC 9768 §3.2.3).
pub(crate) fn read(order: AccEcnOrder, data: &[u8]) -> AccEcn {
    let mut counters = [0; 3];
    let fields = data.chunks_exact(3).map(|f| u32::from_be_bytes([0, f[0], f[1], f[2]]));
    let count = counters.iter_mut().zip(fields).map(|(to, from)| *to = from).count();
    let [first, ce, last] = counters;
    match order {
        AccEcnOrder::Ect0First => AccEcn::of(order, first, ce, last, count),
        AccEcnOrder::Ect1First => AccEcn::of(order, last, ce, first, count),
    }
}
