//! The tests check three properties: encoded packets decode to the same values, damage is detected,
//! and no bytes cause a panic. The crate etherparse is the reference for TCP and UDP headers, which
//! this library encodes itself. The library uses etherparse to sum the words of a checksum. A test
//! in this file compares a checksum with the example in RFC 1071. The program tshark checks the
//! checksums of encoded packets in tests/test_wire.py.

use std::net::{Ipv4Addr, Ipv6Addr};

use etherparse::{IpNumber, Ipv4Header, Ipv6Header, TcpHeader, UdpHeader};
use net::{AccEcn, AccEcnOrder, Ecn, Flags, Seq};
use proptest::prelude::*;
use wire::{Addresses, Datagram, Error, InlineVec, Ip, Options, SackBlocks, Tcp, TcpOption, Transport, Udp};

fn inline<T: Copy + Default, const N: usize>(items: Vec<T>) -> InlineVec<T, N> {
    InlineVec::of(&items).expect("the values fit")
}

fn bytes(most: usize) -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..=most)
}

fn cookie() -> impl Strategy<Value = InlineVec<u8, 16>> {
    prop::collection::vec(any::<[u8; 2]>(), 0..=8)
        .prop_filter("a cookie never has 2 bytes", |pairs| pairs.len() != 1)
        .prop_map(|pairs| inline(pairs.concat()))
}

fn option() -> impl Strategy<Value = TcpOption> {
    let seq = || any::<u32>().prop_map(Seq);
    let blocks =
        prop::collection::vec((seq(), seq()), 1..=4).prop_map(|blocks| TcpOption::Sack(inline(blocks)));
    let order = prop_oneof![Just(AccEcnOrder::Ect0First), Just(AccEcnOrder::Ect1First)];
    let counters = (any::<[u32; 3]>(), 0usize..=3);
    let known = [2, 3, 4, 5, 8, 19, 34, 172, 174, 254];
    let unknown = (2u8..).prop_filter("an unknown kind", move |kind| !known.contains(kind));
    prop_oneof![
        Just(TcpOption::Nop),
        any::<u16>().prop_map(TcpOption::Mss),
        any::<u8>().prop_map(TcpOption::WindowScale),
        Just(TcpOption::SackPermitted),
        blocks,
        any::<(u32, u32)>().prop_map(|(val, ecr)| TcpOption::Timestamps { val, ecr }),
        cookie().prop_map(TcpOption::FastOpen),
        cookie().prop_map(TcpOption::FastOpenExperiment),
        (order, counters)
            .prop_map(|(order, (c, count))| TcpOption::AccEcn(AccEcn::of(order, c[0], c[1], c[2], count))),
        any::<[u8; 16]>().prop_map(TcpOption::Md5),
        (unknown, bytes(38)).prop_map(|(kind, data)| TcpOption::Unknown { kind, data: inline(data) }),
    ]
}

/// Return random TCP options, but only as many as fit into a header.
fn options() -> impl Strategy<Value = Vec<TcpOption>> {
    prop::collection::vec(option(), 0..6).prop_map(|mut list| {
        while Options::of(list.iter().copied()).is_err() {
            list.pop();
        }
        list
    })
}

fn tcp() -> impl Strategy<Value = Tcp> {
    let numbers = any::<(u16, u16, u32, u32, u16, u16, u16)>();
    (numbers, options()).prop_map(
        |((source_port, destination_port, seq, ack, flags, window, urgent), list)| {
            let options = Options::of(list).expect("the options fit");
            let (seq, ack, flags) = (Seq(seq), Seq(ack), Flags(flags & 0x1FF));
            Tcp { source_port, destination_port, seq, ack, flags, window, urgent, options }
        },
    )
}

fn transport() -> impl Strategy<Value = Transport> {
    let udp = any::<(u16, u16)>()
        .prop_map(|(source_port, destination_port)| Transport::Udp(Udp { source_port, destination_port }));
    prop_oneof![tcp().prop_map(Transport::Tcp), udp]
}

