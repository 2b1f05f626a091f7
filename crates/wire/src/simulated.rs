//! A packet of the simulator as bytes.

use net::{Flags, Packet, Segment, Seq};

use crate::accurate_ecn::AccEcn;
use crate::datagram::Transport;
use crate::ends::Ends;
use crate::error::Error;
use crate::ip::Ip;
use crate::options::{List, Options, SackBlocks, TcpOption};
use crate::tcp::Tcp;

/// The options that an endpoint of the simulator sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpOptions {
    /// Maximum segment size in bytes.
    pub mss: Option<u16>,
    /// The shift of the windows to come.
    pub window_scale: Option<u8>,
    /// SACK may be sent.
    pub sack_permitted: bool,
    /// TSval and TSecr.
    pub timestamps: Option<(u32, u32)>,
    /// SACK blocks, left and right edge; none: no option.
    pub sack: SackBlocks,
    /// Accurate ECN counters.
    pub accurate_ecn: Option<AccEcn>,
}

impl TcpOptions {
    /// The options in the order and with the padding that hosts use: what is read in words is aligned (RFC
    /// 7323 Appendix A), and beside timestamps SACK-permitted takes the place of two NOPs. What does not fit
    /// into 40 bytes is an error: what to leave out is the sender's to choose.
    pub fn on_wire(&self) -> Result<Options, Error> {
        use TcpOption::{Nop, SackPermitted};
        let mut list = List::default();
        if let Some(mss) = self.mss {
            list.add(&[TcpOption::Mss(mss)])?;
        }
        if let Some((val, ecr)) = self.timestamps {
            list.add(if self.sack_permitted { &[SackPermitted] } else { &[Nop, Nop] })?;
            list.add(&[TcpOption::Timestamps { val, ecr }])?;
        } else if self.sack_permitted {
            list.add(&[Nop, Nop, SackPermitted])?;
        }
        if let Some(shift) = self.window_scale {
            list.add(&[Nop, TcpOption::WindowScale(shift)])?;
        }
        if !self.sack.is_empty() {
            list.add(&[Nop, Nop, TcpOption::Sack(self.sack)])?;
        }
        if let Some(counters) = self.accurate_ecn {
            list.add(&[TcpOption::AccEcn(counters)])?;
        }
        list.padded()
    }
}

/// What a segment has on the wire beyond [`Segment`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Carried {
    /// Its options.
    pub options: TcpOptions,
    /// The shift that its sender announced and both agreed to.
    pub shift: u8,
}

/// The IP and TCP headers of a packet between the ends of its flow, and nothing else, into `out`; its payload
/// is zeros to the checksum.
///
/// Its length is what the headers say, not [`Packet::size`], which is what a scenario counts.
pub fn headers(packet: &Packet, carried: &Carried, ends: &Ends, out: &mut Vec<u8>) -> Result<(), Error> {
    let ends = if packet.label.way() == 0 { *ends } else { ends.reversed() };
    let segment = &packet.segment;
    let tcp = Tcp {
        source_port: ends.source_port,
        destination_port: ends.destination_port,
        seq: segment.seq,
        ack: if segment.flags.has(Flags::ACK) { segment.ack } else { Seq(0) },
        flags: segment.flags,
        window: window(segment, carried.shift),
        urgent: 0,
        options: carried.options.on_wire()?,
    };
    out.clear();
    let mut ip = Ip::new(ends.addresses, packet.ecn);
    ip.set_dscp(packet.label.dscp());
    Transport::Tcp(tcp).write(&mut ip, zeros(segment.len), out)
}

/// "The window field in a segment where the SYN bit is set … MUST NOT be scaled", and in others it is the
/// window shifted right (RFC 7323 §2.2, §2.3). A window too large for the field is the largest that fits, as a
/// host's would be.
fn window(segment: &Segment, shift: u8) -> u16 {
    let shift = if segment.flags.has(Flags::SYN) { 0 } else { u32::from(shift) };
    u16::try_from(segment.window.checked_shr(shift).unwrap_or(0)).unwrap_or(u16::MAX)
}

/// The payload of a packet, as nobody wrote one.
pub(crate) fn zeros(len: u16) -> &'static [u8] {
    static ZEROS: [u8; u16::MAX as usize] = [0; u16::MAX as usize];
    &ZEROS[..usize::from(len)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ends::Family;
    use crate::{AccEcnOrder, Datagram};
    use TcpOption::{Mss, Nop, Sack, SackPermitted, Timestamps, WindowScale};
    use net::Label;

    fn list(options: &TcpOptions) -> Vec<TcpOption> {
        options.on_wire().unwrap().iter().collect()
    }

    #[test]
    fn options_stand_as_hosts_put_them() {
        let syn = TcpOptions {
            mss: Some(1460),
            window_scale: Some(7),
            sack_permitted: true,
            ..TcpOptions::default()
        };
        assert_eq!(list(&syn), [Mss(1460), Nop, Nop, SackPermitted, Nop, WindowScale(7)]);
        let stamps = Timestamps { val: 1, ecr: 2 };
        let stamped = TcpOptions { timestamps: Some((1, 2)), ..syn };
        assert_eq!(list(&stamped), [Mss(1460), SackPermitted, stamps, Nop, WindowScale(7)]);
        let blocks = SackBlocks::of(&[(Seq(1), Seq(2)); 3]).unwrap();
        let ack = TcpOptions { timestamps: Some((1, 2)), sack: blocks, ..TcpOptions::default() };
        assert_eq!(list(&ack), [Nop, Nop, stamps, Nop, Nop, Sack(blocks)]);
        let accurate_ecn = Some(AccEcn::of(AccEcnOrder::Ect0First, 1, 2, 3, 3));
        let too_much = TcpOptions { accurate_ecn, ..ack };
        assert_eq!(too_much.on_wire(), Err(Error::OptionRoom { needed: 42 }));
    }

    fn sent(segment: Segment, way: u8, shift: u8) -> Tcp {
        let ends = Ends::of(Family::V4, 0, 1, 3).unwrap();
        let packet = Packet { segment, label: Label::new(way), ..Packet::default() };
        let mut out = vec![1; 9];
        headers(&packet, &Carried { shift, ..Carried::default() }, &ends, &mut out).unwrap();
        let read = Datagram::read_headers(&out).unwrap();
        assert_eq!((read.payload, read.payload_len), (&[][..], usize::from(segment.len)));
        let Transport::Tcp(tcp) = read.transport else { panic!() };
        tcp
    }

    #[test]
    fn windows_are_scaled_but_on_syn() {
        let segment = Segment { window: 1 << 20, flags: Flags::ACK, ..Segment::default() };
        assert_eq!(sent(segment, 0, 7).window, 8192);
        assert_eq!(sent(segment, 0, 3).window, 65535);
        assert_eq!(sent(Segment { flags: Flags::SYN, ..segment }, 0, 7).window, 65535);
        assert_eq!(sent(Segment { flags: Flags::SYN, window: 29200, ..segment }, 0, 7).window, 29200);
        assert_eq!(sent(segment, 0, 255).window, 0);
    }

    #[test]
    fn the_way_back_has_the_ends_reversed() {
        let segment = Segment { seq: Seq(5), ack: Seq(9), len: 1000, flags: Flags::ACK, window: 4 };
        let (there, back) = (sent(segment, 0, 0), sent(segment, 1, 0));
        assert_eq!((there.source_port, there.destination_port), (49155, 49152));
        assert_eq!((back.source_port, back.destination_port), (49152, 49155));
        assert_eq!((there.seq, there.ack, there.flags), (Seq(5), Seq(9), Flags::ACK));
    }
}
