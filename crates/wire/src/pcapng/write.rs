//! Encoding of captures. All numbers of the capture are written with the low byte first, on every
//! machine.

use std::io::{self, Write};

use units::Time;

use super::blocks::{BYTE_ORDER_MAGIC, LINKTYPE_RAW, block, option};

/// Number of bytes of a block that do not belong to its body. The bytes outside of the body are the
/// type and the length before the body, and the length after the body.
const FRAME: usize = 12;
/// Value of the option if_tsresol for times in nanoseconds. pcapng also allows picoseconds, but
/// tshark 4.0 decodes them wrongly because it multiplies by 10^9 in 64 bits.
const RESOLUTION: u8 = 9;
const PICOSECONDS: u64 = 1000;

/// A capture to which packets are being added.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    interfaces: u32,
}

impl<W: Write> Writer<W> {
    /// Begin a capture.
    pub fn new(mut out: W) -> io::Result<Self> {
        let mut body = Vec::new();
        body.extend_from_slice(&BYTE_ORDER_MAGIC.to_le_bytes());
        body.extend_from_slice(&[1, 0, 0, 0]); // version 1.0
        body.extend_from_slice(&u64::MAX.to_le_bytes()); // section of unspecified length
        put_option(&mut body, option::APPLICATION, concat!("aqmlab ", env!("CARGO_PKG_VERSION")).as_bytes());
        put_option(&mut body, option::END, &[]);
        put_block(&mut out, block::SECTION_HEADER, &body)?;
        Ok(Writer { out, interfaces: 0 })
    }

    /// Add an interface of raw IP packets to the capture, and return its number. The argument
    /// `snaplen` is the maximum number of bytes that are captured of each packet.
    pub fn interface(&mut self, name: &str, snaplen: u32) -> io::Result<u32> {
        let mut body = Vec::new();
        body.extend_from_slice(&LINKTYPE_RAW.to_le_bytes());
        body.extend_from_slice(&[0, 0]);
        body.extend_from_slice(&snaplen.to_le_bytes());
        put_option(&mut body, option::NAME, name.as_bytes());
        put_option(&mut body, option::RESOLUTION, &[RESOLUTION]);
        put_option(&mut body, option::END, &[]);
        put_block(&mut self.out, block::INTERFACE_DESCRIPTION, &body)?;
        self.interfaces += 1;
        Ok(self.interfaces - 1)
    }

    /// Write a packet that an interface observed at the time `time`. The captured bytes come in two
    /// parts, and `original_len` is the size of the whole packet.
    pub fn packet(
        &mut self,
        interface: u32,
        time: Time,
        kept: [&[u8]; 2],
        original_len: u32,
    ) -> io::Result<()> {
        const FIELDS: usize = 20;
        let kept_len = kept[0].len() + kept[1].len();
        let padding = kept_len.next_multiple_of(4) - kept_len;
        let length = (FRAME + FIELDS + kept_len + padding) as u32;
        let ticks = time.0 / PICOSECONDS;
        let fields = [
            block::ENHANCED_PACKET,
            length,
            interface,
            (ticks >> 32) as u32,
            ticks as u32,
            kept_len as u32,
            original_len,
        ];
        let mut head = [0; 4 * 7];
        for (place, field) in head.chunks_exact_mut(4).zip(fields) {
            place.copy_from_slice(&field.to_le_bytes());
        }
        self.out.write_all(&head)?;
        self.out.write_all(kept[0])?;
        self.out.write_all(kept[1])?;
        self.out.write_all(&[0; 3][..padding])?;
        self.out.write_all(&length.to_le_bytes())
    }

    /// Write all buffered data, and return the writer.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }
}

fn put_block(out: &mut impl Write, kind: u32, body: &[u8]) -> io::Result<()> {
    let length = ((FRAME + body.len()) as u32).to_le_bytes();
    out.write_all(&kind.to_le_bytes())?;
    out.write_all(&length)?;
    out.write_all(body)?;
    out.write_all(&length)
}

/// Append an option. If the value of the option exceeds the maximum length, the value is truncated.
fn put_option(body: &mut Vec<u8>, code: u16, value: &[u8]) {
    let value = &value[..value.len().min(usize::from(u16::MAX))];
    body.extend_from_slice(&code.to_le_bytes());
    body.extend_from_slice(&(value.len() as u16).to_le_bytes());
    body.extend_from_slice(value);
    body.resize(body.len().next_multiple_of(4), 0);
}
