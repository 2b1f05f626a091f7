//! Traces of flows: every segment that the host of the data's sender sends and receives, and every round trip that
//! it measures. Positions are counted in bytes of data from the first, past 2^32 too.

use std::collections::HashMap;
use std::sync::Arc;

use net::{Ecn, Flags, Seq};
use tcp::Endpoint;
use units::param::{Invalid, did_you_mean};
use units::{Duration, Read, Time};

use crate::build::Plan;
use crate::capture::Seen;
use crate::columns;
use crate::record::{Column, Table, names_of};
use crate::scenario::{Scenario, Series};

/// SACK blocks in a segment at most.
const BLOCKS: usize = 4;

/// A segment as the sender's host saw it.
#[derive(Clone, Copy, Debug)]
struct Sighting {
    at: Time,
    seq: u64,
    ack: u64,
    /// SACK blocks, from `ack`.
    blocks: [(i32, i32); BLOCKS],
    flow: u32,
    window: u32,
    bytes: u16,
    flags: Flags,
    ecn: Ecn,
    block_count: u8,
    received: bool,
    resent: bool,
}

/// A measurement, or a timeout that changed without one.
#[derive(Clone, Copy, Debug)]
struct Measured {
    at: Time,
    flow: u32,
    rtt: Option<Duration>,
    srtt: Duration,
    rto: Duration,
}

/// What is known of a flow that is traced.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    /// One past the highest sequence number sent, from 0 for the SYN.
    sent_to: u64,
    samples: u32,
    rto: Duration,
}

/// The traces of a run.
#[derive(Debug)]
pub struct Traces {
    /// For each slot of a flow that is one connection, what is known of it; none: not traced.
    known: Vec<Option<Known>>,
    segments: Option<Vec<Sighting>>,
    round_trips: Option<Vec<Measured>>,
}

/// Refuses to trace what is not there.
pub fn check(scenario: &Scenario, plan: &Plan) -> Result<(), Invalid> {
    let traced = &scenario.record.traced;
    if traced.is_empty() {
        return Ok(());
    }
    let single = (0..plan.flows()).filter(|&f| plan.arrivals(f).is_none());
    let names: Vec<String> = single.map(|f| plan.name(f)).collect();
    for (i, name) in traced.iter().enumerate() {
        if !names.contains(name) {
            let shown: Vec<&str> = names.iter().map(String::as_str).take(30).collect();
            let problem = "is no flow that is one connection";
            return Err(Invalid::new(&format!("record.traced.{i}"), &name.write(), problem)
                .remedy(did_you_mean(name, &shown)));
        }
    }
    Ok(())
}

impl Traces {
    /// The traces that a scenario asks for, given the flow of each slot.
    pub fn begin(scenario: &Scenario, plan: &Plan, flows: impl Iterator<Item = u32>) -> Option<Traces> {
        let record = &scenario.record;
        let wants = |s: Series| record.series.contains(&s);
        if !wants(Series::Segments) && !wants(Series::Rtt) {
            return None;
        }
        let traced = |f: u32| record.traced.is_empty() || record.traced.contains(&plan.name(f as usize));
        Some(Traces {
            known: flows.map(|f| traced(f).then(Known::default)).collect(),
            segments: wants(Series::Segments).then(Vec::new),
            round_trips: wants(Series::Rtt).then(Vec::new),
        })
    }

    /// The sender's host sends or receives a segment, when `acked` bytes of its data are acknowledged.
    pub fn segment(&mut self, now: Time, received: bool, seen: &Seen, acked: u64) {
        let Some(Some(known)) = self.known.get_mut(seen.packet.flow as usize) else { return };
        let Some(list) = &mut self.segments else { return };
        let segment = &seen.packet.segment;
        // The SYN has 0, the first byte of data 1.
        let whole = |seq: Seq| {
            (acked as i64 + 1 + i64::from(seq.minus(Seq((acked as u32).wrapping_add(1))))).max(0) as u64
        };
        let data = |seq: Seq| whole(seq).saturating_sub(1);
        let other = |seq: Seq| u64::from(seq.0.saturating_sub(1));
        let (seq, ack) = (segment.seq, if segment.flags.has(Flags::ACK) { segment.ack } else { Seq(0) });
        let mut resent = false;
        if !received && segment.seq_len() > 0 {
            let end = whole(seq) + u64::from(segment.seq_len());
            resent = whole(seq) < known.sent_to;
            known.sent_to = known.sent_to.max(end);
        }
        let mut blocks = [(0, 0); BLOCKS];
        for (place, &(left, right)) in blocks.iter_mut().zip(seen.options.sack()) {
            *place = (left.minus(ack), right.minus(ack));
        }
        list.push(Sighting {
            at: now,
            seq: if received { other(seq) } else { data(seq) },
            ack: if received { data(ack) } else { other(ack) },
            blocks,
            flow: seen.flow,
            window: segment.window,
            bytes: segment.len,
            flags: segment.flags,
            ecn: seen.packet.ecn,
            block_count: seen.options.sack().len() as u8,
            received,
            resent,
        });
    }

