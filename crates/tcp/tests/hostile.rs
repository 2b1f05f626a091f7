//! Tests of endpoints that receive arbitrary segments. An endpoint must never panic, send without
//! end, exceed the window or cwnd, or request a call in the past.

mod common;

use std::fmt;
use std::sync::Arc;

use common::random::{self, RandomTcp};
use net::{AccEcn, AccEcnOrder, Cookie, Ecn, FastOpen, Flags, Options, Segment, Seq};
use proptest::prelude::*;
use tcp::fast_open::{Opening, Server};
use tcp::{Endpoint, State, Tcp};
use units::{Duration, Read, Time};

/// Random sequence number, which is near a given sequence number in some cases and arbitrary in all
/// other cases.
#[derive(Clone, Copy, Debug)]
enum Number {
    Near(i32),
    At(u32),
}

impl Number {
    fn from(self, base: Seq) -> Seq {
        match self {
            Number::Near(d) => base + d as u32,
            Number::At(n) => Seq(n),
        }
    }
}

fn number() -> impl Strategy<Value = Number> {
    prop_oneof![
        4 => Just(Number::Near(0)),
        4 => (-5000i32..5000).prop_map(Number::Near),
        1 => any::<u32>().prop_map(Number::At),
    ]
}

#[derive(Clone)]
struct InputSegment {
    seq: Number,
    ack: Number,
    blocks: Vec<(Number, u32)>,
    times: Option<(Number, Number)>,
    options: Options,
    len: u16,
    window: u32,
    flags: Flags,
    field: Ecn,
}

impl fmt::Debug for InputSegment {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let InputSegment { seq, ack, blocks, times, options, len, window, flags, field } = self;
        let Options { mss, window_scale, sack_permitted, accurate_ecn, .. } = options;
        let text = format!(
            "seq {seq:?} ack {ack:?} len {len} window {window} {flags:?} {field:?} {blocks:?} {times:?} \
             {mss:?} {window_scale:?} {sack_permitted} {accurate_ecn:?} {:?}",
            options.fast_open()
        );
        f.write_str(&text)
    }
}

#[derive(Clone, Debug)]
enum Op {
    Segment(Box<InputSegment>),
    Wait(u64),
    Timer,
    Write(u64),
    Read(u32),
    Close,
    Abort,
    Nodelay(bool),
    Cork(bool),
    QuickAck(bool),
}

/// Return a strategy for the Fast Open option: a request, the cookie that every server in these
/// tests issues, or any cookie.
fn fast_open() -> impl Strategy<Value = FastOpen> {
    let bytes = prop_oneof![
        1 => Just(vec![]),
        3 => Just(vec![7; 8]),
        1 => prop::collection::vec(any::<u8>(), 4..=16).prop_map(|mut b| { b.truncate(b.len() & !1); b }),
    ];
    (bytes, any::<bool>()).prop_map(|(bytes, experimental)| FastOpen {
        cookie: Cookie::of(&bytes).unwrap_or_default(),
        experimental,
    })
}

/// Return a proptest strategy that generates openings of an endpoint, with or without Fast Open.
fn opening() -> impl Strategy<Value = Option<Opening>> {
    let mss = prop::option::of(any::<u16>());
    let fast = (prop::option::of(fast_open()), any::<bool>(), mss);
    prop::option::of(fast.prop_map(|(option, data, mss)| Opening { option, data, mss }))
}

