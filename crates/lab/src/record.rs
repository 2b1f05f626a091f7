//! What a run leaves: tables of columns.

use std::collections::HashMap;
use std::sync::Arc;

use impairments::Witness;
use net::{Fate, OptionStore, Packet, Probe, Why};
use units::Time;

use crate::columns;
use crate::effort::Effort;
use crate::slot::{Phase, Slot};
use crate::sum::Sum;
use crate::warnings::Warning;

/// One column.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Measurements; NaN: not there.
    Float(Vec<f64>),
    /// Counts.
    Count(Vec<u64>),
    /// Names, each an index into the list.
    Name(Vec<u32>, Arc<Vec<String>>),
}

/// A table: columns of equal length with their names.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// Its columns in order.
    pub columns: Vec<(&'static str, Column)>,
}

/// A column of names, each kept once.
pub fn names_of(values: impl Iterator<Item = String>) -> Column {
    let mut known: HashMap<String, u32> = HashMap::new();
    let mut names = Vec::new();
    let codes = values
        .map(|name| {
            *known.entry(name).or_insert_with_key(|name| {
                names.push(name.clone());
                names.len() as u32 - 1
            })
        })
        .collect();
    Column::Name(codes, Arc::new(names))
}

/// A finished run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The tables.
    pub tables: Vec<Table>,
    /// What may mislead.
    pub warnings: Vec<Warning>,
    /// Simulated time at the end.
    pub end: Time,
    /// Events taken.
    pub events: u64,
    /// Events that shared their instant with the one before.
    pub ties: u64,
    /// Cost of planning and building.
    pub setup: Effort,
    /// Cost of running and checking.
    pub running: Effort,
}

/// A drop or a mark.
#[derive(Clone, Copy, Debug)]
struct Incident {
    at: Time,
    link: u32,
    flow: u32,
    seq: u32,
    bytes: u16,
    why: Why,
}

/// Drops or marks as they happen.
#[derive(Debug, Default)]
pub struct Incidents {
    list: Vec<Incident>,
}

impl Incidents {
    /// As the columns of their table.
    pub fn columns(&self, links: &Arc<Vec<String>>, flows: &Arc<Vec<String>>) -> columns::Incidents {
        let reasons = Arc::new(Why::ALL.iter().map(|w| w.name().to_string()).collect::<Vec<_>>());
        let list = &self.list;
        columns::Incidents {
            time_s: Column::Float(list.iter().map(|i| i.at.seconds()).collect()),
            link: Column::Name(list.iter().map(|i| i.link).collect(), links.clone()),
            flow: Column::Name(list.iter().map(|i| i.flow).collect(), flows.clone()),
            // The SYN holds sequence number 0: data begins at 1.
            seq: Column::Count(list.iter().map(|i| u64::from(i.seq.saturating_sub(1))).collect()),
            bytes: Column::Count(list.iter().map(|i| u64::from(i.bytes)).collect()),
            reason: Column::Name(list.iter().map(|i| i.why.index() as u32).collect(), reasons),
        }
    }
}

/// A connection of a flow with arrivals.
#[derive(Clone, Copy, Debug)]
struct Transfer {
    flow: u32,
    start: Time,
    completed: Time,
    acked: u64,
    segments: u32,
    retransmitted: u32,
    timeouts: u32,
    dropped: u32,
    marked: u32,
}

/// Connections in the order in which they were over, then those that were not.
#[derive(Debug, Default)]
pub struct Transfers {
    list: Vec<Transfer>,
}

impl Transfers {
    /// Adds one.
    pub fn push(&mut self, flow: u32, sum: &Sum) {
        let counts = &sum.counts;
        let [_, completed, _] = sum.milestones;
        self.list.push(Transfer {
            flow,
            start: sum.start,
            completed,
            acked: counts.acked_bytes,
            segments: counts.segments_sent as u32,
            retransmitted: counts.retransmitted_segments as u32,
            timeouts: counts.timeouts as u32,
            dropped: counts.dropped_packets as u32,
            marked: counts.marked_packets as u32,
        });
    }

    /// As a table.
    pub fn table(&self, flows: &Arc<Vec<String>>) -> Table {
        let list = &self.list;
        let float = |get: &dyn Fn(&Transfer) -> f64| Column::Float(list.iter().map(get).collect());
        let count =
            |get: &dyn Fn(&Transfer) -> u32| Column::Count(list.iter().map(|t| u64::from(get(t))).collect());
        let duration = |t: &Transfer| match t.completed {
            Time::NEVER => f64::NAN,
            completed => completed.since(t.start).seconds(),
        };
        columns::Transfers {
            flow: Column::Name(list.iter().map(|t| t.flow).collect(), flows.clone()),
            start_s: float(&|t| t.start.seconds()),
            completed_s: float(&|t| seconds(t.completed)),
            duration_s: float(&duration),
            acked_bytes: Column::Count(list.iter().map(|t| t.acked).collect()),
            segments_sent: count(&|t| t.segments),
            retransmitted_segments: count(&|t| t.retransmitted),
            timeouts: count(&|t| t.timeouts),
            dropped_packets: count(&|t| t.dropped),
            marked_packets: count(&|t| t.marked),
        }
        .table()
    }
}

/// A time that may never have come, in seconds: then NaN.
pub fn seconds(time: Time) -> f64 {
    if time == Time::NEVER { f64::NAN } else { time.seconds() }
}

/// Enters fates in the ledgers of the connections, and in the series that were asked for.
#[derive(Debug)]
pub struct FateRecorder {
    /// Options of the packets in the network.
    pub options: OptionStore,
    /// The connections.
    pub slots: Vec<Slot>,
    /// Slots whose connection is closed and lost its last packet.
    pub over: Vec<u32>,
    /// Drops, if they are recorded.
    pub drops: Option<Incidents>,
    /// Marks, if they are recorded.
    pub marks: Option<Incidents>,
}

impl FateRecorder {
    /// The view of one link.
    #[inline]
    pub fn of(&mut self, link: u32) -> LinkProbe<'_> {
        LinkProbe { link, recorder: self }
    }
}

/// Sees the fates at one link.
#[derive(Debug)]
pub struct LinkProbe<'a> {
    link: u32,
    recorder: &'a mut FateRecorder,
}

impl Probe for LinkProbe<'_> {
    fn fate(&mut self, at: Time, fate: &Fate) {
        let r = &mut *self.recorder;
        let (packet, why, series) = match fate {
            Fate::Dropped(packet, why) => (packet, *why, &mut r.drops),
            Fate::Marked(packet, why) => (packet, *why, &mut r.marks),
        };
        let slot = &mut r.slots[packet.flow as usize];
        if let Some(series) = series {
            let s = &packet.segment;
            series.list.push(Incident {
                at,
                link: self.link,
                flow: slot.flow,
                seq: s.seq.0,
                bytes: s.len,
                why,
            });
        }
        match fate {
            Fate::Dropped(..) => {
                slot.ledger.dropped(packet.label.way());
                r.options.release(packet.options);
                if slot.phase == Phase::Closed && slot.ledger.is_settled() {
                    r.over.push(packet.flow);
                }
            }
            Fate::Marked(..) => slot.ledger.marked(packet.label.way()),
        }
    }
}

impl Witness for LinkProbe<'_> {
    fn copy(&mut self, packet: &Packet) -> Packet {
        let r = &mut *self.recorder;
        r.slots[packet.flow as usize].ledger.sent(packet.label.way());
        Packet { options: r.options.copy(packet.options), ..*packet }
    }
}
