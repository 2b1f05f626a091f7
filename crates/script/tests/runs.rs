//! Scripts that pass, scripts that fail, and scripts that are not supported.

use script::{Failure, Report, Setup, Verdict, run_text};
use tcp::Tcp;
use units::Bytes;

fn run(text: &str) -> Report {
    let tcp = Tcp { mss: Bytes(1000), ..Tcp::default() };
    run_text(text, &Setup { tcp, tolerance: None, preparation: Vec::new(), defines: Vec::new() })
}

fn passes(text: &str) {
    let report = run(text);
    assert_eq!(report.verdict, Verdict::Passed, "{text}\n{:#?}", report.timeline);
}

fn fails(text: &str) -> Failure {
    match run(text).verdict {
        Verdict::Failed(failure) => failure,
        other => panic!("{text}\n{other:?}"),
    }
}

fn unsupported(text: &str) -> Vec<(u32, String)> {
    match run(text).verdict {
        Verdict::Unsupported(all) => all.into_iter().map(|m| (m.line, m.what)).collect(),
        other => panic!("{text}\n{other:?}"),
    }
}

/// Return a script that accepts a connection on its line 7, followed by the text `rest`.
const ACCEPTED: &str = "\
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+0 < S 0:0(0) win 32792
+0 > S. 0:0(0) ack 1 <...>
+.1 < . 1:1(0) ack 1 win 32792
+0 accept(3, ..., ...) = 4
";

fn accepted(rest: &str) -> String {
    format!("{ACCEPTED}{rest}")
}

#[test]
fn a_passive_open_with_a_request_and_a_response_passes() {
    passes(&accepted(
        "+.1 < P. 1:501(500) ack 1 win 32792
         +0 read(4, ..., 1000) = 500
         +0 write(4, ..., 2500) = 2500
         +0 > . 1:1001(1000) ack 501 <...>
         +0 > . 1001:2001(1000) ack 501 <...>
         +0 > P. 2001:2501(500) ack 501 <...>
         +.1 < . 501:501(0) ack 2501 win 32792
         +0 close(4) = 0
         +0 > F. 2501:2501(0) ack 501 <...>
         +.1 < F. 501:501(0) ack 2502 win 32792
         +0 > . 2502:2502(0) ack 502 <...>",
    ));
}

/// The window of the SYN-ACK stays in effect until the peer announces another window.
#[test]
fn two_segments_at_one_time_are_both_received() {
    passes(&accepted(
        "+.1 < P. 1:501(500) ack 1 win 32792
         +0 < P. 501:1001(500) ack 1 win 32792
         +0 > . 1:1(0) ack 1001 <...>
         +0 read(4, ..., 2000) = 1000",
    ));
}

#[test]
fn an_active_open_with_a_blocking_call_passes() {
    passes(
        "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
         0.1...0.2 connect(3, ..., ...) = 0
         *  > S 0:0(0) <...>
         0.2 < S. 0:0(0) ack 1 win 32792
         +0 > . 1:1(0) ack 1 <...>
         +0 write(3, ..., 100) = 100
         +0 > P. 1:101(100) ack 1",
    );
}