fn input() -> impl Strategy<Value = InputSegment> {
    let flags = prop_oneof![
        6 => Just(Flags::ACK),
        1 => Just(Flags::SYN),
        1 => Just(Flags::SYN | Flags::ACK),
        1 => Just(Flags::FIN | Flags::ACK),
        1 => (0u16..512).prop_map(Flags),
    ];
    let ecn = prop_oneof![4 => Just(0u16), 1 => (0u16..8).prop_map(|n| n << 6)];
    let field = prop_oneof![Just(Ecn::NotEct), Just(Ecn::Ect0), Just(Ecn::Ect1), Just(Ecn::Ce)];
    let window = prop_oneof![Just(0u32), 0u32..3000, 0u32..100_000, any::<u32>().prop_map(|n| n >> 2)];
    let len = prop_oneof![3 => Just(0u16), 3 => 0u16..3000, 1 => any::<u16>()];
    let options = (
        prop::option::of(any::<u16>()),
        prop::option::of(any::<u8>()),
        any::<bool>(),
        prop::option::of((any::<bool>(), any::<[u32; 3]>(), 0usize..4)),
        prop::option::weighted(0.3, fast_open()),
    );
    let blocks = prop::collection::vec((number(), 0u32..6000), 0..4);
    let times = prop::option::of((number(), number()));
    ((number(), number(), blocks, times), options, (len, window, flags, ecn, field)).prop_map(
        |(
            (seq, ack, blocks, times),
            (mss, window_scale, sack_permitted, accurate, fast_open),
            (len, window, flags, ecn, field),
        )| {
            let order = |first| if first { AccEcnOrder::Ect1First } else { AccEcnOrder::Ect0First };
            let accurate_ecn =
                accurate.map(|(first, [a, b, c], count)| AccEcn::of(order(first), a, b, c, count));
            let mut options = Options::NONE;
            (options.mss, options.window_scale) = (mss, window_scale);
            (options.sack_permitted, options.accurate_ecn) = (sack_permitted, accurate_ecn);
            if let Some(option) = fast_open {
                options.set_fast_open(option);
            }
            InputSegment { seq, ack, blocks, times, options, len, window, flags: flags | Flags(ecn), field }
        },
    )
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        12 => input().prop_map(|f| Op::Segment(Box::new(f))),
        2 => (0u64..3000).prop_map(Op::Wait),
        3 => Just(Op::Timer),
        2 => (1u64..20_000).prop_map(Op::Write),
        1 => (1u32..20_000).prop_map(Op::Read),
        1 => Just(Op::Close),
        1 => prop::bool::weighted(0.1).prop_map(|a| if a { Op::Abort } else { Op::Timer }),
        1 => (0u8..3, any::<bool>()).prop_map(|(n, on)| [Op::Nodelay(on), Op::Cork(on), Op::QuickAck(on)][n as usize].clone()),
    ]
}

/// An endpoint, and the state that an observer on the path can derive from its segments.
struct MonitoredEndpoint {
    end: Endpoint,
    now: Time,
    next: Seq,
    max: Seq,
    stamp: u32,
    written: u64,
}

impl MonitoredEndpoint {
    fn pump(&mut self) {
        let mut options = Options::default();
        let max = self.written / 20 + 100;
        for n in 0.. {
            assert!(n < max, "the endpoint sends without end: {:?}", self.end.window());
            let before = self.end.window();
            let Some((segment, field)) = self.end.poll(self.now, &mut options) else { break };
            if !self.end.has_options() {
                options = Options::default();
            }
            self.check(&segment, field, &options, before.flight);
        }
        let w = self.end.window();
        assert!(w.cwnd >= 1.0 && w.cwnd < 1e15 && w.ssthresh >= 1.0, "{w:?}");
        assert!(options.wire_len() <= 40, "{options:?}");
    }

    fn check(&mut self, segment: &Segment, field: Ecn, options: &Options, flight: f64) {
        assert!(options.wire_len() <= 40, "{options:?}");
        assert!(field != Ecn::Ce);
        if segment.flags.has(Flags::RST) {
            return;
        }
        if segment.flags.has(Flags::ACK) {
            self.next = segment.ack;
        }
        if let Some((value, _)) = options.timestamps {
            self.stamp = value;
        }
        let tcp = self.end.tcp();
        assert!(u64::from(segment.len) <= tcp.mss.0, "{segment:?}");
        let data_end = segment.seq + u32::from(segment.len);
        let is_new = segment.len > 0 && segment.seq == self.max && data_end.after(self.max);
        self.max = self.max.max(segment.end());
        let w = self.end.window();
        if is_new && segment.len > 1 && !segment.flags.has(Flags::SYN) {
            assert!(w.flight <= w.rwnd, "{segment:?} exceeds the window: {w:?}");
            if !tcp.sack {
                assert!(
                    flight + f64::from(segment.len) <= w.cwnd + w.inflation,
                    "{segment:?} exceeds cwnd: {w:?}"
                );
            }
        }
    }

