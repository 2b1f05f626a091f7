//! The tables of a finished run.

use std::collections::HashMap;
use std::sync::Arc;

use units::{Duration, Time};

use crate::effort::Effort;
use crate::record::{Column, Outcome, Table};
use crate::run::Simulation;
use crate::scenario::Series;

/// `N` columns sampled at intervals.
#[derive(Debug)]
pub(crate) struct Samples<const N: usize> {
    time: Vec<f64>,
    of: Vec<u32>,
    values: [Vec<f64>; N],
}

impl<const N: usize> Default for Samples<N> {
    fn default() -> Self {
        Samples { time: Vec::new(), of: Vec::new(), values: std::array::from_fn(|_| Vec::new()) }
    }
}

impl<const N: usize> Samples<N> {
    #[inline]
    pub(crate) fn push(&mut self, now_s: f64, of: usize, values: [f64; N]) {
        self.time.push(now_s);
        self.of.push(of as u32);
        for (column, v) in self.values.iter_mut().zip(values) {
            column.push(v);
        }
    }

    fn table(
        self,
        name: &'static str,
        key: &'static str,
        names: &Arc<Vec<String>>,
        columns: [&'static str; N],
    ) -> Table {
        let mut all = vec![("time_s", Column::Float(self.time)), (key, Column::Name(self.of, names.clone()))];
        all.extend(columns.into_iter().zip(self.values.map(Column::Float)));
        Table { name, columns: all }
    }
}

/// A column of names, each kept once.
fn names_of(values: impl Iterator<Item = String>) -> Column {
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

impl Simulation<'_> {
    pub(crate) fn outcome(mut self, setup: Effort, running: Effort) -> Outcome {
        let flow_names = Arc::new((0..self.plan.flows()).map(|f| self.plan.name(f)).collect::<Vec<_>>());
        let link_names = Arc::new(self.plan.links.iter().map(|l| l.name()).collect::<Vec<_>>());
        let links = self.link_table(&link_names);
        drop(std::mem::take(&mut self.links)); // the tables take their room
        let mut tables = vec![self.flow_table(&flow_names), links];
        for series in &self.scenario.record.series {
            tables.extend(match series {
                Series::Queue => {
                    let columns = ["queue_packets", "queue_bytes", "average_packets", "transmitting"];
                    Some(std::mem::take(&mut self.queue).table("queue", "link", &link_names, columns))
                }
                Series::Window => {
                    let columns = ["cwnd_bytes", "ssthresh_bytes", "flight_bytes", "acked_bytes", "rto_s"];
                    Some(std::mem::take(&mut self.window).table("window", "flow", &flow_names, columns))
                }
                Series::Drops => {
                    self.fates.drops.as_ref().map(|d| d.table("drops", &link_names, &flow_names))
                }
                Series::Marks => {
                    self.fates.marks.as_ref().map(|d| d.table("marks", &link_names, &flow_names))
                }
            });
        }
        Outcome {
            tables,
            end: self.end,
            events: self.events.events(),
            ties: self.events.ties(),
            setup,
            running,
        }
    }

    fn flow_table(&self, names: &Arc<Vec<String>>) -> Table {
        let n = self.plan.flows();
        let text = |get: &dyn Fn(usize) -> String| names_of((0..n).map(get));
        let float = |get: &dyn Fn(usize) -> f64| Column::Float((0..n).map(get).collect());
        let count = |get: &dyn Fn(usize) -> u64| Column::Count((0..n).map(get).collect());
        let seconds = |t: Time| if t == Time::NEVER { f64::NAN } else { t.seconds() };
        let sender = |f: usize| &self.endpoints[2 * f];
        let receiver = |f: usize| &self.endpoints[2 * f + 1];
        let sent = |f: usize| sender(f).sender_stats();
        let got = |f: usize| receiver(f).receiver_stats();
        let start = |f: usize| self.starts[f].seconds();
        let goodput = |f: usize| {
            let (_, completed, _) = sender(f).milestones();
            let until = if completed == Time::NEVER { self.end } else { completed };
            let elapsed = until.seconds() - start(f);
            if elapsed > 0.0 { sender(f).acked() as f64 * 8.0 / elapsed } else { 0.0 }
        };
        let way = |f: usize, w: usize| self.fates.flows[f].ways[w];
        Table {
            name: "flows",
            columns: vec![
                ("flow", Column::Name((0..n as u32).collect(), names.clone())),
                ("from", text(&|f| self.plan.from(f))),
                ("to", text(&|f| self.plan.to(f))),
                ("start_s", float(&start)),
                ("established_s", float(&|f| seconds(sender(f).milestones().0))),
                ("completed_s", float(&|f| seconds(sender(f).milestones().1))),
                ("closed_s", float(&|f| seconds(sender(f).milestones().2))),
                ("acked_bytes", count(&|f| sender(f).acked())),
                ("goodput_bps", float(&goodput)),
                ("packets_sent", count(&|f| sender(f).sent().1)),
                ("segments_sent", count(&|f| sent(f).segments)),
                ("bytes_sent", count(&|f| sent(f).bytes)),
                ("retransmitted_segments", count(&|f| sent(f).retransmitted_segments)),
                ("retransmitted_bytes", count(&|f| sent(f).retransmitted_bytes)),
                ("timeouts", count(&|f| u64::from(sent(f).timeouts))),
                ("fast_retransmits", count(&|f| u64::from(sent(f).fast_retransmits))),
                ("ecn_reductions", count(&|f| u64::from(sent(f).ecn_cuts))),
                ("received_segments", count(&|f| got(f).segments)),
                ("received_bytes", count(&|f| got(f).bytes)),
                ("duplicate_segments", count(&|f| got(f).duplicate_segments)),
                ("duplicate_bytes", count(&|f| got(f).duplicate_bytes)),
                ("acks_sent", count(&|f| receiver(f).sent().0)),
                ("dropped_packets", count(&|f| u64::from(way(f, 0).dropped))),
                ("marked_packets", count(&|f| u64::from(way(f, 0).marked))),
                ("dropped_acks", count(&|f| u64::from(way(f, 1).dropped))),
                ("ecn", count(&|f| u64::from(sender(f).uses_ecn()))),
            ],
        }
    }

    fn link_table(&self, names: &Arc<Vec<String>>) -> Table {
        let n = self.links.len();
        let count = |get: &dyn Fn(usize) -> u64| Column::Count((0..n).map(get).collect());
        let ledger = |l: usize| self.links[l].ledger();
        let inside = |l: usize| &self.insides[l];
        let arrived = |l: usize| ledger(l).arrived - inside(l).to_come;
        let departed =
            |l: usize| ledger(l).arrived - ledger(l).dropped - inside(l).to_come - inside(l).waiting;
        let busy = |l: usize| Duration(ledger(l).work - inside(l).work).seconds();
        Table {
            name: "links",
            columns: vec![
                ("link", Column::Name((0..n as u32).collect(), names.clone())),
                ("arrived_packets", count(&|l| arrived(l).packets)),
                ("arrived_bytes", count(&|l| arrived(l).bytes)),
                ("dropped_packets", count(&|l| ledger(l).dropped.packets)),
                ("dropped_bytes", count(&|l| ledger(l).dropped.bytes)),
                ("dropped_full", count(&|l| ledger(l).dropped_why[0])),
                ("dropped_early", count(&|l| ledger(l).dropped_why[1])),
                ("dropped_threshold", count(&|l| ledger(l).dropped_why[2])),
                ("marked_packets", count(&|l| ledger(l).marked())),
                ("departed_packets", count(&|l| departed(l).packets)),
                ("departed_bytes", count(&|l| departed(l).bytes)),
                ("delivered_packets", count(&|l| ledger(l).delivered.packets + inside(l).beyond.packets)),
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