#[test]
fn calls_that_do_not_block_pass() {
    passes(
        "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
         +0 fcntl(3, F_GETFL) = 0x2 (flags O_RDWR)
         +0 fcntl(3, F_SETFL, O_RDWR|O_NONBLOCK) = 0
         +0 fcntl(3, F_GETFL) = 0x802 (flags O_RDWR|O_NONBLOCK)
         +0 connect(3, ..., ...) = -1 EINPROGRESS (Operation now in progress)
         +0 > S 0:0(0) <...>
         +0 connect(3, ..., ...) = -1 EALREADY (Operation already in progress)
         +0 write(3, ..., 10) = -1 EAGAIN (Resource temporarily unavailable)
         +0 poll([{fd=3, events=POLLOUT, revents=0}], 1, 0) = 0
         +.1 < S. 0:0(0) ack 1 win 32792
         +0 > . 1:1(0) ack 1
         +0 poll([{fd=3, events=POLLOUT, revents=POLLOUT}], 1, 0) = 1
         +0 getsockopt(3, SOL_SOCKET, SO_ERROR, [0], [4]) = 0
         +0 connect(3, ..., ...) = 0
         +0 connect(3, ..., ...) = -1 EISCONN (Transport endpoint is already connected)
         +0 read(3, ..., 10) = -1 EAGAIN (Resource temporarily unavailable)
         +0 write(3, ..., 10) = 10
         +0 > P. 1:11(10) ack 1
         +0 ioctl(3, SIOCOUTQ, [10]) = 0
         +.1 < P. 1:8(7) ack 11 win 32792
         +0 ioctl(3, SIOCOUTQ, [0]) = 0
         +0 ioctl(3, SIOCINQ, [7]) = 0
         +0 poll([{fd=3, events=POLLIN|POLLOUT, revents=POLLIN|POLLOUT}], 1, 0) = 1
         +0 recv(3, ..., 3, MSG_PEEK) = 3
         +0 recv(3, ..., 3, 0) = 3
         +0 readv(3, [{..., 2}, {..., 8}], 2) = 4
         +0 recvmsg(3, {msg_name(...)=..., msg_iov(1)=[{..., 8}], msg_flags=0}, 0) = -1 EAGAIN (Again)
         +0 read(9, ..., 10) = -1 EBADF (Bad file descriptor)",
    );
}

#[test]
fn a_read_and_a_poll_can_block() {
    passes(
        &accepted(
            "+0...0.3 read(4, ..., 1000) = 200
         +.2 < P. 1:201(200) ack 1 win 32792
         +.3 %{ print(tcpi_unacked) }%
         +0...0.25 poll([{fd=4, events=POLLIN, revents=POLLIN}], 1, 1000) = 1
         +.25 < P. 201:301(100) ack 1 win 32792
         +0 read(4, ..., 1000) = 100
         +.3 %{ }%
         +0...0.1 poll([{fd=4, events=POLLIN, revents=0}], 1, 100) = 0",
        )
        .replace("0...0.3 read", "0...0.2 read"),
    );
}

#[test]
fn a_write_blocks_while_the_send_buffer_is_full() {
    passes(&accepted(
        "+0 setsockopt(4, SOL_SOCKET, SO_SNDBUF, [3000], 4) = 0
         +0 getsockopt(4, SOL_SOCKET, SO_SNDBUF, [6000], [4]) = 0
         +0...0.2 write(4, ..., 20000) = 20000
         +0 > . 1:10001(10000) ack 1
         +.1 < . 1:1(0) ack 10001 win 32792
         +0 > P. 10001:16001(6000) ack 1
         +.09 < . 1:1(0) ack 12001 win 32792
         +.01 < . 1:1(0) ack 13001 win 32792
         +0 > P. 16001:20001(4000) ack 1",
    ));
}

#[test]
fn segments_sent_together_can_be_expected_as_one() {
    passes(&accepted("+0 write(4, ..., 2500) = 2500\n+0 > P. 1:2501(2500) ack 1"));
    passes(&accepted(
        "+0 write(4, ..., 2500) = 2500\n+0 > . 1:2001(2000) ack 1\n+0 > P. 2001:2501(500) ack 1",
    ));
    // If several sent segments form one expected segment, the PSH flag is not compared.
    passes(&accepted("+0 write(4, ..., 2500) = 2500\n+0 > P. 1:2001(2000) ack 1"));
    let failure = fails(&accepted("+0 write(4, ..., 2500) = 2500\n+0 > P. 1:1001(1000) ack 1"));
    assert_eq!(failure.problem, "flags: P. expected, . sent");
}

#[test]
fn the_time_of_a_retransmission_is_compared() {
    let text = |when: &str| {
        accepted(&format!(
            "+0 write(4, ..., 100) = 100\n+0 > P. 1:101(100) ack 1\n{when} > P. 1:101(100) ack 1"
        ))
    };
    passes(&text("+1"));
    passes(&text("+.9~+1.1"));
    passes(&text("*"));
    passes(&text("1.1~1.103"));
    let failure = fails(&text("+.9"));
    assert_eq!(failure.line, 10);
    assert_eq!(failure.problem, "the segment is sent 100 ms too late");
    assert_eq!(failure.expected.as_deref(), Some("> P. 1:101(100) ack 1 at 1.000000 s"));
    assert_eq!(failure.happened.as_deref(), Some("the segment is sent at 1.100000 s"));
    assert_eq!(fails(&text("+1.5~+1.6")).problem, "the segment is sent 500 ms too early");
    // A script can set a larger tolerance.
    passes(&format!("--tolerance_usecs=150000\n{}", text("+.9")));
}