fn ip() -> impl Strategy<Value = Ip> {
    let v4 = any::<(u32, u32, u16, u8)>().prop_flat_map(|(source, destination, identification, hops)| {
        prop::collection::vec(any::<[u8; 4]>(), 0..=10).prop_map(move |words| {
            let (source, destination) = (Ipv4Addr::from(source), Ipv4Addr::from(destination));
            let mut ip = Ip::new(Addresses::V4 { source, destination }, Ecn::NotEct);
            if let Ip::V4(header) = &mut ip {
                header.identification = identification;
                header.time_to_live = hops;
                header.options = words.concat()[..].try_into().expect("at most ten words fit");
            }
            ip
        })
    });
    let v6 = any::<(u128, u128)>().prop_map(|(source, destination)| {
        let (source, destination) = (Ipv6Addr::from(source), Ipv6Addr::from(destination));
        Ip::new(Addresses::V6 { source, destination }, Ecn::NotEct)
    });
    let ecn = prop::sample::select(vec![Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce]);
    (prop_oneof![v4, v6], ecn, 0u8..64).prop_map(|(mut ip, ecn, dscp)| {
        ip.set_ecn(ecn);
        ip.set_dscp(dscp);
        assert_eq!((ip.ecn(), ip.dscp()), (ecn, dscp));
        ip
    })
}

fn written(ip: &Ip, transport: &Transport, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    transport.write(&mut ip.clone(), payload, &mut out).expect("the packet is short enough");
    out.extend_from_slice(payload);
    out
}

/// Return true if the receiver always detects a flip of the given bit by a checksum. The function
/// returns false for three kinds of bits, whose flips may remain undetected. IPv6 has no header
/// checksum, and the pseudo-header covers only addresses, length and next header (RFC 8200 §8.1). A
/// flip in a length field can change the number of bytes that the checksum covers. A flip can
/// change a UDP checksum to 0, which means that the datagram has no checksum.
fn is_covered(packet: &[u8], ip_header: usize, is_udp: bool, bit: usize) -> bool {
    let (at, mask) = (bit / 8, 0x80 >> (bit % 8));
    if packet[0] >> 4 == 6 && (bit >= 4 && at < 6 || at == 7) {
        return false;
    }
    let udp_length = is_udp && (at == ip_header + 4 || at == ip_header + 5);
    let mut sum = [packet[ip_header + 6], packet[ip_header + 7]];
    if is_udp && (at == ip_header + 6 || at == ip_header + 7) {
        sum[at - ip_header - 6] ^= mask;
    }
    !(udp_length || is_udp && sum == [0, 0])
}

