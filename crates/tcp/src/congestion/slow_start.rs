//! Choice of a slow start: RFC 5681, HyStart++ (`hystart.rs`) or hybrid slow start
//! (`hybrid_start.rs`).

use serde_json::json;
use units::param::Json;
use units::param::defaults;
use units::{Packets, Range, choice, params, words};

use crate::congestion::hybrid_start::HybridStart;
use crate::congestion::hystart::Hystart;

words! {
    /// Handling of an ACK that takes cwnd beyond ssthresh.
    pub enum AtSsthresh {
        /// All counted bytes of the ACK increase cwnd in slow start. Slow start applies while cwnd
        /// is below ssthresh when the ACK arrives (RFC 5681 §3.1).
        Passes = "passes",
        /// The counted bytes of the ACK increase cwnd up to ssthresh. The bytes that remain above
        /// ssthresh count for congestion avoidance (Linux).
        Stops = "stops",
    }
}

params! {
    /// Slow start of RFC 5681: each ACK increases cwnd by the acknowledged bytes, at most by L.
    pub struct Standard: "standard" {
        /// Maximum increase of cwnd per ACK (L). After a timeout L is one segment, unless
        /// at_ssthresh is "stops" (Linux). 255 means no limit.
        limit: Packets = (Packets(1.0)), in Range::between(1.0, 255.0).whole(), from "rfc5681 equation 2; rfc3465 §2.3: at most 2; Linux: none";
        /// Handling of an ACK that takes cwnd beyond ssthresh.
        at_ssthresh: AtSsthresh = (AtSsthresh::Passes), in Range::ANY, from "rfc5681 §3.1; Linux, tcp_slow_start";
    }
}

choice! {
    /// Growth of cwnd in slow start, and the condition that ends slow start without congestion.
    pub enum SlowStart {
        Standard(Standard),
        Hystart(Hystart),
        Hybrid(HybridStart),
    }
}

/// Return the slow start of Linux for all controls that do not have their own slow start
/// (tcp_slow_start).
pub(super) fn linux_defaults() -> Json {
    json!({"kind": "standard", "limit": "255 packets", "at_ssthresh": "stops"})
}

impl SlowStart {
    /// Return the slow start of RFC 5681.
    pub fn standard() -> Self {
        SlowStart::Standard(defaults())
    }

    /// Return HyStart++ with the parameters of RFC 9406.
    pub fn hystart() -> Self {
        SlowStart::Hystart(defaults())
    }
}
