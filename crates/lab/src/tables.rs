//! The tables of a finished run.

use std::sync::Arc;

use impairments::Counts;
use queues::diffserv::Seen;
use queues::schedulers::Account;
use units::{Duration, Time};

use crate::effort::Effort;
use crate::record::{Column, Outcome, Table, names_of, seconds};
use crate::run::Simulation;
use crate::scenario::{Rows, Series};
use crate::source::Source;
use crate::stream::Stream;
use crate::sum::{COUNTS, Sum};

/// A column of counts as it grows: most are small, and of the others the few are kept apart, since the endpoints still
/// need their room.
struct Growing {
    small: Vec<u32>,
    large: Vec<(usize, u64)>,
}

impl Growing {
    fn new(rows: usize) -> Self {
        Growing { small: Vec::with_capacity(rows), large: Vec::new() }
    }

    fn push(&mut self, count: u64) {
        let small = u32::try_from(count).unwrap_or_else(|_| {
            self.large.push((self.small.len(), count));
            0
        });
        self.small.push(small);
    }

    fn column(self) -> Column {
        let mut counts: Vec<u64> = self.small.into_iter().map(u64::from).collect();
        self.large.into_iter().for_each(|(row, count)| counts[row] = count);
        Column::Count(counts)
    }
}

/// The table of flows as it grows, row by row.
struct FlowTable {
    times: [Vec<f64>; 4],
    acked: Growing,
    goodput: Vec<f64>,
    counts: [Growing; COUNTS.len() - 1],
}

/// Columns of the times of a row.
const TIMES: [&str; 4] = ["start_s", "established_s", "completed_s", "closed_s"];

impl FlowTable {
    fn new(rows: usize) -> Self {
        FlowTable {
            times: std::array::from_fn(|_| Vec::with_capacity(rows)),
            acked: Growing::new(rows),
            goodput: Vec::with_capacity(rows),
            counts: std::array::from_fn(|_| Growing::new(rows)),
        }
    }

    fn push(&mut self, sum: &Sum, end: Time) {
        let times = [sum.start, sum.reached(0), sum.reached(1), sum.reached(2)];
        for (column, time) in self.times.iter_mut().zip(times) {
            column.push(seconds(time));
        }
        self.acked.push(sum.counts[0]);
        self.goodput.push(sum.goodput_bps(end));
        for (column, &count) in self.counts.iter_mut().zip(&sum.counts[1..]) {
            column.push(count);
        }
    }

    fn table(self, texts: [Column; 3]) -> Table {
        let mut columns: Vec<_> = ["flow", "from", "to"].into_iter().zip(texts).collect();
        columns.extend(TIMES.into_iter().zip(self.times.map(Column::Float)));
        columns.push((COUNTS[0], self.acked.column()));
        columns.push(("goodput_bps", Column::Float(self.goodput)));
        columns.extend(COUNTS.into_iter().skip(1).zip(self.counts.map(Growing::column)));
        Table { name: "flows", columns }
    }
}