    fn apply(&mut self, op: &Op) {
        match op {
            Op::Segment(input) => {
                let mut options = input.options;
                let una = self.max; // the highest sequence number is at or above SND.UNA
                options.timestamps =
                    input.times.map(|(v, e)| (v.from(Seq(self.stamp)).0, e.from(Seq(self.stamp)).0));
                for &(start, len) in &input.blocks {
                    let start = start.from(una);
                    options.push_sack((start, start + len));
                }
                let (seq, ack) = (input.seq.from(self.next), input.ack.from(una));
                let segment = Segment { seq, ack, window: input.window, len: input.len, flags: input.flags };
                self.end.on_segment(self.now, &segment, &options, input.field);
            }
            Op::Wait(ms) => {
                let until = self.now + Duration::from_millis(*ms);
                while self.end.deadline() <= until {
                    self.now = self.now.max(self.end.deadline());
                    self.fire();
                }
                self.now = until;
            }
            Op::Timer => {
                let at = self.end.deadline();
                if at != Time::NEVER {
                    self.now = self.now.max(at);
                    self.fire();
                }
            }
            Op::Write(n) => {
                if !matches!(self.end.state(), State::Closed | State::Listen | State::TimeWait) {
                    self.end.write(*n);
                    self.written += n;
                }
            }
            Op::Read(n) => {
                let readable = self.end.readable();
                assert_eq!(self.end.read(self.now, *n), readable.min(*n));
            }
            Op::Close => self.end.close(),
            Op::Abort => self.end.abort(),
            Op::Nodelay(on) => self.end.set_nodelay(*on),
            Op::Cork(on) => self.end.set_cork(*on),
            Op::QuickAck(on) => self.end.set_quickack(*on),
        }
        self.pump();
        if self.end.state() == State::Closed {
            assert_eq!(self.end.deadline(), Time::NEVER);
        }
    }

    fn fire(&mut self) {
        self.end.on_timer(self.now);
        self.pump();
        let deadline = self.end.deadline();
        assert!(deadline > self.now, "deadline {deadline} at {}: {:?}", self.now, self.end);
    }
}

fn feed(
    tcp: &RandomTcp,
    iss: u32,
    opens: bool,
    fast: Option<Opening>,
    explicit_reads: bool,
    handshake: bool,
    ops: &[Op],
) {
    let mut end = Endpoint::new(Arc::new(tcp.tcp.clone()), Duration::ZERO);
    end.set_iss(Seq(iss));
    if explicit_reads {
        end.hold_data();
    }
    let mut written = 0;
    match (opens, fast) {
        (false, None) => end.listen(),
        (false, Some(opening)) => {
            let cookie = Cookie::of(&[7; 8]).unwrap();
            end.listen_fast(Server {
                cookie,
                previous: None,
                open_to_all: opening.data && opening.mss.is_some(),
            })
        }
        (true, None) => end.connect(),
        (true, Some(opening)) => {
            end.connect_fast(opening);
            written = u64::from(opening.mss.unwrap_or(1)); // so that there is data for the SYN
            end.write(written);
        }
    }
    let mut w = MonitoredEndpoint { end, now: Time::ZERO, next: Seq(77), max: Seq(iss), stamp: 0, written };
    w.pump();
    if handshake {
        // Complete the handshake, so that the following operations reach an established connection.
        let mut options = Options::NONE;
        (options.mss, options.window_scale, options.sack_permitted) = (Some(1460), Some(7), true);
        options.timestamps = Some((5, 0));
        let (syn, ack) = if opens { (Flags::SYN | Flags::ACK, Flags::ACK) } else { (Flags::SYN, Flags::ACK) };
        for (flags, seq) in [(syn, Seq(77)), (ack, Seq(78))] {
            let segment = Segment { seq, ack: Seq(iss) + 1, window: 10_000, len: 0, flags };
            w.end.on_segment(w.now, &segment, &options, Ecn::NotEct);
            w.next = Seq(78);
            w.pump();
        }
    }
    for op in ops {
        w.apply(op);
    }
    assert!(!w.end.info().fields.is_empty());
}

proptest! {
    #![proptest_config(random::cases())]

    #[test]
    fn no_input_breaks_an_endpoint(
        tcp in random::parameters(),
        iss in prop_oneof![Just(0u32), Just(u32::MAX - 3000), any::<u32>()],
        (opens, fast, explicit_reads, handshake) in (any::<bool>(), opening(), any::<bool>(), prop::bool::weighted(0.6)),
        ops in prop::collection::vec(op(), 0..40),
    ) {
        feed(&tcp, iss, opens, fast, explicit_reads, handshake, &ops);
    }
}

/// Smallest cases in which the random test of this file failed. Each has failed once.
mod regressions {
    use super::*;