proptest! {
    #[test]
    fn an_encoded_packet_decodes_to_itself(ip in ip(), transport in transport(), payload in bytes(80)) {
        let packet = written(&ip, &transport, &payload);
        let read = Datagram::read(&packet)?;
        prop_assert_eq!(read.transport, transport);
        prop_assert_eq!((read.payload, read.payload_len), (&payload[..], payload.len()));
        prop_assert_eq!((read.ip.ecn(), read.ip.dscp()), (ip.ecn(), ip.dscp()));
        prop_assert_eq!(written(&read.ip, &read.transport, read.payload), packet);
    }

    /// The headers of a packet can be decoded if all their bytes were captured, however much of the
    /// payload was captured.
    #[test]
    fn headers_are_decoded_without_their_payload(ip in ip(), transport in transport(), kept in 0usize..=20) {
        let packet = written(&ip, &transport, &[7; 20]);
        let headers = packet.len() - 20;
        let read = Datagram::read_headers(&packet[..headers + kept])?;
        prop_assert_eq!((read.transport, read.payload.len(), read.payload_len), (transport, kept, 20));
        let refused = matches!(Datagram::read_headers(&packet[..headers - 1]), Err(Error::Short { .. }));
        prop_assert!(refused);
        let refused = kept == 20 || matches!(Datagram::read(&packet[..headers + kept]), Err(Error::Short { .. }));
        prop_assert!(refused);
    }

    #[test]
    fn encoded_options_decode_to_themselves(list in options()) {
        let options = Options::of(list.iter().copied())?;
        let padded = options.iter().take_while(|o| *o != TcpOption::End).collect::<Vec<_>>();
        prop_assert_eq!(padded, list);
        prop_assert!(options.bytes().len() % 4 == 0 && options.bytes().len() <= 40);
    }

    #[test]
    fn etherparse_agrees_on_tcp(ip in ip(), tcp in tcp(), payload in bytes(80)) {
        let packet = written(&ip, &Transport::Tcp(tcp), &payload);
        let segment = &packet[packet.len() - tcp.header_len() - payload.len()..];
        let (reference, rest) = TcpHeader::from_slice(segment).expect("a header");
        prop_assert_eq!(rest, &payload[..]);
        let checksum = match &ip {
            Ip::V4(header) => reference.calc_checksum_ipv4(header, &payload),
            Ip::V6(header) => reference.calc_checksum_ipv6(header, &payload),
        };
        prop_assert_eq!(Ok(reference.checksum), checksum);
        prop_assert_eq!((reference.source_port, reference.destination_port), (tcp.source_port, tcp.destination_port));
        prop_assert_eq!((reference.sequence_number, reference.acknowledgment_number), (tcp.seq.0, tcp.ack.0));
        prop_assert_eq!((reference.window_size, reference.urgent_pointer), (tcp.window, tcp.urgent));
        let r = &reference;
        let flags = [r.ns, r.cwr, r.ece, r.urg, r.ack, r.psh, r.rst, r.syn, r.fin];
        prop_assert_eq!(flags.iter().fold(0, |bits, &flag| bits << 1 | u16::from(flag)), tcp.flags.0);
        prop_assert_eq!(reference.options.as_slice(), tcp.options.bytes());
    }

    #[test]
    fn etherparse_agrees_on_udp(ip in ip(), ports in any::<(u16, u16)>(), payload in bytes(80)) {
        let udp = Udp { source_port: ports.0, destination_port: ports.1 };
        let packet = written(&ip, &Transport::Udp(udp), &payload);
        let reference = match &ip {
            Ip::V4(header) => UdpHeader::with_ipv4_checksum(ports.0, ports.1, header, &payload),
            Ip::V6(header) => UdpHeader::with_ipv6_checksum(ports.0, ports.1, header, &payload),
        };
        let datagram = &packet[packet.len() - Udp::LEN - payload.len()..];
        prop_assert_eq!(&datagram[..Udp::LEN], &reference.expect("the datagram is short").to_bytes()[..]);
    }

    #[test]
    fn a_flipped_bit_is_detected(
        ip in ip(), transport in transport(), payload in bytes(40), bit in any::<prop::sample::Index>(),
    ) {
        let mut packet = written(&ip, &transport, &payload);
        let ip_header = match &ip { Ip::V4(header) => header.header_len(), Ip::V6(_) => 40 };
        let bit = bit.index(packet.len() * 8);
        let covered = is_covered(&packet, ip_header, matches!(transport, Transport::Udp(_)), bit);
        packet[bit / 8] ^= 0x80 >> (bit % 8);
        prop_assert!(Datagram::read(&packet).is_err() || !covered, "bit {} of {:?}", bit, packet);
    }

    #[test]
    fn random_bytes_cause_no_panic(packet in bytes(120)) {
        let _ = Datagram::read(&packet);
        let _ = Datagram::read_headers(&packet);
    }

    /// Random bytes follow an IP header with a correct checksum.
    #[test]
    fn random_bytes_behind_a_valid_header_cause_no_panic(ip in ip(), protocol in prop_oneof![Just(6u8), Just(17)], rest in bytes(120)) {
        let (mut ip, mut packet) = (ip, Vec::new());
        ip.set_payload(protocol, rest.len())?;
        ip.write(&mut packet);
        packet.extend_from_slice(&rest);
        let _ = Datagram::read(&packet);
        if let Ok(read) = Datagram::read_headers(&packet) {
            prop_assert!(read.payload.len() <= read.payload_len && read.payload_len < rest.len());
        }
    }
}

const V4: Addresses =
    Addresses::V4 { source: Ipv4Addr::new(10, 0, 0, 1), destination: Ipv4Addr::new(10, 0, 0, 2) };
const V6: Addresses = Addresses::V6 { source: Ipv6Addr::LOCALHOST, destination: Ipv6Addr::LOCALHOST };
const UDP: Transport = Transport::Udp(Udp { source_port: 1, destination_port: 2 });

