//! Memory that packets occupy in a Linux host.

/// Memory in bytes that a packet with its payload in page fragments takes in addition to the
/// payload. The additional memory of a packet consists of the packet's descriptor, the description
/// of the fragments and the headers (Linux 6.12, SKB_TRUESIZE of the smallest head: sk_buff 256,
/// skb_shared_info 320, head 320).
pub const PACKET_OVERHEAD: u32 = 896;
