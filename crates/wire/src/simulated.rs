//! A packet of the simulator as bytes.

use net::{Direction, Flags, Packet, Segment, Seq};

use crate::datagram::Transport;
use crate::ends::Ends;
use crate::error::Error;
use crate::few::Few;
use crate::ip::Ip;
use crate::options::{List, Options, SackBlocks, TcpOption};
use crate::tcp::Tcp;
use crate::udp::Udp;

impl TryFrom<&net::Options> for Options {
    type Error = Error;

    /// The options in the order and with the padding that hosts use: what is read in words is aligned (RFC 7323
    /// Appendix A), and beside timestamps SACK-permitted takes the place of two NOPs. What does not fit into 40 bytes
    /// is an error: what to leave out is the sender's to choose.
    fn try_from(from: &net::Options) -> Result<Options, Error> {
        use TcpOption::{Nop, SackPermitted};
        let mut list = List::default();
        if let Some(mss) = from.mss {
            list.add(&[TcpOption::Mss(mss)])?;
        }
        if let Some((val, ecr)) = from.timestamps {
            list.add(if from.sack_permitted { &[SackPermitted] } else { &[Nop, Nop] })?;
            list.add(&[TcpOption::Timestamps { val, ecr }])?;
        } else if from.sack_permitted {
            list.add(&[Nop, Nop, SackPermitted])?;
        }
        if let Some(shift) = from.window_scale {
            list.add(&[Nop, TcpOption::WindowScale(shift)])?;
        }
        if let Some(blocks) = SackBlocks::of(from.sack()).filter(|blocks| !blocks.is_empty()) {
            list.add(&[Nop, Nop, TcpOption::Sack(blocks)])?;
        }
        if let Some(option) = from.accurate_ecn {
            list.add(&[TcpOption::AccEcn(option)])?;
        }
        if let Some(option) = from.fast_open() {
            // It has at most 16 bytes.
            let cookie = Few::of(option.cookie.bytes()).unwrap_or_default();
            let option = if option.experimental {
                TcpOption::FastOpenExperiment(cookie)
            } else {
                TcpOption::FastOpen(cookie)
            };
            list.add(&[option])?;
        }
        list.padded()
    }
}

/// The transport of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// TCP.
    #[default]
    Tcp,
    /// UDP: of the segment it has the length alone.
    Udp,
}

/// What a segment has on the wire beyond [`Segment`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Carried {
    /// Its transport.
    pub protocol: Protocol,
    /// Its options.
    pub options: net::Options,
    /// The shift that its sender announced and both agreed to.
    pub shift: u8,
}

