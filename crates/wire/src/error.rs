//! What can be wrong with a packet.

use thiserror::Error;

/// Why bytes are not a packet, or a packet cannot be put into bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Error {
    /// The bytes end too early.
    #[error("{what}: {needed} bytes are needed and {found} are there")]
    Short {
        /// The part that does not fit.
        what: &'static str,
        /// Its length.
        needed: usize,
        /// What is left for it.
        found: usize,
    },
    /// A length field says less than the header it is in.
    #[error("{what}: a length of {bytes} bytes is less than the header's")]
    HeaderLength {
        /// The header.
        what: &'static str,
        /// The length it claims.
        bytes: usize,
    },
    /// Neither IPv4 nor IPv6.
    #[error("version {0} of IP is neither 4 nor 6")]
    Version(u8),
    /// A part of a datagram.
    #[error("a fragment of a datagram has no transport header to read")]
    Fragment,
    /// Neither TCP nor UDP follows the IP header.
    #[error("protocol {0} is neither TCP (6) nor UDP (17)")]
    Protocol(u8),
    /// A checksum does not fit what it covers.
    #[error("{what}: the checksum is wrong")]
    Checksum {
        /// The header it stands in.
        what: &'static str,
    },
    /// A TCP option that cannot have this length.
    #[error("TCP option {kind}: {length} bytes is not a length it can have")]
    OptionLength {
        /// Its kind.
        kind: u8,
        /// Its length, kind and length included.
        length: usize,
    },
    /// More TCP options than a header holds.
    #[error("the TCP options take {needed} bytes, and a header has room for 40")]
    OptionRoom {
        /// What they take.
        needed: usize,
    },
    /// A datagram longer than its length field can say.
    #[error("{what}: {bytes} bytes is more than its length field can say")]
    TooLong {
        /// The header whose field it is.
        what: &'static str,
        /// The length.
        bytes: usize,
    },
    /// More hosts than addresses.
    #[error("host {0} has no address: 10.0.0.0/8 is for hosts 0 to 16,777,213")]
    Host(u32),
    /// More flows than pairs of ports.
    #[error("flow {0} has no ports: there are pairs for flows 0 to 268,435,455")]
    Flow(u32),
}
