//! Write a capture that contains every kind of header. For each packet, the example prints the
//! expected fields as one line of JSON, with the field names of tshark. The test tests/test_wire.py
//! compares the expected fields with what tshark reads from the capture.
//!
//! `cargo run -p wire --example every_header -- headers|whole FILE`

use std::fmt::Write as _;
use std::path::Path;

use net::{AccEcn, AccEcnOrder, Direction, Ecn, Flags, Label, Packet, Segment, Seq};
use units::Time;
use wire::{
    Capture, Content, Cookie, Endpoints, Family, InlineVec, Ip, Options, SegmentExtras, Tcp, TcpOption,
    Transport, Udp,
};

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (content, path) = match &arguments[..] {
        [content, path] if content == "headers" => (Content::Headers, path),
        [content, path] if content == "whole" => (Content::Whole, path),
        _ => return Err("usage: every_header headers|whole FILE".into()),
    };
    let mut capture = Capture::create(Path::new(path), content)?;
    let names = ["left>right", "host \u{201c}right\u{201d}"];
    let interfaces = [capture.interface(names[0])?, capture.interface(names[1])?];
    let mut now = Time::ZERO;
    let mut number = 0;
    for family in [Family::V4, Family::V6] {
        for (packet, extras) in simulated() {
            let endpoints = Endpoints::of(family, 0, 299, packet.connection)?;
            capture.packet(interfaces[number % 2], now, &packet, &extras, &endpoints)?;
            let about = about(&packet, &extras, &endpoints)?;
            println!("{{{}{about}}}", common(names[number % 2], now));
            (now, number) = (later(now), number + 1);
        }
        for (tcp, about) in crafted()? {
            let addresses = Endpoints::of(family, 1, 2, 0)?.addresses;
            let transport = Transport::Tcp(tcp);
            capture.datagram(interfaces[number % 2], now, Ip::new(addresses, Ecn::Ect0), &transport, 3)?;
            println!("{{{}{about}}}", common(names[number % 2], now));
            (now, number) = (later(now), number + 1);
        }
        for (ecn, dscp, payload) in [(Ecn::NotEct, 0, 0), (Ecn::Ce, 46, 1001), (Ecn::Ect1, 8, 60_000)] {
            let endpoints = Endpoints::of(family, 1, 2, 7)?;
            let mut ip = Ip::new(endpoints.addresses, ecn);
            ip.set_dscp(dscp);
            let udp =
                Udp { source_port: endpoints.source_port, destination_port: endpoints.destination_port };
            capture.datagram(interfaces[number % 2], now, ip, &Transport::Udp(udp), payload)?;
            println!(
                "{{{}, \"ecn\": {}, \"dscp\": {dscp}, \"udp.length\": {}, \"udp.srcport\": {}}}",
                common(names[number % 2], now),
                ecn as u8,
                payload + 8,
                endpoints.source_port
            );
            (now, number) = (later(now), number + 1);
        }
    }
    capture.finish()?;
    Ok(())
}

/// Return a time that is later than `now` by some microseconds and an odd number of nanoseconds.
fn later(now: Time) -> Time {
    Time(now.0 + 12_345_679_000)
}

fn common(interface: &str, now: Time) -> String {
    format!("\"interface\": \"{interface}\", \"ns\": {}", now.0 / 1000)
}

/// Return packets with all combinations of TCP options that fit into a header, and with all values
/// of the ECN field and the ECN flags.
fn simulated() -> Vec<(Packet, SegmentExtras)> {
    let edges = |n: u32| (0..n).map(|i| (Seq(90_000 - i * 3000), Seq(91_460 - i * 3000))).collect::<Vec<_>>();
    let mut packets = Vec::new();
    for bits in 0..32u8 {
        for blocks in 0..=4 {
            let mut options = net::Options::NONE;
            options.mss = (bits & 1 > 0).then_some(1460);
            options.window_scale = (bits & 2 > 0).then_some(7);
            options.sack_permitted = bits & 4 > 0;
            options.timestamps = (bits & 8 > 0).then_some((0x8000_0001, 4_000_000_000));
            options.accurate_ecn = (bits & 16 > 0).then(|| accurate(blocks));
            edges(blocks).into_iter().for_each(|block| options.push_sack(block));
            if Options::try_from(&options).is_ok() {
                // For each combination of options, create segments with each value of the ECN field
                // and each combination of the flags AE, CWR and ECE.
                (0..32).for_each(|_| packets.push(packet(packets.len() as u32, options)));
            }
        }
    }
    packets
}

/// Return an Accurate ECN option. The Accurate ECN option has fewer counters if the packet has more
/// SACK blocks.
fn accurate(blocks: u32) -> AccEcn {
    let order = if blocks.is_multiple_of(2) { AccEcnOrder::Ect0First } else { AccEcnOrder::Ect1First };
    AccEcn::of(order, 0x10203, 77, 0xff_ffff, 3usize.saturating_sub(blocks as usize))
}

