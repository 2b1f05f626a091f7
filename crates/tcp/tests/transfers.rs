//! Pairs of endpoints with random parameters over a path that loses, reorders, duplicates, corrupts
//! and marks packets. The endpoints never deliver wrong bytes, and always finish or give up as RFC
//! 9293 §3.8.3 requires.

mod common;

use std::fmt;

use common::path::{App, Closes, Fast, Fate, Impairments, Link, Pair, Passage, Path};
use common::random::{self, RandomTcp};
use proptest::prelude::*;
use units::{Duration, Rate, Time};

/// Maximum number of events of a transfer, which is more than any transfer in these tests requires.
const MAX_EVENTS: u64 = 100_000;

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// Return a strategy for an application that writes at random times, and may read slowly.
fn app() -> impl Strategy<Value = App> {
    let writes = prop::collection::vec((0u64..2000, 1u64..6000), 0..8);
    let reads = prop::option::weighted(0.3, (1u64..1500, 500u32..20_000));
    (writes, reads, prop::bool::ANY).prop_map(|(writes, reads, after_peer)| {
        let mut at = 0;
        let later = writes.iter().map(|&(wait, bytes)| {
            at += wait;
            (Time::ZERO + ms(at), bytes)
        });
        let writes: std::collections::VecDeque<_> = later.collect();
        let closes = if after_peer || writes.is_empty() { Closes::AfterPeer } else { Closes::AfterWrites };
        App { writes, closes, reads: reads.map(|(wait, n)| (ms(wait), n)) }
    })
}

fn impairments() -> impl Strategy<Value = Impairments> {
    let some = || prop_oneof![Just(0.0), 0.0..0.1f64];
    (some(), some(), some(), some(), some(), 1u64..400).prop_map(
        |(loss, corruption, duplication, reordering, marking, max_delay_ms)| Impairments {
            loss,
            corruption,
            duplication,
            reordering,
            marking,
            max_delay_ms,
        },
    )
}

#[derive(Clone)]
struct Case {
    tcps: [RandomTcp; 2],
    apps: [App; 2],
    impairments: Impairments,
    seed: u64,
    rtt: u64,
    link: Option<(u64, usize)>,
    iss: [u32; 2],
    both_open: bool,
    fast: Option<Fast>,
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Case { tcps, apps, impairments, seed, rtt, link, iss, both_open, fast } = self;
        let apps = apps.clone().map(|a| (a.writes, a.closes, a.reads));
        let text = format!("{:?}\n{:?}\n{apps:?}\n{impairments:?}\n", tcps[0], tcps[1]);
        f.write_str(&text)?;
        let text = format!("seed {seed} rtt {rtt} link {link:?} iss {iss:?} both {both_open} {fast:?}");
        f.write_str(&text)
    }
}

fn case() -> impl Strategy<Value = Case> {
    let ends = (random::parameters(), random::parameters(), app(), app());
    let iss = prop_oneof![Just(0u32), Just(u32::MAX - 3000), any::<u32>()];
    let link = prop::option::of((100_000u64..10_000_000, 1usize..30));
    let fast = prop::option::of(prop::sample::select(vec![Fast::Accepted, Fast::Refused, Fast::Unknown]));
    let rest =
        (impairments(), any::<u64>(), 1u64..300, link, [iss.clone(), iss], prop::bool::weighted(0.1), fast);
    (ends, rest).prop_map(
        |((a, b, mut one, mut other), (impairments, seed, rtt, link, iss, both_open, fast))| {
            if let (Some(first), true) = (one.writes.front_mut(), fast.is_some()) {
                first.0 = Time::ZERO; // so that there is data for the SYN
            }
            if one.closes == Closes::AfterPeer && other.closes == Closes::AfterPeer {
                other.closes = Closes::AfterWrites; // one side must close first
                other.writes.push_back((Time::ZERO, 1));
                other.writes.make_contiguous().sort();
            }
            let mut impairments = impairments;
            if [&a, &b].into_iter().any(multiplies) {
                impairments.duplication = 0.0;
            }
            Case { tcps: [a, b], apps: [one, other], impairments, seed, rtt, link, iss, both_open, fast }
        },
    )
}

/// Return true if each duplicate ACK may cause a retransmission, even in the same window of data.
/// The receiver answers a needless retransmission by a duplicate ACK. On a path that duplicates
/// packets, the number of retransmissions therefore grows in each round trip, and a transfer may
/// need more than [`MAX_EVENTS`] events.
fn multiplies(end: &RandomTcp) -> bool {
    let recovery = &end.from["recovery"];
    end.tcp.recovery.duplicate_acks.0 <= 1.0 && recovery["fast_retransmit"] == "unguarded"
}