#[test]
fn an_unexpected_segment_fails_at_the_next_expected_one() {
    let failure = fails(&accepted(
        "+0 write(4, ..., 100) = 100
         +1.5 write(4, ..., 100) = 100
         +0 > P. 1:101(100) ack 1",
    ));
    assert_eq!((failure.line, failure.problem.as_str()), (10, "the segment is sent 1.5 s too early"));
    // As in packetdrill, segments that remain at the end of a script are not compared. The timeline
    // of the report contains each segment that the script did not expect.
    let report = run(&accepted("+0 write(4, ..., 100) = 100\n+.1 close(3) = 0"));
    assert_eq!(report.verdict, Verdict::Passed);
    let [.., sent, closed] = &report.timeline[..] else { panic!() };
    assert!(
        sent.what.starts_with("> P. 1:101(100) ack 1 win") && sent.what.ends_with("(the script has ended)"),
        "{sent:?}"
    );
    assert_eq!(closed.what, "close(3) = 0");
}

#[test]
fn a_missing_segment_fails() {
    let failure = fails(&accepted("+0 > P. 1:101(100) ack 1"));
    assert_eq!((failure.line, failure.problem.as_str()), (8, "the segment is not sent"));
    assert_eq!(failure.happened.as_deref(), Some("the endpoint sends nothing more"));
}

/// Timestamps are compared if the script gives the duration of a tick. Timestamp echo replies are
/// always compared.
#[test]
fn wrong_timestamps_fail() {
    let tcp = Tcp { timestamps: true, ..Tcp::default() };
    let text = |tick: &str, val: u32, ecr: u32| {
        format!(
            "{tick}0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
             +0 bind(3, ..., ...) = 0
             +0 listen(3, 1) = 0
             +0 < S 0:0(0) win 32792 <mss 1000,nop,nop,TS val 5 ecr 0>
             +0 > S. 0:0(0) ack 1 <mss 1460,nop,nop,TS val 100 ecr 5>
             +.1 < . 1:1(0) ack 1 win 32792 <nop,nop,TS val 6 ecr 100>
             +0 accept(3, ..., ...) = 4
             +0 write(4, ..., 10) = 10
             +0 > P. 1:11(10) ack 1 <nop,nop,TS val {val} ecr {ecr}>"
        )
    };
    let run = |text: &str| {
        run_text(
            text,
            &Setup { tcp: tcp.clone(), tolerance: None, preparation: Vec::new(), defines: Vec::new() },
        )
        .verdict
    };
    let problem = |text: &str| match run(text) {
        Verdict::Failed(failure) => failure.problem,
        other => panic!("{text}\n{other:?}"),
    };
    let tick = "--tcp_ts_tick_usecs=1000\n";
    assert_eq!(run(&text(tick, 200, 6)), Verdict::Passed);
    assert_eq!(run(&text(tick, 196, 6)), Verdict::Passed);
    assert_eq!(problem(&text(tick, 195, 6)), "TS val: 195 expected, 200 sent");
    assert_eq!(run(&text("", 7000, 6)), Verdict::Passed);
    assert_eq!(problem(&text("", 7000, 5)), "TS ecr: 5 expected, 6 sent");
}

#[test]
fn a_different_segment_fails() {
    let failure = fails(&accepted("+0 write(4, ..., 100) = 100\n+0 > P. 1:102(101) ack 2"));
    assert_eq!(failure.problem, "payload: 101 expected, 100 sent; ack: 2 expected, 1 sent");
    assert!(failure.happened.unwrap().starts_with("> P. 1:101(100) ack 1 win"));
}

