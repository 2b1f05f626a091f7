//! Errors of packets.

use thiserror::Error;

/// Reason why bytes cannot be decoded as a packet, or why a packet cannot be encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Error {
    /// The bytes end before the packet is complete.
    #[error("{what}: only {found} of the {needed} needed bytes are present")]
    Short {
        /// The incomplete part.
        what: &'static str,
        /// Required size, in bytes.
        needed: usize,
        /// Available size, in bytes.
        found: usize,
    },
    /// A length field is smaller than the header that contains it.
    #[error("{what}: the length field of {bytes} bytes is smaller than the header")]
    HeaderLength {
        /// Name of the header.
        what: &'static str,
        /// Value of the length field in bytes.
        bytes: usize,
    },
    /// The IP version is neither 4 nor 6.
    #[error("IP version {0} must be 4 or 6")]
    Version(u8),
    /// The packet is a fragment of a datagram.
    #[error("a fragment of a datagram has no complete transport header")]
    Fragment,
    /// The transport protocol is neither TCP nor UDP.
    #[error("protocol {0} must be TCP (6) or UDP (17)")]
    Protocol(u8),
    /// A checksum is wrong.
    #[error("{what}: the checksum is wrong")]
    Checksum {
        /// Name of the header that contains the checksum.
        what: &'static str,
    },
    /// A TCP option has an invalid length.
    #[error("TCP option {kind}: a length of {length} bytes is invalid")]
    OptionLength {
        /// Kind of the option.
        kind: u8,
        /// Length of the TCP option, including the bytes of kind and length.
        length: usize,
    },
    /// The TCP options exceed the maximum size of 40 bytes.
    #[error(
        "the TCP options need {needed} bytes, but a TCP header has at most 40 bytes of options; remove \
         an option"
    )]
    OptionRoom {
        /// Size of all TCP options, in bytes.
        needed: usize,
    },
    /// The size of a datagram exceeds the maximum of its length field.
    #[error(
        "{what}: the size of {bytes} bytes exceeds the maximum of its length field; shorten the \
        payload"
    )]
    TooLong {
        /// Name of the header with the length field.
        what: &'static str,
        /// Size of the datagram, in bytes.
        bytes: usize,
    },
    /// The number of a host is too large for an address.
    #[error("host {0}: only hosts 0 to 16,777,213 have an address in 10.0.0.0/8; use fewer hosts")]
    Host(u32),
    /// The number of a flow is too large for a pair of ports.
    #[error("flow {0}: only flows 0 to 268,435,455 have a pair of ports; use fewer connections")]
    Flow(u32),
}
