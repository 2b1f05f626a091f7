//! Named values of the parameters of a receiver.

use units::words;

words! {
    /// Unit in which `delayed_ack` counts received data.
    pub enum DelayedAckUnit {
        /// Segments with data.
        Segments = "segments",
        /// Bytes, divided by the size of the largest segment received (Linux; RFC 5681 §4.2
        /// specifies full-sized segments).
        FullSegments = "full-segments",
    }
}

words! {
    /// Condition for an immediate ACK of a segment that fills a gap.
    pub enum GapAck {
        /// The segment fills all or part of a gap (RFC 5681 §4.2).
        Immediate = "immediate",
        /// The segment fills the whole gap, so that data behind the gap is in order. The ACK of a
        /// segment that fills only a part of a gap may be delayed (ns-2).
        WhenReleased = "when-released",
    }
}

words! {
    /// Representation of the advertised window in the window field.
    pub enum WindowScaling {
        /// The window field represents a window of any size exactly.
        Full = "full",
        /// The window field has 16 bits and a scale factor, which the SYN offers (RFC 7323 §2).
        On = "on",
        /// The window field has 16 bits without a scale factor.
        Off = "off",
    }
}

words! {
    /// Memory that a received segment occupies.
    pub enum SegmentMemory {
        /// A received segment occupies one block for headers and payload, whose size is a power of
        /// two, and 240 B for the packet's descriptor. A TUN device and many Ethernet drivers
        /// allocate packets in one block.
        Linear = "linear",
        /// A received segment occupies the size of its payload, and 896 B in addition. A packet
        /// that a Linux sender allocated takes 896 B in addition to its payload, also if a veth
        /// device has forwarded it.
        Fragments = "fragments",
    }
}

words! {
    /// Tuning of the receive window.
    pub enum WindowTuning {
        /// The window is `receive_window` from the beginning of the connection.
        Off = "off",
        /// The window begins at half of `memory.receive`, and grows with the data that arrives and
        /// that the application reads (Linux, tcp_moderate_rcvbuf). While the window grows, the
        /// receiver acknowledges segments at once.
        Linux = "linux",
    }
}
