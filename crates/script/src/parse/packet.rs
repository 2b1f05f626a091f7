//! Parser of TCP segments such as `< S 0:0(0) win 32792 <mss 1460,sackOK>`.

use net::{AccEcn, AccEcnOrder};

use super::cursor::{Cursor, SyntaxError};
use crate::print::counter_names;
use crate::syntax::{Action, CookieText, Direction, EcnField, Flags, LETTERS, Packet, TcpOption};

/// Maximum size of the data of a TCP option, in bytes.
const MAX_COOKIE: usize = 38;

/// Keywords with which a script begins the description of a packet that is not a TCP segment over
/// IPv4.
const FOREIGN: [&str; 7] = ["icmp", "udp", "udplite", "ipv4", "ipv6", "gre", "mpls"];

pub(super) fn packet(c: &mut Cursor, way: Direction) -> Result<Action, SyntaxError> {
    c.space()?;
    let mut fields = IpFields::default();
    ip_header(c, &mut fields)?;
    let start = c.at();
    if let Some(word) = c.word() {
        if FOREIGN.contains(&word) {
            c.take_while(|x| x != '\n');
            return Ok(Action::Foreign(way, word.into()));
        }
        c.back_to(start);
    }
    let flags = flags(c)?;
    let (seq, len) = sequence(c)?;
    let mut packet = Packet {
        way,
        ecn: EcnField::Absent,
        dscp: None,
        ip: None,
        flags,
        seq,
        len,
        ack: None,
        window: None,
        urgent: None,
        options: Some(vec![]),
    };
    c.space()?;
    if eat_word(c, "ack") {
        packet.ack = Some(c.bounded("an acknowledgement number", u32::MAX)?);
        c.space()?;
    }
    if eat_word(c, "win") {
        packet.window = Some(c.bounded("the window field", 65_535)? as u16);
        c.space()?;
    }
    if eat_word(c, "urg") {
        packet.urgent = Some(c.bounded("the urgent pointer", 65_535)? as u16);
        c.space()?;
    }
    if c.eat("<") {
        packet.options = options(c, way)?;
        c.space()?;
    }
    ip_header(c, &mut fields)?;
    (packet.ecn, packet.dscp, packet.ip) = (fields.ecn, fields.dscp, fields.other);
    Ok(Action::Packet(Box::new(packet)))
}

/// If the next word is exactly `word`, consume the word and the space after it, and return true.
fn eat_word(c: &mut Cursor, word: &str) -> bool {
    let start = c.at();
    if c.word() == Some(word) {
        c.take_while(char::is_whitespace);
        return true;
    }
    c.back_to(start);
    false
}

/// Fields of the IP header that a script may give for a packet.
#[derive(Default)]
struct IpFields {
    ecn: EcnField,
    dscp: Option<u8>,
    /// A field of the IP header that is not supported.
    other: Option<String>,
}

/// Parse fields of the IP header such as `[ect0]`, `[ce]` and `[tos 0x2]`, in brackets or
/// parentheses.
fn ip_header(c: &mut Cursor, fields: &mut IpFields) -> Result<(), SyntaxError> {
    while c.peek() == Some('[') || c.peek() == Some('(') {
        let start = c.at();
        let end = if c.eat("[") { "]" } else { ")" };
        if end == ")" {
            c.eat("(");
        }
        let Some(inside) = c.take_until(end) else {
            c.back_to(start);
            return Err(c.wrong(format!("this bracket has no end; write {end}")));
        };
        for item in inside.split(',').map(str::trim) {
            if item.is_empty() {
                c.back_to(start);
                return Err(c.wrong("expected [ect0], [ect1], [ect01], [ce], [noecn] or [tos N]".into()));
            }
            if !fields.take(item) {
                fields.other = Some(item.split_whitespace().collect::<Vec<_>>().join(" "));
            }
        }
        c.space()?;
    }
    Ok(())
}

