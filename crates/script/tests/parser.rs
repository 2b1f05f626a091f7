//! Tests of the parser: valid scripts give syntax trees, and invalid scripts give errors.

use proptest::prelude::*;
use script::parse;
use script::syntax::{
    Action, Call, CookieText, Direction, EcnField, Event, Expr, Field, Flags, Outcome, Packet, TcpOption,
    When,
};
use units::Duration;

fn event(text: &str) -> Event {
    let mut script = parse(text).unwrap_or_else(|e| panic!("{text}: {e}"));
    assert_eq!(script.events.len(), 1, "{text}");
    script.events.remove(0)
}

#[test]
fn a_whole_script_is_parsed() {
    let text = r#"
--tolerance_usecs=10000
--ip_version=ipv4
// comment
`../common/defaults.sh
sysctl -q net.ipv4.tcp_sack=0` # comment
    0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3 /* a
comment of two lines */
   +0 bind(3, {sa_family = AF_INET, sin_port = htons(8080), sin_addr = inet_addr("192.168.0.1")}, ...) = 0
 +.1 < S 0:0(0) win 32792 <mss 1000,sackOK,nop,nop,nop,wscale 7>
+0...0.2 accept(3, ..., ...) = 4
  * > S. 0:0(0) ack 1 <...>
+0 `sysctl -w net.ipv4.tcp_sack=1`
+.1 %{ assert tcpi_snd_cwnd == 10, tcpi_snd_cwnd
print("}") }%
"#;
    let script = parse(text).unwrap();
    assert_eq!(script.settings.len(), 2);
    assert_eq!(script.init.as_ref().unwrap().text, "../common/defaults.sh\nsysctl -q net.ipv4.tcp_sack=0");
    let lines: Vec<u32> = script.events.iter().map(|e| e.line).collect();
    assert_eq!(lines, [7, 9, 10, 11, 12, 13, 14]);
    assert_eq!(parse(&script.to_string()).unwrap().to_string(), script.to_string());
}

#[test]
fn comments_may_replace_white_space() {
    let plain = "--mtu=1500\n0 read(3, ..., 5) = -1 EAGAIN (Try again)\n+.1~+.2 > P. 1:101(100) ack 1 win 5 <mss 9,nop>\n";
    let text = "--mtu=1500 // of the device\n# a line\n0 /* when */ read( // what\n3, ..., 5 /* bytes */) = -1 # no\n\
                EAGAIN /* of errno */ (Try again) // end\n+.1 /* from */ ~ // to\n+.2 > P. 1:101(100) /* a */ ack 1 # b\n\
                win 5 // c\n<mss 9, /* d */ nop> // e";
    assert_eq!(parse(text).unwrap().to_string(), parse(plain).unwrap().to_string());
    let ours = parse("--set=tcp.initial_window=2 packets  // as then\n--set=tcp.mss=5 B").unwrap();
    let values: Vec<_> = ours.settings.iter().filter_map(|s| s.value.as_deref()).collect();
    assert_eq!(values, ["tcp.initial_window=2 packets", "tcp.mss=5 B"]);
    let quoted = parse("--init_scripts = \"a b.sh\"\n").unwrap();
    assert_eq!(quoted.settings[0].value.as_deref(), Some("a b.sh"));
}

#[test]
fn commands_without_a_time_follow_the_last_event() {
    let script = parse("`true`\n0 close(3) = 0 // c\n\n`restore.sh` // d\n`echo \\`x\\``\n").unwrap();
    let texts: Vec<_> = script.cleanup.iter().map(|c| (c.line, c.text.as_str())).collect();
    assert_eq!(texts, [(4, "restore.sh"), (5, "echo `x`")]);
    assert_eq!(parse("0 close(3) = 0\n`a`\n+0 close(3) = 0").unwrap_err().line, 3);
}

#[test]
fn times_are_parsed() {
    let ms = Duration::from_millis;
    for (text, when) in [
        ("0.1", When::At(ms(100))),
        ("1", When::At(ms(1000))),
        (".25", When::At(ms(250))),
        ("+.1", When::After(ms(100))),
        ("+0", When::After(ms(0))),
        ("*", When::Any),
        ("0.1~0.2", When::Between(ms(100), ms(200))),
        ("+.1~+.2", When::AfterBetween(ms(100), ms(200))),
        ("0.000000000001", When::At(Duration(1))),
    ] {
        assert_eq!(event(&format!("{text} close(3) = 0")).when, when, "{text}");
    }
    let Action::Call(call) = event("0...0.2 read(3, ..., 10) = 5").action else { panic!() };
    assert_eq!(call.end, Some(ms(200)));
    let Action::Call(call) = event("+.1...0.3 connect(3, ..., ...) = 0").action else { panic!() };
    assert_eq!(call.end, Some(ms(300)));
}

