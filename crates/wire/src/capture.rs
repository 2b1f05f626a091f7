//! Packets of the simulator into a file that tshark and tcpdump open.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use net::Packet;
use thiserror::Error;
use units::Time;

use crate::datagram::Transport;
use crate::ends::Ends;
use crate::error::Error as PacketError;
use crate::ip::Ip;
use crate::pcapng::Writer;
use crate::simulated::{Carried, headers, zeros};

/// What of each packet is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// Its headers.
    #[default]
    Headers,
    /// Its payload too, which is zeros, so that its checksum can be verified.
    Whole,
}

/// The longest headers: IPv4 and TCP with 40 bytes of options each.
const LONGEST_HEADERS: u32 = 120;

/// Why a packet is not in the capture.
#[derive(Debug, Error)]
pub enum CaptureError {
    /// The file cannot be written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// There are no bytes for the packet.
    #[error(transparent)]
    Packet(#[from] PacketError),
}

/// A capture being written: an interface for each link or host, and the packets that each saw. A packet
/// allocates nothing.
///
/// tshark reads any number of interfaces; what is made with libpcap 1.10.3 (tcpdump, tcptrace) refuses a second
/// one of raw IP, so a capture for those has one interface.
#[derive(Debug)]
pub struct Capture<W> {
    file: Writer<W>,
    keep: Keep,
    headers: Vec<u8>,
}

/// An interface of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interface(u32);

impl Capture<BufWriter<File>> {
    /// Begins a capture in a file.
    pub fn create(path: &Path, keep: Keep) -> io::Result<Self> {
        Capture::new(BufWriter::with_capacity(1 << 16, File::create_new(path)?), keep)
    }
}

impl<W: Write> Capture<W> {
    /// Begins a capture.
    pub fn new(out: W, keep: Keep) -> io::Result<Self> {
        let headers = Vec::with_capacity(LONGEST_HEADERS as usize);
        Ok(Capture { file: Writer::new(out)?, keep, headers })
    }

    /// Adds an interface, by the name of its link or host.
    pub fn interface(&mut self, name: &str) -> io::Result<Interface> {
        let snaplen = match self.keep {
            Keep::Headers => LONGEST_HEADERS,
            Keep::Whole => 0,
        };
        self.file.interface(name, snaplen).map(Interface)
    }

    /// A packet that an interface saw at `time`: the ends are those of its flow, whichever way it goes.
    pub fn packet(
        &mut self,
        interface: Interface,
        time: Time,
        packet: &Packet,
        carried: &Carried,
        ends: &Ends,
    ) -> Result<(), CaptureError> {
        headers(packet, carried, ends, &mut self.headers)?;
        Ok(self.write(interface, time, packet.segment.len)?)
    }

    /// Any packet that an interface saw at `time`, with a payload of so many zeros.
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

    fn write(&mut self, interface: Interface, time: Time, payload: u16) -> io::Result<()> {
        let kept = match self.keep {
            Keep::Headers => zeros(0),
            Keep::Whole => zeros(payload),
        };
        let original_len = self.headers.len() as u32 + u32::from(payload);
        self.file.packet(interface.0, time, [&self.headers, kept], original_len)
    }

    /// Writes what is still buffered and returns what was written to.
    pub fn finish(self) -> io::Result<W> {
        self.file.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Datagram, Family, pcapng};
    use net::{Direction, Ecn, Flags, Label, Segment, Seq};

    const AT: Time = Time(7_000);

    fn packet() -> (Packet, Carried, Ends) {
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
        let ends = Ends::of(Family::V6, 3, 4, 1).unwrap();
        (packet, Carried { options, ..Carried::default() }, ends)
    }

    fn captured(keep: Keep) -> Vec<u8> {
        let (packet, carried, ends) = packet();
        let mut capture = Capture::new(Vec::new(), keep).unwrap();
        let interface = capture.interface("left>right").unwrap();
        capture.packet(interface, AT, &packet, &carried, &ends).unwrap();
        capture.finish().unwrap()
    }

    #[test]
    fn headers_alone_or_all_of_a_packet() {
        let headers = captured(Keep::Headers);
        let record = pcapng::read(&headers).unwrap().packets[0];
        assert_eq!((record.time, record.original_len, record.bytes.len()), (AT, 1548, 100));
        assert_eq!(Datagram::read_headers(record.bytes).unwrap().payload_len, 1448);
        let whole = captured(Keep::Whole);
        let record = pcapng::read(&whole).unwrap().packets[0];
        assert_eq!((record.original_len, record.bytes.len()), (1548, 1548));
        let read = Datagram::read(record.bytes).unwrap();
        assert_eq!((read.ip.ecn(), read.payload), (Ecn::Ce, &[0; 1448][..]));
    }

    #[test]
    fn the_longest_headers_fit_into_what_is_set_aside() {
        let (packet, carried, ends) = packet();
        let mut capture = Capture::new(io::sink(), Keep::Headers).unwrap();
        let interface = capture.interface("left>right").unwrap();
        let before = (capture.headers.as_ptr(), capture.headers.capacity());
        capture.packet(interface, AT, &packet, &carried, &ends).unwrap();
        assert_eq!((capture.headers.as_ptr(), capture.headers.capacity()), before);
    }

    #[test]
    fn a_packet_that_cannot_be_written_is_an_error_and_not_in_the_file() {
        let (mut packet, carried, ends) = packet();
        packet.segment.len = u16::MAX;
        let mut capture = Capture::new(Vec::new(), Keep::Whole).unwrap();
        let interface = capture.interface("left>right").unwrap();
        let refused = capture.packet(interface, AT, &packet, &carried, &ends).unwrap_err();
        assert_eq!(refused.to_string(), "IPv6 packet: 65595 bytes is more than its length field can say");
        let bytes = capture.finish().unwrap();
        assert!(pcapng::read(&bytes).unwrap().packets.is_empty());
    }
}
