//! Memory that packets occupy in a Linux host.

/// Memory of a packet beside its payload, in bytes, if the payload is in page fragments. This
/// memory consists of the packet's descriptor, the description of the fragments and the headers
/// (Linux 6.12, SKB_TRUESIZE of the smallest head: sk_buff 256, skb_shared_info 320, head 320).
pub const PACKET_OVERHEAD: u32 = 896;
