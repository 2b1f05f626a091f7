//! Tests of connections that end, and of the comparison between the TCP options that the endpoint
//! sends and those that the script expects. The tests use the parameters of the Linux stack.

use script::{Setup, Verdict, run_text};
use serde_json::json;

fn passes(text: &str) {
    let setup = Setup::read("linux", &json!({}), None).unwrap();
    let report = run_text(text, &setup);
    assert_eq!(report.verdict, Verdict::Passed, "{text}\n{}", report.json());
}

fn accepted(rest: &str) -> String {
    format!(
        "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
         +0 bind(3, ..., ...) = 0
         +0 listen(3, 1) = 0
         +0 < S 0:0(0) win 32792 <mss 1000,nop,nop,sackOK>
         +0 > S. 0:0(0) ack 1 <mss 1460,nop,nop,sackOK>
         +.1 < . 1:1(0) ack 1 win 32792
         +0 accept(3, ..., ...) = 4
         {rest}"
    )
}

#[test]
fn a_connection_is_refused() {
    passes(
        "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
         +0...0.1 connect(3, ..., ...) = -1 ECONNREFUSED (Connection refused)
         +0 > S 0:0(0) <...>
         +.1 < R. 0:0(0) ack 1 win 0",
    );
    passes(
        "0 socket(..., SOCK_STREAM|SOCK_NONBLOCK, IPPROTO_TCP) = 3
         +0 connect(3, ..., ...) = -1 EINPROGRESS (Operation now in progress)
         +0 > S 0:0(0) <...>
         +.1 < R. 0:0(0) ack 1 win 0
         +0 poll([{fd=3, events=POLLOUT, revents=POLLOUT|POLLERR|POLLHUP}], 1, 0) = 1
         +0 getsockopt(3, SOL_SOCKET, SO_ERROR, [ECONNREFUSED], [4]) = 0
         +0 getsockopt(3, SOL_SOCKET, SO_ERROR, [0], [4]) = 0",
    );
}

#[test]
fn a_connection_is_reset() {
    passes(
        &accepted(
            "+0...0.2 read(4, ..., 10) = -1 ECONNRESET (Connection reset by peer)
         +.1 < R. 1:1(0) ack 1 win 32792
         +0 read(4, ..., 10) = 0
         +0 write(4, ..., 10) = -1 EPIPE (Broken pipe)
         +0 shutdown(4, SHUT_WR) = -1 ENOTCONN (Transport endpoint is not connected)
         +0 close(4) = 0",
        )
        .replace("0...0.2", "0...0.1"),
    );
}

#[test]
fn a_half_closed_connection_still_receives() {
    passes(&accepted(
        "+0 shutdown(4, SHUT_WR) = 0
         +0 > F. 1:1(0) ack 1
         +0 write(4, ..., 10) = -1 EPIPE (Broken pipe)
         +.1 < . 1:1(0) ack 2 win 32792
         +0 < P. 1:101(100) ack 2 win 32792
         +0 > . 2:2(0) ack 101
         +0 poll([{fd=4, events=POLLIN|POLLRDHUP, revents=POLLIN}], 1, 0) = 1
         +0 read(4, ..., 1000) = 100
         +.1 < F. 101:101(0) ack 2 win 32792
         +0 > . 2:2(0) ack 102
         +0 poll([{fd=4, events=POLLIN|POLLRDHUP, revents=POLLIN|POLLRDHUP|POLLHUP}], 1, 0) = 1
         +0 read(4, ..., 1000) = 0",
    ));
}

#[test]
fn closing_with_unread_data_resets() {
    passes(&accepted(
        "+0 < P. 1:101(100) ack 1 win 32792
         +0 > . 1:1(0) ack 101
         +0 close(4) = 0
         +0 > R. 1:1(0) ack 101",
    ));
}

#[test]
fn closing_with_a_linger_time_of_0_resets() {
    passes(&accepted(
        "+0 setsockopt(4, SOL_SOCKET, SO_LINGER, {onoff=1, linger=0}, 8) = 0
         +0 getsockopt(4, SOL_SOCKET, SO_LINGER, {onoff=1, linger=0}, [8]) = 0
         +0 close(4) = 0
         +0 > R. 1:1(0) ack 1",
    ));
}

