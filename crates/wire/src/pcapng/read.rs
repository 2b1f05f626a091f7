//! Decoding of pcapng captures, which may have either byte order and any number of sections.
//! Unknown kinds of blocks and unknown options are skipped.

use thiserror::Error;
use units::Time;

use super::blocks::{BYTE_ORDER_MAGIC, block, option};

/// A decoded capture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recording<'a> {
    /// Interfaces of all sections.
    pub interfaces: Vec<Interface>,
    /// Packets in the order of the file.
    pub packets: Vec<Record<'a>>,
}

/// An interface of a capture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interface {
    /// Name of the interface, or an empty string if the capture does not name it.
    pub name: String,
    /// Link type.
    pub link_type: u16,
    /// Maximum number of bytes that are captured of each packet, or 0 if the number is unlimited.
    pub snaplen: u32,
    /// Duration of one tick of the interface's clock, in picoseconds.
    tick: u64,
}

/// A packet that a capture contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// Index of the interface at which the packet was observed.
    pub interface: usize,
    /// Time of the observation.
    pub time: Time,
    /// Size of the packet on the wire, in bytes.
    pub original_len: u32,
    /// Captured bytes.
    pub bytes: &'a [u8],
}

/// Reason why bytes are not a valid capture.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("byte {at} of the capture: {problem}")]
pub struct Malformed {
    /// Offset of the invalid block in bytes, counted from the start of the capture.
    pub at: usize,
    /// Description of the error.
    pub problem: &'static str,
}

/// Decode a capture.
pub fn read(bytes: &[u8]) -> Result<Recording<'_>, Malformed> {
    let mut recording = Recording::default();
    let mut section = Section { low_first: true, first_interface: 0 };
    let mut rest = Fields { bytes, low_first: true };
    while !rest.bytes.is_empty() {
        let at = bytes.len() - rest.bytes.len();
        if at == 0 && !bytes.starts_with(&block::SECTION_HEADER.to_le_bytes()) {
            return Err(Malformed { at, problem: "the file must begin with a section header" });
        }
        read_block(&mut rest, &mut section, &mut recording).map_err(|problem| Malformed { at, problem })?;
    }
    Ok(recording)
}

/// Properties that a section header sets for the following blocks.
struct Section {
    low_first: bool,
    first_interface: usize,
}

fn read_block<'a>(
    rest: &mut Fields<'a>,
    section: &mut Section,
    recording: &mut Recording<'a>,
) -> Result<(), &'static str> {
    let start = *rest;
    // The block type of a section header is the same in both byte orders (pcapng draft §4.1).
    let kind = rest.four()?;
    if kind == block::SECTION_HEADER {
        *section = Section { low_first: order(start.bytes)?, first_interface: recording.interfaces.len() };
        rest.low_first = section.low_first;
    }
    let length = rest.four()? as usize;
    let Some(body) = length.checked_sub(12).filter(|body| body.is_multiple_of(4)) else {
        return Err("the block has an invalid length");
    };
    let mut body = Fields { bytes: rest.take(body)?, ..*rest };
    if rest.four()? as usize != length {
        return Err("the length at the end of the block differs from the length at its beginning");
    }
    match kind {
        block::INTERFACE_DESCRIPTION => recording.interfaces.push(interface(&mut body)?),
        block::ENHANCED_PACKET => {
            let packet = packet(&mut body, section, &recording.interfaces)?;
            recording.packets.push(packet);
        }
        _ => {}
    }
    Ok(())
}

/// Return true if the numbers of the section that begins here have their low byte first.
fn order(bytes: &[u8]) -> Result<bool, &'static str> {
    let magic = bytes.get(8..12).ok_or(TOO_SHORT)?;
    if magic == BYTE_ORDER_MAGIC.to_le_bytes() {
        Ok(true)
    } else if magic == BYTE_ORDER_MAGIC.to_be_bytes() {
        Ok(false)
    } else {
        Err("the section header has no byte-order magic")
    }
}

fn interface(body: &mut Fields) -> Result<Interface, &'static str> {
    let link_type = body.two()?;
    body.two()?;
    // An interface without the option if_tsresol has a resolution of 10^-6 s (pcapng draft §4.2).
    let mut interface = Interface { name: String::new(), link_type, snaplen: body.four()?, tick: 1_000_000 };
    while !body.bytes.is_empty() {
        let (code, length) = (body.two()?, usize::from(body.two()?));
        let value = &body.take(length.next_multiple_of(4))?[..length];
        match (code, value) {
            (option::END, _) => break,
            (option::NAME, name) => interface.name = String::from_utf8_lossy(name).into_owned(),
            (option::RESOLUTION, &[exponent @ 0..=12]) => {
                interface.tick = 10u64.pow(12 - u32::from(exponent));
            }
            (option::RESOLUTION, _) => {
                return Err("the time resolution must be a power of ten from 1 to 10^-12");
            }
            _ => {}
        }
    }
    Ok(interface)
}