#[test]
fn wrong_results_of_calls_fail() {
    for (text, expected, happened) in [
        ("+0 write(4, ..., 5) = 4", "write(4, ..., 5) = 4", "write returned 5"),
        ("+0 write(4, ..., 5) = -1 EPIPE (x)", "write(4, ..., 5) = -1 EPIPE (x)", "write returned 5"),
        ("+0 read(9, ..., 5) = 5", "read(9, ..., 5) = 5", "read returned -1 EBADF"),
        ("+0 read(9, ..., 5) = -1 EAGAIN (x)", "read(9, ..., 5) = -1 EAGAIN (x)", "read returned -1 EBADF"),
        ("+0 write(4, ..., 5) = 6..9", "write(4, ..., 5) = 6..9", "write returned 5"),
    ] {
        let failure = fails(&accepted(text));
        assert_eq!(failure.line, 8);
        assert_eq!(
            (failure.expected.as_deref(), failure.happened.as_deref()),
            (Some(expected), Some(happened))
        );
    }
    passes(&accepted("+0 write(4, ..., 5) = 5..9"));
    passes(&accepted("+0 write(4, ..., 5) = ?"));
    passes(&accepted("+0 read(9, ..., 5) = ?"));
    let failure = fails(&accepted("+0 ioctl(4, SIOCINQ, [7]) = 0"));
    assert_eq!(failure.problem, "ioctl: 7 expected, 0 returned");
}

#[test]
fn calls_that_block_too_long_or_too_short_fail() {
    let failure = fails(&accepted("+0 read(4, ..., 1000) = 200\n+.1 < P. 1:201(200) ack 1 win 32792"));
    assert_eq!(
        (failure.line, failure.problem.as_str()),
        (8, "read blocks, and no event of the script can end the call")
    );
    let late = |at: &str| {
        accepted(&format!("+0...0.1 read(4, ..., 1000) = 200\n{at} < P. 1:201(200) ack 1 win 32792"))
    };
    let failure = fails(&late("+.2"));
    assert_eq!((failure.line, failure.problem.as_str()), (8, "read still blocks"));
    let failure = fails(&late("+.05"));
    assert_eq!((failure.line, failure.problem.as_str()), (8, "read returns at another time"));
    let failure = fails(&accepted("+0...0.1 write(4, ..., 10) = 10"));
    assert_eq!((failure.line, failure.problem.as_str()), (8, "write does not block"));
    let failure = fails(&accepted("+0...0.1 read(4, ..., 10) = 10\n+0...0.1 read(4, ..., 10) = 10"));
    assert_eq!((failure.line, failure.problem.as_str()), (9, "the blocking call of line 8 has not returned"));
}

#[test]
fn a_port_without_a_listener_resets() {
    passes("0 < S 0:0(0) win 32792\n+0 > R. 0:0(0) ack 1 win 0");
    passes("0 < . 5:5(0) ack 77 win 32792\n+0 > R 77:77(0)");
}

#[test]
fn an_event_whose_time_has_passed_fails() {
    let failure = fails("1 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n0.5 close(3) = 0");
    assert_eq!(failure.line, 2);
    assert!(failure.problem.contains("comes too late: due at 0.500000 s, but it is 1.000000 s"));
}

#[test]
fn unsupported_features_are_named() {
    for (text, line, what) in [
        ("--ip_version=ipv6\n0 close(3) = 0", 1, "--ip_version=ipv6"),
        ("--magic=1\n", 1, "--magic=1"),
        ("`reboot`\n", 1, "command `reboot`"),
        (
            "\n`sysctl -q net.ipv4.tcp_mtu_probing=1`",
            2,
            "sysctl net.ipv4.tcp_mtu_probing=1: path MTU probing is not supported",
        ),
        ("0 socket(..., SOCK_DGRAM, IPPROTO_UDP) = 3", 1, "socket(..., SOCK_DGRAM, IPPROTO_UDP)"),
        ("0 socket(..., SOCK_STREAM, IPPROTO_MPTCP) = 3", 1, "socket(..., SOCK_STREAM, IPPROTO_MPTCP)"),
        ("0 socket(AF_INET6, SOCK_STREAM, IPPROTO_TCP) = 3", 1, "IPv6"),
        ("0 splice(3, 4) = 0", 1, "system call splice"),
        (
            "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n0 setsockopt(3, SOL_TCP, TCP_REPAIR, [1], 4) = 0",
            2,
            "socket option TCP_REPAIR",
        ),
        ("0 send(3, ..., 5, MSG_NEWS) = 5", 1, "symbol MSG_NEWS"),
        ("0 < icmp unreachable host_unreachable", 1, "icmp packet"),
        ("0 < U. 1:1(0) ack 1 win 5 urg 3", 1, "urgent data"),
        ("0 > S 0:0(0) <FO abcd12>", 1, "a cookie of 3 bytes, which must be an even number from 4 to 16"),
        ("0 send(3, ..., 5, MSG_OOB) = 5", 1, "MSG_OOB"),
        ("0 > S 0:0(0) <quickstart 5>", 1, "TCP option quickstart 5"),
        ("0 < S 0:0(0) win 5 <md5 001122>", 1, "TCP option md5 001122"),
        ("0 < . 1:1(0) ack 1 win 5 <nop,nop,quickstart 8>", 1, "TCP option quickstart 8"),
        ("0 < [tos 0x100] S 0:0(0) win 5", 1, "IP field tos 0x100"),
        ("0 > [ttl 64] S 0:0(0)", 1, "IP field ttl 64"),
    ] {
        assert_eq!(unsupported(text), [(line, what.to_string())], "{text}");
    }
}

