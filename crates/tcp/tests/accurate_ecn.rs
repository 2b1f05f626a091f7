//! Accurate ECN in whole transfers (RFC 9768): the sender counts the marks of the network.

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

/// Return parameters with and without the AccECN option, and with each mechanism that detects
/// overtaken ACKs.
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

/// A finished transfer: numbers of marked packets and bytes, and the two endpoints.
struct Run {
    marked: (u64, u64),
    ends: [Endpoint; 2],
}

/// Run a transfer over a link of 8 Mbit/s. `marks` selects the marked data, and `acks` decides for
/// each ACK how the path treats the ACK. The second argument of `acks` is true for an ACK of all
/// data sent.
fn run(tcp: &Tcp, marks: Marks, seed: u64, acks: impl Fn(&mut Stream, bool) -> Fate) -> Run {
    let app = App::writes(BYTES);
    let pair = Pair::new([tcp.clone(), tcp.clone()], RTT, [app, App::listens()]);
    let (mut draws, mut random) = (Stream::new(seed, "marks"), Stream::new(seed, "acks"));
    let (mut marked, mut end) = ((0, 0), Seq(0));
    let mut path = Path::new(vec![pair], |p: &Passage| {
        if p.direction == 1 {
            // The path does not apply `acks` to the SYN-ACK, or to the ACK of the FIN and later
            // ACKs.
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

fn check(run: &Run, option: bool, case: &str) {
    let [sender, receiver] = &run.ends;
    assert_eq!(info(receiver, "received_ce"), run.marked.0, "receiver: {case}");
    assert_eq!(info(receiver, "received_ce_bytes"), run.marked.1, "receiver: {case}");
    assert_eq!(info(sender, "delivered_ce"), run.marked.0, "sender: {case}");
    if option {
        assert_eq!(info(sender, "delivered_ce_bytes"), run.marked.1, "sender: {case}");
    }
}

/// Selection of the ECN-capable packets that are marked.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Marks {
    /// Each packet is marked with the given probability.
    Random(f64),
    /// Twelve consecutive packets of every sixty are marked, so that the ACE counter wraps.
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

/// ACKs overtake each other. The sender does not count the marks of an overtaken ACK again, and
/// does not conclude from such an ACK that the ACE counter has wrapped (RFC 9768 §3.2.2.2).
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

/// ACKs are lost. If ACKs have the AccECN option, the marked bytes determine how often the ACE
/// counter has wrapped (RFC 9768 §3.2.2.5.2). The test has no loss that causes a retransmission,
/// because the ACK of a duplicate has no AccECN option.
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

/// ACKs with or without the AccECN option are lost, but each ACK that arrives covers fewer than
/// eight packets.
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

/// ACKs without the AccECN option are lost, and some of the ACKs that arrive cover at least eight
/// packets. The sender assumes the safest case (RFC 9768 §3.2.2.5.2), so the number of marks that
/// it counts may exceed the true number. While ACKs usually acknowledge few packets (RFC 9768,
/// appendix A.2.1), the sender never counts fewer marks than there are.
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

/// RFC 9768 §3.2.2.1: data that was written before the connection opened follows a pure ACK that
/// reports the ECN field of the SYN-ACK. The data segments carry the ACE counter.
#[test]
fn a_pure_ack_reports_the_ecn_field_of_the_syn_ack() {
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
