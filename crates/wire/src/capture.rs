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

/// A capture being written: an interface for each link or host, and the packets that each saw. Once its buffers
/// have grown to the longest header, a packet allocates nothing.
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
        Capture::new(BufWriter::with_capacity(1 << 16, File::create(path)?), keep)
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
