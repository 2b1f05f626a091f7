//! Traces of flows: every segment that the host of the data's sender sends and receives, and every round trip that
//! it measures. Positions are counted in bytes of data from the first, past 2^32 too.

use std::sync::Arc;

use net::{Flags, Seq};
use tcp::Endpoint;
use units::param::{Invalid, did_you_mean};
use units::{Duration, Read, Time};

use super::round_trips::{self, Measured};
use super::segments::{self, BLOCKS, Sighting};
use crate::build::Plan;
use crate::capture::Seen;
use crate::memory::List;
use crate::record::Table;
use crate::scenario::{Scenario, Series};

/// How far a flow that is traced has come.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    /// One past the highest sequence number sent, from 0 for the SYN.
    sent_to: u64,
    samples: u32,
    rto: Duration,
}

/// The traces of a run.
#[derive(Debug)]
pub struct Traces {
    /// For each slot of a flow that is one connection how far it has come; none: not traced.
    progress: Vec<Option<Progress>>,
    segments: Option<List<Sighting>>,
    round_trips: Option<List<Measured>>,
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
            let problem = "is no flow of one connection";
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
            progress: flows.map(|f| traced(f).then(Progress::default)).collect(),
            segments: wants(Series::Segments).then(List::default),
            round_trips: wants(Series::Rtt).then(List::default),
        })
    }

    /// The sender's host sends or receives a segment, when so many bytes of its data and of the other host's are acknowledged.
    pub fn segment(&mut self, now: Time, received: bool, seen: &Seen, [acked, acked_back]: [u64; 2]) {
        let Some(Some(progress)) = self.progress.get_mut(seen.packet.connection as usize) else { return };
        let Some(list) = &mut self.segments else { return };
        let segment = &seen.packet.segment;
        // The SYN has 0, the first byte of data 1.
        let count = |acked: u64, seq: Seq| {
            (acked as i64 + 1 + i64::from(seq.minus(Seq((acked as u32).wrapping_add(1))))).max(0) as u64
        };
        let whole = |seq: Seq| count(acked, seq);
        let data = |seq: Seq| whole(seq).saturating_sub(1);
        let other = |seq: Seq| count(acked_back, seq).saturating_sub(1);
        let (seq, ack) = (segment.seq, if segment.flags.has(Flags::ACK) { segment.ack } else { Seq(0) });
        let mut resent = false;
        if !received && segment.seq_len() > 0 {
            let end = whole(seq) + u64::from(segment.seq_len());
            resent = whole(seq) < progress.sent_to;
            progress.sent_to = progress.sent_to.max(end);
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
        let Some(Some(progress)) = self.progress.get_mut(slot as usize) else { return };
        let Some(list) = &mut self.round_trips else { return };
        let ((samples, last), rto) = (sender.round_trips(), sender.rto());
        if samples != progress.samples || (rto != progress.rto && progress.samples > 0) {
            let rtt = (samples != progress.samples).then_some(last);
            list.push(Measured { at: now, flow, rtt, srtt: sender.srtt(), rto });
            (progress.samples, progress.rto) = (samples, rto);
        }
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.segments.as_ref().map_or(0, |l| l.len()) + self.round_trips.as_ref().map_or(0, |l| l.len())
    }

    /// Whether one was left away.
    pub fn is_full(&self) -> bool {
        self.segments.as_ref().is_some_and(List::is_full)
            || self.round_trips.as_ref().is_some_and(List::is_full)
    }

    /// The series as tables.
    pub fn tables(self, flows: &Arc<Vec<String>>) -> impl Iterator<Item = (Series, Table)> {
        let segments = self.segments.map(|list| (Series::Segments, segments::table(&list, flows)));
        let round_trips = self.round_trips.map(|list| (Series::Rtt, round_trips::table(&list, flows)));
        segments.into_iter().chain(round_trips)
    }
}