/// The IP and TCP (or UDP) headers of a packet between the ends of its flow, and nothing else, into `out`; its payload
/// is zeros to the checksum.
///
/// Its length is what the headers say, not [`Packet::size`], which is what a scenario counts.
pub fn headers(packet: &Packet, carried: &Carried, ends: &Ends, out: &mut Vec<u8>) -> Result<(), Error> {
    let ends = if packet.label.direction() == Direction::Forward { *ends } else { ends.reversed() };
    let segment = &packet.segment;
    let (source_port, destination_port) = (ends.source_port, ends.destination_port);
    let mut ip = Ip::new(ends.addresses, packet.ecn);
    ip.set_dscp(packet.label.dscp());
    out.clear();
    if carried.protocol == Protocol::Udp {
        let udp = Udp { source_port, destination_port };
        return Transport::Udp(udp).write(&mut ip, zeros(segment.len), out);
    }
    let tcp = Tcp {
        source_port,
        destination_port,
        seq: segment.seq,
        ack: if segment.flags.has(Flags::ACK) { segment.ack } else { Seq(0) },
        flags: segment.flags,
        window: window(segment, carried.shift),
        urgent: 0,
        options: Options::try_from(&carried.options)?,
    };
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
    use crate::Datagram;
    use crate::ends::Family;
    use TcpOption::{Mss, Nop, Sack, SackPermitted, Timestamps, WindowScale};
    use net::{AccEcn, AccEcnOrder, Label};

    #[test]
    fn a_cookie_is_written() {
        let cookie = net::Cookie::of(&[1, 2, 3, 4, 5, 6]).unwrap();
        for experimental in [false, true] {
            let mut syn = net::Options::NONE;
            syn.mss = Some(1460);
            syn.set_fast_open(net::FastOpen { cookie, experimental });
            let few = Few::of(cookie.bytes()).unwrap();
            let option =
                if experimental { TcpOption::FastOpenExperiment(few) } else { TcpOption::FastOpen(few) };
            assert_eq!(list(&syn), [Mss(1460), option]);
        }
    }

    fn list(options: &net::Options) -> Vec<TcpOption> {
        let written = Options::try_from(options).unwrap();
        assert_eq!(written.bytes().len(), usize::from(options.wire_len()));
        written.iter().take_while(|o| *o != TcpOption::End).collect()
    }

    #[test]
    fn options_stand_as_hosts_put_them() {
        let mut syn = net::Options::NONE;
        (syn.mss, syn.window_scale, syn.sack_permitted) = (Some(1460), Some(7), true);
        assert_eq!(list(&syn), [Mss(1460), Nop, Nop, SackPermitted, Nop, WindowScale(7)]);
        let stamps = Timestamps { val: 1, ecr: 2 };
        syn.timestamps = Some((1, 2));
        assert_eq!(list(&syn), [Mss(1460), SackPermitted, stamps, Nop, WindowScale(7)]);
        let mut ack = net::Options::NONE;
        ack.timestamps = Some((1, 2));
        (0..4).for_each(|_| ack.push_sack((Seq(1), Seq(2))));
        let blocks = |n| Sack(SackBlocks::of(&[(Seq(1), Seq(2)); 3][..n]).unwrap());
        assert_eq!(list(&ack), [Nop, Nop, stamps, Nop, Nop, blocks(3)]);
        let mut all = net::Options::NONE;
        let counters = |n| AccEcn::of(AccEcnOrder::Ect1First, 1, 2, 3, n);
        (all.accurate_ecn, all.timestamps) = (Some(counters(3)), Some((1, 2)));
        assert_eq!(list(&all), [Nop, Nop, stamps, TcpOption::AccEcn(counters(3))]);
        all.accurate_ecn = Some(counters(2));
        (0..4).for_each(|_| all.push_sack((Seq(1), Seq(2))));
        assert_eq!(list(&all), [Nop, Nop, stamps, Nop, Nop, blocks(2), TcpOption::AccEcn(counters(2))]);
        (all.mss, all.window_scale) = (Some(1460), Some(7));
        assert_eq!(Options::try_from(&all), Err(Error::OptionRoom { needed: 42 }));
    }

    fn sent(segment: Segment, way: Direction, shift: u8) -> Tcp {
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
        assert_eq!(sent(segment, Direction::Forward, 7).window, 8192);
        assert_eq!(sent(segment, Direction::Forward, 3).window, 65535);
        assert_eq!(sent(Segment { flags: Flags::SYN, ..segment }, Direction::Forward, 7).window, 65535);
        assert_eq!(
            sent(Segment { flags: Flags::SYN, window: 29200, ..segment }, Direction::Forward, 7).window,
            29200
        );
        assert_eq!(sent(segment, Direction::Forward, 255).window, 0);
    }

    #[test]
    fn the_way_back_has_the_ends_reversed() {
        let segment = Segment { seq: Seq(5), ack: Seq(9), len: 1000, flags: Flags::ACK, window: 4 };
        let (there, back) = (sent(segment, Direction::Forward, 0), sent(segment, Direction::Reverse, 0));
        assert_eq!((there.source_port, there.destination_port), (49155, 49152));
        assert_eq!((back.source_port, back.destination_port), (49152, 49155));
        assert_eq!((there.seq, there.ack, there.flags), (Seq(5), Seq(9), Flags::ACK));
    }
}
