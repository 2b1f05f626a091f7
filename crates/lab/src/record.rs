//! What a run leaves: tables of columns.

use std::sync::Arc;

use net::{Fate, Probe, Why};
use units::Time;

use crate::check::FlowLedger;
use crate::effort::Effort;

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

/// A finished run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The tables.
    pub tables: Vec<Table>,
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
    /// As a table.
    pub fn table(&self, name: &'static str, links: &Arc<Vec<String>>, flows: &Arc<Vec<String>>) -> Table {
        let reasons = Arc::new(Why::ALL.iter().map(|w| w.name().to_string()).collect::<Vec<_>>());
        let list = &self.list;
        Table {
            name,
            columns: vec![
                ("time_s", Column::Float(list.iter().map(|i| i.at.seconds()).collect())),
                ("link", Column::Name(list.iter().map(|i| i.link).collect(), links.clone())),
                ("flow", Column::Name(list.iter().map(|i| i.flow).collect(), flows.clone())),
                // The SYN holds sequence number 0: data begins at 1.
                ("seq", Column::Count(list.iter().map(|i| u64::from(i.seq.saturating_sub(1))).collect())),
                ("bytes", Column::Count(list.iter().map(|i| u64::from(i.bytes)).collect())),
                ("reason", Column::Name(list.iter().map(|i| i.why.index() as u32).collect(), reasons)),
            ],
        }
    }
}

/// Enters fates in the ledgers of the flows, and in the series that were asked for.
#[derive(Debug)]
pub struct FateRecorder {
    /// The ledger of each flow.
    pub flows: Vec<FlowLedger>,
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
        if let Some(series) = series {
            let s = &packet.segment;
            series.list.push(Incident {
                at,
                link: self.link,
                flow: packet.flow,
                seq: s.seq.0,
                bytes: s.len,
                why,
            });
        }
        let tally = &mut r.flows[packet.flow as usize].ways[packet.label.way()];
        match fate {
            Fate::Dropped(..) => tally.dropped += 1,
            Fate::Marked(..) => tally.marked += 1,
        }
    }
}