    /// Something happened to the sender in a slot.
    pub fn measured(&mut self, now: Time, slot: u32, flow: u32, sender: &Endpoint) {
        let Some(Some(known)) = self.known.get_mut(slot as usize) else { return };
        let Some(list) = &mut self.round_trips else { return };
        let ((samples, last), rto) = (sender.round_trips(), sender.rto());
        if samples != known.samples || (rto != known.rto && known.samples > 0) {
            let rtt = (samples != known.samples).then_some(last);
            list.push(Measured { at: now, flow, rtt, srtt: sender.srtt(), rto });
            (known.samples, known.rto) = (samples, rto);
        }
    }

    /// The series as tables.
    pub fn tables(self, flows: &Arc<Vec<String>>) -> impl Iterator<Item = (Series, Table)> {
        let segments = self.segments.map(|list| (Series::Segments, segments(&list, flows)));
        let round_trips = self.round_trips.map(|list| (Series::Rtt, round_trips(&list, flows)));
        segments.into_iter().chain(round_trips)
    }
}

fn segments(list: &[Sighting], flows: &Arc<Vec<String>>) -> Table {
    let count = |get: &dyn Fn(&Sighting) -> u64| Column::Count(list.iter().map(get).collect());
    let words = |words: &[&str], get: &dyn Fn(&Sighting) -> usize| {
        let words = Arc::new(words.iter().map(ToString::to_string).collect());
        Column::Name(list.iter().map(|s| get(s) as u32).collect(), words)
    };
    let mut written: HashMap<u16, String> = HashMap::new();
    let mut flags =
        |f: Flags| written.entry(f.0).or_insert_with(|| format!("{f:?}").replace('|', " ")).clone();
    let edge = |i: usize, of: fn((i32, i32)) -> i32| {
        let position = |s: &Sighting| match usize::from(s.block_count) > i {
            true => (s.ack as i64 + i64::from(of(s.blocks[i]))) as f64,
            false => f64::NAN,
        };
        Column::Float(list.iter().map(position).collect())
    };
    columns::Segments {
        time_s: Column::Float(list.iter().map(|s| s.at.seconds()).collect()),
        flow: Column::Name(list.iter().map(|s| s.flow).collect(), flows.clone()),
        direction: words(&["sent", "received"], &|s| usize::from(s.received)),
        seq: count(&|s| s.seq),
        bytes: count(&|s| u64::from(s.bytes)),
        ack: count(&|s| s.ack),
        window_bytes: count(&|s| u64::from(s.window)),
        flags: names_of(list.iter().map(|s| flags(s.flags))),
        ecn: words(&["not-ect", "ect1", "ect0", "ce"], &|s| s.ecn as usize),
        resent: count(&|s| u64::from(s.resent)),
        sack_1_left: edge(0, |b| b.0),
        sack_1_right: edge(0, |b| b.1),
        sack_2_left: edge(1, |b| b.0),
        sack_2_right: edge(1, |b| b.1),
        sack_3_left: edge(2, |b| b.0),
        sack_3_right: edge(2, |b| b.1),
        sack_4_left: edge(3, |b| b.0),
        sack_4_right: edge(3, |b| b.1),
    }
    .table()
}

fn round_trips(list: &[Measured], flows: &Arc<Vec<String>>) -> Table {
    let float = |get: &dyn Fn(&Measured) -> f64| Column::Float(list.iter().map(get).collect());
    columns::RoundTrips {
        time_s: float(&|m| m.at.seconds()),
        flow: Column::Name(list.iter().map(|m| m.flow).collect(), flows.clone()),
        rtt_s: float(&|m| m.rtt.map_or(f64::NAN, Duration::seconds)),
        srtt_s: float(&|m| m.srtt.seconds()),
        rto_s: float(&|m| m.rto.seconds()),
    }
    .table()
}