fn check(case: &Case) {
    let mut pair = Pair::new(case.tcps.clone().map(|d| d.tcp), ms(case.rtt), case.apps.clone());
    pair.set_iss(case.iss);
    if case.both_open {
        pair.open_at_once();
    }
    pair.open_fast(case.fast);
    let mut path = Path::new(vec![pair], case.impairments.rule(case.seed));
    if let Some((rate, limit)) = case.link {
        path.links = [Link::new(Rate(rate), limit), Link::new(Rate(rate), limit)];
    }
    while path.step(Time::NEVER) {
        assert!(path.events < MAX_EVENTS, "the transfer does not end: {}", path.pairs[0].describe());
    }
    if !path.gave_up() {
        let pair = &path.pairs[0];
        assert!(pair.is_complete() && pair.is_closed(), "at {}: {}", path.now, pair.describe());
    }
}

proptest! {
    #![proptest_config(random::cases())]

    #[test]
    fn every_transfer_is_correct_and_ends(case in case()) {
        check(&case);
    }
}

/// Smallest cases in which the random test of this file failed. Each has failed once.
mod regressions {
    use super::*;
    use serde_json::{Value, json};
    use tcp::Tcp;
    use units::Read;
    use units::param::{Params, merge};

    /// Return the parameters of an endpoint with short timers and the given changes.
    fn end(more: Value) -> RandomTcp {
        let mut all = json!({"mss": "100 B", "receive_window": "100 B", "initial_window": "1 packets", "delayed_ack": "1 packets",
            "recovery": {"duplicate_acks": "1 packets"}, "rto": {"initial": "100 ms", "min": "1 ms", "max": "1 s"}});
        if let (Some(all), Value::Object(mut more)) = (all.as_object_mut(), more) {
            Tcp::expand_shorthands(&mut more);
            merge(all, &more);
        }
        RandomTcp { tcp: Tcp::read(&all, "tcp").unwrap(), from: all }
    }

    fn writer(writes: &[(u64, u64)]) -> App {
        App { writes: writes.iter().map(|w| (Time::ZERO + ms(w.0), w.1)).collect(), ..App::default() }
    }

    fn slow(every: u64, app: App) -> App {
        App { reads: Some((ms(every), 500)), ..app }
    }

    fn run(tcps: [RandomTcp; 2], apps: [App; 2], impairments: Impairments, seed: u64, rtt: u64) {
        check(&Case {
            tcps,
            apps,
            impairments,
            seed,
            rtt,
            link: None,
            iss: [0, 0],
            both_open: false,
            fast: None,
        });
    }

    /// The retransmission of an expired timer does not wait for pacing, as in Linux. A sender whose
    /// measured rate is one byte per 800 ms would otherwise never retransmit 800 bytes, because
    /// pacing would delay them beyond the next timeout.
    #[test]
    fn a_timeout_retransmits_whatever_the_pacing_rate() {
        let quick = json!({"mss": "800 B", "receive_window": "800 B", "ack": {"timeout": "1 ms", "quick": "0 packets"},
            "recovery": {"max_ack_delay": "0 ms"}, "rto": {"granularity": "1 ms"}, "connection": {"msl": "0 ms"}});
        let end = |more: Value| {
            let mut all = quick.clone();
            merge(all.as_object_mut().unwrap(), more.as_object().unwrap());
            end(all)
        };
        let tcps = [
            end(json!({"sack": true})),
            end(json!({"congestion": "bbr3", "sack": true, "rto": {"initial": "788 ms"},
                "recovery": {"method": "sack"}})),
        ];
        let apps = [
            App { closes: Closes::AfterPeer, ..App::default() },
            App { closes: Closes::AfterWrites, ..writer(&[(0, 1), (166, 800)]) },
        ];
        let impairments = Impairments {
            loss: 0.06978512130796191,
            corruption: 0.0522858750007694,
            max_delay_ms: 1,
            ..Impairments::default()
        };
        check(&Case {
            tcps,
            apps,
            impairments,
            seed: 5106635441524313983,
            rtt: 1,
            link: None,
            iss: [0, 0],
            both_open: true,
            fast: None,
        });
    }

