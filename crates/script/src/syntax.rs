//! What a script says: options, commands, and events in their order.
//!
//! The language is packetdrill's (Cardwell et al., USENIX ATC 2013); docs/how-to/packet-scripts.md
//! describes what of it is understood here.

use net::AccEcn;
pub use net::Flags;
use units::Duration;

/// A script.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    /// `--name=value` lines at its head.
    pub settings: Vec<Setting>,
    /// Shell commands before the first event.
    pub init: Option<Command>,
    /// What happens, in order.
    pub events: Vec<Event>,
    /// Shell commands without a time after the last event.
    pub cleanup: Vec<Command>,
}

/// `--name=value`, or `--name` alone.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// Line of the script.
    pub line: u32,
    /// Without the dashes.
    pub name: String,
    /// What follows the equals sign.
    pub value: Option<String>,
}

/// Text between backticks, for a shell.
#[derive(Clone, Debug, PartialEq)]
pub struct Command {
    /// Line of the script.
    pub line: u32,
    /// The text.
    pub text: String,
}

/// Something that happens at a time.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Line of the script.
    pub line: u32,
    /// When.
    pub when: When,
    /// What.
    pub action: Action,
}

/// The time of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// `0.1`: since the start of the script.
    At(Duration),
    /// `+0.1`: since the event before.
    After(Duration),
    /// `0.1~0.2`.
    Between(Duration, Duration),
    /// `+0.1~+0.2`.
    AfterBetween(Duration, Duration),
    /// `*`: at any time.
    Any,
}

/// What happens.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// A TCP segment.
    Packet(Box<Packet>),
    /// A packet that is not TCP over IPv4: what it is.
    Foreign(Direction, String),
    /// A system call.
    Call(Box<Call>),
    /// Shell commands.
    Command(Command),
    /// `%{ … }%`: Python over the fields of TCP_INFO.
    Code(Code),
}

/// Text between `%{` and `}%`.
#[derive(Clone, Debug, PartialEq)]
pub struct Code {
    /// Line on which the text begins.
    pub line: u32,
    /// The text.
    pub text: String,
}

/// Where a packet goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// `<`: the script sends it to our endpoint.
    In,
    /// `>`: our endpoint is expected to send it.
    Out,
}

/// A TCP segment.
#[derive(Clone, Debug, PartialEq)]
pub struct Packet {
    /// Where it goes.
    pub way: Direction,
    /// The ECN field of the IP header.
    pub ecn: EcnField,
    /// Its DSCP, if that is said.
    pub dscp: Option<u8>,
    /// What else is said of the IP header and not understood here.
    pub ip: Option<String>,
    /// Control bits.
    pub flags: Flags,
    /// Sequence number, relative to the sender's first.
    pub seq: u32,
    /// Payload in bytes.
    pub len: u32,
    /// Acknowledgement, relative to the receiver's first sequence number.
    pub ack: Option<u32>,
    /// The window field.
    pub window: Option<u16>,
    /// The urgent pointer.
    pub urgent: Option<u16>,
    /// Options; `None`: any (`<...>`).
    pub options: Option<Vec<TcpOption>>,
}

/// What is said of the ECN field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EcnField {
    /// Nothing: Not-ECT when sent by the script, not checked otherwise.
    #[default]
    Unsaid,
    /// This codepoint.
    Is(net::Ecn),
    /// ECT(0) or ECT(1).
    Ect01,
}

/// Control bits by their letters, in the order in which these are written.
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
    /// `ECN e1b 1 ceb 0`: counters of Accurate ECN (RFC 9768 §3.2.3), for ECT(0), CE, ECT(1) or in reverse.
    AccurateEcn(AccEcn),
    /// `FO 0123456789abcdef`, or `FOEXP …` under the kind of experiments: a cookie of Fast Open; `FO` alone asks for one.
    FastOpen(Written, bool),
    /// One that is not understood here.
    Other(String),
}

/// A cookie of Fast Open, as it is written.
#[derive(Clone, Debug, PartialEq)]
pub enum Written {
    /// Its bytes, be they a cookie or not.
    Bytes(Vec<u8>),
    /// `TFO_COOKIE`: the one that the host gives.
    OfHost,
    /// `TFO_COOKIE_ZERO`: the one that it would give with a key of zeros.
    OfZeros,
}

/// A system call and what it returns.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// When a blocking call returns, counted as the event's own time is.
    pub end: Option<Duration>,
    /// Its name.
    pub name: String,
    /// Its arguments.
    pub args: Vec<Expr>,
    /// What it returns.
    pub result: Outcome,
    /// The error it sets.
    pub errno: Option<String>,
    /// A remark in parentheses.
    pub note: Option<String>,
}

/// What a call returns.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// `= ?`.
    Any,
    /// `= 3`.
    Is(Expr),
    /// `= 3..5`.
    Between(i64, i64),
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// `...`: whatever is needed.
    Ellipsis,
    /// A number.
    Int(i64),
    /// A number written with a point.
    Float(String),
    /// A symbol.
    Word(String),
    /// Bytes of a string in quotes, after the escapes of C.
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
    /// Its name.
    pub name: Option<String>,
    /// What stands in parentheses after it.
    pub argument: Option<Expr>,
    /// Its value.
    pub value: Expr,
}