#[test]
fn all_unsupported_features_are_named_together() {
    let text = "--strict_segments=1
--mtu=1500
`sysctl -q net.ipv4.tcp_sack=0 net.ipv4.tcp_mtu_probing=1; tc qdisc add dev tun0 root netem
sysctl -q net.ipv4.tcp_syncookies=2`
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 splice(3, 4) = 0
+0 splice(5, 6) = 0
+0 `sysctl -q net.ipv4.tcp_congestion_control=vivace`
+0 > [ttl 64] S 0:0(0) <md5 001122,xyz 5>
`unheard of`";
    let all = unsupported(text);
    let what: Vec<(u32, &str)> = all.iter().map(|m| (m.0, m.1.as_str())).collect();
    assert_eq!(
        what,
        [
            (1, "--strict_segments=1"),
            (3, "command `tc qdisc add dev tun0 root netem`"),
            (3, "sysctl net.ipv4.tcp_mtu_probing=1: path MTU probing is not supported"),
            (3, "sysctl net.ipv4.tcp_syncookies=2"),
            (6, "system call splice"),
            (8, "sysctl net.ipv4.tcp_congestion_control=vivace"),
            (9, "IP field ttl 64"),
            (9, "TCP option md5 001122"),
            (9, "TCP option xyz 5"),
        ]
    );
}

#[test]
fn commands_set_parameters_and_let_time_pass() {
    passes(&format!(
        "`sysctl -q net.ipv4.tcp_rto_min_us=1000000`\n{}",
        accepted("+0 `sleep 0.5`\n+0 write(4, ..., 10) = 10\n0.6 > P. 1:11(10) ack 1")
    ));
    let text = |window: &str| {
        format!(
            "`ip route change default via 192.0.2.1 dev tun0 initcwnd {window}`\n{}",
            accepted(
                "+0 write(4, ..., 3000) = 3000\n+0 > . 1:1001(1000) ack 1\n+0 > . 1001:2001(1000) ack 1"
            )
        )
    };
    passes(&text("2"));
    assert_eq!(fails(&text("1")).line, 11);
}

#[test]
fn python_blocks_have_the_fields_of_tcp_info() {
    let report = run(&accepted("+.5 %{ assert tcpi_snd_cwnd == 10 }%\n"));
    let block = &report.blocks[0];
    assert_eq!(
        (block.line, block.at.seconds(), block.text.as_str()),
        (8, 0.6, " assert tcpi_snd_cwnd == 10 ")
    );
    assert!(block.info.as_ref().unwrap().contains(&("snd_cwnd", 10)));
    assert_eq!(run("0 %{ print(1) }%").blocks[0].info, None);
}

#[test]
fn a_report_can_be_written_as_json() {
    let json = run(&accepted("+0 > P. 1:101(100) ack 1")).json();
    assert_eq!((json["verdict"].as_str(), json["line"].as_u64()), (Some("failed"), Some(8)));
    assert_eq!(json["timeline"][4]["what"], "> S. 0:0(0) ack 1 win 65535");
    assert_eq!(run("0 ?").json()["column"], 3);
    assert_eq!(run("--x=1").json()["verdict"], "unsupported");
    assert_eq!(run("--mtu=1500").json()["verdict"], "failed");
}

