//! Slow start by a scenario's choice: as in RFC 5681, or HyStart++ (`hystart.rs`).

use units::{Packets, Range, choice, params};

use crate::congestion::hystart::Hystart;

params! {
    /// Slow start of RFC 5681: each ACK opens cwnd by what it acknowledges, at most L.
    pub struct Standard: "standard" {
        /// Most that one ACK opens cwnd by (L); a single segment after a timeout, whatever it is here.
        limit: Packets = (Packets(1.0)), in Range::between(1.0, 255.0).whole(), from "rfc5681 equation 2; rfc3465 §2.3: at most 2; Linux has no limit";
    }
}

choice! {
    /// How slow start opens cwnd and when it ends without congestion.
    pub enum SlowStart {
        Standard(Standard),
        Hystart(Hystart),
    }
}

impl SlowStart {
    /// As in RFC 5681.
    pub fn standard() -> Self {
        SlowStart::Standard(super::defaults())
    }

    /// HyStart++ with its RFC's parameters.
    pub fn hystart() -> Self {
        SlowStart::Hystart(super::defaults())
    }
}
