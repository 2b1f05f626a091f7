//! Transfers with one to four losses in one window: the simulations of Fall & Floyd 1996,
//! "Simulation-based Comparisons of Tahoe, Reno, and SACK TCP". The link has 0.8 Mbit/s and a delay
//! of 100 ms each way, and segments have 1000 bytes with headers. Segment 14 is the last segment of
//! a window of eight segments. The next window contains the fifteen segments that follow segment
//! 14.
#![allow(dead_code)]

use serde_json::json;
use tcp::{SenderStats, Tcp};
use units::{Duration, Rate, Read, Time};

use super::path::{App, Fate, Link, Pair, Passage, Path};

pub const RECOVERIES: [&str; 4] = ["tahoe", "reno", "newreno", "sack"];
/// Lost segments of each transfer, counted from 0.
pub const DROPS: [&[u32]; 4] = [&[14], &[14, 28], &[14, 26, 28], &[14, 24, 26, 28]];
/// Bytes of data in a segment, without the 40 bytes of its headers.
const MSS: u32 = 960;
/// Number of segments in a transfer.
const SEGMENTS: u32 = 120;

/// Kind of event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    Sent,
    Retransmitted,
    Dropped,
    Acked,
}

/// Events and results of one transfer.
pub struct Run {
    /// Time, segment and kind of each event. An ACK acknowledges all segments below its number.
    pub packets: Vec<(Time, u32, Event)>,
    pub stats: SenderStats,
    /// Number of round trips of 200 ms from the first retransmission to the first ACK that covers
    /// segment 28 and all earlier segments.
    pub round_trips: f64,
}

/// Run a transfer with a method of recovery, in which the first transmissions of `drops` are lost.
pub fn run(recovery: &str, drops: &[u32]) -> Run {
    // Reno and Tahoe, as Fall & Floyd 1996 simulate them, do not limit fast retransmits to one per
    // window (RFC 6582, §1).
    let guard = if recovery == "newreno" { "once-per-window" } else { "unguarded" };
    let parameters = json!({
        "recovery": {"method": recovery, "fast_retransmit": guard}, "sack": recovery == "sack", "mss": format!("{MSS} B"), "initial_window": "1 packets",
        "delayed_ack": "1 packets",
    });
    let tcp = match Tcp::read(&parameters, "tcp") {
        Ok(tcp) => tcp,
        Err(e) => unreachable!("{e}"),
    };
    let (mut packets, mut next) = (Vec::new(), 0);
    let app = App::writes(u64::from(SEGMENTS * MSS));
    let pair = Pair::new([tcp.clone(), tcp], Duration::from_millis(200), [app, App::listens()]);
    let mut path = Path::new(vec![pair], |p: &Passage| {
        let segment =
            (if p.direction == 0 { p.segment.seq.0 } else { p.segment.ack.0 }).saturating_sub(1) / MSS;
        if p.direction == 1 {
            packets.push((p.now, segment, Event::Acked));
        } else if p.segment.len > 0 {
            let first = segment == next;
            next += u32::from(first);
            packets.push((p.now, segment, if first { Event::Sent } else { Event::Retransmitted }));
            if first && drops.contains(&segment) {
                packets.push((p.now, segment, Event::Dropped));
                return Fate::DROP;
            }
        }
        Fate::PASS
    });
    path.links[0] = Link::new(Rate(800_000), 1000);
    path.run(Time::NEVER);
    let stats = path.pairs[0].ends[0].sender_stats();
    drop(path);
    let when =
        |f: &dyn Fn(&(Time, u32, Event)) -> bool| packets.iter().find(|p| f(p)).map_or(Time::ZERO, |p| p.0);
    let began = when(&|p| p.2 == Event::Retransmitted);
    let ended = when(&|p| p.2 == Event::Acked && p.1 > 28);
    let round_trips = ended.since(began).seconds() / 0.2;
    Run { packets, stats, round_trips }
}
