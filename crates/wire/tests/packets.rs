//! Packets survive being written and read; what is damaged is found; nothing makes reading panic. The reference
//! for the TCP and UDP headers is etherparse, which the library uses for neither; its sum of words is used, so
//! that is held against RFC 1071's example here and against tshark in tests/test_wire.py.

use std::net::{Ipv4Addr, Ipv6Addr};

use etherparse::{IpNumber, Ipv4Header, Ipv6Header, TcpHeader, UdpHeader};
use net::{AccEcn, AccEcnOrder, Ecn, Flags, Seq};
use proptest::prelude::*;
use wire::{Addresses, Datagram, Error, Few, Ip, Options, SackBlocks, Tcp, TcpOption, Transport, Udp};

fn few<T: Copy + Default, const N: usize>(items: Vec<T>) -> Few<T, N> {
    Few::of(&items).expect("no more than fit")
}

fn bytes(most: usize) -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..=most)
}

fn cookie() -> impl Strategy<Value = Few<u8, 16>> {
    prop::collection::vec(any::<[u8; 2]>(), 0..=8)
        .prop_filter("no cookie has 2 bytes", |pairs| pairs.len() != 1)
        .prop_map(|pairs| few(pairs.concat()))
}

fn option() -> impl Strategy<Value = TcpOption> {
    let seq = || any::<u32>().prop_map(Seq);
    let blocks = prop::collection::vec((seq(), seq()), 1..=4).prop_map(|blocks| TcpOption::Sack(few(blocks)));
    let order = prop_oneof![Just(AccEcnOrder::Ect0First), Just(AccEcnOrder::Ect1First)];
    let counters = (any::<[u32; 3]>(), 0usize..=3);
    let known = [2, 3, 4, 5, 8, 19, 34, 172, 174, 254];
    let unknown = (2u8..).prop_filter("a kind that is not known", move |kind| !known.contains(kind));
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
        (unknown, bytes(38)).prop_map(|(kind, data)| TcpOption::Unknown { kind, data: few(data) }),
    ]
}

/// As many of some options as fit.
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
            let options = Options::of(list).expect("they fit");
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
                header.options = words.concat()[..].try_into().expect("whole words up to ten");
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
    transport.write(&mut ip.clone(), payload, &mut out).expect("it is short enough");
    out.extend_from_slice(payload);
    out
}

