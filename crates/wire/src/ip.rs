//! IPv4 headers (RFC 791) and IPv6 headers (RFC 8200), with the fields of the crate etherparse.

use std::net::IpAddr;

use etherparse::checksum::Sum16BitWords;
use etherparse::{IpDscp, IpEcn, IpNumber, Ipv4Header, Ipv6Header};
use net::Ecn;

use crate::endpoints::Addresses;
use crate::error::Error;

/// Initial hop limit, which is the recommended default 64 (RFC 1700, "IP time to live").
const HOPS: u8 = 64;

/// An IP header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ip {
    /// IPv4, with its options.
    V4(Ipv4Header),
    /// IPv6, without extension headers.
    V6(Ipv6Header),
}

impl Ip {
    /// Create the IP header of a packet that must not be fragmented. If a packet must not be
    /// fragmented, its IPv4 identification has no meaning (RFC 6864 §4.1).
    pub fn new(addresses: Addresses, ecn: Ecn) -> Ip {
        let mut ip = match addresses {
            Addresses::V4 { source, destination } => Ip::V4(Ipv4Header {
                source: source.octets(),
                destination: destination.octets(),
                dont_fragment: true,
                time_to_live: HOPS,
                ..Ipv4Header::default()
            }),
            Addresses::V6 { source, destination } => Ip::V6(Ipv6Header {
                source: source.octets(),
                destination: destination.octets(),
                hop_limit: HOPS,
                ..Ipv6Header::default()
            }),
        };
        ip.set_ecn(ecn);
        ip
    }

    /// Decode an IP header, and return it with the available part of its payload. The checksum of
    /// an IPv4 header must be right.
    pub fn read(bytes: &[u8]) -> Result<(Ip, &[u8]), Error> {
        let (ip, rest) = match bytes.first().map(|first| first >> 4) {
            Some(4) => read_v4(bytes)?,
            Some(6) => read_v6(bytes)?,
            Some(version) => return Err(Error::Version(version)),
            None => return Err(Error::Short { what: "IP header", needed: 1, found: 0 }),
        };
        let payload = rest.len().min(ip.payload_len());
        Ok((ip, &rest[..payload]))
    }

    /// Append the header. The function computes the checksum of an IPv4 header.
    pub fn write(&self, out: &mut Vec<u8>) {
        match self {
            Ip::V4(header) => {
                let start = out.len();
                out.extend_from_slice(&header.to_bytes());
                let checksum = header.calc_header_checksum().to_be_bytes();
                out[start + 10..start + 12].copy_from_slice(&checksum);
            }
            Ip::V6(header) => out.extend_from_slice(&header.to_bytes()),
        }
    }

    /// Set the protocol field and the length field of the IP header. The argument `bytes` is the
    /// sum of the sizes of the transport header and the payload.
    pub fn set_payload(&mut self, protocol: u8, bytes: usize) -> Result<(), Error> {
        match self {
            Ip::V4(header) => {
                header.protocol = IpNumber(protocol);
                header.set_payload_len(bytes).map_err(|_| Error::TooLong { what: "IPv4 packet", bytes })
            }
            Ip::V6(header) => {
                header.next_header = IpNumber(protocol);
                header.set_payload_length(bytes).map_err(|_| Error::TooLong { what: "IPv6 packet", bytes })
            }
        }
    }

    /// Return the number of bytes that follow the IP header.
    pub fn payload_len(&self) -> usize {
        match self {
            Ip::V4(header) => usize::from(header.total_len).saturating_sub(header.header_len()),
            Ip::V6(header) => usize::from(header.payload_length),
        }
    }

    /// Return the protocol of the payload (an IANA protocol number).
    pub fn protocol(&self) -> u8 {
        match self {
            Ip::V4(header) => header.protocol.0,
            Ip::V6(header) => header.next_header.0,
        }
    }

    /// Return true if the packet is a fragment of a datagram.
    pub fn is_fragment(&self) -> bool {
        match self {
            Ip::V4(header) => header.is_fragmenting_payload(),
            Ip::V6(_) => false,
        }
    }

    /// Return the source address.
    pub fn source(&self) -> IpAddr {
        match self {
            Ip::V4(header) => header.source.into(),
            Ip::V6(header) => header.source.into(),
        }
    }