    fn open(tcp: &str) -> MonitoredEndpoint {
        let json: serde_json::Value = tcp.parse().unwrap();
        let mut end = Endpoint::new(Arc::new(Tcp::read(&json, "tcp").unwrap()), Duration::ZERO);
        end.listen();
        MonitoredEndpoint { end, now: Time::ZERO, next: Seq(0), max: Seq(0), stamp: 0, written: 0 }
    }

    fn arrives(w: &mut MonitoredEndpoint, seq: u32, ack: u32, window: u32, flags: Flags, sack: bool) {
        let segment = Segment { seq: Seq(seq), ack: Seq(ack), window, len: 0, flags };
        let mut options = Options::NONE;
        options.sack_permitted = sack;
        w.end.on_segment(w.now, &segment, &options, Ecn::NotEct);
        w.pump();
    }

    /// The ACK of a FIN that served as a probe of a closed window stops the probes.
    #[test]
    fn a_closed_endpoint_sends_no_probe() {
        let mut w = open(r#"{"recovery": "sack", "sack": true}"#);
        arrives(&mut w, 9, 0, 0, Flags::SYN, true);
        arrives(&mut w, 10, 1, 0, Flags::FIN | Flags::ACK, false);
        w.apply(&Op::Close);
        w.apply(&Op::Timer);
        arrives(&mut w, 11, 2, 0, Flags::ACK, false);
        assert_eq!((w.end.state(), w.end.deadline()), (State::Closed, Time::NEVER));
    }

    /// After a reset, an endpoint no longer waits for the round trip that a marked SYN-ACK requires
    /// (RFC 5562 §4).
    #[test]
    fn a_closed_endpoint_holds_no_data() {
        let mut w = open(r#"{"ecn": "ecn+wait"}"#);
        arrives(&mut w, 9, 0, 0, Flags::SYN | Flags::ECE | Flags::CWR, false);
        arrives(&mut w, 10, 1, 0, Flags::ACK | Flags::ECE, false);
        arrives(&mut w, 10, 1, 0, Flags::RST, false);
        assert_eq!((w.end.state(), w.end.deadline()), (State::Closed, Time::NEVER));
    }

    /// The endpoint never sends data that the application writes after the close.
    #[test]
    fn no_data_follows_the_fin() {
        let mut w = open("{}");
        arrives(&mut w, 9, 0, 9999, Flags::SYN, false);
        arrives(&mut w, 10, 1, 9999, Flags::ACK, false);
        w.apply(&Op::Close);
        w.apply(&Op::Write(100));
        assert_eq!((w.max, w.end.outstanding()), (Seq(2), (0, 0)));
    }

    /// After a reset, pacing does not delay any segment.
    #[test]
    fn a_closed_endpoint_paces_no_segment() {
        let mut w = open(r#"{"congestion": "bbr", "mss": "100 B", "initial_window": "1 packets"}"#);
        arrives(&mut w, 9, 0, 9999, Flags::SYN, false);
        arrives(&mut w, 10, 1, 9999, Flags::ACK, false);
        w.apply(&Op::Write(101));
        arrives(&mut w, 10, 1, 9999, Flags::RST, false);
        assert_eq!((w.end.state(), w.end.deadline()), (State::Closed, Time::NEVER));
    }

    /// After a spurious retransmission with no data in flight, cwnd is one segment (RFC 4015 §3.4
    /// would give 0).
    #[test]
    fn the_eifel_response_leaves_at_least_one_segment() {
        let mut w = open(
            r#"{"recovery": {"method": "sack", "eifel": true}, "sack": true, "initial_window": "2 packets"}"#,
        );
        arrives(&mut w, 9, 0, 10_000, Flags::SYN, true);
        arrives(&mut w, 10, 1, 10_000, Flags::ACK, false);
        w.apply(&Op::Write(4052));
        w.apply(&Op::Timer);
        let max = w.max.0;
        arrives(&mut w, 10, max, 0, Flags::ACK, false);
        let mut options = Options::NONE;
        options.push_sack((Seq(1), Seq(2)));
        let ack = Segment { seq: Seq(10), ack: w.max, window: 0, len: 0, flags: Flags::ACK };
        w.end.on_segment(w.now, &ack, &options, Ecn::NotEct);
        w.pump();
        let window = w.end.window();
        assert_eq!((w.end.sender_stats().undone, window.flight, window.cwnd), (1, 0.0, window.smss));
    }
}
