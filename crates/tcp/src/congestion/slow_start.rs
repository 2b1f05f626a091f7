//! Slow start by a scenario's choice: as in RFC 5681, HyStart++ (`hystart.rs`) or its predecessor (`hybrid_start.rs`).

use crate::congestion::control::defaults;
use serde_json::json;
use units::param::Json;
use units::{Packets, Range, choice, params, words};

use crate::congestion::hybrid_start::HybridStart;
use crate::congestion::hystart::Hystart;

words! {
    /// What an ACK does that takes cwnd beyond ssthresh.
    pub enum AtSsthresh {
        /// It opens cwnd by all that it counts for: slow start is used below ssthresh, congestion avoidance above (RFC 5681 §3.1).
        Passes = "passes",
        /// It opens cwnd up to ssthresh; the rest of it counts for congestion avoidance (Linux).
        Stops = "stops",
    }
}

params! {
    /// Slow start of RFC 5681: each ACK opens cwnd by what it acknowledges, at most L.
    pub struct Standard: "standard" {
        /// Maximum that one ACK opens cwnd by (L); after a timeout a single segment. 255 is no
        /// limit, after a timeout only where at_ssthresh is "stops", as in Linux.
        limit: Packets = (Packets(1.0)), in Range::between(1.0, 255.0).whole(), from "rfc5681 equation 2; rfc3465 §2.3: at most 2; Linux: none";
        /// What an ACK does that takes cwnd beyond ssthresh.
        at_ssthresh: AtSsthresh = (AtSsthresh::Passes), in Range::ANY, from "rfc5681 §3.1; Linux, tcp_slow_start";
    }
}

choice! {
    /// How slow start opens cwnd and when it ends without congestion.
    pub enum SlowStart {
        Standard(Standard),
        Hystart(Hystart),
        Hybrid(HybridStart),
    }
}

/// As Linux has it for every control without one of its own (tcp_slow_start).
pub(super) fn in_linux() -> Json {
    json!({"kind": "standard", "limit": "255 packets", "at_ssthresh": "stops"})
}

impl SlowStart {
    /// As in RFC 5681.
    pub fn standard() -> Self {
        SlowStart::Standard(defaults())
    }

    /// HyStart++ with its RFC's parameters.
    pub fn hystart() -> Self {
        SlowStart::Hystart(defaults())
    }
}