#[test]
fn a_script_without_an_event_fails() {
    for text in ["", "// nothing\n", "--mtu=1500\n`sysctl -q net.ipv4.tcp_sack=0`\n"] {
        let failure = fails(text);
        assert_eq!(failure.line, 1);
        assert!(failure.problem.starts_with("the script has no event: write"), "{}", failure.problem);
    }
}

#[test]
fn a_result_of_minus_1_matches_any_error() {
    passes("0 read(9, ..., 5) = -1");
    passes("0 read(9, ..., 5) = -1 (any)");
    let failure = fails(&accepted("+0 write(4, ..., 5) = -1"));
    assert_eq!(failure.happened.as_deref(), Some("write returned 5"));
    assert_eq!(fails("0 read(9, ..., 5) = -2").happened.as_deref(), Some("read returned -1 EBADF"));
}

/// The settings in a shell script that prepares the host have the same effect as settings in the
/// packet script.
#[test]
fn an_unsupported_setting_in_a_shell_script_is_named() {
    let run = |prefix: &str| {
        let tcp = Tcp { mss: Bytes(1000), ..Tcp::default() };
        let preparation = vec![("./defaults.sh".to_string(), prefix.to_string())];
        let setup = Setup { tcp, tolerance: None, preparation, defines: Vec::new() };
        match run_text(&format!("`./defaults.sh`\n{ACCEPTED}"), &setup).verdict {
            Verdict::Unsupported(all) => all.into_iter().map(|m| (m.line, m.what)).collect(),
            Verdict::Passed => vec![],
            other => panic!("{other:?}"),
        }
    };
    for (prefix, what) in [
        (
            "sysctl -q net.ipv4.tcp_mtu_probing=2",
            "sysctl net.ipv4.tcp_mtu_probing=2: path MTU probing is not supported",
        ),
        (
            "echo 2 > /proc/sys/net/ipv4/tcp_mtu_probing",
            "sysctl net.ipv4.tcp_mtu_probing=2: path MTU probing is not supported",
        ),
        ("sysctl -q net.ipv4.tcp_sack=$VALUE", "sysctl net.ipv4.tcp_sack=$VALUE"),
        ("if true; then sysctl -q net.ipv4.tcp_sack=0; fi", "command `then sysctl -q net.ipv4.tcp_sack=0`"),
        ("ip route add unreachable 192.0.2.0/24", "command `ip route add unreachable 192.0.2.0/24`"),
        ("./more.sh", "shell script ./more.sh"),
    ] {
        assert_eq!(run(prefix), [(1, format!("{what}, in ./defaults.sh"))], "{prefix}");
    }
    assert_eq!(run("sysctl -q net.ipv4.tcp_mtu_probing=0\nifconfig lo up\nset -e"), []);
}

/// The option `-D` of packetdrill can define a value, an error, a cookie or a command.
#[test]
fn defined_words_are_replaced() {
    let tcp = Tcp { mss: Bytes(1000), ..Tcp::default() };
    let run = |text: &str, defines: &[(&str, &str)]| {
        let defines = defines.iter().map(|d| (d.0.to_string(), d.1.to_string())).collect();
        run_text(text, &Setup { tcp: tcp.clone(), tolerance: None, preparation: Vec::new(), defines }).verdict
    };
    let text = accepted(
        "+0 write(4, ..., SIZE) = SIZE
         +0 > P. 1:501(500) ack 1
         +0 setsockopt(4, SOL_TCP, TCP_CONGESTION, KIND, 4) = 0
         +0 SETTING
         +0 fcntl(4, F_SETFL, O_RDWR|O_NONBLOCK) = 0
         +0 read(4, ..., 10) = -1 ERROR (x)",
    );
    let all = [("SIZE", "500"), ("KIND", "\"cubic\""), ("SETTING", "`sleep 0.1`"), ("ERROR", "EAGAIN")];
    assert_eq!(run(&text, &all), Verdict::Passed);
    let failed = |defines: &[(&str, &str)]| match run(&text, defines) {
        Verdict::Failed(failure) => (failure.line, failure.column, failure.problem),
        other => panic!("{other:?}"),
    };
    assert_eq!(failed(&[all[1], all[2], all[3], ("SIZE", "400")]).0, 9);
    let wrong = "SIZE is defined as '5 0', which is not a value".to_string();
    assert_eq!(failed(&[("SIZE", "5 0")]), (8, Some(18), wrong));
    let cookie = "0 < S 0:10(10) win 5 <mss 1000,FO MY_COOKIE>\n+0 > R. 0:0(0) ack 11";
    assert_eq!(run(cookie, &[("MY_COOKIE", "0011223344556677")]), Verdict::Passed);
}