    /// Return the destination address.
    pub fn destination(&self) -> IpAddr {
        match self {
            Ip::V4(header) => header.destination.into(),
            Ip::V6(header) => header.destination.into(),
        }
    }

    /// Return the ECN field (RFC 3168 §5).
    pub fn ecn(&self) -> Ecn {
        let field = match self {
            Ip::V4(header) => header.ecn,
            Ip::V6(header) => header.ecn(),
        };
        match field {
            IpEcn::NotEct => Ecn::NotEct,
            IpEcn::Ect1 => Ecn::Ect1,
            IpEcn::Ect0 => Ecn::Ect0,
            IpEcn::CongestionExperienced => Ecn::Ce,
        }
    }

    /// Set the ECN field.
    pub fn set_ecn(&mut self, ecn: Ecn) {
        let field = match ecn {
            Ecn::NotEct => IpEcn::NotEct,
            Ecn::Ect1 => IpEcn::Ect1,
            Ecn::Ect0 => IpEcn::Ect0,
            Ecn::Ce => IpEcn::CongestionExperienced,
        };
        match self {
            Ip::V4(header) => header.ecn = field,
            Ip::V6(header) => header.set_ecn(field),
        }
    }

    /// Return the differentiated services codepoint (DSCP, RFC 2474 §3).
    pub fn dscp(&self) -> u8 {
        match self {
            Ip::V4(header) => header.dscp.value(),
            Ip::V6(header) => header.dscp().value(),
        }
    }

    /// Set the DSCP to the low six bits of `dscp`.
    pub fn set_dscp(&mut self, dscp: u8) {
        let field = IpDscp::try_new(dscp & IpDscp::MAX_U8).unwrap_or_default();
        match self {
            Ip::V4(header) => header.dscp = field,
            Ip::V6(header) => header.set_dscp(field),
        }
    }

    /// Return the checksum over the pseudo-header and the given parts of the packet (RFC 9293 §3.1
    /// and RFC 768 for IPv4, RFC 8200 §8.1 for IPv6). The size of each part, except the last, must
    /// be a multiple of two bytes. If the parts contain a checksum that is right, the result is 0.
    pub(crate) fn checksum(&self, protocol: u8, parts: &[&[u8]]) -> u16 {
        let length = parts.iter().map(|part| part.len()).sum::<usize>() as u32;
        let mut sum = Sum16BitWords::new();
        let sum = match self {
            Ip::V4(header) => sum.add_4bytes(header.source).add_4bytes(header.destination),
            Ip::V6(header) => sum.add_16bytes(header.source).add_16bytes(header.destination),
        };
        let sum = sum.add_2bytes([0, protocol]).add_slice(&length.to_be_bytes());
        parts.iter().fold(sum, |sum, part| sum.add_slice(part)).ones_complement().to_be()
    }
}

fn read_v4(bytes: &[u8]) -> Result<(Ip, &[u8]), Error> {
    const WHAT: &str = "IPv4 header";
    let length = usize::from(bytes.first().map_or(0, |first| first & 0x0f)) * 4;
    if length < Ipv4Header::MIN_LEN {
        return Err(Error::HeaderLength { what: WHAT, bytes: length });
    }
    let short = Error::Short { what: WHAT, needed: length, found: bytes.len() };
    let (header, rest) = Ipv4Header::from_slice(bytes).map_err(|_| short)?;
    // The checksum is computed over the original bytes. The original bytes are needed because the
    // checksum covers the reserved flag, which the decoded header does not contain.
    if Sum16BitWords::new().add_slice(&bytes[..length]).ones_complement() != 0 {
        return Err(Error::Checksum { what: WHAT });
    }
    let total = usize::from(header.total_len);
    if total < length {
        return Err(Error::HeaderLength { what: "IPv4 packet", bytes: total });
    }
    Ok((Ip::V4(header), rest))
}

fn read_v6(bytes: &[u8]) -> Result<(Ip, &[u8]), Error> {
    let short = Error::Short { what: "IPv6 header", needed: Ipv6Header::LEN, found: bytes.len() };
    let (header, rest) = Ipv6Header::from_slice(bytes).map_err(|_| short)?;
    Ok((Ip::V6(header), rest))
}