/// RFC 768: "If the computed checksum is zero, it is transmitted as all ones."
#[test]
fn a_udp_checksum_of_zero_is_sent_as_all_ones() {
    for addresses in [V4, V6] {
        let ip = Ip::new(addresses, Ecn::NotEct);
        // The payload consists of two bytes. The two bytes of the payload are the checksum of the
        // same datagram with two zero bytes, so that the sum of all words becomes all ones.
        let zeros = written(&ip, &UDP, &[0, 0]);
        let sum = [zeros[zeros.len() - 4], zeros[zeros.len() - 3]];
        let packet = written(&ip, &UDP, &sum);
        assert_eq!(packet[packet.len() - 4..packet.len() - 2], [0xff, 0xff]);
        assert!(Datagram::read(&packet).is_ok());
    }
}

/// Over IPv4, RFC 768 allows a datagram without a checksum. Over IPv6, RFC 8200 §8.1 requires a
/// checksum.
#[test]
fn an_absent_udp_checksum_is_valid_only_over_ipv4() {
    let without = |addresses| {
        let mut packet = written(&Ip::new(addresses, Ecn::NotEct), &UDP, b"data");
        let at = packet.len() - 6;
        packet[at..at + 2].fill(0);
        Datagram::read(&packet).map(drop)
    };
    assert_eq!(without(V4), Ok(()));
    assert_eq!(without(V6), Err(Error::Checksum { what: "UDP header" }));
}

#[test]
fn an_error_names_the_invalid_header() {
    let refused = |bytes: &[u8]| Datagram::read(bytes).unwrap_err().to_string();
    assert_eq!(refused(&[]), "IP header: only 0 of the 1 needed bytes are present");
    assert_eq!(refused(&[0x50; 40]), "IP version 5 must be 4 or 6");
    assert_eq!(refused(&[0x43; 40]), "IPv4 header: the length field of 12 bytes is smaller than the header");
    let other = |protocol, edit: fn(&mut Ipv4Header)| {
        let (mut ip, mut packet) = (Ip::new(V4, Ecn::NotEct), Vec::new());
        ip.set_payload(protocol, 8).unwrap();
        if let Ip::V4(header) = &mut ip {
            edit(header);
        }
        ip.write(&mut packet);
        refused(&[&packet[..], &[0; 8]].concat())
    };
    assert_eq!(other(1, |_| {}), "protocol 1 must be TCP (6) or UDP (17)");
    assert_eq!(other(17, |_| {}), "UDP datagram: the length field of 0 bytes is smaller than the header");
    assert_eq!(
        other(17, |h| h.more_fragments = true),
        "a fragment of a datagram has no complete transport header"
    );
    assert_eq!(
        other(17, |h| h.total_len = 19),
        "IPv4 packet: the length field of 19 bytes is smaller than the header"
    );
    assert_eq!(other(17, |h| h.total_len = 29), "payload of IP: only 8 of the 9 needed bytes are present");
    let v6 = Ipv6Header { next_header: IpNumber::IPV6_HEADER_HOP_BY_HOP, ..Ipv6Header::default() };
    assert_eq!(refused(&v6.to_bytes()), "protocol 0 must be TCP (6) or UDP (17)");
}

#[test]
fn packets_that_are_too_long_are_refused() {
    let long = vec![0; 65_508];
    let mut out = Vec::new();
    let refused = UDP.write(&mut Ip::new(V4, Ecn::NotEct), &long, &mut out);
    assert_eq!(refused, Err(Error::TooLong { what: "IPv4 packet", bytes: 65_516 }));
    assert!(UDP.write(&mut Ip::new(V6, Ecn::NotEct), &long, &mut out).is_ok());
    let blocks = SackBlocks::of(&[(Seq(0), Seq(1)); 4]).unwrap();
    let twice = Options::of([TcpOption::Sack(blocks); 2]);
    assert!(matches!(twice, Err(Error::OptionRoom { .. })));
}

/// Example in RFC 1071 §3: the sum of 00 01, f2 03, f4 f5 and f6 f7 is ddf2. The test uses the
/// words of the example in RFC 1071 as a UDP payload. The checksum of the same UDP datagram with a
/// payload of zeros is known.
#[test]
fn the_checksum_matches_the_example_of_rfc_1071() {
    let ip = Ip::new(V4, Ecn::NotEct);
    let sum = |payload: &[u8]| {
        let packet = written(&ip, &UDP, payload);
        u32::from(!u16::from_be_bytes([packet[26], packet[27]]))
    };
    let added = sum(&[0; 8]) + 0xddf2;
    assert_eq!(sum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), (added & 0xffff) + (added >> 16));
}