    /// A sender waits for its timer because of a mark while cwnd is one segment (RFC 3168 §6.1.2).
    /// If the other side's window is closed, the sender probes it when the timer expires.
    #[test]
    fn a_sender_that_waits_for_its_timer_probes_a_closed_window() {
        let quick = json!({"ack": {"timeout": "1 ms", "quick": "0 packets"}, "rto": {"granularity": "1 ms"},
            "recovery": {"max_ack_delay": "0 ms"}, "connection": {"msl": "0 ms"}});
        let end = |more: Value| {
            let mut all = quick.clone();
            all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            end(all)
        };
        let tcps = [
            end(json!({"ecn": "ecn+", "window": {"scaling": "on"}, "rto": {"min": "281 ms"}})),
            end(json!({"cwnd": {"ssthresh_from": "cwnd"}, "ecn": "ecn++", "rto": {"min": "159 ms"}})),
        ];
        let apps = [
            App { closes: Closes::AfterPeer, reads: Some((ms(1357), 500)), ..App::default() },
            App { closes: Closes::AfterWrites, ..writer(&[(0, 3729), (0, 3571)]) },
        ];
        let impairments = Impairments {
            loss: 0.04162086933460128,
            corruption: 0.016563649629786778,
            duplication: 0.05363449154662121,
            reordering: 0.08766048786713823,
            marking: 0.020292522629552983,
            max_delay_ms: 241,
        };
        run(tcps, apps, impairments, 3145717503530149737, 153);
    }

    /// If the application writes more data while a probe of a small window is in flight, the timer
    /// of the probe continues.
    #[test]
    fn a_write_leaves_the_timer_of_a_probe() {
        let tcps = [
            end(
                json!({"mss": "2270 B", "receive_window": "454000 B", "initial_window": "16 packets", "delayed_ack": "2 packets",
                "rto": {"estimator": "jacobson1988", "initial": "2900 ms", "min": "273 ms", "max": "18017 ms", "granularity": "13 ms"},
                "recovery": {"duplicate_acks": "3 packets", "max_ack_delay": "97 ms"}, "ack": {"timeout": "165 ms", "quick": "12 packets"},
                "connection": {"msl": "0 ms"}}),
            ),
            end(json!({"congestion": "abe", "ecn": {"fallback": false},
                "cwnd": {"slow_start_from": "second-ack", "loss_window": "flight-and-segment", "validation": "limited",
                    "initial_ssthresh": "35 packets"},
                "recovery": {"fast_retransmit": "unguarded", "duplicate_acks": "4 packets", "max_ack_delay": "128 ms"},
                "rto": {"estimator": "linux", "initial": "548 ms", "min": "471 ms", "max": "13182 ms", "granularity": "195 ms"},
                "details": {"missing_timestamp": "refused", "sacked_growth": "once-reordered", "zero_window_probe": "old-sequence"},
                "mss": "198 B", "receive_window": "3861 B", "initial_window": "16 packets",
                "delayed_ack": "3 packets", "ack": {"timeout": "57 ms", "quick": "18 packets"}, "connection": {"msl": "782 ms"}})),
        ];
        let impairments = Impairments {
            loss: 0.05782490523459331,
            corruption: 0.047159083672712244,
            duplication: 0.04954898202591383,
            reordering: 0.040610148593424905,
            marking: 0.04651083290311318,
            max_delay_ms: 101,
        };
        let one = App {
            closes: Closes::AfterPeer,
            ..writer(&[(1714, 1876), (3026, 3876), (3035, 1474), (3360, 2912), (5204, 339)])
        };
        let other = App { reads: Some((ms(934), 13_200)), ..writer(&[(0, 1), (1912, 3403)]) };
        check(&Case {
            tcps,
            apps: [one, other],
            impairments,
            seed: 11063341924528378844,
            rtt: 129,
            link: None,
            iss: [4294964295; 2],
            both_open: false,
            fast: None,
        });
    }

    /// A probe of one octet is always the same octet, and is retransmitted when the window opens.
    #[test]
    fn every_probe_has_the_same_octet() {
        for recovery in ["reno", "sack"] {
            let tcp = || end(json!({"recovery": recovery, "sack": true, "rto": {"min": "20 ms"}}));
            let apps = [writer(&[(0, 4477)]), slow(700, App::listens())];
            let impairments = Impairments { loss: 0.08, ..Impairments::default() };
            for seed in 0..20 {
                run([tcp(), tcp()], apps.clone(), impairments, seed, 50);
            }
        }
    }

