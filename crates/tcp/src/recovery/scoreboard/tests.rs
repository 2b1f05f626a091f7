use super::*;
use proptest::prelude::*;
use units::{Duration, Time};

fn ambiguity(min_rtt: u64) -> RttAmbiguity {
    RttAmbiguity { min_rtt: Duration(min_rtt), echo: None }
}

/// Compute RACK_detect_loss of RFC 8985 §6.2 by a walk over every segment.
fn lose_one_by_one(board: &mut Scoreboard, now: Time, window: Duration) -> (u32, Option<Time>) {
    let (mut bytes, mut all_due) = (0, None);
    for i in 0..board.segments.len() {
        let s = board.segments[i];
        if s.has(SACKED) || (s.has(LOST) && !s.has(RETRANSMITTED)) {
            continue;
        }
        if let Some(at) = board.rack.lost_at(s.at, s.end, window) {
            if at <= now {
                bytes += board.lose(i);
            } else {
                all_due = all_due.max(Some(at));
            }
        }
    }
    (bytes, all_due)
}

/// Compute [`Scoreboard::lose_before`] by a walk over every segment.
fn lose_each_before(board: &mut Scoreboard, limit: Seq) -> u32 {
    let due = |s: &Sent| s.start.before(limit) && !s.has(SACKED | LOST);
    (0..board.segments.len()).map(|i| if due(&board.segments[i]) { board.lose_first(i) } else { 0 }).sum()
}

proptest! {
    /// After any sequence of transmissions, retransmissions, SACKs, ACKs and undone losses, the
    /// incremental totals give the same losses and holes as a walk over every segment.
    #[test]
    fn losses_are_those_of_a_walk_over_every_segment(
        rack in any::<bool>(),
        steps in prop::collection::vec((0u8..10, 0u32..30, 0u32..6, 0u64..4), 1..150),
    ) {
        let clock = DeliveryClock { delivered: 0, delivered_at: Time(0), first_sent: Time(0) };
        let mut board = Scoreboard::new(0, rack);
        let (mut now, mut una, mut max) = (Time(100), Seq(u32::MAX - 50), Seq(u32::MAX - 50));
        for (step, a, b, t) in steps {
            now = Time(now.0 + t);
            match step {
                0..=2 => {
                    for _ in 0..b {
                        board.on_sent(max, max + 10, now, &clock, false);
                        max = max + 10;
                    }
                }
                3 | 4 => {
                    for _ in 0..=b {
                        if let Some((i, ..)) = board.next_lost() {
                            board.on_retransmitted(i, now, &clock);
                        }
                    }
                }
                5 if !board.is_empty() => board.on_retransmitted(board.last_index(), now, &clock),
                6 if a == 0 => board.lose_all(b == 0),
                6 if a == 1 => board.undo_losses(),
                6 if a == 2 => board.lose_on_timeout(now, Duration(t)),
                _ => {
                    let out = max - una;
                    let ack = una + (if step == 7 { 5 * b } else { 0 }).min(out);
                    let start = una + 10 * a;
                    let blocks = &[(start, start + 10 * (b + 1))][..usize::from(t > 0)];
                    let predicted = board.newly_acked(una, ack, blocks, max);
                    let mut by_run = board.clone();
                    let run = if blocks.is_empty() { by_run.acknowledge(now, ack) } else { None };
                    let delivery = board.on_ack(now, una, ack, blocks, max, &ambiguity(3));
                    if let Some(run) = run {
                        prop_assert_eq!((run.delivered, run.weight), (delivery.delivered, delivery.weight));
                        prop_assert_eq!((Some(run.first_sent), Some(run.last.at)), (delivery.first_sent, delivery.last_sent));
                        prop_assert_eq!(Some(run.last.end), delivery.newest.map(|newest| newest.end));
                        prop_assert_eq!((delivery.late, format!("{:?}", board.rack)), (0, format!("{:?}", by_run.rack)));
                        prop_assert!(!rack || by_run.clone().rack_detect_loss(now, Duration(t)) == (0, None));
                        board = by_run;
                    }
                    prop_assert_eq!(predicted.0, delivery.delivered);
                    prop_assert!(predicted.1 <= predicted.0 && (predicted.1 == 0) == (predicted.0 == 0));
                    una = ack;
                }
            }
            let touched = board.segments.iter().filter(|s| !s.is_plain()).count();
            prop_assert_eq!(board.is_plain(), touched == 0);
            let mut literal = board.clone();
            let sacked = board.segments.iter().rev().filter(|s| s.has(SACKED)).map(|s| s.start);
            prop_assert!(board.sacked_from_the_top().map(|s| s.start).eq(sacked));
            if rack {
                let expected = lose_one_by_one(&mut literal, now, Duration(t));
                prop_assert_eq!(board.rack_detect_loss(now, Duration(t)), expected);
            } else {
                let limit = una + 7 * a;
                prop_assert_eq!(board.lose_before(limit), lose_each_before(&mut literal, limit));
                let top = board.segments.iter().rposition(|s| s.has(SACKED)).unwrap_or(0);
                let hole = (0..top).find(|&i| !board.segments[i].has(SACKED | LOST | TWICE));
                prop_assert_eq!(board.next_hole().map(|(i, ..)| i), hole);
                if let Some(hole) = hole.filter(|_| b == 0) {
                    board.on_retransmitted_early(hole, now, &clock);
                    literal.on_retransmitted_early(hole, now, &clock);
                }
            }
            let marks = |b: &Scoreboard| b.segments.iter().map(|s| s.marks).collect::<Vec<_>>();
            prop_assert_eq!(marks(&board), marks(&literal));
            prop_assert_eq!((board.pipe(), board.first_lost), (literal.pipe(), literal.first_lost));
        }
    }
}

