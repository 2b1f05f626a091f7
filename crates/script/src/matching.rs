//! Comparison of the segments that a script expects with the segments of the endpoint, and
//! conversion between these two forms of a segment.

use std::fmt::Display;

use net::{Cookie, FastOpen, Options, Seq};
use tcp::fast_open::Key;
use units::Duration;

use crate::host::{Connection, Origin};
use crate::kernel::fast_open as settings;
use crate::print::ecn_name;
use crate::print::letters;
use crate::stack::Header;
use crate::syntax::{CookieText, Direction, EcnField, Flags, Packet, TcpOption};

/// Return the values of all TCP options in a list, except for padding and unknown options.
pub fn values(list: &[TcpOption]) -> Options {
    let mut options = Options::default();
    for option in list {
        match option {
            TcpOption::Nop | TcpOption::Eol => {}
            TcpOption::Mss(size) => options.mss = Some(*size),
            TcpOption::WindowScale(shift) => options.window_scale = Some(*shift),
            TcpOption::SackPermitted => options.sack_permitted = true,
            TcpOption::Timestamps(value, echo) => options.timestamps = Some((*value, *echo)),
            TcpOption::AccurateEcn(counters) => options.accurate_ecn = Some(*counters),
            // The maximum number of SACK blocks depends on the presence of timestamps, which may
            // come after the SACK blocks in the list.
            TcpOption::Sack(_) => {}
            TcpOption::FastOpen(cookie, experimental) => {
                if let CookieText::Bytes(bytes) = cookie
                    && let Some(cookie) = Cookie::of(bytes)
                {
                    options.set_fast_open(FastOpen { cookie, experimental: *experimental });
                } // a host ignores a cookie of invalid length (RFC 7413 §4.1.1)
            }
            TcpOption::Other(_) => {} // `unsupported` refuses scripts with such options
        }
    }
    for block in list.iter().flat_map(blocks) {
        options.push_sack((Seq(block.0), Seq(block.1)));
    }
    options
}

fn blocks(option: &TcpOption) -> &[(u32, u32)] {
    if let TcpOption::Sack(blocks) = option { blocks } else { &[] }
}

/// Return the TCP options of a list that are not supported.
///
/// An injected segment may have only the TCP options that this function accepts, because the
/// endpoint receives no others. If a script injected an unsupported TCP option, the endpoint would
/// not receive the option, so the script would not test the endpoint's response to the option.
pub fn unsupported(list: &[TcpOption], way: Direction) -> Vec<String> {
    let each = |option: &TcpOption| match option {
        TcpOption::Other(text) => Some(format!("TCP option {text}")),
        // A host never sends a Fast Open cookie of invalid length.
        TcpOption::FastOpen(CookieText::Bytes(bytes), _)
            if way == Direction::Out && Cookie::of(bytes).is_none() =>
        {
            Some(format!("a cookie of {} bytes, which must be an even number from 4 to 16", bytes.len()))
        }
        _ => None,
    };
    list.iter().filter_map(each).collect()
}

/// Return a copy of a segment of the script, in which the cookie that the host computes replaces
/// the name of a cookie.
pub fn with_cookies(packet: &Packet, host: &settings::FastOpen) -> Packet {
    let mut packet = packet.clone();
    for option in packet.options.iter_mut().flatten() {
        if let TcpOption::FastOpen(cookie, _) = option {
            let key = match cookie {
                CookieText::Bytes(_) => continue,
                CookieText::Host => host.keys.now,
                CookieText::ZeroKey => Key::default(),
            };
            *cookie = CookieText::Bytes(host.cookie(&key).bytes().to_vec());
        }
    }
    packet
}

/// Convert a segment of the script to the form of the endpoint, with the endpoint's sequence
/// numbers and timestamps.
pub fn to_live(packet: &Packet, connection: &Connection) -> Header {
    let syn = packet.flags.has(Flags::SYN);
    let mut list = packet.options.clone().unwrap_or_default();
    for option in &mut list {
        match option {
            TcpOption::Timestamps(_, echo) => *echo = connection.clock.echo_to_live(*echo),
            TcpOption::Sack(blocks) => {
                let ours = connection.ours(syn);
                for (left, right) in blocks {
                    (*left, *right) = (ours.to_live(*left), ours.to_live(*right));
                }
            }
            _ => {}
        }
    }
    let options = values(&list);
    Header {
        seq: connection.theirs(syn).to_live(packet.seq),
        ack: packet.ack.map_or(0, |ack| connection.ours(syn).to_live(ack)),
        window: packet.window.unwrap_or(0),
        len: packet.len,
        flags: packet.flags,
        options,
        ecn: match packet.ecn {
            EcnField::Is(ecn) => ecn,
            EcnField::Absent => net::Ecn::NotEct,
            EcnField::Ect01 => net::Ecn::Ect0,
        },
        dscp: packet.dscp.unwrap_or(0),
    }
}