    /// An endpoint that has filled the window sends its ACKs with the sequence number at the end of
    /// the window. An endpoint must process an ACK with a sequence number at the end of the receive
    /// window, even if data before this sequence number is missing.
    #[test]
    fn an_acknowledgement_from_the_edge_of_the_window_counts() {
        let tcps = [
            end(
                json!({"congestion": "htcp", "timestamps": true, "receive_window": "200 B", "initial_window": "3 packets",
                "delayed_ack": "2 packets", "ack": {"timeout": "270 ms"}, "rto": {"min": "270 ms", "max": "3303 ms"},
                "cwnd": {"initial_ssthresh": "1 packets"}, "recovery": {"max_ack_delay": "0 ms"}, "connection": {"msl": "0 ms"}}),
            ),
            end(
                json!({"receive_window": "1000 B", "initial_window": "2 packets", "recovery": {"duplicate_acks": "3 packets", "max_ack_delay": "0 ms"},
                "ack": {"timeout": "1 ms"}, "rto": {"initial": "1723 ms", "max": "35835 ms"}, "connection": {"msl": "0 ms"}}),
            ),
        ];
        let impairments = Impairments {
            loss: 0.06963231345900903,
            corruption: 0.0913586462293351,
            duplication: 0.020555304344946613,
            max_delay_ms: 1,
            ..Impairments::default()
        };
        let apps = [writer(&[(1708, 2801)]), writer(&[(0, 1800)])];
        run(tcps, apps, impairments, 4772060897678958375, 265);
    }

    /// When a window probe with an old sequence number arrives, as Linux sends it, the endpoint
    /// sends an ACK.
    #[test]
    fn a_probe_without_data_is_answered() {
        let tcps = [
            end(json!({"details": {"zero_window_probe": "old-sequence"}, "rto": {"min": "400 ms"}})),
            end(json!({})),
        ];
        let impairments = Impairments { loss: 0.05, ..Impairments::default() };
        run(tcps, [writer(&[(0, 4500)]), slow(1000, App::listens())], impairments, 7718663811183, 1);
    }

    /// An ACK with older data and a window of zero closes the window.
    #[test]
    fn an_acknowledgement_in_old_data_sets_the_window() {
        let tcps = [
            end(json!({"mss": "419 B", "receive_window": "1466 B"})),
            end(
                json!({"mss": "123 B", "receive_window": "123 B", "delayed_ack": "2 packets", "ack": {"quick": "1 packets", "timeout": "75 ms"}, "rto": {"min": "241 ms"}}),
            ),
        ];
        let apps = [writer(&[(333, 739)]), slow(563, writer(&[(455, 493)]))];
        let case = Case {
            tcps,
            apps,
            impairments: Impairments::default(),
            seed: 0,
            rtt: 41,
            link: Some((100_000, 1)),
            iss: [0, 0],
            both_open: false,
            fast: None,
        };
        check(&case);
    }

    /// The window that the SYN advertised does not shrink while the first data waits until the
    /// application reads it.
    #[test]
    fn the_window_of_a_syn_does_not_shrink() {
        let tcps = [
            end(json!({"mss": "1291 B", "receive_window": "1291 B"})),
            end(json!({"mss": "431 B", "receive_window": "1293 B"})),
        ];
        run(tcps, [writer(&[(357, 863)]), slow(1000, writer(&[(0, 1)]))], Impairments::default(), 0, 1);
        let scaled =
            || end(json!({"window": {"scaling": "on"}, "receive_window": "65544 B", "mss": "2731 B"}));
        run(
            [scaled(), scaled()],
            [writer(&[(132, 1)]), slow(1000, writer(&[(0, 1)]))],
            Impairments::default(),
            2,
            1,
        );
    }

    /// The ACK that DCTCP sends for data before a change of marks does not move the right edge of
    /// the window.
    #[test]
    fn an_earlier_ack_does_not_shrink_the_window() {
        let tcps = [
            end(
                json!({"ecn": "dctcp", "mss": "1561 B", "receive_window": "17171 B", "delayed_ack": "2 packets",
                "ack": {"timeout": "2 ms"}}),
            ),
            end(json!({"ecn": "rfc3168"})),
        ];
        let impairments = Impairments { marking: 0.0910956393673323, ..Impairments::default() };
        run(
            tcps,
            [slow(1000, App::listens()), writer(&[(0, 1), (0, 1800)])],
            impairments,
            19108649783516076,
            1,
        );
    }

