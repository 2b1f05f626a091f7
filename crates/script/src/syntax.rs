//! Syntax tree of a script, which consists of options, commands and events.
//!
//! Scripts are written in the language of packetdrill (Cardwell et al., USENIX ATC 2013).
//! docs/how-to/packet-scripts.md describes the supported part.

use net::AccEcn;
pub use net::Flags;
use units::Duration;

/// A script.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    /// Options at the beginning of the script, written as `--name=value`.
    pub settings: Vec<Setting>,
    /// Shell commands that the script runs before its first event.
    pub init: Option<Command>,
    /// Events, in order.
    pub events: Vec<Event>,
    /// Shell commands without a time, which the script runs after its last event.
    pub cleanup: Vec<Command>,
}

/// An option `--name=value`, or `--name`.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// Line of the script.
    pub line: u32,
    /// Name without the dashes.
    pub name: String,
    /// Value of the option: the text after the equals sign.
    pub value: Option<String>,
}

/// A shell command in backticks.
#[derive(Clone, Debug, PartialEq)]
pub struct Command {
    /// Line of the script.
    pub line: u32,
    /// The text.
    pub text: String,
}

/// An event of a script, with its time.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Line of the script.
    pub line: u32,
    /// Time.
    pub when: When,
    /// Action.
    pub action: Action,
}

/// The time of an event in a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Absolute time such as `0.1`: seconds since the start of the script.
    At(Duration),
    /// Relative time such as `+0.1`: seconds since the previous event.
    After(Duration),
    /// Absolute interval such as `0.1~0.2`: from 0.1 s to 0.2 s since the start of the script.
    Between(Duration, Duration),
    /// Relative interval such as `+0.1~+0.2`: from 0.1 s to 0.2 s since the previous event.
    AfterBetween(Duration, Duration),
    /// `*`: at any time.
    Any,
}

/// Action of an event.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// A TCP segment.
    Packet(Box<Packet>),
    /// A packet that is not TCP over IPv4, with the name of its protocol.
    Foreign(Direction, String),
    /// A system call.
    Call(Box<Call>),
    /// Shell commands.
    Command(Command),
    /// Python block `%{ … }%`, whose code can use the fields of TCP_INFO.
    Code(Code),
}

/// Python code: the text between `%{` and `}%`.
#[derive(Clone, Debug, PartialEq)]
pub struct Code {
    /// Line on which the text of the block begins.
    pub line: u32,
    /// The text.
    pub text: String,
}

/// Direction of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Direction `<`: the script injects the packet.
    In,
    /// Direction `>`: the script expects the endpoint to send the packet.
    Out,
}

/// A TCP segment.
#[derive(Clone, Debug, PartialEq)]
pub struct Packet {
    /// Direction.
    pub way: Direction,
    /// ECN field of the IP header.
    pub ecn: EcnField,
    /// DSCP of the packet, if the script gives a DSCP.
    pub dscp: Option<u8>,
    /// Another field of the IP header, which the crate does not support.
    pub ip: Option<String>,
    /// Control bits.
    pub flags: Flags,
    /// Sequence number, relative to the initial sequence number of the sender.
    pub seq: u32,
    /// Size of the payload, in bytes.
    pub len: u32,
    /// Acknowledgment number, relative to the initial sequence number of the receiver.
    pub ack: Option<u32>,
    /// Window field.
    pub window: Option<u16>,
    /// Urgent pointer.
    pub urgent: Option<u16>,
    /// TCP options. `None` means that the segment may have any options (`<...>`).
    pub options: Option<Vec<TcpOption>>,
}

/// ECN field of a packet in a script.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EcnField {
    /// The script does not give the ECN field. Without a given ECN field, an injected packet is
    /// Not-ECT, and the ECN field of an expected packet is not compared.
    #[default]
    Absent,
    /// The script gives this codepoint as the ECN field.
    Is(net::Ecn),
    /// ECT(0) or ECT(1).
    Ect01,
}

/// Letters of the control bits, in the order in which a script writes them.
pub const LETTERS: [(char, Flags); 9] = [
    ('S', Flags::SYN),
    ('F', Flags::FIN),
    ('R', Flags::RST),
    ('P', Flags::PSH),
    ('U', Flags::URG),
    ('E', Flags::ECE),
    ('W', Flags::CWR),
    ('A', Flags::AE),
    ('.', Flags::ACK),
];

/// A TCP option.
#[derive(Clone, Debug, PartialEq)]
pub enum TcpOption {
    /// `nop`.
    Nop,
    /// `eol`.
    Eol,
    /// `mss 1460`.
    Mss(u16),
    /// `wscale 7`.
    WindowScale(u8),
    /// `sackOK`.
    SackPermitted,
    /// `sack 1:2 3:4`.
    Sack(Vec<(u32, u32)>),
    /// `TS val 1 ecr 2`.
    Timestamps(u32, u32),
    /// Accurate ECN option such as `ECN e1b 1 ceb 0` (RFC 9768 §3.2.3). The counters of the
    /// Accurate ECN option are for ECT(0), CE and ECT(1), in this order or in reverse order.
    AccurateEcn(AccEcn),
    /// Fast Open option with a cookie, such as `FO 0123456789abcdef`. The name `FOEXP` instead of
    /// `FO` stands for the option kind that experiments share. The option `FO` without a cookie
    /// requests a cookie.
    FastOpen(CookieText, bool),
    /// A TCP option that the crate does not support.
    Other(String),
}

/// A Fast Open cookie in a script.
#[derive(Clone, Debug, PartialEq)]
pub enum CookieText {
    /// Bytes, of any length.
    Bytes(Vec<u8>),
    /// The cookie that the host computes, written as `TFO_COOKIE`.
    Host,
    /// The cookie that the host would compute with a key of zeros, written as `TFO_COOKIE_ZERO`.
    ZeroKey,
}

/// A system call, with the result that the script expects.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Time at which a blocking call returns. The times at which the call begins and returns are
    /// both counted from the same instant.
    pub end: Option<Duration>,
    /// Name.
    pub name: String,
    /// Arguments.
    pub args: Vec<Expr>,
    /// Expected result.
    pub result: Outcome,
    /// Expected error.
    pub errno: Option<String>,
    /// A remark in parentheses.
    pub note: Option<String>,
}

/// Result of a call that the script expects.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// `= ?`: any result.
    Any,
    /// Exactly one value, as in `= 3`.
    Is(Expr),
    /// A value in a range, as in `= 3..5`.
    Between(i64, i64),
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// `...`: a suitable value.
    Ellipsis,
    /// A whole number.
    Int(i64),
    /// A number with a decimal point.
    Float(String),
    /// A symbol.
    Word(String),
    /// A quoted string, in which escape sequences have been replaced.
    Text(Vec<u8>),
    /// `a | b`.
    Or(Vec<Expr>),
    /// `[a, b]`.
    List(Vec<Expr>),
    /// `{a = 1, b = 2}`.
    Struct(Vec<Field>),
    /// `htons(80)`.
    Call(String, Vec<Expr>),
}

/// A member of a struct, such as `name = value`, `name(argument) = value`, or a value alone.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Name.
    pub name: Option<String>,
    /// Argument in parentheses after the name of the member.
    pub argument: Option<Expr>,
    /// Value.
    pub value: Expr,
}