#[test]
fn a_descriptor_number_that_is_assigned_twice_names_the_newer_socket() {
    passes(&accepted(
        "+0 listen(3, 1) = 0
         +0 < S 0:0(0) win 32792
         +0 > S. 0:0(0) ack 1 <...>
         +.1 < . 1:1(0) ack 1 win 32792
         +0 accept(3, ..., ...) = 4
         +0 write(4, ..., 100) = 100
         +0 > P. 1:101(100) ack 1
         +0 close(4) = 0
         +0 > F. 101:101(0) ack 1
         +0 fcntl(4, F_GETFL) = 2
         +0 close(4) = 0
         +0 fcntl(4, F_GETFL) = -1 EBADF (Bad file descriptor)",
    ));
    // The descriptor number of the listening socket is assigned again, but the listening socket
    // remains usable under an internal number.
    passes(
        "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
         +0 bind(3, ..., ...) = 0
         +0 listen(3, 1) = 0
         +0 < S 0:0(0) win 32792
         +0 > S. 0:0(0) ack 1 <...>
         +.1 < . 1:1(0) ack 1 win 32792
         +0 accept(3, ..., ...) = 3
         +0 write(3, ..., 100) = 100
         +0 > P. 1:101(100) ack 1
         +0 close(3) = 0
         +0 > F. 101:101(0) ack 1
         +.1 < R 1:1(0) win 0
         +0 < S 0:0(0) win 32792
         +0 > S. 0:0(0) ack 1 <...>
         +.1 < . 1:1(0) ack 1 win 32792
         +0 accept(3, ..., ...) = 5",
    );
    let text = accepted("+0...0.5 read(4, ..., 10) = 10\n+0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 4");
    let what = "a descriptor number that is assigned twice while a call blocks".to_string();
    assert_eq!(unsupported(&text), [(9, what)]);
}

/// A timestamp that the endpoint received more than 24 days ago is not compared with new timestamps
/// (RFC 7323 §5.5).
#[test]
fn times_may_reach_the_end_of_the_clock() {
    passes(&accepted("+2073601 < P. 1:101(100) ack 1 win 32792\n+0 read(4, ..., 1000) = 100"));
    passes("0 `sleep 2073600`\n2073600 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3");
    let failure = fails(&accepted("+18446743 close(4) = 0\n+18446743 close(3) = 0"));
    assert_eq!(failure.line, 9);
    assert!(failure.problem.contains("more than 213 days"), "{}", failure.problem);
}

/// A queue discipline that paces is supported only together with a congestion control that paces.
#[test]
fn unsupported_queue_disciplines_are_named() {
    let fq = |bytes: u32, congestion: &str| {
        let set =
            format!("`tc qdisc add dev tun0 root fq; sysctl net.ipv4.tcp_congestion_control={congestion}`");
        let rest = "+0 > . 1:1001(1000) ack 1\n+.1 < . 1:1(0) ack 1001 win 32792";
        format!("{set}\n{}", accepted(&format!("+0 write(4, ..., {bytes}) = {bytes}\n{rest}")))
    };
    let pacing = "pacing by fq of more than the first 10 segments, together with a congestion control that does not pace";
    let all = unsupported(&fq(11_000, "reno"));
    assert_eq!(all[0].0, 11);
    assert!(all[0].1.starts_with(pacing), "{}", all[0].1);
    passes(&fq(11_000, "bbr"));
    passes(&fq(10_000, "reno"));
    assert_eq!(
        unsupported("`tc qdisc replace dev tun0 root pfifo limit 0`\n0 close(3) = -1"),
        [(1, "pfifo with limit 0: an interface that drops packets of TCP".to_string())]
    );
}

