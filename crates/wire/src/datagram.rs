//! Packets that consist of an IP header, a TCP or UDP header, and a payload.

use crate::error::Error;
use crate::ip::Ip;
use crate::tcp::Tcp;
use crate::udp::Udp;

/// A transport header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// A TCP header.
    Tcp(Tcp),
    /// A UDP header.
    Udp(Udp),
}

impl Transport {
    fn protocol(&self) -> u8 {
        match self {
            Transport::Tcp(_) => Tcp::PROTOCOL,
            Transport::Udp(_) => Udp::PROTOCOL,
        }
    }

    fn header_len(&self) -> usize {
        match self {
            Transport::Tcp(tcp) => tcp.header_len(),
            Transport::Udp(_) => Udp::LEN,
        }
    }

    /// Append the IP header and the transport header of a packet, without the payload itself. The
    /// function computes all checksums and sets all length fields, including those in `ip`.
    pub fn write(&self, ip: &mut Ip, payload: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        ip.set_payload(self.protocol(), self.header_len() + payload.len())?;
        ip.write(out);
        match self {
            Transport::Tcp(tcp) => tcp.write(ip, payload, out),
            Transport::Udp(udp) => udp.write(ip, payload, out)?,
        }
        Ok(())
    }
}

/// A decoded packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Datagram<'a> {
    /// The IP header.
    pub ip: Ip,
    /// The transport header.
    pub transport: Transport,
    /// Part of the payload that was captured.
    pub payload: &'a [u8],
    /// Size of the whole payload, in bytes.
    pub payload_len: usize,
}

impl<'a> Datagram<'a> {
    /// Decode a whole packet. Every checksum of the packet must be right.
    pub fn read(bytes: &'a [u8]) -> Result<Datagram<'a>, Error> {
        let (ip, segment) = Ip::read(bytes)?;
        if segment.len() < ip.payload_len() {
            let (needed, found) = (ip.payload_len(), segment.len());
            return Err(Error::Short { what: "payload of IP", needed, found });
        }
        let datagram = Self::after_ip(ip, segment)?;
        match datagram.transport {
            Transport::Tcp(_) => Tcp::verify(&datagram.ip, segment)?,
            // The function `after_ip` has checked that the datagram is complete.
            Transport::Udp(_) => Udp::verify(&datagram.ip, &segment[..Udp::LEN + datagram.payload_len])?,
        }
        Ok(datagram)
    }

    /// Decode a packet whose payload may be missing, as in a capture that contains only headers.
    /// The function verifies only the checksum of the IPv4 header.
    pub fn read_headers(bytes: &'a [u8]) -> Result<Datagram<'a>, Error> {
        let (ip, segment) = Ip::read(bytes)?;
        Self::after_ip(ip, segment)
    }

    fn after_ip(ip: Ip, segment: &'a [u8]) -> Result<Datagram<'a>, Error> {
        if ip.is_fragment() {
            return Err(Error::Fragment);
        }
        let length = ip.payload_len();
        match ip.protocol() {
            Tcp::PROTOCOL => {
                let (tcp, payload) = Tcp::read(segment)?;
                let payload_len = length - tcp.header_len();
                Ok(Datagram { ip, transport: Transport::Tcp(tcp), payload, payload_len })
            }
            Udp::PROTOCOL => {
                let (udp, bytes) = Udp::read(segment)?;
                if bytes > length {
                    return Err(Error::Short { what: "UDP datagram", needed: bytes, found: length });
                }
                let payload = &segment[Udp::LEN..segment.len().min(bytes)];
                Ok(Datagram { ip, transport: Transport::Udp(udp), payload, payload_len: bytes - Udp::LEN })
            }
            other => Err(Error::Protocol(other)),
        }
    }
}
