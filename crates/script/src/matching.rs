//! What the script says of a segment against what the endpoint sent.

use std::fmt::Display;

use net::{Options, Seq};

use crate::host::Connection;
use crate::print::ecn_name;
use crate::print::letters;
use crate::stack::Header;
use crate::syntax::{EcnField, Flags, Packet, TcpOption, Way};

/// The values of a list of options, padding left out; `Err`: one that is not understood.
pub fn values(list: &[TcpOption]) -> Result<Options, String> {
    let mut options = Options::default();
    for option in list {
        match option {
            TcpOption::Nop | TcpOption::Eol => {}
            TcpOption::Mss(size) => options.mss = Some(*size),
            TcpOption::WindowScale(shift) => options.window_scale = Some(*shift),
            TcpOption::SackPermitted => options.sack_permitted = true,
            TcpOption::Timestamps(value, echo) => options.timestamps = Some((*value, *echo)),
            TcpOption::AccurateEcn(counters) => options.accurate_ecn = Some(counters.map(|c| c.unwrap_or(0))),
            // The room for blocks depends on the timestamps, which may come later.
            TcpOption::Sack(_) => {}
            TcpOption::Other(text) => return Err(format!("TCP option {text}")),
        }
    }
    for block in list.iter().flat_map(blocks) {
        options.push_sack((Seq(block.0), Seq(block.1)));
    }
    Ok(options)
}

fn blocks(option: &TcpOption) -> &[(u32, u32)] {
    if let TcpOption::Sack(blocks) = option { blocks } else { &[] }
}

/// An option that only an expectation may leave open.
pub fn partial(list: &[TcpOption]) -> Option<String> {
    let open = |o: &&TcpOption| matches!(o, TcpOption::AccurateEcn(counters) if counters.contains(&None));
    list.iter().find(open).map(|o| format!("TCP option {o} with counters left out"))
}

/// A segment of the script as it arrives at the endpoint.
pub fn to_live(packet: &Packet, connection: &Connection) -> Result<Header, String> {
    let mut list = packet.options.clone().unwrap_or_default();
    for option in &mut list {
        match option {
            TcpOption::Timestamps(_, echo) => {
                *echo = connection.timestamps.get(echo).copied().unwrap_or(*echo);
            }
            TcpOption::Sack(blocks) => {
                for (left, right) in blocks {
                    (*left, *right) = (connection.to_live(*left), connection.to_live(*right));
                }
            }
            _ => {}
        }
    }
    let options = values(&list)?;
    Ok(Header {
        seq: packet.seq,
        ack: packet.ack.map_or(0, |ack| connection.to_live(ack)),
        window: packet.window.unwrap_or(0),
        len: packet.len,
        flags: packet.flags,
        options,
        ecn: match packet.ecn {
            EcnField::Is(ecn) => ecn,
            EcnField::Unsaid => net::Ecn::NotEct,
            EcnField::Ect01 => net::Ecn::Ect0,
        },
    })
}

/// A segment of the endpoint as the script would write it.
pub fn to_script(header: &Header, connection: &Connection) -> Packet {
    let o = &header.options;
    let mut options = Vec::new();
    options.extend(o.mss.map(TcpOption::Mss));
    if o.sack_permitted {
        options.push(TcpOption::SackPermitted);
    }
    if let Some((value, echo)) = o.timestamps {
        let known = connection.timestamps.iter().find(|(_, live)| **live == value).map(|(script, _)| *script);
        options.push(TcpOption::Timestamps(known.unwrap_or(value), echo));
    }
    options.extend(o.window_scale.map(TcpOption::WindowScale));
    options.extend(o.accurate_ecn.map(|counters| TcpOption::AccurateEcn(counters.map(Some))));
    if !o.sack().is_empty() {
        options.push(TcpOption::Sack(o.sack().iter().map(|b| (b.0.0, b.1.0)).collect()));
    }
    let silent = header.ecn == net::Ecn::NotEct;
    Packet {
        way: Way::Out,
        ecn: if silent { EcnField::Unsaid } else { EcnField::Is(header.ecn) },
        ip: None,
        flags: header.flags,
        seq: connection.to_script(header.seq),
        len: header.len,
        ack: header.flags.has(Flags::ACK).then_some(header.ack),
        window: Some(header.window),
        urgent: None,
        options: Some(options),
    }
}

