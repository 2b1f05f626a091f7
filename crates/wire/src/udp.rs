//! The UDP header (RFC 768).

use crate::error::Error;
use crate::ip::Ip;

/// A UDP header. The struct does not store the length field of the header, because the field is
/// computed from the size of the payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Udp {
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
}

impl Udp {
    pub(crate) const PROTOCOL: u8 = 17;
    /// Size of a UDP header, in bytes.
    pub const LEN: usize = 8;
    const WHAT: &'static str = "UDP header";

    /// Decode a UDP header, and return it with the value of its length field.
    pub(crate) fn read(bytes: &[u8]) -> Result<(Udp, usize), Error> {
        let Some(&[a, b, c, d, e, f, _, _]) = bytes.first_chunk::<{ Self::LEN }>() else {
            return Err(Error::Short { what: Self::WHAT, needed: Self::LEN, found: bytes.len() });
        };
        let length = usize::from(u16::from_be_bytes([e, f]));
        if length < Self::LEN {
            return Err(Error::HeaderLength { what: "UDP datagram", bytes: length });
        }
        let source_port = u16::from_be_bytes([a, b]);
        Ok((Udp { source_port, destination_port: u16::from_be_bytes([c, d]) }, length))
    }

    /// Append the header. The checksum covers the pseudo-header, the header
    /// and the payload.
    pub(crate) fn write(&self, ip: &Ip, payload: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        let bytes = Self::LEN + payload.len();
        let length = u16::try_from(bytes).map_err(|_| Error::TooLong { what: "UDP datagram", bytes })?;
        let start = out.len();
        out.extend_from_slice(&self.source_port.to_be_bytes());
        out.extend_from_slice(&self.destination_port.to_be_bytes());
        out.extend_from_slice(&length.to_be_bytes());
        out.extend_from_slice(&[0, 0]);
        // "If the computed checksum is zero, it is transmitted as all ones" (RFC 768), because a
        // checksum of 0 means that the datagram has no checksum.
        let checksum = match ip.checksum(Self::PROTOCOL, &[&out[start..], payload]) {
            0 => u16::MAX,
            sum => sum,
        };
        out[start + 6..].copy_from_slice(&checksum.to_be_bytes());
        Ok(())
    }

    /// Verify the checksum of a datagram, given its UDP header and its payload. Over IPv4 a
    /// datagram may have no checksum, but over IPv6 "receivers must discard UDP packets containing
    /// a zero checksum" (RFC 8200 §8.1).
    pub(crate) fn verify(ip: &Ip, datagram: &[u8]) -> Result<(), Error> {
        match (ip, datagram.get(6..8)) {
            (Ip::V4(_), Some([0, 0])) => Ok(()),
            (_, sum) if sum != Some(&[0, 0]) && ip.checksum(Self::PROTOCOL, &[datagram]) == 0 => Ok(()),
            _ => Err(Error::Checksum { what: Self::WHAT }),
        }
    }
}
