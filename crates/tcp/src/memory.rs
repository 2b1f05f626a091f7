//! Memory that packets take in a Linux host.

/// Memory of a packet beside its payload, if the payload lies in page fragments: the descriptor, the description of its fragments and room for
/// headers (Linux 6.12, SKB_TRUESIZE of the smallest head: sk_buff 256, skb_shared_info 320, head 320).
pub const PACKET_OVERHEAD: u32 = 896;
