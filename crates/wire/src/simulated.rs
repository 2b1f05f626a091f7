//! Encoding of simulated packets.

use net::{Direction, Flags, Packet, Segment, Seq};

use crate::datagram::Transport;
use crate::endpoints::Endpoints;
use crate::error::Error;
use crate::inline_vec::InlineVec;
use crate::ip::Ip;
use crate::options::{List, Options, SackBlocks, TcpOption};
use crate::tcp::Tcp;
use crate::udp::Udp;

impl TryFrom<&net::Options> for Options {
    type Error = Error;

    /// Encode the TCP options of a segment in the same order and with the same padding as real
    /// hosts do. Values of 32 bits are aligned (RFC 7323 Appendix A), and SACK-permitted takes the
    /// place of two NOPs before timestamps. If the options do not fit into 40 bytes, the result is
    /// an error, because only the sender can choose which options to omit.
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
            // A Fast Open cookie has at most 16 bytes, so it always fits into the options of a
            // header.
            let cookie = InlineVec::of(option.cookie.bytes()).unwrap_or_default();
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

/// Transport protocol of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// TCP.
    #[default]
    Tcp,
    /// UDP. The UDP encoding uses only the length of the segment.
    Udp,
}

/// Properties of a segment on the wire that [`Segment`] does not contain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SegmentExtras {
    /// Transport protocol.
    pub protocol: Protocol,
    /// TCP options.
    pub options: net::Options,
    /// Shift of the window field that the sender announced, if both endpoints use window scaling.
    pub shift: u8,
}

/// Encode the IP header and the TCP or UDP header of a packet, and append them to `out` without the
/// payload. The argument `endpoints` gives the addresses and ports of data packets of the flow. The
/// checksums are those of a packet whose payload consists of zeros.
///
/// The length fields in the encoded headers include both the headers and the payload. The encoded
/// size may differ from [`Packet::size`], because a scenario defines the size of the simulated
/// headers.
pub fn headers(
    packet: &Packet,
    extras: &SegmentExtras,
    endpoints: &Endpoints,
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    let endpoints =
        if packet.label.direction() == Direction::Forward { *endpoints } else { endpoints.reversed() };
    let segment = &packet.segment;
    let (source_port, destination_port) = (endpoints.source_port, endpoints.destination_port);
    let mut ip = Ip::new(endpoints.addresses, packet.ecn);
    ip.set_dscp(packet.label.dscp());
    out.clear();
    if extras.protocol == Protocol::Udp {
        let udp = Udp { source_port, destination_port };
        return Transport::Udp(udp).write(&mut ip, zeros(segment.len), out);
    }
    let tcp = Tcp {
        source_port,
        destination_port,
        seq: segment.seq,
        ack: if segment.flags.has(Flags::ACK) { segment.ack } else { Seq(0) },
        flags: segment.flags,
        window: window(segment, extras.shift),
        urgent: 0,
        options: Options::try_from(&extras.options)?,
    };
    Transport::Tcp(tcp).write(&mut ip, zeros(segment.len), out)
}

/// Return the window field. "The window field in a segment where the SYN bit is set … MUST NOT be
/// scaled" (RFC 7323 §2.2). In segments other than a SYN, the window is shifted right for the
/// window field (RFC 7323 §2.2, §2.3). A window that is too large for the field becomes the maximum
/// of the field, as in a real host.
fn window(segment: &Segment, shift: u8) -> u16 {
    let shift = if segment.flags.has(Flags::SYN) { 0 } else { u32::from(shift) };
    u16::try_from(segment.window.checked_shr(shift).unwrap_or(0)).unwrap_or(u16::MAX)
}

/// Return a payload of zeros, because the simulator does not store real data.
pub(crate) fn zeros(len: u16) -> &'static [u8] {
    static ZEROS: [u8; u16::MAX as usize] = [0; u16::MAX as usize];
    &ZEROS[..usize::from(len)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Datagram;
    use crate::endpoints::Family;
    use TcpOption::{Mss, Nop, Sack, SackPermitted, Timestamps, WindowScale};
    use net::{AccEcn, AccEcnOrder, Label};

    #[test]
    fn a_cookie_is_encoded() {
        let cookie = net::Cookie::of(&[1, 2, 3, 4, 5, 6]).unwrap();
        for experimental in [false, true] {
            let mut syn = net::Options::NONE;
            syn.mss = Some(1460);
            syn.set_fast_open(net::FastOpen { cookie, experimental });
            let cookie = InlineVec::of(cookie.bytes()).unwrap();
            let option = if experimental {
                TcpOption::FastOpenExperiment(cookie)
            } else {
                TcpOption::FastOpen(cookie)
            };
            assert_eq!(list(&syn), [Mss(1460), option]);
        }
    }

    fn list(options: &net::Options) -> Vec<TcpOption> {
        let written = Options::try_from(options).unwrap();
        assert_eq!(written.bytes().len(), usize::from(options.wire_len()));
        written.iter().take_while(|o| *o != TcpOption::End).collect()
    }

    #[test]
    fn options_have_the_order_of_real_hosts() {
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
        let endpoints = Endpoints::of(Family::V4, 0, 1, 3).unwrap();
        let packet = Packet { segment, label: Label::new(way), ..Packet::default() };
        let mut out = vec![1; 9];
        headers(&packet, &SegmentExtras { shift, ..SegmentExtras::default() }, &endpoints, &mut out).unwrap();
        let read = Datagram::read_headers(&out).unwrap();
        assert_eq!((read.payload, read.payload_len), (&[][..], usize::from(segment.len)));
        let Transport::Tcp(tcp) = read.transport else { panic!() };
        tcp
    }

    #[test]
    fn windows_are_scaled_except_on_syn() {
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
    fn a_reverse_packet_has_reversed_addresses_and_ports() {
        let segment = Segment { seq: Seq(5), ack: Seq(9), len: 1000, flags: Flags::ACK, window: 4 };
        let (forward, reverse) = (sent(segment, Direction::Forward, 0), sent(segment, Direction::Reverse, 0));
        assert_eq!((forward.source_port, forward.destination_port), (49155, 49152));
        assert_eq!((reverse.source_port, reverse.destination_port), (49152, 49155));
        assert_eq!((forward.seq, forward.ack, forward.flags), (Seq(5), Seq(9), Flags::ACK));
    }
}
