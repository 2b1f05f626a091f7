//! Tests with random scripts, each of which must end with a verdict.

use proptest::prelude::*;
use script::{Setup, run_text};
use serde_json::json;

fn event() -> impl Strategy<Value = String> {
    let number = || prop_oneof![Just(0u32), Just(1), Just(2), 0u32..5000, any::<u32>()];
    let len = || prop_oneof![Just(0u32), Just(1), Just(1000), 0u32..65_536];
    let flags = prop::sample::select(vec![
        ".", "P.", "S", "S.", "F.", "R", "R.", "SEW", "EW.", "-", "FP.", ".5", "FSRP.",
    ]);
    let options = prop::sample::select(vec![
        "",
        " <mss 1000,sackOK,TS val 1 ecr 0,nop,wscale 14>",
        " <mss 0,wscale 255>",
        " <nop,nop,TS val 5 ecr 7>",
        " <sack 1:2 3:4 4294967295:0 9:1>",
        " <ECN e0b 1 ceb 16777215 e1b 0>",
        " <ECN e1b 5 ceb 0>",
        " <ECN>",
        " <mss 1000,FO>",
        " <mss 1000,FO TFO_COOKIE>",
        " <FOEXP 0011223344556677>",
        " <FO 00>",
    ]);
    let field = prop::sample::select(vec!["", "[ect0] ", "[ect1] ", "[ce] "]);
    let packet = (
        prop::sample::select(vec!['<', '<', '<', '>']),
        field,
        flags,
        number(),
        len(),
        number(),
        any::<u16>(),
        options,
    )
        .prop_map(|(way, field, flags, seq, len, ack, win, options)| {
            format!(
                "{way} {field}{flags} {seq}:{}({len}) ack {ack} win {win}{options}",
                seq.wrapping_add(len)
            )
        });
    let call = prop::sample::select(vec![
        "accept(3, ..., ...) = 4",
        "connect(3, ..., ...) = 0",
        "connect(5, ..., ...) = -1 EINPROGRESS",
        "socket(..., SOCK_STREAM|SOCK_NONBLOCK, IPPROTO_TCP) = 5",
        "sendto(5, ..., 1000, MSG_FASTOPEN, ..., ...) = ?",
        "sendto(5, ..., 9223372036854775807, MSG_FASTOPEN|MSG_DONTWAIT, ..., ...) = ?",
        "setsockopt(5, SOL_TCP, TCP_FASTOPEN_CONNECT, [1], 4) = ?",
        "setsockopt(3, SOL_TCP, TCP_FASTOPEN, [9223372036854775807], 4) = ?",
        "`sysctl -q net.ipv4.tcp_fastopen=0x607`",
        "setsockopt(4, SOL_TCP, TCP_NOTSENT_LOWAT, [1000], 4) = 0",
        "setsockopt(4, SOL_SOCKET, SO_TIMESTAMPING, [0xb92], 4) = ?",
        "setsockopt(4, SOL_TCP, TCP_INQ, [1], 4) = 0",
        "setsockopt(4, SOL_SOCKET, SO_ZEROCOPY, [1], 4) = 0",
        "send(4, ..., 9223372036854775807, MSG_ZEROCOPY) = ?",
        "recvmsg(4, {msg_name(...)=..., msg_iov(1)=[{..., 0}], msg_control=...}, MSG_ERRQUEUE) = ?",
        "recvmsg(4, {msg_name(...)=..., msg_iov(1)=[{..., 9}], msg_control=...}, 0) = ?",
        "accept(3, ..., ...) = 3",
        "`tc qdisc replace dev tun0 root fq`",
        "write(4, ..., 1) = 1",
        "write(4, ..., 100000) = 100000",
        "write(4, ..., 9223372036854775807) = ?",
        "write(5, ..., 1000) = ?",
        "read(4, ..., 1) = ?",
        "read(4, ..., 9223372036854775807) = ?",
        "recv(4, ..., 10, MSG_DONTWAIT) = ?",
        "shutdown(4, SHUT_RDWR) = ?",
        "shutdown(4, SHUT_RD) = ?",
        "close(3) = 0",
        "close(4) = 0",
        "close(5) = ?",
        "setsockopt(4, SOL_SOCKET, SO_LINGER, {onoff=1, linger=9223372036854775807}, 8) = 0",
        "setsockopt(4, SOL_SOCKET, SO_SNDBUF, [-1], 4) = 0",
        "setsockopt(3, SOL_SOCKET, SO_RCVBUF, [9223372036854775807], 4) = 0",
        "getsockopt(4, SOL_SOCKET, SO_SNDBUF, [0], [4]) = ?",
        "setsockopt(4, SOL_SOCKET, SO_SNDBUF, [9223372036854775807], 4) = 0",
        "setsockopt(4, SOL_TCP, TCP_CORK, [1], 4) = 0",
        "setsockopt(4, SOL_TCP, TCP_QUICKACK, [0], 4) = 0",
        "setsockopt(3, SOL_TCP, TCP_MAXSEG, [-5], 4) = 0",
        "poll([{fd=4, events=POLLIN, revents=POLLIN}], 1, -1) = 1",
        "poll([{fd=4, events=POLLOUT, revents=POLLIN}], 1, 9223372036854775807) = ?",
        "epoll_create(1) = 6",
        "epoll_ctl(6, EPOLL_CTL_ADD, 4, {events=EPOLLIN|EPOLLOUT|EPOLLET, fd=4}) = ?",
        "epoll_ctl(6, EPOLL_CTL_MOD, 4, {events=EPOLLIN|EPOLLONESHOT}) = ?",
        "epoll_wait(6, [{events=EPOLLIN, fd=4}, {}], 9223372036854775807, -1) = ?",
        "epoll_wait(6, NULL, 1, 0) = ?",
        "send(4, ..., 1000, MSG_MORE) = ?",
        "send(4, ..., 100, MSG_EOR) = ?",
        "write(4, NULL, 9) = ?",
        "setsockopt(4, SOL_TCP, TCP_USER_TIMEOUT, [700], 4) = 0",
        "setsockopt(4, SOL_TCP, TCP_CONGESTION, \"vegas\", 6) = 0",
        "setsockopt(4, SOL_IP, IP_TOS, [255], 4) = 0",
        "listen(3, -1) = 0",
        "poll(3) = 0",
        "accept(3) = 4..5",
        "ioctl(4, SIOCOUTQ, [0]) = ?",
        "fcntl(4, F_SETFL, O_RDWR|O_NONBLOCK) = 0",
    ]);
    let times = ["0 ", "+0 ", "+.1 ", "+5 ", "* ", "+0~+1 ", "+1000 ", "+0...0.1 ", "+0...1000 "];
    (prop::sample::select(times.to_vec()), prop_oneof![packet, call.prop_map(String::from)]).prop_map(
        |(time, what)| format!("{}{what}\n", if what.starts_with(['<', '>']) { "+.01 " } else { time }),
    )
}