    /// An ACK with a window of zero overtakes the ACK sent before it. The sender retransmits the
    /// data in flight even though an overtaken ACK advertised a window of zero.
    #[test]
    fn a_window_that_closes_over_data_in_flight_is_probed() {
        let tcps = [
            end(
                json!({"window": {"scaling": "on"}, "receive_window": "150 B", "initial_window": "3 packets",
                "recovery": {"duplicate_acks": "2 packets"}, "delayed_ack": "2 packets", "ack": {"timeout": "134 ms", "quick": "5 packets"},
                "rto": {"min": "342 ms"}}),
            ),
            end(
                json!({"recovery": {"fast_retransmit": "unguarded", "duplicate_acks": "2 packets"}, "details": {"zero_window_probe": "old-sequence"}, "receive_window": "600 B", "delayed_ack": "3 packets", "ack": {"timeout": "132 ms", "quick": "2 packets"},
                "rto": {"min": "567 ms"}}),
            ),
        ];
        let apps = [slow(353, App::listens()), writer(&[(0, 1), (0, 1707), (0, 5843)])];
        let impairments = Impairments {
            corruption: 0.06187719893452907,
            duplication: 0.07174365226905152,
            reordering: 0.08109674962450046,
            marking: 0.035190657213635006,
            max_delay_ms: 230,
            loss: 0.0,
        };
        for seed in 4230258115860784788..4230258115860784888 {
            run(tcps.clone(), apps.clone(), impairments, seed, 59);
        }
    }

    /// A sender with SACK probes a window smaller than half a segment as it probes a closed window.
    #[test]
    fn a_window_too_small_to_use_is_probed() {
        let tcps = [
            end(json!({"sack": true, "mss": "197 B", "receive_window": "295 B"})),
            end(
                json!({"recovery": "sack", "sack": true, "mss": "197 B", "receive_window": "197 B", "rto": {"min": "125 ms"}}),
            ),
        ];
        let apps = [slow(138, App::listens()), writer(&[(0, 1), (144, 2760)])];
        let impairments = Impairments { loss: 0.0862, marking: 0.0493, ..Impairments::default() };
        for seed in 0..50 {
            run(tcps.clone(), apps.clone(), impairments, seed, 1);
        }
    }

    /// Even if the parameters do not prevent repeated fast retransmits, Tahoe sends only one
    /// retransmission for all duplicate ACKs of a window. More retransmissions would cause more
    /// duplicate ACKs.
    #[test]
    fn duplicate_acks_of_tahoe_do_not_multiply() {
        let tcps =
            [end(json!({"recovery": {"method": "tahoe", "fast_retransmit": "unguarded"}})), end(json!({}))];
        let impairments =
            Impairments { duplication: 0.03999676307015881, max_delay_ms: 1, ..Impairments::default() };
        run(tcps, [writer(&[(0, 4337), (0, 5857), (0, 4406)]), App::listens()], impairments, 0, 2);
    }

    /// On a path that duplicates packets, the retransmissions of this transfer double about every
    /// second. The transfer still ends.
    #[test]
    fn multiplied_retransmissions_end_with_the_transfer() {
        let all = json!({"recovery": {"duplicate_acks": "1 packets", "max_ack_delay": "0 ms"}, "connection": {"msl": "0 ms"},
            "ack": {"timeout": "1 ms", "quick": "0 packets"}, "rto": {"initial": "100 ms", "min": "1 ms", "granularity": "1 ms"}});
        let (mut sender, mut receiver) = (all.clone(), all);
        for (key, value) in [("method", "tahoe"), ("fast_retransmit", "unguarded"), ("reordering", "linux")] {
            sender["recovery"][key] = json!(value);
        }
        sender["connection"]["nagle"] = json!("rfc896");
        sender["details"] = json!({"without_sack": "delivered"});
        receiver["receive_window"] = json!("300 B");
        let impairments =
            Impairments { duplication: 0.09334409775820857, max_delay_ms: 35, ..Impairments::default() };
        let writes = writer(&[(0, 2792), (0, 2823), (0, 4644), (0, 2542)]);
        let apps = [App { closes: Closes::AfterWrites, ..writes }, App::listens()];
        let pair = Pair::new([end(sender).tcp, end(receiver).tcp], ms(231), apps);
        let mut path = Path::new(vec![pair], impairments.rule(127036717448429515));
        path.run(Time::NEVER);
        assert!(path.events > MAX_EVENTS, "{} events", path.events);
        assert!(path.pairs[0].is_complete() && path.pairs[0].is_closed(), "{}", path.pairs[0].describe());
    }