/// Everything in which `header` is not what `expected` says; empty: nothing.
pub fn differences(expected: &Packet, header: &Header, connection: &Connection) -> Vec<String> {
    let mut all = Vec::new();
    compare(&mut all, "flags", letters(expected.flags), letters(header.flags));
    compare(&mut all, "sequence number", expected.seq, connection.to_script(header.seq));
    compare(&mut all, "payload", expected.len, header.len);
    if header.flags.has(Flags::ACK) {
        compare(&mut all, "ack", expected.ack.unwrap_or(0), header.ack);
    }
    if let Some(window) = expected.window {
        compare(&mut all, "win", window, header.window);
    }
    match expected.ecn {
        EcnField::Unsaid => {}
        EcnField::Is(ecn) => compare(&mut all, "ECN field", ecn_name(ecn), ecn_name(header.ecn)),
        EcnField::Ect01 => {
            if !matches!(header.ecn, net::Ecn::Ect0 | net::Ecn::Ect1) {
                all.push(format!("ECN field: ect01 expected, {} sent", ecn_name(header.ecn)));
            }
        }
    }
    if let Some(list) = &expected.options {
        match values(list) {
            Ok(options) => {
                compare_options(&mut all, &options, &header.options);
                compare_counters(&mut all, list, header.options.accurate_ecn);
            }
            Err(what) => all.push(format!("{what} is not supported")),
        }
    }
    all
}

fn compare<T: PartialEq + Display>(all: &mut Vec<String>, what: &str, expected: T, sent: T) {
    if expected != sent {
        all.push(format!("{what}: {expected} expected, {sent} sent"));
    }
}

fn compare_options(all: &mut Vec<String>, expected: &Options, sent: &Options) {
    let text = |o: Option<u32>| o.map_or("none".to_string(), |v| v.to_string());
    compare(all, "mss", text(expected.mss.map(u32::from)), text(sent.mss.map(u32::from)));
    compare(
        all,
        "wscale",
        text(expected.window_scale.map(u32::from)),
        text(sent.window_scale.map(u32::from)),
    );
    compare(all, "sackOK", expected.sack_permitted, sent.sack_permitted);
    // The value is the endpoint's clock, whose start is its own affair; the echo is not.
    let echo = |o: &Options| text(o.timestamps.map(|t| t.1));
    compare(all, "TS ecr", echo(expected), echo(sent));
    let blocks = |o: &Options| {
        let all: Vec<String> =
            o.sack().iter().map(|(left, right)| format!("{}:{}", left.0, right.0)).collect();
        if all.is_empty() { "none".to_string() } else { all.join(" ") }
    };
    compare(all, "sack", blocks(expected), blocks(sent));
}

/// The option of Accurate ECN: the counters that are said.
fn compare_counters(all: &mut Vec<String>, expected: &[TcpOption], sent: Option<[u32; 3]>) {
    let said = expected.iter().find_map(|o| if let TcpOption::AccurateEcn(c) = o { Some(c) } else { None });
    let text = |counters: [Option<u32>; 3]| TcpOption::AccurateEcn(counters).to_string();
    match (said, sent) {
        (None, None) => {}
        (Some(said), Some(sent)) => {
            let looked_at = [0, 1, 2].map(|i| said[i].map(|_| sent[i]));
            compare(all, "option", text(*said), text(looked_at));
        }
        (Some(said), None) => compare(all, "option", text(*said), "none".into()),
        (None, Some(sent)) => compare(all, "option", "none".into(), text(sent.map(Some))),
    }
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
        let header = to_live(&packet(sent), &connection).unwrap();
        differences(&packet(expected), &header, &connection)
    }

    #[test]
    fn what_is_not_said_is_not_checked() {
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
        ] {
            assert_eq!(check(expected, sent), [difference]);
        }
    }

    #[test]
    fn options_that_are_not_expected_are_a_difference_and_their_order_is_not() {
        let sent = "< S 0:0(0) win 1 <mss 1460,sackOK,TS val 1 ecr 0,nop,wscale 7>";
        assert_eq!(
            check("> S 0:0(0) <wscale 7,nop,TS val 3 ecr 0,sackOK,mss 1460,eol>", sent),
            Vec::<String>::new()
        );
        assert_eq!(check("> S 0:0(0)", sent).len(), 4);
    }

    #[test]
    fn our_numbers_are_counted_from_our_syn() {
        let mut connection = Connection::new(Tcp::default());
        connection.script_iss = 100;
        let header = to_live(&packet("< . 1:1(0) ack 101 win 5 <sack 111:121>"), &connection).unwrap();
        assert_eq!((header.ack, header.options.sack()), (1, &[(Seq(11), Seq(21))][..]));
    }

    #[test]
    fn an_echo_of_the_scripts_timestamp_becomes_one_of_the_endpoints() {
        let mut connection = Connection::new(Tcp::default());
        connection.timestamps.insert(100, 777);
        let echo = |text: &str| to_live(&packet(text), &connection).unwrap().options.timestamps;
        assert_eq!(echo("< . 1:1(0) ack 1 win 5 <TS val 5 ecr 100>"), Some((5, 777)));
        assert_eq!(echo("< . 1:1(0) ack 1 win 5 <TS val 5 ecr 3>"), Some((5, 3)));
    }
}
