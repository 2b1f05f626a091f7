//! The TCP header (RFC 9293 §3.1).

use net::{Flags, Seq};

use crate::error::Error;
use crate::ip::Ip;
use crate::options::Options;

/// A TCP header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tcp {
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
    /// Sequence number of the first byte of the segment, or of the SYN.
    pub seq: Seq,
    /// Acknowledgment number: the sequence number of the next byte expected from the peer.
    pub ack: Seq,
    /// Control bits.
    pub flags: Flags,
    /// Window field, not scaled.
    pub window: u16,
    /// Urgent pointer.
    pub urgent: u16,
    /// Options.
    pub options: Options,
}

impl Tcp {
    pub(crate) const PROTOCOL: u8 = 6;
    const MIN_LEN: usize = 20;
    const WHAT: &'static str = "TCP header";

    /// Return the size of the TCP header, in bytes.
    pub fn header_len(&self) -> usize {
        Self::MIN_LEN + self.options.bytes().len()
    }

    /// Decode a TCP header, and return it with the bytes that follow it.
    pub(crate) fn read(bytes: &[u8]) -> Result<(Tcp, &[u8]), Error> {
        let short = |needed| Error::Short { what: Self::WHAT, needed, found: bytes.len() };
        let (fixed, _) = bytes.split_first_chunk::<{ Self::MIN_LEN }>().ok_or(short(Self::MIN_LEN))?;
        let length = usize::from(fixed[12] >> 4) * 4;
        if length < Self::MIN_LEN {
            return Err(Error::HeaderLength { what: Self::WHAT, bytes: length });
        }
        let options = bytes.get(Self::MIN_LEN..length).ok_or(short(length))?;
        let two = |at: usize| u16::from_be_bytes([fixed[at], fixed[at + 1]]);
        let four = |at: usize| u32::from_be_bytes([fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]]);
        let tcp = Tcp {
            source_port: two(0),
            destination_port: two(2),
            seq: Seq(four(4)),
            ack: Seq(four(8)),
            flags: Flags(two(12) & 0x1FF),
            window: two(14),
            urgent: two(18),
            options: Options::read(options)?,
        };
        Ok((tcp, &bytes[length..]))
    }

    /// Append the header. The checksum covers the pseudo-header, the header and the payload.
    pub(crate) fn write(&self, ip: &Ip, payload: &[u8], out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(&self.source_port.to_be_bytes());
        out.extend_from_slice(&self.destination_port.to_be_bytes());
        out.extend_from_slice(&self.seq.0.to_be_bytes());
        out.extend_from_slice(&self.ack.0.to_be_bytes());
        let offset = (self.header_len() as u16 / 4) << 12;
        out.extend_from_slice(&(offset | (self.flags.0 & 0x1FF)).to_be_bytes());
        out.extend_from_slice(&self.window.to_be_bytes());
        out.extend_from_slice(&[0, 0]);
        out.extend_from_slice(&self.urgent.to_be_bytes());
        out.extend_from_slice(self.options.bytes());
        let checksum = ip.checksum(Self::PROTOCOL, &[&out[start..], payload]);
        out[start + 16..start + 18].copy_from_slice(&checksum.to_be_bytes());
    }

    /// Verify the checksum of a segment, given its header and payload.
    pub(crate) fn verify(ip: &Ip, segment: &[u8]) -> Result<(), Error> {
        match ip.checksum(Self::PROTOCOL, &[segment]) {
            0 => Ok(()),
            _ => Err(Error::Checksum { what: Self::WHAT }),
        }
    }
}