fn packet<'a>(
    body: &mut Fields<'a>,
    section: &Section,
    interfaces: &[Interface],
) -> Result<Record<'a>, &'static str> {
    let number = section.first_interface + body.four()? as usize;
    let interface =
        interfaces.get(number).ok_or("the capture does not describe the interface of the packet")?;
    let ticks = u64::from(body.four()?) << 32 | u64::from(body.four()?);
    let time =
        Time(ticks.checked_mul(interface.tick).ok_or("the time of the packet must be at most 213 days")?);
    let (kept, original_len) = (body.four()? as usize, body.four()?);
    Ok(Record { interface: number, time, original_len, bytes: body.take(kept)? })
}

const TOO_SHORT: &str = "the block ends too early";

/// Cursor over encoded fields.
#[derive(Clone, Copy)]
struct Fields<'a> {
    bytes: &'a [u8],
    low_first: bool,
}

impl<'a> Fields<'a> {
    fn take(&mut self, n: usize) -> Result<&'a [u8], &'static str> {
        let (taken, rest) = self.bytes.split_at_checked(n).ok_or(TOO_SHORT)?;
        self.bytes = rest;
        Ok(taken)
    }

    fn two(&mut self) -> Result<u16, &'static str> {
        let &[a, b] = self.take(2)? else { return Err(TOO_SHORT) };
        Ok(if self.low_first { u16::from_le_bytes([a, b]) } else { u16::from_be_bytes([a, b]) })
    }

    fn four(&mut self) -> Result<u32, &'static str> {
        let &[a, b, c, d] = self.take(4)? else { return Err(TOO_SHORT) };
        let bytes = [a, b, c, d];
        Ok(if self.low_first { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pcapng::{LINKTYPE_RAW, Writer};
    use proptest::prelude::*;

    /// Return a section of a capture whose numbers have their high byte first and whose times are
    /// in microseconds, the default resolution.
    fn high_first() -> Vec<u8> {
        let words: [u32; 19] = [
            block::SECTION_HEADER,
            28,
            BYTE_ORDER_MAGIC,
            0x0001_0000,
            u32::MAX,
            u32::MAX,
            28,
            block::INTERFACE_DESCRIPTION,
            20,
            u32::from(LINKTYPE_RAW) << 16,
            0,
            20,
            block::ENHANCED_PACKET,
            32,
            0,
            0,
            7,
            0,
            40,
        ]; // lengths follow
        let mut bytes: Vec<u8> = words.iter().flat_map(|w| w.to_be_bytes()).collect();
        bytes.extend_from_slice(&32u32.to_be_bytes());
        bytes
    }

    fn written() -> Vec<u8> {
        let mut writer = Writer::new(Vec::new()).unwrap();
        let (left, right) = (writer.interface("left>right", 64).unwrap(), writer.interface("ü", 0).unwrap());
        writer.packet(left, Time(1_234_567_000), [b"abc", b"de"], 1500).unwrap();
        writer.packet(right, Time(9_000_000_000_000_000_999), [b"", b""], 0).unwrap();
        writer.finish().unwrap()
    }

    #[test]
    fn a_written_capture_is_read_back() {
        let bytes = written();
        let recording = read(&bytes).unwrap();
        let names: Vec<_> =
            recording.interfaces.iter().map(|i| (&i.name[..], i.link_type, i.snaplen)).collect();
        assert_eq!(names, [("left>right", 101, 64), ("ü", 101, 0)]);
        let first = Record { interface: 0, time: Time(1_234_567_000), original_len: 1500, bytes: b"abcde" };
        let time = Time(9_000_000_000_000_000_000);
        let second = Record { interface: 1, time, original_len: 0, bytes: b"" };
        assert_eq!(recording.packets, [first, second]);
    }

    #[test]
    fn both_byte_orders_and_several_sections_are_read() {
        let bytes = [written(), high_first()].concat();
        let recording = read(&bytes).unwrap();
        let last = Record { interface: 2, time: Time(7_000_000), original_len: 40, bytes: b"" };
        assert_eq!((recording.interfaces.len(), recording.packets[2]), (3, last));
    }

    #[test]
    fn an_error_names_its_block() {
        let problem = |bytes: &[u8]| read(bytes).unwrap_err().to_string();
        assert_eq!(problem(b"text"), "byte 0 of the capture: the file must begin with a section header");
        let bytes = high_first();
        assert_eq!(problem(&bytes[..bytes.len() - 4]), "byte 48 of the capture: the block ends too early");
        let mut other = bytes.clone();
        other[47] = 24;
        assert_eq!(
            problem(&other),
            "byte 28 of the capture: the length at the end of the block differs from the length at its \
             beginning"
        );
        other = bytes.clone();
        other[59] = 1;
        assert_eq!(
            problem(&other),
            "byte 48 of the capture: the capture does not describe the interface of the packet"
        );
    }

    proptest! {
        #[test]
        fn random_bytes_cause_no_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = read(&bytes);
        }

        #[test]
        fn a_capture_with_a_wrong_byte_causes_no_panic(at in any::<prop::sample::Index>(), value in any::<u8>()) {
            let mut bytes = [written(), high_first()].concat();
            let at = at.index(bytes.len());
            bytes[at] = value;
            let _ = read(&bytes);
        }
    }
}
