//! Formatting of the parts of a script as text in the language of packetdrill.

use std::fmt::{Display, Formatter, Result, Write};

use net::AccEcnOrder;
use units::Duration;

use crate::syntax::{
    Action, Call, CookieText, Direction, EcnField, Event, Expr, Field, Flags, LETTERS, Outcome, Packet,
    Script, Setting, TcpOption, When,
};

impl Display for Script {
    fn fmt(&self, f: &mut Formatter) -> Result {
        for setting in &self.settings {
            writeln!(f, "{setting}")?;
        }
        if let Some(init) = &self.init {
            writeln!(f, "`{}`", init.text)?;
        }
        self.events.iter().try_for_each(|event| writeln!(f, "{event}"))?;
        self.cleanup.iter().try_for_each(|command| writeln!(f, "`{}`", command.text))
    }
}

impl Display for Setting {
    fn fmt(&self, f: &mut Formatter) -> Result {
        match &self.value {
            Some(value) => write!(f, "--{}={value}", self.name),
            None => write!(f, "--{}", self.name),
        }
    }
}

impl Display for Event {
    fn fmt(&self, f: &mut Formatter) -> Result {
        write!(f, "{}", self.when)?;
        match &self.action {
            Action::Call(call) => match call.end {
                Some(end) => write!(f, "...{} {call}", Seconds(end)),
                None => write!(f, " {call}"),
            },
            action => write!(f, " {action}"),
        }
    }
}

/// Format of a time span: in seconds, without trailing zeros.
struct Seconds(Duration);

impl Display for Seconds {
    fn fmt(&self, f: &mut Formatter) -> Result {
        let (whole, rest) = (self.0.0 / 1_000_000_000_000, self.0.0 % 1_000_000_000_000);
        if rest == 0 {
            return write!(f, "{whole}");
        }
        let digits = format!("{rest:012}");
        write!(f, "{whole}.{}", digits.trim_end_matches('0'))
    }
}

impl Display for When {
    fn fmt(&self, f: &mut Formatter) -> Result {
        match *self {
            When::At(t) => write!(f, "{}", Seconds(t)),
            When::After(t) => write!(f, "+{}", Seconds(t)),
            When::Between(a, b) => write!(f, "{}~{}", Seconds(a), Seconds(b)),
            When::AfterBetween(a, b) => write!(f, "+{}~+{}", Seconds(a), Seconds(b)),
            When::Any => f.write_char('*'),
        }
    }
}

impl Display for Action {
    fn fmt(&self, f: &mut Formatter) -> Result {
        match self {
            Action::Packet(packet) => write!(f, "{packet}"),
            Action::Foreign(way, what) => write!(f, "{way} {what}"),
            Action::Call(call) => write!(f, "{call}"),
            Action::Command(command) => write!(f, "`{}`", command.text),
            Action::Code(code) => write!(f, "%{{{}}}%", code.text),
        }
    }
}

impl Display for Direction {
    fn fmt(&self, f: &mut Formatter) -> Result {
        f.write_char(if *self == Direction::In { '<' } else { '>' })
    }
}

/// Return the letters that a script uses for control bits.
pub(crate) fn letters(flags: Flags) -> String {
    if flags == Flags::default() {
        return "-".into();
    }
    LETTERS.iter().filter(|l| flags.has(l.1)).map(|l| l.0).collect()
}

/// Return the name that a script uses for an ECN codepoint.
pub(crate) fn ecn_name(ecn: net::Ecn) -> &'static str {
    match ecn {
        net::Ecn::NotEct => "noecn",
        net::Ecn::Ect0 => "ect0",
        net::Ecn::Ect1 => "ect1",
        net::Ecn::Ce => "ce",
    }
}

impl Display for Packet {
    fn fmt(&self, f: &mut Formatter) -> Result {
        write!(f, "{} ", self.way)?;
        match self.ecn {
            ecn if self.dscp.is_some() => {
                let ecn = if let EcnField::Is(ecn) = ecn { ecn as u8 } else { 0 };
                write!(f, "[tos {:#x}] ", self.dscp.unwrap_or(0) << 2 | ecn)?;
            }
            EcnField::Absent => {}
            EcnField::Ect01 => f.write_str("[ect01] ")?,
            EcnField::Is(ecn) => write!(f, "[{}] ", ecn_name(ecn))?,
        }
        if let Some(ip) = &self.ip {
            write!(f, "[{ip}] ")?;
        }
        let end = self.seq.wrapping_add(self.len);
        write!(f, "{} {}:{end}({})", letters(self.flags), self.seq, self.len)?;
        let fields =
            [("ack", self.ack), ("win", self.window.map(u32::from)), ("urg", self.urgent.map(u32::from))];
        for (name, value) in fields {
            if let Some(value) = value {
                write!(f, " {name} {value}")?;
            }
        }
        match &self.options {
            None => f.write_str(" <...>"),
            Some(list) if list.is_empty() => Ok(()),
            Some(list) => write!(f, " <{}>", Separated(list, ",")),
        }
    }
}