/// RFC 8985 §6.2, step 2, "in ascending order of Segment.xmit_ts": RACK.rtt is the round-trip time
/// of the segment that was sent last. In this test the segment that was sent last is the
/// retransmission of the first segment. Linux uses the last segment in sequence
/// (net/ipv4/tcp_recovery.c, tcp_rack_advance), and a SACKed segment only if the ACK acknowledges
/// no segment cumulatively.
#[test]
fn rack_rtt_is_that_of_the_segment_sent_last_or_last_in_sequence() {
    let us = |t: u64| Time(t * 1_000_000);
    for (times, blocks, rtt) in [
        (RackTimes::Rfc8985, &[][..], 110),
        (RackTimes::Linux, &[], 210),
        (RackTimes::Linux, &[(Seq(30), Seq(40))], 210),
    ] {
        let clock = DeliveryClock { delivered: 0, delivered_at: Time(0), first_sent: Time(0) };
        let mut board = Scoreboard::new(0, true).with_rack_times(times);
        for i in 0..2 {
            board.on_sent(Seq(i * 10), Seq((i + 1) * 10), Time(0), &clock, false);
        }
        for i in 2..4 {
            board.on_sent(Seq(i * 10), Seq((i + 1) * 10), us(105), &clock, false);
        }
        board.lose_at(0);
        board.on_retransmitted(0, us(100), &clock);
        board.on_ack(us(210), Seq(0), Seq(20), blocks, Seq(40), &ambiguity(90));
        assert_eq!(board.rack.rtt.0, rtt * 1_000_000);
    }
}

/// A new segment and a later retransmission are sent in the same microsecond. Linux treats the new
/// segment as the later one, so the SACK of the new segment shows that the retransmission is lost
/// (include/net/tcp.h, tcp_skb_sent_after).
#[test]
fn of_two_segments_in_one_microsecond_the_higher_is_later() {
    for (times, lost) in [(RackTimes::Rfc8985, 0), (RackTimes::Linux, 10)] {
        let clock = DeliveryClock { delivered: 0, delivered_at: Time(0), first_sent: Time(0) };
        let mut board = Scoreboard::new(0, true).with_rack_times(times);
        board.on_sent(Seq(0), Seq(10), Time(0), &clock, false);
        board.lose_at(0);
        board.on_sent(Seq(10), Seq(20), Time(5_000_100), &clock, false);
        board.on_retransmitted(0, Time(5_000_200), &clock);
        let at = Time(9_000_000);
        board.on_ack(at, Seq(0), Seq(0), &[(Seq(10), Seq(20))], Seq(20), &ambiguity(90));
        assert_eq!(board.rack_detect_loss(at, Duration::ZERO).0, lost);
    }
}

/// If a timeout discards the SACK of a segment, the segment still counts as delivered only once.
#[test]
fn no_segment_is_delivered_twice() {
    for forget in [false, true] {
        let clock = DeliveryClock { delivered: 0, delivered_at: Time(0), first_sent: Time(0) };
        let mut board = Scoreboard::new(1000, false);
        for i in 0..3 {
            board.on_sent(Seq(i * 1000), Seq((i + 1) * 1000), Time(1), &clock, false);
        }
        let mut on_ack = |ack, blocks: &[(Seq, Seq)], times_out| {
            if times_out {
                board.lose_all(forget);
            }
            board.on_ack(Time(2), Seq(0), Seq(ack), blocks, Seq(3000), &ambiguity(1)).delivered
        };
        assert_eq!(on_ack(0, &[(Seq(1000), Seq(2000))], false), 1000);
        assert_eq!(on_ack(0, &[(Seq(1000), Seq(3000))], true), 1000);
        // An ACK acknowledges a part of the second segment, and the next ACK acknowledges the rest.
        assert_eq!((on_ack(1500, &[], true), on_ack(3000, &[], false)), (1000, 0));
    }
}