    /// A FIN is not added to a segment that is retransmitted from the scoreboard, because the loss
    /// of such a FIN would remain undetected.
    #[test]
    fn a_lost_fin_is_retransmitted_from_the_scoreboard() {
        let tcp = || end(json!({"recovery": "sack", "sack": true, "rto": {"min": "50 ms"}})).tcp;
        let apps = [App { closes: Closes::AfterPeer, ..writer(&[(25, 100)]) }, writer(&[(30, 1)])];
        let pair = Pair::new([tcp(), tcp()], ms(20), apps);
        // The timer expires before the late original segment arrives, and the retransmission is
        // lost.
        let rule = |p: &Passage| match (p.direction, p.segment.len, p.nth_data) {
            (0, 1.., 0) => Fate { extra_delay: ms(100), ..Fate::PASS },
            (0, 1.., 1) => Fate::DROP,
            _ => Fate::PASS,
        };
        let mut path = Path::new(vec![pair], rule);
        path.run(Time::NEVER);
        assert!(path.pairs[0].is_complete() && path.pairs[0].is_closed(), "{}", path.pairs[0].describe());
    }

    /// If a part of a segment was sent into a small window and was lost, the sender retransmits
    /// this part.
    #[test]
    fn a_part_of_a_segment_is_retransmitted() {
        let tcps = [end(json!({})), end(json!({"mss": "101 B", "receive_window": "101 B"}))];
        let impairments = Impairments { corruption: 0.07140903024326427, ..Impairments::default() };
        for seed in 0..50 {
            run(tcps.clone(), [App::listens(), writer(&[(0, 1), (0, 1000)])], impairments, seed, 1);
        }
    }

    /// A responder without TryOnce is established when its marked SYN-ACK is answered (RFC 5562
    /// §3.2).
    #[test]
    fn try_once_works_if_only_the_client_uses_it() {
        let tcps = [end(json!({"ecn": "ecn+try-once"})), end(json!({"ecn": "ecn+"}))];
        run(
            tcps,
            [App::listens(), writer(&[(0, 1)])],
            Impairments { marking: 1.0, ..Impairments::default() },
            0,
            1,
        );
    }

    /// A sender with a cwnd of one segment waits for its timer after ECN-Echo (RFC 3168 §6.1.2).
    /// When an ACK of all data stops the retransmission timer, the sender no longer waits for the
    /// timer.
    #[test]
    fn a_wait_for_the_retransmission_timer_ends() {
        let tcps = [
            end(
                json!({"recovery": {"method": "tahoe", "limited_transmit": true, "duplicate_acks": "3 packets"}, "ecn": "rfc3168", "initial_window": "9 packets"}),
            ),
            end(json!({"ecn": "rfc3168", "receive_window": "20000 B", "delayed_ack": "3 packets",
                "ack": {"timeout": "1 ms", "quick": "17 packets"}})),
        ];
        let apps =
            [App { closes: Closes::AfterPeer, ..writer(&[(107, 801), (107, 4100)]) }, writer(&[(0, 1)])];
        let impairments = Impairments {
            corruption: 0.046,
            duplication: 0.1,
            marking: 0.079,
            max_delay_ms: 129,
            ..Impairments::default()
        };
        for seed in 0..300 {
            run(tcps.clone(), apps.clone(), impairments, seed, 72);
        }
    }

    /// If an ACK covers the data of a retransmission that pacing delays, the sender cancels this
    /// retransmission.
    #[test]
    fn acknowledged_data_is_not_retransmitted() {
        let tcps = [
            end(json!({"mss": "1196 B", "receive_window": "5382 B"})),
            end(
                json!({"congestion": "prague", "recovery": "newreno", "mss": "1196 B", "receive_window": "1196 B",
                "initial_window": "3 packets", "rto": {"min": "298 ms"}}),
            ),
        ];
        let writes = [(0, 1), (262, 3606), (1612, 5380), (2513, 3589), (2979, 2393)];
        let impairments = Impairments {
            loss: 0.084,
            duplication: 0.098,
            reordering: 0.068,
            marking: 0.061,
            max_delay_ms: 3,
            ..Impairments::default()
        };
        for seed in 0..300 {
            run(tcps.clone(), [App::listens(), writer(&writes)], impairments, seed, 105);
        }
    }
}