/// Whether a checksum is certain to find a flip of this bit. It is not where there is none (of the IPv6 header
/// only addresses, length and next header are covered, RFC 8200 §8.1), nor where the flip changes how many bytes
/// are summed, nor where it makes a UDP checksum 0, which says that there is none.
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
    fn what_is_written_is_read(ip in ip(), transport in transport(), payload in bytes(80)) {
        let packet = written(&ip, &transport, &payload);
        let read = Datagram::read(&packet)?;
        prop_assert_eq!(read.transport, transport);
        prop_assert_eq!((read.payload, read.payload_len), (&payload[..], payload.len()));
        prop_assert_eq!((read.ip.ecn(), read.ip.dscp()), (ip.ecn(), ip.dscp()));
        prop_assert_eq!(written(&read.ip, &read.transport, read.payload), packet);
    }

    /// A capture may keep any number of bytes; the headers are read if they are there, and no more.
    #[test]
    fn headers_are_read_without_their_payload(ip in ip(), transport in transport(), kept in 0usize..=20) {
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
    fn options_are_read_as_written(list in options()) {
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
        prop_assert_eq!(&datagram[..Udp::LEN], &reference.expect("it is short").to_bytes()[..]);
    }

    #[test]
    fn a_flipped_bit_is_found(
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
    fn no_bytes_make_reading_panic(packet in bytes(120)) {
        let _ = Datagram::read(&packet);
        let _ = Datagram::read_headers(&packet);
    }

    /// Bytes that get past the IP header: its checksum is made right.
    #[test]
    fn nor_do_any_behind_a_good_header(ip in ip(), protocol in prop_oneof![Just(6u8), Just(17)], rest in bytes(120)) {
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
fn a_udp_checksum_of_zero_is_sent_as_ones() {
    for addresses in [V4, V6] {
        let ip = Ip::new(addresses, Ecn::NotEct);
        // Two bytes that make the sum all ones are the checksum over zeros in their place.
        let zeros = written(&ip, &UDP, &[0, 0]);
        let sum = [zeros[zeros.len() - 4], zeros[zeros.len() - 3]];
        let packet = written(&ip, &UDP, &sum);
        assert_eq!(packet[packet.len() - 4..packet.len() - 2], [0xff, 0xff]);
        assert!(Datagram::read(&packet).is_ok());
    }
}

/// RFC 768 allows none over IPv4, RFC 8200 §8.1 requires one over IPv6.
#[test]
fn only_over_ipv4_may_udp_have_no_checksum() {
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
fn what_is_not_read_is_said() {
    let refused = |bytes: &[u8]| Datagram::read(bytes).unwrap_err().to_string();
    assert_eq!(refused(&[]), "IP header: 1 bytes are needed and 0 are there");
    assert_eq!(refused(&[0x50; 40]), "version 5 of IP is neither 4 nor 6");
    assert_eq!(refused(&[0x43; 40]), "IPv4 header: a length of 12 bytes is less than the header's");
    let other = |protocol, edit: fn(&mut Ipv4Header)| {
        let (mut ip, mut packet) = (Ip::new(V4, Ecn::NotEct), Vec::new());
        ip.set_payload(protocol, 8).unwrap();
        if let Ip::V4(header) = &mut ip {
            edit(header);
        }
        ip.write(&mut packet);
        refused(&[&packet[..], &[0; 8]].concat())
    };
    assert_eq!(other(1, |_| {}), "protocol 1 is neither TCP (6) nor UDP (17)");
    assert_eq!(other(17, |_| {}), "UDP datagram: a length of 0 bytes is less than the header's");
    assert_eq!(
        other(17, |h| h.more_fragments = true),
        "a fragment of a datagram has no transport header to read"
    );
    assert_eq!(
        other(17, |h| h.total_len = 19),
        "IPv4 packet: a length of 19 bytes is less than the header's"
    );
    assert_eq!(other(17, |h| h.total_len = 29), "payload of IP: 9 bytes are needed and 8 are there");
    let v6 = Ipv6Header { next_header: IpNumber::IPV6_HEADER_HOP_BY_HOP, ..Ipv6Header::default() };
    assert_eq!(refused(&v6.to_bytes()), "protocol 0 is neither TCP (6) nor UDP (17)");
}

#[test]
fn what_is_too_long_is_refused() {
    let long = vec![0; 65_508];
    let mut out = Vec::new();
    let refused = UDP.write(&mut Ip::new(V4, Ecn::NotEct), &long, &mut out);
    assert_eq!(refused, Err(Error::TooLong { what: "IPv4 packet", bytes: 65_516 }));
    assert!(UDP.write(&mut Ip::new(V6, Ecn::NotEct), &long, &mut out).is_ok());
    let blocks = SackBlocks::of(&[(Seq(0), Seq(1)); 4]).unwrap();
    let twice = Options::of([TcpOption::Sack(blocks); 2]);
    assert!(matches!(twice, Err(Error::OptionRoom { .. })));
}

/// The worked example of RFC 1071 §3: the sum of 00 01, f2 03, f4 f5 and f6 f7 is ddf2, here as a UDP payload
/// whose checksum over zeros is known.
#[test]
fn the_checksum_adds_as_rfc_1071_does() {
    let ip = Ip::new(V4, Ecn::NotEct);
    let sum = |payload: &[u8]| {
        let packet = written(&ip, &UDP, payload);
        u32::from(!u16::from_be_bytes([packet[26], packet[27]]))
    };
    let added = sum(&[0; 8]) + 0xddf2;
    assert_eq!(sum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), (added & 0xffff) + (added >> 16));
}
