//! The tables of a finished run.

mod flows;
mod links;
mod traffic;

use std::sync::Arc;

use net::Way;

use crate::columns;
use crate::effort::Effort;
use crate::record::{Outcome, Table};
use crate::run::Simulation;
use crate::scenario::{Rows, Series};

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
        drop(std::mem::take(&mut self.network.links));
        drop(std::mem::take(&mut self.network.flight));
        drop(std::mem::take(&mut self.events));
        let conversing = !self.connections.exchanges.flows.is_empty();
        let ways = if conversing { &Way::BOTH[..] } else { &[Way::There] };
        let sums: Vec<_> = ways
            .iter()
            .map(|&way| match rows {
                Rows::Flow => (way, self.sums_by_flow(way)),
                Rows::Table => (way, self.sums_by_table(way)),
            })
            .collect();
        drop(std::mem::take(&mut self.connections.endpoints));
        // Names of flows cost text: they are made if a table asks for them.
        let by_name = |s: &Series| !matches!(s, Series::Queue | Series::Delays | Series::Waits);
        let flow_names = if rows == Rows::Flow
            || wanted.series.iter().any(by_name)
            || !(self.connections.sources.is_empty() && self.connections.datagrams.is_empty())
            || conversing
        {
            Arc::new((0..self.plan.flows()).map(|f| self.plan.name(f)).collect::<Vec<_>>())
        } else {
            Arc::default()
        };
        let mut by_way = sums.into_iter().map(|(way, (of, sums))| {
            sums.columns(match rows {
                Rows::Flow => self.texts_by_flow(way, of, &flow_names),
                Rows::Table => self.texts_by_table(way, &of),
            })
        });
        let mut tables: Vec<Table> = by_way.next().map(columns::Flows::table).into_iter().collect();
        tables.push(links);
        tables.extend(by_way.next().map(|replies| replies.named("replies")));
        if conversing {
            tables.push(self.exchange_table(&flow_names));
        }
        if !self.connections.sources.is_empty() {
            tables.push(self.connection_table(&flow_names));
        }
        tables.extend(classes);
        if !self.network.conditioners.is_empty() {
            tables.push(self.conditioner_table(&link_names));
        }
        if !self.connections.datagrams.is_empty() {
            tables.push(self.datagram_table(&flow_names));
        }
        if !self.network.wires.is_empty() {
            tables.push(self.impairment_table(&link_names));
        }
        let (traces, delays) = self.observer.take().map_or((None, None), |o| (o.traces, o.delays));
        let mut traces: Vec<_> = traces.into_iter().flat_map(|t| t.tables(&flow_names)).collect();
        let lasting: Vec<u32> =
            self.connections.fates.slots[..self.connections.lasting].iter().map(|slot| slot.flow).collect();
        for series in &wanted.series {
            tables.extend(match series {
                Series::Queue => {
                    let sampled = self.sampled_links();
                    Some(std::mem::take(&mut self.queue).table(&sampled, &link_names))
                }
                Series::Delays => delays.as_ref().map(|d| d.table(&link_names)),
                Series::Waits => delays.as_ref().map(|d| d.waits(&link_names)),
                Series::Window => Some(std::mem::take(&mut self.window).table(&lasting, &flow_names)),
                Series::Drops => {
                    self.connections.fates.drops.as_ref().map(|d| d.columns(&link_names, &flow_names).table())
                }
                Series::Marks => self
                    .connections
                    .fates
                    .marks
                    .as_ref()
                    .map(|d| d.columns(&link_names, &flow_names).named("marks")),
                Series::Requests => {
                    self.connections.exchanges.requests.as_ref().map(|r| r.table(&flow_names))
                }
                Series::Transfers => self.transfers.as_ref().map(|t| t.table(&flow_names)),
                Series::Segments | Series::Rtt => {
                    traces.iter().position(|t| t.0 == *series).map(|i| traces.swap_remove(i).1)
                }
            });
        }
        Outcome { tables, warnings, end: self.end, events, ties, setup, running }
    }
}
