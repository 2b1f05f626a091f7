//! Syntax tree of a script: options, commands and events.
//!
//! Scripts are written in the language of packetdrill (Cardwell et al., USENIX ATC 2013).
//! docs/how-to/packet-scripts.md describes the supported part.

use net::AccEcn;
pub use net::Flags;
use units::Duration;

/// A script.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    /// Options `--name=value` at the beginning.
    pub settings: Vec<Setting>,
    /// Shell commands before the first event.
    pub init: Option<Command>,
    /// Events, in order.
    pub events: Vec<Event>,
    /// Shell commands without a time after the last event.
    pub cleanup: Vec<Command>,
}

/// An option `--name=value`, or `--name`.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// Line of the script.
    pub line: u32,
    /// Name without the dashes.
    pub name: String,
    /// Text after the equals sign.
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

/// An event with its time.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Line of the script.
    pub line: u32,
    /// Time.
    pub when: When,
    /// Action.
    pub action: Action,
}

/// The time of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// `0.1`: seconds since the start of the script.
    At(Duration),
    /// `+0.1`: seconds since the previous event.
    After(Duration),
    /// `0.1~0.2`: an interval since the start of the script.
    Between(Duration, Duration),
    /// `+0.1~+0.2`: an interval since the previous event.
    AfterBetween(Duration, Duration),
    /// `*`: at any time.
    Any,
}

/// Action of an event.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// A TCP segment.
    Packet(Box<Packet>),
    /// A packet other than TCP over IPv4, with its protocol.
    Foreign(Direction, String),
    /// A system call.
    Call(Box<Call>),
    /// Shell commands.
    Command(Command),
    /// `%{ … }%`: Python code that can use the fields of TCP_INFO.
    Code(Code),
}

/// Text between `%{` and `}%`.
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
    /// `<`: the script injects the packet.
    In,
    /// `>`: the script expects the packet from the endpoint.
    Out,
}

/// A TCP segment.
#[derive(Clone, Debug, PartialEq)]
pub struct Packet {
    /// Direction.
    pub way: Direction,
    /// ECN field of the IP header.
    pub ecn: EcnField,
    /// DSCP, if the script gives it.
    pub dscp: Option<u8>,
    /// Another field of the IP header, which is not supported.
    pub ip: Option<String>,
    /// Control bits.
    pub flags: Flags,
    /// Sequence number, relative to the sender's first.
    pub seq: u32,
    /// Size of the payload, in bytes.
    pub len: u32,
    /// Acknowledgment number, relative to the first sequence number of the receiver.
    pub ack: Option<u32>,
    /// Window field.
    pub window: Option<u16>,
    /// Urgent pointer.
    pub urgent: Option<u16>,
    /// Options, or `None` for any options (`<...>`).
    pub options: Option<Vec<TcpOption>>,
}

/// ECN field in a script.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EcnField {
    /// If the ECN field is absent, an injected packet is Not-ECT, and the ECN field of an expected
    /// packet is not compared.
    #[default]
    Absent,
    /// The given codepoint of the ECN field.
    Is(net::Ecn),
    /// ECT(0) or ECT(1).
    Ect01,
}

/// Letters of control bits, in the order of writing.
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
    /// `ECN e1b 1 ceb 0`: counters of Accurate ECN (RFC 9768 §3.2.3), for ECT(0), CE and ECT(1), or
    /// in reverse order.
    AccurateEcn(AccEcn),
    /// `FO 0123456789abcdef`: a Fast Open cookie. `FOEXP …` uses the option kind for experiments.
    /// `FO` alone requests a cookie.
    FastOpen(CookieText, bool),
    /// An option that is not supported.
    Other(String),
}

/// A Fast Open cookie in a script.
#[derive(Clone, Debug, PartialEq)]
pub enum CookieText {
    /// Bytes, of any length.
    Bytes(Vec<u8>),
    /// `TFO_COOKIE`: the cookie that the host computes.
    Host,
    /// `TFO_COOKIE_ZERO`: the cookie that the host would compute with a key of zeros.
    ZeroKey,
}

/// A system call with its expected result.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Time at which a blocking call returns, relative to the origin of the event's time.
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

/// Expected result of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// `= ?`: any result.
    Any,
    /// `= 3`: exactly this value.
    Is(Expr),
    /// `= 3..5`: a value in this range.
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
    /// A quoted string, after its escapes.
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

/// A member of a struct: `name = value`, `name(argument) = value`, or a bare value.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Name.
    pub name: Option<String>,
    /// Argument in parentheses after the name.
    pub argument: Option<Expr>,
    /// Value.
    pub value: Expr,
}
