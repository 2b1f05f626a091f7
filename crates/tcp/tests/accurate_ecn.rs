//! Accurate ECN over a whole transfer (RFC 9768): the sender counts the marks that the network made.

mod common;

use std::cell::Cell;

use common::path::{App, Closes, Fate, Link, Pair, Passage, Path};
use engine::Stream;
use net::{Ecn, Flags, Seq};
use serde_json::{Value, json};
use tcp::{Endpoint, Tcp};
use units::{Duration, Rate, Read, Time};

const RTT: Duration = Duration::from_millis(20);
const BYTES: u64 = 400_000;

fn tcp(more: &Value) -> Tcp {
    let mut all =
        json!({"mss": "1000 B", "receive_window": "64 KiB", "ecn": "accurate", "recovery": "newreno"});
    if let (Some(all), Some(more)) = (all.as_object_mut(), more.as_object()) {
        all.extend(more.clone());
    }
    Tcp::read(&all, "tcp").unwrap()
}

/// Feedback with and without option, and what tells whether an ACK was overtaken.
fn settings() -> Vec<Value> {
    let mut all = Vec::new();
    for option in [true, false] {
        for more in [
            json!({}),
            json!({"delayed_ack": "1 packets"}),
            json!({"sack": true, "recovery": "sack"}),
            json!({"timestamps": true}),
            json!({"timestamps": true, "sack": true, "recovery": "sack", "congestion": "prague"}),
        ] {
            let mut one = json!({ "ecn": {"mode": "accurate", "accurate_option": option} });
            if let (Some(one), Some(more)) = (one.as_object_mut(), more.as_object()) {
                one.extend(more.clone());
            }
            all.push(one);
        }
    }
    all
}

fn info(end: &Endpoint, name: &str) -> u64 {
    end.info().fields.iter().find(|f| f.0 == name).map_or(0, |f| f.1)
}

/// A transfer: packets and bytes that were marked, and the two ends.
struct Run {
    marked: (u64, u64),
    ends: [Endpoint; 2],
}

/// Over 8 Mbit/s, with so much of the data marked, and ACKs dealt with by a rule, which is told whether one is of all
/// data sent.
fn run(tcp: &Tcp, marks: Marks, seed: u64, acks: impl Fn(&mut Stream, bool) -> Fate) -> Run {
    let app = App::writes(BYTES);
    let pair = Pair::new([tcp.clone(), tcp.clone()], RTT, [app, App::listens()]);
    let (mut draws, mut random) = (Stream::new(seed, "marks"), Stream::new(seed, "acks"));
    let (mut marked, mut end) = ((0, 0), Seq(0));
    let mut path = Path::new(vec![pair], |p: &Passage| {
        if p.direction == 1 {
            // Neither the SYN-ACK, nor the ACK of the FIN or what follows it.
            let exempt = p.segment.flags.has(Flags::SYN) || u64::from(p.segment.ack.0) > BYTES;
            return if exempt { Fate::PASS } else { acks(&mut random, p.segment.ack == end) };
        }
        end = end.max(p.segment.end());
        let is_marked = match marks {
            Marks::Random(share) => draws.uniform() < share,
            Marks::Bursts => p.nth_data % 60 >= 48,
        };
        if p.field == Ecn::NotEct || !is_marked {
            return Fate::PASS;
        }
        marked = (marked.0 + 1, marked.1 + u64::from(p.segment.len));
        Fate::MARK
    });
    path.links[0] = Link::new(Rate(8_000_000), 10_000);
    path.run(Time::NEVER);
    assert!(path.pairs[0].is_complete(), "{}", path.pairs[0].describe());
    let ends = path.pairs[0].ends.clone();
    drop(path);
    Run { marked, ends }
}

fn check(run: &Run, option: bool, what: &str) {
    let [sender, receiver] = &run.ends;
    assert_eq!(info(receiver, "received_ce"), run.marked.0, "receiver: {what}");
    assert_eq!(info(receiver, "received_ce_bytes"), run.marked.1, "receiver: {what}");
    assert_eq!(info(sender, "delivered_ce"), run.marked.0, "sender: {what}");
    if option {
        assert_eq!(info(sender, "delivered_ce_bytes"), run.marked.1, "sender: {what}");
    }
}

/// Which of the ECN-capable packets are marked.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Marks {
    /// Each with this probability.
    Random(f64),
    /// Twelve in a row of every sixty: the counter goes around.
    Bursts,
}

const MARKS: [Marks; 5] =
    [Marks::Random(0.0), Marks::Random(0.02), Marks::Random(0.3), Marks::Random(1.0), Marks::Bursts];

