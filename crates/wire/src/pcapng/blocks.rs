//! The numbers of the format.

/// Types of block (§4.1, §4.2, §4.3).
pub mod block {
    pub const SECTION_HEADER: u32 = 0x0a0d_0d0a;
    pub const INTERFACE_DESCRIPTION: u32 = 1;
    pub const ENHANCED_PACKET: u32 = 6;
}

/// By how it reads, which end of a number is first (§4.1).
pub const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;
/// Options (§3.5, §4.1, §4.2).
pub mod option {
    pub const END: u16 = 0;
    pub const APPLICATION: u16 = 4;
    pub const NAME: u16 = 2;
    pub const RESOLUTION: u16 = 9;
}

/// LINKTYPE_RAW: a packet begins with its IP header, whose version says which.
pub const LINKTYPE_RAW: u16 = 101;
