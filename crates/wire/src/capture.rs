//! Captures of simulated packets, for tshark and tcpdump.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use net::Packet;
use thiserror::Error;
use units::Time;

use crate::datagram::{Datagram, Transport};
use crate::endpoints::Endpoints;
use crate::error::Error as PacketError;
use crate::ip::Ip;
use crate::pcapng::Writer;
use crate::simulated::{SegmentExtras, headers, zeros};

/// Part of each packet that the capture contains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Content {
    /// The headers.
    #[default]
    Headers,
    /// The capture contains the headers and the payload. Every byte of a captured payload is zero,
    /// so that a reader of the capture can verify the checksum.
    Whole,
}

/// Maximum size of an IPv4 header and a TCP header, each with 40 bytes of options.
const LONGEST_HEADERS: u32 = 120;

/// Reason why a packet could not be added to a capture.
#[derive(Debug, Error)]
pub enum CaptureError {
    /// The file of the capture could not be written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The packet cannot be encoded.
    #[error(transparent)]
    Packet(#[from] PacketError),
}

/// A capture to which packets are being added. The capture has one interface for each link or host.
/// Adding a packet to the capture does not allocate memory.
///
/// tshark can read a capture with any number of interfaces. Programs that use libpcap 1.10.3, such
/// as tcpdump and tcptrace, refuse a capture with a second interface of raw IP. A capture for
/// programs that use libpcap 1.10.3 must therefore have only one interface.
#[derive(Debug)]
pub struct Capture<W> {
    file: Writer<W>,
    content: Content,
    headers: Vec<u8>,
}

/// An interface of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interface(u32);

impl Capture<BufWriter<File>> {
    /// Create a file, and begin a capture in this file.
    pub fn create(path: &Path, content: Content) -> io::Result<Self> {
        Capture::new(BufWriter::with_capacity(1 << 16, File::create_new(path)?), content)
    }
}

impl<W: Write> Capture<W> {
    /// Begin a capture.
    pub fn new(out: W, content: Content) -> io::Result<Self> {
        let headers = Vec::with_capacity(LONGEST_HEADERS as usize);
        Ok(Capture { file: Writer::new(out)?, content, headers })
    }

    /// Add an interface to the capture, with the name of its link or host.
    pub fn interface(&mut self, name: &str) -> io::Result<Interface> {
        let snaplen = match self.content {
            Content::Headers => LONGEST_HEADERS,
            Content::Whole => 0,
        };
        self.file.interface(name, snaplen).map(Interface)
    }

    /// Add a simulated packet that an interface observed at the time `time`. The argument
    /// `endpoints` gives the addresses and ports of data packets of the flow, even if the packet
    /// travels in the reverse direction.
    pub fn packet(
        &mut self,
        interface: Interface,
        time: Time,
        packet: &Packet,
        extras: &SegmentExtras,
        endpoints: &Endpoints,
    ) -> Result<(), CaptureError> {
        headers(packet, extras, endpoints, &mut self.headers)?;
        Ok(self.write(interface, time, packet.segment.len)?)
    }

    /// Add a packet with any headers that an interface observed at the time `time`. The payload
    /// consists of `payload` bytes, which are all zero.
    pub fn datagram(
        &mut self,
        interface: Interface,
        time: Time,
        mut ip: Ip,
        transport: &Transport,
        payload: u16,
    ) -> Result<(), CaptureError> {
        self.headers.clear();
        transport.write(&mut ip, zeros(payload), &mut self.headers)?;
        Ok(self.write(interface, time, payload)?)
    }

    /// Add an IP packet with the given bytes that an interface observed at the time `time`.
    pub fn bytes(&mut self, interface: Interface, time: Time, bytes: &[u8]) -> io::Result<()> {
        let payload = match self.content {
            Content::Headers => Datagram::read(bytes).map_or(0, |of| of.payload_len),
            Content::Whole => 0,
        };
        let captured = &bytes[..bytes.len() - payload];
        self.file.packet(interface.0, time, [captured, &[]], bytes.len() as u32)
    }

    fn write(&mut self, interface: Interface, time: Time, payload: u16) -> io::Result<()> {
        let captured = match self.content {
            Content::Headers => zeros(0),
            Content::Whole => zeros(payload),
        };
        let original_len = self.headers.len() as u32 + u32::from(payload);
        self.file.packet(interface.0, time, [&self.headers, captured], original_len)
    }

    /// Write all buffered data, and return the writer.
    pub fn finish(self) -> io::Result<W> {
        self.file.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Family, pcapng};
    use net::{Direction, Ecn, Flags, Label, Segment, Seq};

    const AT: Time = Time(7_000);

    fn packet() -> (Packet, SegmentExtras, Endpoints) {
        let mut options = net::Options::NONE;
        options.timestamps = Some((1, 2));
        (0..3).for_each(|_| options.push_sack((Seq(1), Seq(2))));
        let segment = Segment { len: 1448, flags: Flags::ACK, ..Segment::default() };
        let packet = Packet {
            connection: 1,
            size: 1500,
            ecn: Ecn::Ce,
            label: Label::new(Direction::Reverse),
            hop: 0,
            options: 0,
            segment,
        };
        let endpoints = Endpoints::of(Family::V6, 3, 4, 1).unwrap();
        (packet, SegmentExtras { options, ..SegmentExtras::default() }, endpoints)
    }

    fn captured(content: Content) -> Vec<u8> {
        let (packet, extras, endpoints) = packet();
        let mut capture = Capture::new(Vec::new(), content).unwrap();
        let interface = capture.interface("left>right").unwrap();
        capture.packet(interface, AT, &packet, &extras, &endpoints).unwrap();
        capture.finish().unwrap()
    }

    #[test]
    fn a_capture_holds_headers_or_whole_packets() {
        let headers = captured(Content::Headers);
        let record = pcapng::read(&headers).unwrap().packets[0];
        assert_eq!((record.time, record.original_len, record.bytes.len()), (AT, 1548, 100));
        assert_eq!(Datagram::read_headers(record.bytes).unwrap().payload_len, 1448);
        let whole = captured(Content::Whole);
        let record = pcapng::read(&whole).unwrap().packets[0];
        assert_eq!((record.original_len, record.bytes.len()), (1548, 1548));
        let read = Datagram::read(record.bytes).unwrap();
        assert_eq!((read.ip.ecn(), read.payload), (Ecn::Ce, &[0; 1448][..]));
    }

    #[test]
    fn the_longest_headers_need_no_allocation() {
        let (packet, extras, endpoints) = packet();
        let mut capture = Capture::new(io::sink(), Content::Headers).unwrap();
        let interface = capture.interface("left>right").unwrap();
        let before = (capture.headers.as_ptr(), capture.headers.capacity());
        capture.packet(interface, AT, &packet, &extras, &endpoints).unwrap();
        assert_eq!((capture.headers.as_ptr(), capture.headers.capacity()), before);
    }

    #[test]
    fn a_packet_without_encoding_is_an_error_and_left_out() {
        let (mut packet, extras, endpoints) = packet();
        packet.segment.len = u16::MAX;
        let mut capture = Capture::new(Vec::new(), Content::Whole).unwrap();
        let interface = capture.interface("left>right").unwrap();
        let refused = capture.packet(interface, AT, &packet, &extras, &endpoints).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "IPv6 packet: the size of 65595 bytes exceeds the maximum of its length field; shorten the \
             payload"
        );
        let bytes = capture.finish().unwrap();
        assert!(pcapng::read(&bytes).unwrap().packets.is_empty());
    }
}
