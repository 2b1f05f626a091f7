//! Constants of the format.

/// Block types of pcapng (§4.1, §4.2, §4.3).
pub mod block {
    pub const SECTION_HEADER: u32 = 0x0a0d_0d0a;
    pub const INTERFACE_DESCRIPTION: u32 = 1;
    pub const ENHANCED_PACKET: u32 = 6;
}

/// Magic number of a pcapng section, which shows the byte order of the section (pcapng draft §4.1).
pub const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;
/// Option codes of pcapng (§3.5, §4.1, §4.2).
pub mod option {
    pub const END: u16 = 0;
    pub const APPLICATION: u16 = 4;
    pub const NAME: u16 = 2;
    pub const RESOLUTION: u16 = 9;
}

/// Link type of raw IP: each packet begins with its IP header.
pub const LINKTYPE_RAW: u16 = 101;