const OPEN: &str = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+0 < S 0:0(0) win 32792 <mss 1000,sackOK,TS val 1 ecr 0,nop,wscale 7>
+0 > S. 0:0(0) ack 1 <...>
+.1 < . 1:1(0) ack 1 win 1000 <nop,nop,TS val 2 ecr 3>
+0 accept(3, ..., ...) = 4
";

proptest! {
    #[test]
    fn any_script_has_a_verdict(events in prop::collection::vec(event(), 0..30), open in any::<bool>(), linux in any::<bool>()) {
        let setup = Setup::read(if linux { "linux" } else { "rfc" }, &json!({}), None).unwrap();
        let text = format!("{}{}", if open { OPEN } else { "" }, events.concat());
        run_text(&text, &setup).json();
    }

    /// The random scripts expect no segments, so each script runs to its end.
    #[test]
    fn any_traffic_has_a_verdict(events in prop::collection::vec(event(), 0..40)) {
        let setup = Setup::read("linux", &json!({}), None).unwrap();
        let events: Vec<String> = events.into_iter().filter(|e| e.contains('<') || e.contains("= ?")).collect();
        run_text(&format!("{OPEN}{}", events.concat()), &setup).json();
    }
}

/// The kernel memory of a send buffer saturates at the maximum 64-bit number instead of
/// overflowing.
#[test]
fn a_script_may_write_more_than_any_memory_contains() {
    let setup = Setup::read("rfc", &json!({}), None).unwrap();
    let write = "+0 write(4, ..., 9223372036854775807) = ?\n";
    let poll = "+0 poll([{fd=4, events=POLLIN, revents=POLLIN}], 1, -1) = 1\n";
    run_text(&format!("{OPEN}{write}{write}{poll}"), &setup).json();
}