/// The flags and control messages of a received message are compared in order.
#[test]
fn wrong_control_messages_fail() {
    let errors = |flags: &str, received: &str| {
        accepted(&format!(
            "+.1 setsockopt(4, SOL_SOCKET, SO_TIMESTAMPING, [{flags}], 4) = 0
             +0 write(4, ..., 500) = 500
             +0 > P. 1:501(500) ack 1
             +0 recvmsg(4, {{msg_name(...)=..., msg_iov(1)=[{{..., 0}}], {received}}}, MSG_ERRQUEUE) = 0"
        ))
    };
    const SENT: &str = "SOF_TIMESTAMPING_TX_SOFTWARE|SOF_TIMESTAMPING_SOFTWARE|SOF_TIMESTAMPING_OPT_ID\
                        |SOF_TIMESTAMPING_OPT_TSONLY";
    let of = |time: &str, error: &str| {
        let stamp = "cmsg_level=SOL_SOCKET, cmsg_type=SCM_TIMESTAMPING";
        format!(
            "msg_flags=MSG_ERRQUEUE, msg_control=[{{{stamp}, cmsg_data={{{time}}}}}, {{cmsg_level=SOL_IP, \
             cmsg_type=IP_RECVERR, cmsg_data={{{error}}}}}]"
        )
    };
    let right =
        "ee_errno=ENOMSG, ee_origin=SO_EE_ORIGIN_TIMESTAMPING, ee_type=0, ee_code=0, ee_info=0, ee_data=499";
    passes(&errors(SENT, &of("scm_sec=0, scm_nsec=200000000", right)));
    passes(&errors(SENT, &of("scm_sec=0, scm_nsec=203900000", right)));
    passes(&errors(SENT, &of("scm_sec=0, scm_nsec=0", right))); // matches any time
    passes(&errors(SENT, "msg_flags=..., msg_control=..."));
    for (received, problem) in [
        (
            of("scm_sec=0, scm_nsec=210000000", right),
            "control message 1: time: 0.210000 s expected, 0.200000 s returned",
        ),
        (
            of("scm_sec=0, scm_nsec=0", &right.replace("499", "500")),
            "control message 2: ee_data: 500 expected, 499 returned",
        ),
        (
            of("scm_sec=0, scm_nsec=0", &right.replace("ee_info=0", "ee_info=SCM_TSTAMP_ACK")),
            "control message 2: ee_info: 2 expected, 0 returned",
        ),
        ("msg_flags=MSG_ERRQUEUE".into(), "msg_flags: 0x2000 expected, 0x2008 returned"),
        (
            "msg_control=[{cmsg_level=SOL_IP, cmsg_type=IP_RECVERR, cmsg_data=...}]".into(),
            "control message 1: cmsg_level: 0 expected, 1 returned",
        ),
    ] {
        assert_eq!(fails(&errors(SENT, &received)).problem, format!("recvmsg: {problem}"), "{received}");
    }
    let without_id = "SOF_TIMESTAMPING_TX_SOFTWARE|SOF_TIMESTAMPING_OPT_TSONLY";
    let all = "msg_flags=MSG_ERRQUEUE, msg_control=[{cmsg_level=SOL_IP, cmsg_type=IP_RECVERR, cmsg_data=...}, \
               {cmsg_level=SOL_IP, cmsg_type=IP_RECVERR, cmsg_data=...}]";
    let failure = fails(&errors(without_id, all));
    assert_eq!(failure.problem, "recvmsg: control message 2 expected, 1 returned");
    for (flag, what) in [
        ("SOF_TIMESTAMPING_RX_SOFTWARE", "SOF_TIMESTAMPING_RX_SOFTWARE: timestamps of received data"),
        (
            "SOF_TIMESTAMPING_OPT_TSONLY|SOF_TIMESTAMPING_OPT_STATS",
            "SOF_TIMESTAMPING_OPT_STATS: statistics that accompany a timestamp",
        ),
    ] {
        assert_eq!(unsupported(&errors(flag, "msg_flags=0")), [(8, what.to_string())]);
    }
    let what = "control message {cmsg_level=SOL_IP, cmsg_type=IP_TOS, cmsg_data=4} of sendmsg".to_string();
    let sent = "+0 sendmsg(4, {msg_name(...)=..., msg_iov(1)=[{..., 5}], msg_flags=0, \
                msg_control=[{cmsg_level=SOL_IP, cmsg_type=IP_TOS, cmsg_data=4}]}, 0) = 5";
    assert_eq!(unsupported(&accepted(sent)), [(8, what)]);
}