#[test]
fn segments_are_parsed() {
    let text = "0 > [ect0] FP. 1:1001(1000) ack 5 win 7 <nop,nop,TS val 1 ecr 2,sack 3:4 5:6>";
    let packet = Packet {
        way: Direction::Out,
        ecn: EcnField::Is(net::Ecn::Ect0),
        dscp: None,
        ip: None,
        flags: Flags::FIN | Flags::PSH | Flags::ACK,
        seq: 1,
        len: 1000,
        ack: Some(5),
        window: Some(7),
        urgent: None,
        options: Some(vec![
            TcpOption::Nop,
            TcpOption::Nop,
            TcpOption::Timestamps(1, 2),
            TcpOption::Sack(vec![(3, 4), (5, 6)]),
        ]),
    };
    assert_eq!(event(text).action, Action::Packet(Box::new(packet)));
    for text in [
        "0 < SEW 0:0(0) win 32792 <mss 1460>",
        "0 < SEWA 0:0(0) win 32792",
        "0 < [ce] . 1:1001(1000) ack 1 win 257",
        "0 > P. 4294967295:4(5) ack 4294967295",
        "0 < - 1:1(0) win 257",
        "0 > R. 1:1(0) ack 1 <...>",
        "0 > [tos 0x12] P. 1:11(10) ack 1",
        "0 < R 1:1(0) win 0",
    ] {
        assert_eq!(event(text).to_string(), text);
    }
    for (text, ecn) in [("[tos 0x03]", net::Ecn::Ce), ("[ect1]", net::Ecn::Ect1), ("(tos 2)", net::Ecn::Ect0)]
    {
        for text in [format!("0 > {text} . 1:1(0) ack 1"), format!("0 > . 1:1(0) ack 1 {text}")] {
            let Action::Packet(packet) = event(&text).action else { panic!() };
            assert_eq!(packet.ecn, EcnField::Is(ecn), "{text}");
        }
    }
}

#[test]
fn packets_that_are_not_tcp_are_named() {
    for (text, kind) in [
        ("0 < icmp unreachable frag_needed mtu 1200 [1:1461(1460)]", "icmp"),
        ("0 > udp (100)", "udp"),
        ("0 > ipv4 1.1.1.1 > 2.2.2.2: S 0:0(0)", "ipv4"),
    ] {
        let Action::Foreign(_, found) = event(text).action else { panic!("{text}") };
        assert_eq!(found, kind);
    }
}

#[test]
fn calls_are_parsed() {
    for text in [
        "0 accept(3, ..., ...) = 4",
        "0 setsockopt(3, SOL_SOCKET, SO_REUSEADDR, [1], 4) = 0",
        "0 setsockopt(3, SOL_SOCKET, SO_LINGER, {onoff=1, linger=0}, 8) = 0",
        "0 setsockopt(3, SOL_TCP, TCP_CONGESTION, \"reno\", 4) = 0",
        "0 poll([{fd=4, events=POLLIN|POLLOUT, revents=POLLOUT}], 1, 0) = 1",
        "0 connect(3, ..., ...) = -1 EINPROGRESS (Operation now in progress)",
        "0 read(4, ..., 1000) = ?",
        "0 read(4, ..., 1000) = 1..1000",
        "0 fcntl(3, F_GETFL) = 2 (flags O_RDWR)",
        "0 sendmsg(4, {msg_name(...)=..., msg_iov(1)=[{..., 100}], msg_flags=0}, 0) = 100",
        "0 setsockopt(3, 1, 2, [-1], 4) = 0",
        "0 f(\"a\\\"\\\\b\\n\", 1.5) = 0",
    ] {
        assert_eq!(event(text).to_string(), text);
    }
    assert_eq!(event("0 fcntl(3, F_GETFL) = 0x2").to_string(), "0 fcntl(3, F_GETFL) = 2");
}