impl Simulation<'_> {
    pub(crate) fn outcome(mut self, setup: Effort, running: Effort) -> Outcome {
        self.count_the_rest();
        let warnings = self.warnings();
        let wanted = &self.scenario.record;
        let rows = wanted.flows;
        let link_names = Arc::new(self.plan.links.iter().map(|l| l.name()).collect::<Vec<_>>());
        let links = self.link_table(&link_names);
        let classes = self.class_table(&link_names);
        let (events, ties) = (self.events.events(), self.events.ties());
        // The tables take the room of what they no longer need.
        drop(std::mem::take(&mut self.links));
        drop(std::mem::take(&mut self.flight));
        drop(std::mem::take(&mut self.events));
        let (of, sums) = match rows {
            Rows::Flow => self.sums_by_flow(),
            Rows::Table => self.sums_by_table(),
        };
        drop(std::mem::take(&mut self.endpoints));
        // Names of flows cost text: they are made if a table asks for them.
        let by_name = |s: &Series| !matches!(s, Series::Queue | Series::Delays | Series::Waits);
        let flow_names = if rows == Rows::Flow
            || wanted.series.iter().any(by_name)
            || !(self.sources.is_empty() && self.streams.is_empty())
        {
            Arc::new((0..self.plan.flows()).map(|f| self.plan.name(f)).collect::<Vec<_>>())
        } else {
            Arc::default()
        };
        let texts = match rows {
            Rows::Flow => self.texts_by_flow(of, &flow_names),
            Rows::Table => self.texts_by_table(&of),
        };
        let flows = sums.table(texts);
        let mut tables = vec![flows, links];
        if !self.sources.is_empty() {
            tables.push(self.connection_table(&flow_names));
        }
        tables.extend(classes);
        if !self.conditioners.is_empty() {
            tables.push(self.conditioner_table(&link_names));
        }
        if !self.streams.is_empty() {
            tables.push(self.datagram_table(&flow_names));
        }
        if !self.wires.is_empty() {
            tables.push(self.impairment_table(&link_names));
        }
        let (traces, delays) = self.observer.take().map_or((None, None), |o| (o.traces, o.delays));
        let mut traces: Vec<_> = traces.into_iter().flat_map(|t| t.tables(&flow_names)).collect();
        let lasting: Vec<u32> = self.fates.slots[..self.lasting].iter().map(|slot| slot.flow).collect();
        for series in &wanted.series {
            tables.extend(match series {
                Series::Queue => {
                    let sampled = self.sampled_links();
                    Some(std::mem::take(&mut self.queue).table("queue", "link", &sampled, &link_names))
                }
                Series::Delays => delays.as_ref().map(|d| d.table(&link_names)),
                Series::Waits => delays.as_ref().map(|d| d.waits(&link_names)),
                Series::Window => {
                    Some(std::mem::take(&mut self.window).table("window", "flow", &lasting, &flow_names))
                }
                Series::Drops => {
                    self.fates.drops.as_ref().map(|d| d.table("drops", &link_names, &flow_names))
                }
                Series::Marks => {
                    self.fates.marks.as_ref().map(|d| d.table("marks", &link_names, &flow_names))
                }
                Series::Transfers => self.transfers.as_ref().map(|t| t.table(&flow_names)),
                Series::Segments | Series::Rtt => {
                    traces.iter().position(|t| t.0 == *series).map(|i| traces.swap_remove(i).1)
                }
            });
        }
        Outcome { tables, warnings, end: self.end, events, ties, setup, running }
    }

    /// Each flow with its sum: that of its connection, or of all its connections.
    fn each_flow(&self, mut tell: impl FnMut(usize, &Sum)) {
        let (mut slot, mut source) = (0, 0);
        for f in 0..self.plan.flows() {
            if self.plan.traffic(f).is_datagrams() {
                continue;
            }
            if self.plan.arrivals(f).is_some() {
                tell(f, &self.sources[source].sum);
                source += 1;
            } else {
                tell(f, &self.sum(slot));
                slot += 1;
            }
        }
    }

    /// A row a flow of TCP, and which.
    fn sums_by_flow(&self) -> (Vec<u32>, FlowTable) {
        let is_tcp = |f: &u32| !self.plan.traffic(*f as usize).is_datagrams();
        let flows: Vec<u32> = (0..self.plan.flows() as u32).filter(is_tcp).collect();
        let mut table = FlowTable::new(flows.len());
        self.each_flow(|_, sum| table.push(sum, self.end));
        (flows, table)
    }

    /// What each of these flows is called, and between whom it is.
    fn texts_by_flow(&self, flows: Vec<u32>, names: &Arc<Vec<String>>) -> [Column; 3] {
        let text = |get: &dyn Fn(usize) -> String| names_of(flows.iter().map(|&f| get(f as usize)));
        let (from, to) = (text(&|f| self.plan.from(f)), text(&|f| self.plan.to(f)));
        [Column::Name(flows, names.clone()), from, to]
    }

    /// A row a table of the scenario, of TCP, and which.
    fn sums_by_table(&self) -> (Vec<u32>, FlowTable) {
        let mut sums = vec![None; self.plan.tables()];
        self.each_flow(|f, sum| sums[self.plan.table(f)].get_or_insert_with(Sum::default).add(sum));
        let tables: Vec<u32> = (0..sums.len() as u32).filter(|&t| sums[t as usize].is_some()).collect();
        let mut table = FlowTable::new(tables.len());
        sums.iter().flatten().for_each(|sum| table.push(sum, self.end));
        (tables, table)
    }

    /// What the scenario says of each of these tables of flows.
    fn texts_by_table(&self, tables: &[u32]) -> [Column; 3] {
        let texts = |t: u32| self.plan.texts(t as usize);
        [0, 1, 2].map(|text| names_of(tables.iter().map(|&t| texts(t)[text].to_string())))
    }

    /// A row a flow of datagrams.
    fn datagram_table(&self, names: &Arc<Vec<String>>) -> Table {
        let streams = &self.streams;
        let dropped = |k: usize| self.fates.slots[self.lasting + k].ledger.dropped[0];
        let text = |get: &dyn Fn(usize) -> String| names_of(streams.iter().map(|s| get(s.flow as usize)));
        let float = |get: &dyn Fn(&Stream) -> f64| Column::Float(streams.iter().map(get).collect());
        let count = |get: &dyn Fn(&Stream) -> u64| Column::Count(streams.iter().map(get).collect());
        let arrived = |s: &Stream| s.received.all.packets - s.received.copies;
        let jitter = |s: &Stream| match s.received.delays.count() {
            0 | 1 => f64::NAN,
            _ => s.received.jitter * 1e-12,
        };
        let lasted = |s: &Stream| self.end.since(s.start).seconds();
        let goodput =
            |s: &Stream| if lasted(s) > 0.0 { s.received.payload as f64 * 8.0 / lasted(s) } else { 0.0 };
        Table {
            name: "datagrams",
            columns: vec![
                ("flow", Column::Name(streams.iter().map(|s| s.flow).collect(), names.clone())),
                ("from", text(&|f| self.plan.from(f))),
                ("to", text(&|f| self.plan.to(f))),
                ("start_s", float(&|s| seconds(s.start))),
                ("sent_packets", count(&|s| s.sent.packets)),
                ("sent_bytes", count(&|s| s.sent.bytes)),
                ("received_packets", count(&arrived)),
                ("received_bytes", count(&|s| s.received.payload)),
                ("goodput_bps", float(&goodput)),
                ("lost_packets", count(&|s| s.sent.packets - arrived(s))),
                (
                    "dropped_packets",
                    Column::Count((0..streams.len()).map(|k| u64::from(dropped(k))).collect()),
                ),
                ("marked_packets", count(&|s| s.received.marked)),
                ("duplicate_packets", count(&|s| s.received.copies)),
                ("reordered_packets", count(&|s| s.received.reordered)),
                ("mean_delay_s", float(&|s| s.received.delays.mean_s())),
                ("least_delay_s", float(&|s| s.received.delays.shortest_s())),
                ("median_delay_s", float(&|s| s.received.delays.percentile_s(0.5))),
                ("p99_delay_s", float(&|s| s.received.delays.percentile_s(0.99))),
                ("longest_delay_s", float(&|s| s.received.delays.longest_s())),
                ("jitter_s", float(&jitter)),
            ],
        }
    }

    /// A row a flow with arrivals.
    fn connection_table(&self, names: &Arc<Vec<String>>) -> Table {
        let sources = &self.sources;
        let float = |get: &dyn Fn(&Source) -> f64| Column::Float(sources.iter().map(get).collect());
        let count = |get: &dyn Fn(&Source) -> u64| Column::Count(sources.iter().map(get).collect());
        Table {
            name: "connections",
            columns: vec![
                ("flow", Column::Name(sources.iter().map(|s| s.flow).collect(), names.clone())),
                ("opened", count(&|s| u64::from(s.opened))),
                ("completed", count(&|s| s.durations.count())),
                ("completed_bytes", count(&|s| s.completed_bytes)),
                ("mean_duration_s", float(&|s| s.durations.mean_s())),
                ("median_duration_s", float(&|s| s.durations.percentile_s(0.5))),
                ("p90_duration_s", float(&|s| s.durations.percentile_s(0.9))),
                ("p99_duration_s", float(&|s| s.durations.percentile_s(0.99))),
                ("longest_duration_s", float(&|s| s.durations.longest_s())),
            ],
        }
    }

    /// A row a colour of a rule of a conditioner, and one for what no rule took.
    fn conditioner_table(&self, names: &Arc<Vec<String>>) -> Table {
        let (mut links, mut seen) = (Vec::new(), Vec::new());
        for (conditioner, l) in self.conditioners.iter().zip(self.plan.conditioned()) {
            seen.extend(conditioner.seen(self.plan.links[l as usize].condition()));
            links.resize(seen.len(), l);
        }
        let text = |get: &dyn Fn(&Seen) -> String| names_of(seen.iter().map(get));
        let count = |get: &dyn Fn(&Seen) -> u64| Column::Count(seen.iter().map(get).collect());
        Table {
            name: "conditioners",
            columns: vec![
                ("link", Column::Name(links, names.clone())),
                ("rule", text(&|s| s.of.map_or("none".into(), |(rule, _)| rule.to_string()))),
                ("colour", text(&|s| s.of.map_or("none".into(), |(_, colour)| colour.name().into()))),
                ("action", text(&|s| s.action.to_string())),
                ("arrived_packets", count(&|s| s.came.packets)),
                ("arrived_bytes", count(&|s| s.came.bytes)),
                ("dropped_packets", count(&|s| s.dropped().packets)),
                ("dropped_bytes", count(&|s| s.dropped().bytes)),
            ],
        }
    }

    /// A row an impairment.
    fn impairment_table(&self, names: &Arc<Vec<String>>) -> Table {
        let (mut links, mut kinds, mut counts) = (Vec::new(), Vec::new(), Vec::new());
        for (wire, &l) in self.wires.iter().zip(&self.impaired) {
            for (impairment, count) in self.plan.links[l as usize].impairments().iter().zip(wire.counts()) {
                links.push(l);
                kinds.push(impairment.name().to_string());
                counts.push(*count);
            }
        }
        let count = |get: &dyn Fn(&Counts) -> u64| Column::Count(counts.iter().map(get).collect());
        Table {
            name: "impairments",
            columns: vec![
                ("link", Column::Name(links, names.clone())),
                ("kind", names_of(kinds.into_iter())),
                ("seen_packets", count(&|c| c.seen)),
                ("lost_packets", count(&|c| c.lost)),
                ("damaged_packets", count(&|c| c.damaged)),
                ("doubled_packets", count(&|c| c.doubled)),
                ("held_packets", count(&|c| c.held)),
            ],
        }
    }

    /// A row a class of a scheduler, if there are any.
    fn class_table(&self, names: &Arc<Vec<String>>) -> Option<Table> {
        let (mut links, mut places, mut seen) = (Vec::new(), Vec::new(), Vec::new());
        for (l, link) in self.links.iter().enumerate() {
            if let Some(classes) = link.queue().classes() {
                classes.each_account(&mut |place, account, waiting| {
                    links.push(l as u32);
                    places.push(place.to_string());
                    seen.push((*account, u64::from(waiting.packets)));
                });
            }
        }
        if seen.is_empty() {
            return None;
        }
        let count = |get: &dyn Fn(&Account) -> u64| Column::Count(seen.iter().map(|(a, _)| get(a)).collect());
        let columns = vec![
            ("link", Column::Name(links, names.clone())),
            ("class", names_of(places.into_iter())),
            ("arrived_packets", count(&|a| a.arrived.packets)),
            ("arrived_bytes", count(&|a| a.arrived.bytes)),
            ("dropped_packets", count(&|a| a.dropped.packets)),
            ("dropped_bytes", count(&|a| a.dropped.bytes)),
            ("marked_packets", count(&|a| a.marked)),
            ("departed_packets", count(&|a| a.departed.packets)),
            ("departed_bytes", count(&|a| a.departed.bytes)),
            ("waiting_packets", Column::Count(seen.iter().map(|(_, waiting)| *waiting).collect())),
        ];
        Some(Table { name: "classes", columns })
    }

    fn link_table(&self, names: &Arc<Vec<String>>) -> Table {
        let n = self.links.len();
        let count = |get: &dyn Fn(usize) -> u64| Column::Count((0..n).map(get).collect());
        let ledger = |l: usize| self.links[l].ledger();
        let rare = |l: usize| ledger(l).rare();
        let inside = |l: usize| &self.insides[l];
        let arrived = |l: usize| ledger(l).arrived - inside(l).to_come;
        let departed = |l: usize| ledger(l).arrived - rare(l).dropped - inside(l).to_come - inside(l).waiting;
        // Behind impairments: what left the wire.
        let delivered = |l: usize| match self.impaired.binary_search(&(l as u32)) {
            Ok(w) => self.wires[w].left().packets,
            Err(_) => ledger(l).delivered.packets + inside(l).beyond.packets,
        };
        let busy = |l: usize| Duration(ledger(l).work - inside(l).work).seconds();
        Table {
            name: "links",
            columns: vec![
                ("link", Column::Name((0..n as u32).collect(), names.clone())),
                ("arrived_packets", count(&|l| arrived(l).packets)),
                ("arrived_bytes", count(&|l| arrived(l).bytes)),
                ("dropped_packets", count(&|l| rare(l).dropped.packets)),
                ("dropped_bytes", count(&|l| rare(l).dropped.bytes)),
                ("dropped_full", count(&|l| rare(l).dropped_why[0])),
                ("dropped_early", count(&|l| rare(l).dropped_why[1])),
                ("dropped_threshold", count(&|l| rare(l).dropped_why[2])),
                ("marked_packets", count(&|l| rare(l).marked())),
                ("departed_packets", count(&|l| departed(l).packets)),
                ("departed_bytes", count(&|l| departed(l).bytes)),
                ("delivered_packets", count(&delivered)),
                ("waiting_packets", count(&|l| inside(l).waiting.packets)),
                ("busy_s", Column::Float((0..n).map(busy).collect())),
                (
                    "utilization",
                    Column::Float((0..n).map(|l| busy(l) / self.end.seconds().max(1e-12)).collect()),
                ),
            ],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_counts_are_kept_whole() {
        let values = [3, u64::from(u32::MAX), u64::from(u32::MAX) + 1, 0, u64::MAX];
        let mut counts = Growing::new(values.len());
        values.iter().for_each(|&count| counts.push(count));
        assert!(matches!(counts.column(), Column::Count(column) if column == values));
    }
}