#[test]
fn without_loss_the_sender_counts_every_mark() {
    for setting in settings() {
        for (seed, marks) in MARKS.into_iter().enumerate() {
            let run = run(&tcp(&setting), marks, seed as u64, |_, _| Fate::PASS);
            assert!(marks == Marks::Random(0.0) || run.marked.0 > 5);
            check(&run, setting["ecn"]["accurate_option"] == true, &format!("{setting} {marks:?}"));
        }
    }
}

/// ACKs overtake each other: what was overtaken is not counted again, nor as if the counter had gone around (§3.2.2.2).
#[test]
fn with_reordered_acks_the_sender_counts_every_mark() {
    for setting in settings() {
        for (seed, marks) in MARKS.into_iter().enumerate() {
            let acks = |random: &mut Stream, _| {
                let extra_delay = if random.uniform() < 0.3 { 3 } else { 0 };
                Fate { extra_delay: Duration::from_millis(extra_delay), ..Fate::PASS }
            };
            let run = run(&tcp(&setting), marks, seed as u64, acks);
            check(&run, setting["ecn"]["accurate_option"] == true, &format!("{setting} {marks:?}"));
        }
    }
}

/// ACKs are lost: with the option the bytes tell how often the counter went around (§3.2.2.5.2). None is lost so that
/// data is sent again, as the ACK of what came twice has no option.
#[test]
fn with_lost_acks_and_the_option_the_sender_counts_every_mark() {
    for setting in settings().iter().filter(|s| s["ecn"]["accurate_option"] == true) {
        for (seed, marks) in MARKS.into_iter().enumerate() {
            for loss in [0.3, 0.6, 0.9] {
                let acks = |random: &mut Stream, of_all: bool| {
                    if !of_all && random.uniform() < loss { Fate::DROP } else { Fate::PASS }
                };
                let run = run(&tcp(setting), marks, seed as u64, acks);
                assert_eq!(run.ends[0].sender_stats().timeouts, 0);
                check(&run, true, &format!("{setting} {marks:?} {loss}"));
            }
        }
    }
}

/// Without it, too, up to the limit: as long as the ACKs that arrive are of fewer than eight packets each.
#[test]
fn with_one_ack_in_three_lost_the_sender_counts_every_mark() {
    for setting in settings() {
        for (seed, marks) in MARKS.into_iter().enumerate() {
            let n = Cell::new(0);
            let acks = |_: &mut Stream, _| {
                n.set(n.get() + 1);
                if n.get() % 3 == 0 { Fate::DROP } else { Fate::PASS }
            };
            let run = run(&tcp(&setting), marks, seed as u64, acks);
            check(&run, setting["ecn"]["accurate_option"] == true, &format!("{setting} {marks:?}"));
        }
    }
}

/// Beyond it the safest case is taken (§3.2.2.5.2): more marks may be counted than were made, and, while ACKs usually
/// acknowledge few packets (appendix A.2.1), never fewer.
#[test]
fn with_most_acks_lost_the_sender_misses_no_mark() {
    for setting in settings().iter().filter(|s| s["ecn"]["accurate_option"] == false) {
        for (seed, marks) in MARKS.into_iter().enumerate() {
            let acks = |random: &mut Stream, _| if random.uniform() < 0.5 { Fate::DROP } else { Fate::PASS };
            let run = run(&tcp(setting), marks, seed as u64, acks);
            let [sender, receiver] = &run.ends;
            assert_eq!(info(receiver, "received_ce"), run.marked.0);
            assert!(info(sender, "delivered_ce") >= run.marked.0, "{setting} {marks:?}");
        }
    }
}

/// §3.2.2.1: what was written before the connection opened follows a pure ACK that says in which field the SYN-ACK
/// came, and itself carries the counter.
#[test]
fn the_handshake_is_told_by_a_pure_ack() {
    let app = App { closes: Closes::Never, ..App::writes(2000) };
    let pair = Pair::new([tcp(&json!({})), tcp(&json!({}))], RTT, [app, App::listens()]);
    let mut sent = Vec::new();
    let mut path = Path::new(vec![pair], |p: &Passage| {
        if p.direction == 0 {
            sent.push((p.segment.len, p.segment.flags));
        }
        Fate::PASS
    });
    path.pairs[0].ends[0].write(0);
    path.run(Time::ZERO + RTT);
    drop(path);
    let flags: Vec<(u16, Flags)> = sent.into_iter().skip(1).take(3).collect();
    let counter = Flags::ACK | Flags::AE | Flags::ECE; // 0b101
    assert_eq!(flags, [(0, Flags::ACK | Flags::CWR), (1000, counter), (1000, counter | Flags::PSH)]);
}