impl IpFields {
    /// Set a field of the IP header, and return true if the field is supported.
    fn take(&mut self, item: &str) -> bool {
        use net::Ecn::{Ce, Ect0, Ect1, NotEct};
        self.ecn = match item.to_ascii_lowercase().as_str() {
            "noecn" | "nonect" | "no_ecn" => EcnField::Is(NotEct),
            "ect0" => EcnField::Is(Ect0),
            "ect1" => EcnField::Is(Ect1),
            "ect01" => EcnField::Ect01,
            "ce" => EcnField::Is(Ce),
            other => {
                let Some(value) = other.strip_prefix("tos").and_then(|v| byte(v.trim())) else {
                    return false;
                };
                self.dscp = Some(value >> 2); // RFC 2474 §3; RFC 3168 §5
                EcnField::Is([NotEct, Ect1, Ect0, Ce][usize::from(value & 3)])
            }
        };
        true
    }
}

/// Parse a number up to 255, decimal or hexadecimal.
fn byte(text: &str) -> Option<u8> {
    match text.strip_prefix("0x") {
        Some(digits) => u8::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

fn flags(c: &mut Cursor) -> Result<Flags, SyntaxError> {
    const WANTED: &str =
        "flags of a segment: letters of SFRPUEWA, '.' for ACK, a digit for ACE, or '-' for none";
    let mut flags = Flags::default();
    if c.eat("-") {
        return Ok(flags);
    }
    let start = c.at();
    let letters = c.take_while(|x| x.is_ascii_alphanumeric() || x == '.');
    if letters.is_empty() {
        return Err(c.expected(WANTED));
    }
    for letter in letters.chars() {
        if let Some(counter @ 0..=7) = letter.to_digit(10) {
            // The ACE field (RFC 9768 §3.2.2): AE, CWR and ECE as a number.
            let counter = counter as u16;
            flags |= Flags((counter & 4) << 6 | (counter & 2) << 6 | (counter & 1) << 6);
            continue;
        }
        let Some(known) = LETTERS.iter().find(|l| l.0 == letter) else {
            c.back_to(start);
            return Err(c.expected(WANTED));
        };
        flags |= known.1;
    }
    Ok(flags)
}

/// Parse `1:1001(1000)`.
fn sequence(c: &mut Cursor) -> Result<(u32, u32), SyntaxError> {
    c.space()?;
    let start = c.at();
    let seq = c.bounded("a sequence number", u32::MAX)?;
    c.require(":")?;
    let end = c.bounded("a sequence number", u32::MAX)?;
    c.require("(")?;
    let len = c.bounded("the length of a payload", 65_535)?;
    c.require(")")?;
    if end != seq.wrapping_add(len) {
        c.back_to(start);
        let right = seq.wrapping_add(len);
        return Err(c.wrong(format!(
            "{seq}:{end}({len}): a payload of {len} bytes that begins at {seq} ends at {right}, not {end}"
        )));
    }
    Ok((seq, len))
}

/// Parse the TCP options inside `<…>`.
fn options(c: &mut Cursor, way: Direction) -> Result<Option<Vec<TcpOption>>, SyntaxError> {
    c.space()?;
    if c.sees("...") {
        if way == Direction::In {
            return Err(c.wrong(
                "<...> matches any options, so only a packet that is expected (>) can have it".into(),
            ));
        }
        c.eat("...");
        c.require(">")?;
        return Ok(None);
    }
    let mut list = Vec::new();
    loop {
        c.space()?;
        if list.is_empty() && c.eat(">") {
            return Ok(Some(list));
        }
        list.push(option(c)?);
        c.space()?;
        if c.eat(">") {
            return Ok(Some(list));
        }
        if !c.eat(",") {
            return Err(c.expected("',' or '>' after a TCP option"));
        }
    }
}

fn option(c: &mut Cursor) -> Result<TcpOption, SyntaxError> {
    let start = c.at();
    let Some(word) = c.word() else {
        return Err(c.expected("a TCP option: mss, wscale, sackOK, sack, TS, nop, eol"));
    };
    c.space()?;
    Ok(match word {
        "nop" => TcpOption::Nop,
        "eol" => TcpOption::Eol,
        "sackOK" => TcpOption::SackPermitted,
        "mss" => TcpOption::Mss(c.bounded("the segment size", 65_535)? as u16),
        "wscale" => TcpOption::WindowScale(c.bounded("the window scale", 255)? as u8),
        "sack" => TcpOption::Sack(blocks(c)?),
        "TS" => timestamps(c)?,
        "ECN" => counters(c)?,
        "FO" | "FOEXP" => TcpOption::FastOpen(cookie(c)?, word == "FOEXP"),
        _ => {
            c.take_while(|x| !matches!(x, ',' | '>' | '\n'));
            let end = c.at();
            c.back_to(start);
            let text = c.rest()[..end - start].trim().to_string();
            c.back_to(end);
            TcpOption::Other(text)
        }
    })
}

/// Parse a Fast Open cookie, which is given by its hexadecimal bytes or by a name.
fn cookie(c: &mut Cursor) -> Result<CookieText, SyntaxError> {
    let start = c.at();
    let text = c.take_while(|x| x.is_ascii_alphanumeric() || x == '_');
    let text = c.defined(text).unwrap_or(text);
    match text {
        "TFO_COOKIE" => return Ok(CookieText::Host),
        "TFO_COOKIE_ZERO" => return Ok(CookieText::ZeroKey),
        _ => {}
    }
    let digits: Option<Vec<u8>> = text.chars().map(|x| x.to_digit(16).map(|d| d as u8)).collect();
    let digits = digits.filter(|d| d.len() % 2 == 0 && d.len() <= 2 * MAX_COOKIE);
    let Some(digits) = digits else {
        c.back_to(start);
        let max = MAX_COOKIE;
        return Err(c.wrong(format!("a cookie must be at most {max} bytes in hexadecimal, or TFO_COOKIE")));
    };
    Ok(CookieText::Bytes(digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect()))
}

fn blocks(c: &mut Cursor) -> Result<Vec<(u32, u32)>, SyntaxError> {
    let mut blocks = Vec::new();
    while c.peek().is_some_and(|x| x.is_ascii_digit()) {
        let left = c.bounded("a sequence number", u32::MAX)?;
        c.require(":")?;
        blocks.push((left, c.bounded("a sequence number", u32::MAX)?));
        c.space()?;
    }
    if blocks.is_empty() { Err(c.expected("a SACK block, such as 1001:2001")) } else { Ok(blocks) }
}

fn counters(c: &mut Cursor) -> Result<TcpOption, SyntaxError> {
    let order = if c.rest().starts_with("e1b") { AccEcnOrder::Ect1First } else { AccEcnOrder::Ect0First };
    let (mut counters, mut count) = ([0; 3], 0);
    for (name, counter) in counter_names(order).into_iter().zip(&mut counters) {
        if !eat_word(c, name) {
            break;
        }
        *counter = c.bounded("a counter", 0xff_ffff)?;
        count += 1;
        c.space()?;
    }
    if c.peek().is_some_and(|x| x.is_ascii_alphabetic()) {
        return Err(c.expected("counters in one of two orders: e0b, ceb, e1b, or e1b, ceb, e0b"));
    }
    let [first, ce, last] = counters;
    Ok(TcpOption::AccurateEcn(match order {
        AccEcnOrder::Ect0First => AccEcn::of(order, first, ce, last, count),
        AccEcnOrder::Ect1First => AccEcn::of(order, last, ce, first, count),
    }))
}

fn timestamps(c: &mut Cursor) -> Result<TcpOption, SyntaxError> {
    if !eat_word(c, "val") {
        return Err(c.expected("'val'"));
    }
    let value = c.bounded("a timestamp", u32::MAX)?;
    c.space()?;
    if !eat_word(c, "ecr") {
        return Err(c.expected("'ecr'"));
    }
    Ok(TcpOption::Timestamps(value, c.bounded("a timestamp", u32::MAX)?))
}