/// Convert a segment of the endpoint to the form of the script.
pub fn to_script(header: &Header, connection: &Connection) -> Packet {
    let o = &header.options;
    let syn = header.flags.has(Flags::SYN);
    let (ours, theirs) = (connection.ours(syn), connection.theirs(syn));
    let mut options = Vec::new();
    options.extend(o.mss.map(TcpOption::Mss));
    if o.sack_permitted {
        options.push(TcpOption::SackPermitted);
    }
    if let Some((value, echo)) = o.timestamps {
        options.push(TcpOption::Timestamps(connection.clock.to_script(value), echo));
    }
    options.extend(o.window_scale.map(TcpOption::WindowScale));
    options.extend(o.accurate_ecn.map(TcpOption::AccurateEcn));
    options.extend(o.fast_open().map(written));
    if !o.sack().is_empty() {
        let blocks = o.sack().iter().map(|b| (theirs.to_script(b.0.0), theirs.to_script(b.1.0)));
        options.push(TcpOption::Sack(blocks.collect()));
    }
    let silent = header.ecn == net::Ecn::NotEct;
    Packet {
        way: Direction::Out,
        ecn: if silent { EcnField::Absent } else { EcnField::Is(header.ecn) },
        dscp: (header.dscp != 0).then_some(header.dscp),
        ip: None,
        flags: header.flags,
        seq: ours.to_script(header.seq),
        len: header.len,
        ack: header.flags.has(Flags::ACK).then(|| theirs.to_script(header.ack)),
        window: Some(header.window),
        urgent: None,
        options: Some(options),
    }
}

fn written(option: FastOpen) -> TcpOption {
    TcpOption::FastOpen(CookieText::Bytes(option.cookie.bytes().to_vec()), option.experimental)
}

/// Parameters of the comparison of timestamps: the duration of one tick in the script, and the
/// tolerance of times.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ticks {
    /// Duration of a tick. If the duration of a tick is `None`, timestamps are not compared.
    pub tick: Option<Duration>,
    /// Tolerance of times.
    pub tolerance: Duration,
}

impl Ticks {
    fn allow(self, expected: u32, sent: u32) -> bool {
        let off = u64::from((expected.wrapping_sub(sent) as i32).unsigned_abs());
        self.tick.is_none_or(|tick| off.saturating_mul(tick.0) <= self.tolerance.0)
    }
}

/// Return all differences between the segment that the script expects and the segment that the
/// endpoint sent.
pub fn differences(expected: &Packet, header: &Header, connection: &Connection, ticks: Ticks) -> Vec<String> {
    let mut all = Vec::new();
    let syn = header.flags.has(Flags::SYN);
    let (ours, theirs) = (connection.ours(syn), connection.theirs(syn));
    compare(&mut all, "flags", letters(expected.flags), letters(header.flags));
    compare(&mut all, "sequence number", expected.seq, ours.to_script(header.seq));
    compare(&mut all, "payload", expected.len, header.len);
    if header.flags.has(Flags::ACK) {
        compare(&mut all, "ack", expected.ack.unwrap_or(0), theirs.to_script(header.ack));
    }
    if let Some(window) = expected.window {
        compare(&mut all, "win", window, header.window);
    }
    if let Some(dscp) = expected.dscp {
        compare(&mut all, "DSCP", dscp, header.dscp);
    }
    match expected.ecn {
        EcnField::Absent => {}
        EcnField::Is(ecn) => compare(&mut all, "ECN field", ecn_name(ecn), ecn_name(header.ecn)),
        EcnField::Ect01 => {
            if !matches!(header.ecn, net::Ecn::Ect0 | net::Ecn::Ect1) {
                all.push(format!("ECN field: ect01 expected, {} sent", ecn_name(header.ecn)));
            }
        }
    }
    if let Some(list) = &expected.options {
        let options = values(list);
        compare_options(&mut all, &options, &header.options, theirs);
        if let (Some((expected, _)), Some((live, _))) = (options.timestamps, header.options.timestamps) {
            let sent = connection.clock.to_script(live);
            if !ticks.allow(expected, sent) {
                compare(&mut all, "TS val", expected, sent);
            }
        }
    }
    all
}