#[test]
fn strings_have_the_escapes_of_c() {
    let text = |written: &str| match event(&format!("0 f({written}) = 0")).action {
        Action::Call(call) => match &call.args[..] {
            [Expr::Text(bytes)] => bytes.clone(),
            other => panic!("{other:?}"),
        },
        other => panic!("{other}"),
    };
    assert_eq!(text(r#""\xf7\x0a\n\t\r\0\1772\a\\\"""#), b"\xf7\n\n\t\r\0\x7f2\x07\\\"");
    assert_eq!(text("\"é\""), "é".as_bytes());
    assert_eq!(text("\"ab\" /* and */ \"c\""), b"abc");
    assert_eq!(text("\"ab\"..."), b"ab");
    assert_eq!(event("0 f(\"\\xf7\") = 0").to_string(), "0 f(\"\\xf7\") = 0");
}

#[test]
fn a_syntax_error_has_a_position() {
    for (text, line, column, told) in [
        ("x", 1, 1, "expected the time of an event, such as 0.1, +.1 or *, found 'x'"),
        ("0\n\n  ?", 3, 3, "expected a packet (< or >), a system call"),
        ("0 < Q 0:0(0) win 1", 1, 5, "expected flags of a segment"),
        ("0 < S 0:1(0) win 1", 1, 7, "a payload of 0 bytes that begins at 0 ends at 0, not 1"),
        ("0 < S 0;0(0)", 1, 8, "expected ':', found ';'"),
        ("0 < S 0:0(0) win 65536", 1, 18, "must be between 0 and 65535, not 65536"),
        (
            "0 < S 0:0(0) win 1 <mss 1460",
            1,
            29,
            "expected ',' or '>' after a TCP option, found the end of the script",
        ),
        ("0 < S 0:0(0) win 1 <...>", 1, 21, "only a packet that is expected"),
        ("0 < S 0:0(0) win 1 <TS vel 1>", 1, 24, "expected 'val', found 'vel'"),
        ("0 close(3 = 0", 1, 11, "expected ',' or ')', found '='"),
        ("0 close(3) = 0\nfoo", 2, 1, "expected the time of an event"),
        ("0 close(3)", 1, 11, "expected '=', found the end of the script"),
        ("0 read(3, [, 5) = 0", 1, 12, "expected a value, found ','"),
        ("0 f(\"abc", 1, 5, "has no end; write \""),
        ("`ls", 1, 1, "has no end; write `"),
        ("0 %{ assert", 1, 3, "has no end; write }%"),
        ("/* x", 1, 1, "has no end; write */"),
        ("0.2~0.1 close(3) = 0", 1, 5, "ends before it begins"),
        ("+.1~.2 close(3) = 0", 1, 5, "because both ends of the interval must be relative"),
        ("99999999 close(3) = 0", 1, 1, "at most 18446743 s"),
        ("0 f(\"a\\q\")", 1, 7, "an unknown escape sequence: write"),
        ("0 f(\"\\x\")", 1, 6, "an unknown escape"),
        ("0 f(\"\\400\")", 1, 6, "an unknown escape"),
        ("0 f(\"a\\", 1, 5, "has no end; write \""),
        ("--=1", 1, 3, "expected the name of an option"),
    ] {
        let e = parse(text).unwrap_err();
        assert!(e.problem.contains(told), "{text}: {e}");
        assert_eq!((e.line, e.column), (line, column), "{text}: {e}");
    }
}

#[test]
fn deep_nesting_is_refused() {
    let e = parse(&format!("0 f({}", "[".repeat(100_000))).unwrap_err();
    assert!(e.problem.contains("nested"), "{e}");
}

fn word() -> impl Strategy<Value = String> {
    "[a-z_][a-z_0-9]{0,6}".prop_filter("not a packet's beginning", |w| w != "ack")
}

fn expr() -> impl Strategy<Value = Expr> {
    let leaf = prop_oneof![
        Just(Expr::Ellipsis),
        any::<i32>().prop_map(|v| Expr::Int(v.into())),
        word().prop_map(Expr::Word),
        prop::collection::vec(any::<u8>(), 0..9).prop_map(Expr::Text),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let single =
            inner.clone().prop_filter("a list of alternatives is flat", |e| !matches!(e, Expr::Or(_)));
        prop_oneof![
            prop::collection::vec(single, 2..3).prop_map(Expr::Or),
            prop::collection::vec(inner.clone(), 0..3).prop_map(Expr::List),
            prop::collection::vec(
                (prop::option::of(word()), inner.clone()).prop_map(|(name, value)| Field {
                    name,
                    argument: None,
                    value
                }),
                0..3
            )
            .prop_map(Expr::Struct),
            (word(), prop::collection::vec(inner, 0..3)).prop_map(|(name, args)| Expr::Call(name, args)),
        ]
    })
}

fn when() -> impl Strategy<Value = When> {
    let span = || (0u64..1_000_000_000_000_000).prop_map(Duration);
    prop_oneof![
        span().prop_map(When::At),
        span().prop_map(When::After),
        Just(When::Any),
        (span(), span()).prop_map(|(a, b)| When::Between(a.min(b), a.max(b))),
        (span(), span()).prop_map(|(a, b)| When::AfterBetween(a.min(b), a.max(b))),
    ]
}

fn call() -> impl Strategy<Value = Action> {
    let result = prop_oneof![
        Just(Outcome::Any),
        any::<i16>().prop_map(|v| Outcome::Is(Expr::Int(v.into()))),
        (any::<i8>(), any::<i8>()).prop_map(|(a, b)| Outcome::Between(a.into(), b.into())),
    ];
    let end = prop::option::of((0u64..1_000_000_000_000).prop_map(Duration));
    let args = prop::collection::vec(expr(), 0..4);
    (end, word(), args, result, prop::option::of("E[A-Z]{1,8}"), prop::option::of("[a-zA-Z ]{0,9}")).prop_map(
        |(end, name, args, result, errno, note)| {
            Action::Call(Box::new(Call { end, name, args, result, errno, note }))
        },
    )
}

fn packet() -> impl Strategy<Value = Action> {
    let cookie = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..20).prop_map(CookieText::Bytes),
        Just(CookieText::Host),
        Just(CookieText::ZeroKey),
    ];
    let option = prop_oneof![
        (cookie, any::<bool>()).prop_map(|(cookie, experimental)| TcpOption::FastOpen(cookie, experimental)),
        Just(TcpOption::Nop),
        Just(TcpOption::Eol),
        Just(TcpOption::SackPermitted),
        any::<u16>().prop_map(TcpOption::Mss),
        any::<u8>().prop_map(TcpOption::WindowScale),
        any::<(u32, u32)>().prop_map(|(v, e)| TcpOption::Timestamps(v, e)),
        prop::collection::vec(any::<(u32, u32)>(), 1..4).prop_map(TcpOption::Sack),
    ];
    let ecn = prop_oneof![
        Just(EcnField::Absent),
        Just(EcnField::Ect01),
        Just(EcnField::Is(net::Ecn::Ce)),
        Just(EcnField::Is(net::Ecn::NotEct)),
    ];
    let options = prop::option::of(prop::collection::vec(option, 0..4));
    let numbers =
        (any::<u32>(), 0u32..65_536, any::<Option<u32>>(), any::<Option<u16>>(), any::<Option<u16>>());
    let field = (ecn, prop::option::of(0u8..64));
    (any::<bool>(), field, 0u16..0x200, numbers, options).prop_map(
        |(out, (ecn, dscp), flags, (seq, len, ack, window, urgent), options)| {
            // The DSCP is in the same byte of the IP header as the ECN field.
            let dscp = dscp.filter(|_| matches!(ecn, EcnField::Is(_)));
            let way = if out { Direction::Out } else { Direction::In };
            let options = if out { options } else { Some(options.unwrap_or_default()) };
            let flags = Flags(flags);
            Action::Packet(Box::new(Packet {
                way,
                ecn,
                dscp,
                ip: None,
                flags,
                seq,
                len,
                ack,
                window,
                urgent,
                options,
            }))
        },
    )
}