impl Display for TcpOption {
    fn fmt(&self, f: &mut Formatter) -> Result {
        match self {
            TcpOption::Nop => f.write_str("nop"),
            TcpOption::Eol => f.write_str("eol"),
            TcpOption::SackPermitted => f.write_str("sackOK"),
            TcpOption::Mss(size) => write!(f, "mss {size}"),
            TcpOption::WindowScale(shift) => write!(f, "wscale {shift}"),
            TcpOption::Timestamps(value, echo) => write!(f, "TS val {value} ecr {echo}"),
            TcpOption::Sack(blocks) => {
                f.write_str("sack")?;
                blocks.iter().try_for_each(|(left, right)| write!(f, " {left}:{right}"))
            }
            TcpOption::AccurateEcn(option) => {
                f.write_str("ECN")?;
                let names = counter_names(option.order());
                names
                    .iter()
                    .zip(option.counters())
                    .try_for_each(|(name, counter)| write!(f, " {name} {counter}"))
            }
            TcpOption::FastOpen(cookie, experimental) => {
                f.write_str(if *experimental { "FOEXP" } else { "FO" })?;
                match cookie {
                    CookieText::Bytes(bytes) if bytes.is_empty() => Ok(()),
                    CookieText::Bytes(bytes) => {
                        f.write_str(" ")?;
                        bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
                    }
                    CookieText::Host => f.write_str(" TFO_COOKIE"),
                    CookieText::ZeroKey => f.write_str(" TFO_COOKIE_ZERO"),
                }
            }
            TcpOption::Other(text) => f.write_str(text),
        }
    }
}

/// Return the names of the counters of an Accurate ECN option, in the order of the option.
pub(crate) fn counter_names(order: AccEcnOrder) -> [&'static str; 3] {
    match order {
        AccEcnOrder::Ect0First => ["e0b", "ceb", "e1b"],
        AccEcnOrder::Ect1First => ["e1b", "ceb", "e0b"],
    }
}

/// Format of a list with a separator between its elements.
struct Separated<'a, T>(&'a [T], &'static str);

impl<T: Display> Display for Separated<'_, T> {
    fn fmt(&self, f: &mut Formatter) -> Result {
        for (i, item) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str(self.1)?;
            }
            write!(f, "{item}")?;
        }
        Ok(())
    }
}

impl Display for Call {
    fn fmt(&self, f: &mut Formatter) -> Result {
        write!(f, "{}({}) = {}", self.name, Separated(&self.args, ", "), self.result)?;
        if let Some(errno) = &self.errno {
            write!(f, " {errno}")?;
        }
        match &self.note {
            Some(note) => write!(f, " ({note})"),
            None => Ok(()),
        }
    }
}

impl Display for Outcome {
    fn fmt(&self, f: &mut Formatter) -> Result {
        match self {
            Outcome::Any => f.write_char('?'),
            Outcome::Is(value) => write!(f, "{value}"),
            Outcome::Between(low, high) => write!(f, "{low}..{high}"),
        }
    }
}

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter) -> Result {
        match self {
            Expr::Ellipsis => f.write_str("..."),
            Expr::Int(value) => write!(f, "{value}"),
            Expr::Float(text) | Expr::Word(text) => f.write_str(text),
            Expr::Text(text) => {
                f.write_char('"')?;
                for &byte in text {
                    match byte {
                        b'"' | b'\\' => write!(f, "\\{}", byte as char)?,
                        b'\n' => f.write_str("\\n")?,
                        b'\t' => f.write_str("\\t")?,
                        b' '..=b'~' => f.write_char(byte as char)?,
                        _ => write!(f, "\\x{byte:02x}")?,
                    }
                }
                f.write_char('"')
            }
            Expr::Or(all) => write!(f, "{}", Separated(all, "|")),
            Expr::List(all) => write!(f, "[{}]", Separated(all, ", ")),
            Expr::Struct(fields) => write!(f, "{{{}}}", Separated(fields, ", ")),
            Expr::Call(name, args) => write!(f, "{name}({})", Separated(args, ", ")),
        }
    }
}

impl Display for Field {
    fn fmt(&self, f: &mut Formatter) -> Result {
        match (&self.name, &self.argument) {
            (Some(name), Some(argument)) => write!(f, "{name}({argument})={}", self.value),
            (Some(name), None) => write!(f, "{name}={}", self.value),
            (None, _) => write!(f, "{}", self.value),
        }
    }
}
