//! What the parameters of a receiver may say.

use units::words;

words! {
    /// What is counted against the delay of ACKs.
    pub enum DelayedAckUnit {
        /// Segments with data.
        Segments = "segments",
        /// Bytes, in units of the largest segment received (Linux: RFC 5681 §4.2 speaks of full-sized segments).
        FullSegments = "full-segments",
    }
}

words! {
    /// When a segment that fills a gap is acknowledged at once.
    pub enum GapAck {
        /// When it fills all or part of a gap (RFC 5681 §4.2).
        Immediate = "immediate",
        /// Only when it releases data that waited behind the gap; a partial fill may be delayed (ns-2).
        WhenReleased = "when-released",
    }
}

words! {
    /// The window field of segments.
    pub enum WindowScaling {
        /// Windows are carried in full, whatever the field could hold.
        Full = "full",
        /// Offered in the SYN (RFC 7323 §2).
        On = "on",
        /// Sixteen bits.
        Off = "off",
    }
}

words! {
    /// Memory that a received segment takes.
    pub enum SegmentMemory {
        /// One allocation for headers and payload, a power of two, and 240 B for its descriptor: a packet from a TUN device or many an Ethernet driver.
        Linear = "linear",
        /// The payload, and 896 B beside it: a packet as a Linux sender makes it, which a veth device hands on.
        Fragments = "fragments",
    }
}

words! {
    /// How the receive window is found.
    pub enum WindowTuning {
        /// It is `receive_window` from the beginning.
        Off = "off",
        /// It grows with the data that arrives and is read, from half of `memory.receive` on (Linux, tcp_moderate_rcvbuf); segments are acknowledged
        /// at once while it grows.
        Linux = "linux",
    }
}