proptest! {
    /// If a script is formatted as text and parsed again, the syntax tree is the same.
    #[test]
    fn printing_and_parsing_are_inverse(when in when(), action in prop_oneof![call(), packet()]) {
        let written = Event { line: 1, when, action };
        prop_assert_eq!(event(&written.to_string()), written.clone(), "{}", written);
    }

    /// For any text, the parser returns a script or an error.
    #[test]
    fn any_text_is_parsed_or_refused(text in "\\PC{0,200}") {
        let _ = parse(&text);
    }

    /// For a text that resembles a script, the parser returns a script or an error.
    #[test]
    fn text_that_resembles_a_script_is_parsed_or_refused(
        parts in prop::collection::vec(prop::sample::select(vec![
            "0", ".1", "+", "~", "*", "...", "..", "<", ">", "S", ".", "0:0(0)", "1:1001(1000)", "ack", "win", "1",
            "99999999999999999999", "-", "<mss 1460", "sack", "TS val", "ecr", ",", "[", "]", "{", "}", "(", ")", "=",
            "?", "|", "\"", "\\", "`", "%{", "}%", "//", "/*", "*/", "#", "\n", " ", "socket", "é", "--", "=", "icmp",
        ]), 0..40),
    ) {
        let _ = parse(&parts.concat());
        let _ = parse(&parts.join(" "));
    }
}