fn packet(number: u32, options: net::Options) -> (Packet, SegmentExtras) {
    const ECN: [Ecn; 4] = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce];
    // A segment is a SYN if it has an MSS option, and an ACK otherwise. From segment to segment,
    // the combination of the flags CWR and ECE changes.
    let syn = if options.mss.is_some() { Flags::SYN } else { Flags::ACK };
    let ace = [Flags::default(), Flags::ECE, Flags::CWR, Flags::ECE | Flags::CWR][number as usize / 4 % 4];
    let segment = Segment {
        seq: Seq(1000 + number),
        ack: Seq(50_000),
        window: 1 << 20,
        len: if options.mss.is_some() { 0 } else { (number % 3 * 729) as u16 },
        flags: syn | ace | if number / 16 % 2 == 1 { Flags::AE } else { Flags::default() },
    };
    let extras = SegmentExtras { options, shift: 7, ..SegmentExtras::default() };
    // DSCP 63 is left out, because tshark 4.0 interprets a raw IPv4 packet as PPP if its second
    // byte is 0xff (DSCP 63, CE).
    let label = Label::new(Direction::BOTH[(number / 2 % 2) as usize]).with_dscp((number % 63) as u8);
    let size = segment.len + 40;
    (
        Packet {
            connection: number,
            size,
            ecn: ECN[number as usize % 4],
            label,
            hop: 0,
            options: 0,
            segment,
        },
        extras,
    )
}

/// Return the fields that tshark should read from a simulated packet.
fn about(packet: &Packet, extras: &SegmentExtras, endpoints: &Endpoints) -> Result<String, Failure> {
    let (segment, options) = (&packet.segment, &extras.options);
    let endpoints =
        if packet.label.direction() == Direction::Forward { *endpoints } else { endpoints.reversed() };
    let syn = segment.flags.has(Flags::SYN);
    let mut text = format!(
        ", \"ecn\": {}, \"dscp\": {}, \"tcp.srcport\": {}, \"tcp.dstport\": {}, \"tcp.flags\": {}, \"tcp.len\": {}",
        packet.ecn as u8,
        packet.label.dscp(),
        endpoints.source_port,
        endpoints.destination_port,
        segment.flags.0,
        segment.len,
    );
    write!(text, ", \"tcp.seq_raw\": {}", segment.seq.0)?;
    write!(
        text,
        ", \"tcp.window_size_value\": {}",
        if syn { 65_535 } else { segment.window >> extras.shift }
    )?;
    if let Some(mss) = options.mss {
        write!(text, ", \"tcp.options.mss_val\": {mss}")?;
    }
    if let Some(shift) = options.window_scale {
        write!(text, ", \"tcp.options.wscale.shift\": {shift}")?;
    }
    if let Some((val, ecr)) = options.timestamps {
        write!(text, ", \"tcp.options.timestamp.tsval\": {val}, \"tcp.options.timestamp.tsecr\": {ecr}")?;
    }
    write!(text, ", \"sack_permitted\": {}", options.sack_permitted)?;
    let left: Vec<u32> = options.sack().iter().map(|block| block.0.0).collect();
    let right: Vec<u32> = options.sack().iter().map(|block| block.1.0).collect();
    write!(text, ", \"sack_le\": {left:?}, \"sack_re\": {right:?}")?;
    for option in Options::try_from(options)?.iter() {
        if let TcpOption::AccEcn(accurate) = option {
            text += &counters(&accurate);
        }
    }
    Ok(text)
}

/// Return the fields that tshark should read from an Accurate ECN option.
fn counters(option: &AccEcn) -> String {
    let named = [("ee0b", option.ee0b()), ("eceb", option.eceb()), ("ee1b", option.ee1b())];
    let field = |(name, value): (&str, Option<u32>)| {
        value.map(|value| format!(", \"tcp.options.acc_ecn.{name}\": {value}"))
    };
    named.into_iter().filter_map(field).collect()
}

/// Return headers that the simulator itself never sends, with the fields that tshark should read
/// from them.
fn crafted() -> Result<Vec<(Tcp, String)>, Failure> {
    let cookie = |n: u8| InlineVec::of(&(1..=n).collect::<Vec<u8>>()).unwrap_or_else(Cookie::new);
    let data = InlineVec::of(&[0xde, 0xad, 0xbe]).ok_or("three bytes fit")?;
    let hex = |bytes: &[u8]| bytes.iter().map(|b| format!("{b:02x}")).collect::<String>();
    let mut list = Vec::new();
    for n in [0, 4, 8, 16] {
        let fields = format!(", \"tcp.options.tfo.cookie\": \"{}\"", hex(&cookie(n)));
        list.push((vec![TcpOption::Mss(536), TcpOption::FastOpen(cookie(n))], fields.clone()));
        let fields = format!("{fields}, \"tcp.options.experimental.exid\": {}", 0xf989);
        list.push((vec![TcpOption::Mss(536), TcpOption::FastOpenExperiment(cookie(n))], fields));
    }
    for order in [AccEcnOrder::Ect0First, AccEcnOrder::Ect1First] {
        for n in 0..=3 {
            let option = AccEcn::of(order, 0x10203, 77, 0xff_ffff, n);
            list.push((vec![TcpOption::Mss(536), TcpOption::AccEcn(option)], counters(&option)));
        }
    }
    let digest = [0x5a; 16];
    let md5 = format!(", \"tcp.options.md5.digest\": \"{}\"", hex(&digest));
    list.push((vec![TcpOption::Mss(536), TcpOption::Nop, TcpOption::Nop, TcpOption::Md5(digest)], md5));
    let unknown = TcpOption::Unknown { kind: 99, data };
    let payload = format!(", \"tcp.options.unknown.payload\": \"{}\"", hex(&data));
    list.push((vec![TcpOption::Mss(536), unknown, TcpOption::End], payload));
    let tcp = |options| -> Result<Tcp, Failure> {
        let (flags, seq) = (Flags::SYN, Seq(77));
        Ok(Tcp {
            source_port: 50_000,
            destination_port: 50_001,
            seq,
            flags,
            options: Options::of(options)?,
            ..Tcp::default()
        })
    };
    list.into_iter().map(|(options, about)| Ok((tcp(options)?, about))).collect()
}