#[test]
fn close_lingers_until_the_fin_is_acknowledged() {
    passes(&accepted(
        "+0 setsockopt(4, SOL_SOCKET, SO_LINGER, {onoff=1, linger=5}, 8) = 0
         +0...0.1 close(4) = 0
         +0 > F. 1:1(0) ack 1
         +.1 < . 1:1(0) ack 2 win 32792",
    ));
}

#[test]
fn data_for_a_closed_socket_resets() {
    passes(&accepted(
        "+0 close(4) = 0
         +0 > F. 1:1(0) ack 1
         +.1 < P. 1:101(100) ack 2 win 32792
         +0 > R 2:2(0)",
    ));
}

#[test]
fn closing_the_listener_resets_its_waiting_connections() {
    passes(
        "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
         +0 bind(3, ..., ...) = 0
         +0 listen(3, 1) = 0
         +0 < S 0:0(0) win 32792 <mss 1000>
         +0 > S. 0:0(0) ack 1 <mss 1460>
         +.1 < . 1:1(0) ack 1 win 32792
         +0 close(3) = 0
         +0 > R. 1:1(0) ack 1",
    );
}

#[test]
fn a_script_can_have_several_connections() {
    passes(&accepted(
        "+0 close(4) = 0
         +0 > F. 1:1(0) ack 1
         +.1 < F. 1:1(0) ack 2 win 32792
         +0 > . 2:2(0) ack 2
         +.1 < S 0:0(0) win 32792 <mss 1000>
         +0 > S. 0:0(0) ack 1 <mss 1460>
         +.1 < . 1:1(0) ack 1 win 32792
         +0 accept(3, ..., ...) = 5
         +0 write(5, ..., 10) = 10
         +0 > P. 1:11(10) ack 1",
    ));
}

#[test]
fn timestamps_are_echoed_in_both_directions_and_windows_scaled() {
    passes(
        "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
         +0 bind(3, ..., ...) = 0
         +0 listen(3, 1) = 0
         +0 < S 0:0(0) win 32792 <mss 1012,sackOK,TS val 4000 ecr 0,nop,wscale 2>
         +0 > S. 0:0(0) ack 1 <mss 1460,sackOK,TS val 700 ecr 4000,nop,wscale 7>
         +.1 < . 1:1(0) ack 1 win 500 <nop,nop,TS val 4100 ecr 700>
         +0 accept(3, ..., ...) = 4
         +0 write(4, ..., 3000) = 3000
         +0 > . 1:2001(2000) ack 1 <nop,nop,TS val 800 ecr 4100>
         +.1 < . 1:1(0) ack 2001 win 500 <nop,nop,TS val 4200 ecr 800>
         +0 > P. 2001:3001(1000) ack 1 <nop,nop,TS val 900 ecr 4200>",
    );
}

#[test]
fn sack_blocks_are_compared() {
    passes(&accepted(
        "+0 < . 1001:2001(1000) ack 1 win 32792
         +0 > . 1:1(0) ack 1 <nop,nop,sack 1001:2001>
         +0 < . 3001:4001(1000) ack 1 win 32792
         +0 > . 1:1(0) ack 1 <nop,nop,sack 3001:4001 1001:2001>",
    ));
}

#[test]
fn marks_are_echoed() {
    passes(
        "`sysctl -q net.ipv4.tcp_ecn=1`
         0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
         +0 bind(3, ..., ...) = 0
         +0 listen(3, 1) = 0
         +0 < SEW 0:0(0) win 32792 <mss 1000>
         +0 > [noecn] SE. 0:0(0) ack 1 <mss 1460>
         +.1 < . 1:1(0) ack 1 win 32792
         +0 accept(3, ..., ...) = 4
         +0 write(4, ..., 1000) = 1000
         +0 > [ect0] P. 1:1001(1000) ack 1
         +.1 < [ce] P. 1:1001(1000) ack 1001 win 32792
         +0 > [noecn] E. 1001:1001(0) ack 1001",
    );
}

#[test]
fn the_clock_ends_after_213_days() {
    let mut text = String::from("0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n");
    (4..30).for_each(|i| text += &format!("+1000000 socket(..., SOCK_STREAM, IPPROTO_TCP) = {i}\n"));
    let report = run_text(&text, &Setup::read("linux", &json!({}), None).unwrap());
    assert!(matches!(&report.verdict, Verdict::Failed(f) if f.line == 20 && f.problem.contains("213 days")));
}