fn compare<T: PartialEq + Display>(all: &mut Vec<String>, name: &str, expected: T, sent: T) {
    if expected != sent {
        all.push(format!("{name}: {expected} expected, {sent} sent"));
    }
}

fn compare_options(all: &mut Vec<String>, expected: &Options, sent: &Options, theirs: Origin) {
    let text = |o: Option<u32>| o.map_or("none".to_string(), |v| v.to_string());
    compare(all, "mss", text(expected.mss.map(u32::from)), text(sent.mss.map(u32::from)));
    compare(
        all,
        "wscale",
        text(expected.window_scale.map(u32::from)),
        text(sent.window_scale.map(u32::from)),
    );
    compare(all, "sackOK", expected.sack_permitted, sent.sack_permitted);
    let echo = |o: &Options| text(o.timestamps.map(|t| t.1));
    compare(all, "TS ecr", echo(expected), echo(sent));
    let blocks = |o: &Options, number: &dyn Fn(Seq) -> u32| {
        let all: Vec<String> =
            o.sack().iter().map(|(left, right)| format!("{}:{}", number(*left), number(*right))).collect();
        if all.is_empty() { "none".to_string() } else { all.join(" ") }
    };
    compare(all, "sack", blocks(expected, &|s| s.0), blocks(sent, &|s| theirs.to_script(s.0)));
    let counters = |o: &Options| {
        o.accurate_ecn.map_or("none".to_string(), |counters| TcpOption::AccurateEcn(counters).to_string())
    };
    compare(all, "option", counters(expected), counters(sent));
    let cookie = |o: &Options| o.fast_open().map_or("none".to_string(), |option| written(option).to_string());
    compare(all, "Fast Open", cookie(expected), cookie(sent));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;
    use crate::syntax::Action;
    use tcp::Tcp;

    fn packet(text: &str) -> Packet {
        let mut script = parse(&format!("0 {text}")).unwrap();
        match script.events.remove(0).action {
            Action::Packet(packet) => *packet,
            other => panic!("{other}"),
        }
    }

    fn check(expected: &str, sent: &str) -> Vec<String> {
        let connection = Connection::new(Tcp::default());
        let header = to_live(&packet(sent), &connection);
        differences(&packet(expected), &header, &connection, Ticks::default())
    }

    #[test]
    fn fields_that_the_script_omits_are_not_compared() {
        let sent = "< [ect0] P. 1:1001(1000) ack 5 win 77 <nop,nop,TS val 9 ecr 8>";
        assert_eq!(check("> P. 1:1001(1000) ack 5 <...>", sent), Vec::<String>::new());
        assert_eq!(
            check("> P. 1:1001(1000) ack 5 win 77 <nop,nop,TS val 100 ecr 8>", sent),
            Vec::<String>::new()
        );
        assert_eq!(check("> [ect01] P. 1:1001(1000) ack 5 <...>", sent), Vec::<String>::new());
    }

    #[test]
    fn every_difference_is_named() {
        let sent = "< P. 1:1001(1000) ack 5 win 77";
        for (expected, difference) in [
            ("> . 1:1001(1000) ack 5", "flags: . expected, P. sent"),
            ("> P. 2:1002(1000) ack 5", "sequence number: 2 expected, 1 sent"),
            ("> P. 1:2(1) ack 5", "payload: 1 expected, 1000 sent"),
            ("> P. 1:1001(1000) ack 6", "ack: 6 expected, 5 sent"),
            ("> P. 1:1001(1000) ack 5 win 78", "win: 78 expected, 77 sent"),
            ("> [ce] P. 1:1001(1000) ack 5", "ECN field: ce expected, noecn sent"),
            ("> [ect01] P. 1:1001(1000) ack 5", "ECN field: ect01 expected, noecn sent"),
            ("> P. 1:1001(1000) ack 5 <mss 9>", "mss: 9 expected, none sent"),
            ("> P. 1:1001(1000) ack 5 <wscale 9>", "wscale: 9 expected, none sent"),
            ("> P. 1:1001(1000) ack 5 <sackOK>", "sackOK: true expected, false sent"),
            ("> P. 1:1001(1000) ack 5 <TS val 1 ecr 2>", "TS ecr: 2 expected, none sent"),
            ("> P. 1:1001(1000) ack 5 <sack 1:2 3:4>", "sack: 1:2 3:4 expected, none sent"),
            ("> P. 1:1001(1000) ack 5 <ECN e1b 1 ceb 9>", "option: ECN e1b 1 ceb 9 expected, none sent"),
        ] {
            assert_eq!(check(expected, sent), [difference]);
        }
    }

    #[test]
    fn unexpected_options_are_a_difference_but_their_order_is_not() {
        let sent = "< S 0:0(0) win 1 <mss 1460,sackOK,TS val 1 ecr 0,nop,wscale 7>";
        assert_eq!(
            check("> S 0:0(0) <wscale 7,nop,TS val 3 ecr 0,sackOK,mss 1460,eol>", sent),
            Vec::<String>::new()
        );
        assert_eq!(check("> S 0:0(0)", sent).len(), 4);
    }

    #[test]
    fn sequence_numbers_are_absolute_in_a_syn_and_relative_elsewhere() {
        let mut connection = Connection::new(Tcp::default());
        (connection.script_iss, connection.irs) = (100, 500);
        let header = |text: &str| to_live(&packet(text), &connection);
        let (syn, ack) =
            (header("< S. 500:500(0) ack 101 win 5"), header("< . 1:1(0) ack 1 win 5 <sack 11:21>"));
        assert_eq!((syn.seq, syn.ack), (500, 1));
        assert_eq!((ack.seq, ack.ack, ack.options.sack()), (501, 1, &[(Seq(11), Seq(21))][..]));
        let sent = Header { seq: 0, ack: 501, flags: Flags::SYN | Flags::ACK, ..Header::default() };
        let syn_ack = packet("> S. 100:100(0) ack 501");
        assert_eq!(differences(&syn_ack, &sent, &connection, Ticks::default()), Vec::<String>::new());
        let mut sent = Header { seq: 1, ack: 503, flags: Flags::ACK, ..Header::default() };
        sent.options.push_sack((Seq(511), Seq(521)));
        let ack = packet("> . 1:1(0) ack 3 <sack 11:21>");
        assert_eq!(differences(&ack, &sent, &connection, Ticks::default()), Vec::<String>::new());
        assert_eq!(to_script(&sent, &connection).to_string(), "> . 1:1(0) ack 3 win 0 <sack 11:21>");
    }

    #[test]
    fn an_echoed_timestamp_is_converted_to_the_endpoints() {
        let mut connection = Connection::new(Tcp::default());
        let echo =
            |connection: &Connection, text: &str| to_live(&packet(text), connection).options.timestamps;
        let ack = |ecr: u32| format!("< . 1:1(0) ack 1 win 5 <TS val 5 ecr {ecr}>");
        assert_eq!(echo(&connection, &ack(3)), Some((5, 3)));
        connection.clock.sent(100, 777);
        connection.clock.sent(100, 800);
        assert_eq!(echo(&connection, &ack(100)), Some((5, 800)), "the last timestamp with this number");
        assert_eq!(echo(&connection, &ack(130)), Some((5, 807)), "the same distance from the first");
        assert_eq!(echo(&connection, &ack(0)), Some((5, 0)), "no echo");
    }

    #[test]
    fn timestamps_are_relative_to_the_first() {
        let mut connection = Connection::new(Tcp::default());
        let sent = to_live(&packet("< . 1:1(0) ack 5 win 77 <TS val 800 ecr 8>"), &connection);
        connection.clock.sent(100, 777);
        let ms = Duration::from_millis;
        let ticks = Ticks { tick: Some(ms(1)), tolerance: ms(4) };
        let check = |val: u32, ticks: Ticks| {
            let expected = packet(&format!("> . 1:1(0) ack 5 <TS val {val} ecr 8>"));
            differences(&expected, &Header { seq: 1, ack: 5, ..sent }, &connection, ticks)
        };
        for val in [123, 119, 127] {
            assert_eq!(check(val, ticks), Vec::<String>::new());
        }
        assert_eq!(check(118, ticks), ["TS val: 118 expected, 123 sent"]);
        assert_eq!(
            check(5, Ticks::default()),
            Vec::<String>::new(),
            "not compared without a tick, as in packetdrill"
        );
        assert!(to_script(&sent, &connection).to_string().contains("TS val 123 ecr 8"));
    }
}
