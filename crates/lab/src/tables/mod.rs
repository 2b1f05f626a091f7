//! Tables of a finished run.

mod flows;
mod links;
mod traffic;

use net::Direction;
use units::param::Json;

use crate::columns::{Definition, TABLES};
use crate::computing_time::ComputingTime;
use crate::record::{Outcome, Table};
use crate::run::Simulation;
use crate::scenario::Rows;
use crate::series::{Names, Series};

/// Return the definitions of all tables, by name: the description of the table, and the name, unit
/// and meaning of each column in order.
pub fn definitions() -> Json {
    let mut tables = serde_json::Map::new();
    let series_tables = Series::ALL.iter().map(|series| series.table());
    for table in TABLES.iter().copied().chain(series_tables) {
        let column = |[name, unit, meaning]: &[&str; 3]| serde_json::json!({ "name": name, "unit": unit, "meaning": meaning });
        let columns: Vec<Json> = table.columns.iter().map(column).collect();
        for name in table.names {
            tables.insert((*name).into(), serde_json::json!({ "about": table.about, "columns": columns }));
        }
    }
    tables.into()
}

impl Simulation<'_> {
    /// Return the result of the run. `setup` is the computing time of the plan and the network, and
    /// `running` is the computing time of the simulation.
    pub(crate) fn outcome(mut self, setup: ComputingTime, running: ComputingTime) -> Outcome {
        self.count_the_rest();
        let warnings = self.warnings();
        let record = &self.scenario.record;
        let rows = record.flows;
        let flow_names = || self.plan.flow_names();
        let names = Names::new(self.plan.link_names(), &flow_names, self.plan.table_names());
        let links = self.link_table(names.links());
        let classes = self.class_table(names.links());
        let (events, ties) = (self.events.events(), self.events.ties());
        let start_spread = self.plan.start_spread;
        // The tables below need no data of the network, so the memory of the network is freed
        // before they are built.
        drop(std::mem::take(&mut self.network.links));
        drop(std::mem::take(&mut self.network.flight));
        drop(std::mem::take(&mut self.events));
        let bidirectional = !self.connections.exchanges.flows.is_empty();
        let directions = if bidirectional { &Direction::BOTH[..] } else { &[Direction::Forward] };
        let by_direction: Vec<_> = directions
            .iter()
            .map(|&direction| match rows {
                Rows::Flow => (direction, self.rows_by_flow(direction)),
                Rows::Table => (direction, self.rows_by_table(direction)),
            })
            .collect();
        drop(std::mem::take(&mut self.connections.endpoints));
        let mut by_direction = by_direction.into_iter().map(|(direction, (indices, table))| {
            table.columns(match rows {
                Rows::Flow => self.names_by_flow(direction, indices, names.flows()),
                Rows::Table => self.names_by_table(direction, &indices),
            })
        });
        let mut tables: Vec<Table> = by_direction.next().map(Definition::table).into_iter().collect();
        tables.push(links);
        tables.extend(by_direction.next().map(|replies| replies.named("replies")));
        if bidirectional {
            tables.push(self.exchange_table(names.flows()));
        }
        if !self.connections.arriving_flows.is_empty() {
            tables.push(self.connection_table(names.flows()));
        }
        tables.extend(classes);
        if !self.network.conditioners.is_empty() {
            tables.push(self.conditioner_table(names.links()));
        }
        if !self.connections.datagrams.is_empty() {
            tables.push(self.datagram_table(names.flows()));
        }
        if !self.network.wires.is_empty() {
            tables.push(self.impairment_table(names.links()));
        }
        for &series in &record.series {
            tables.extend(self.connections.records.series.tables(series, &names));
        }
        tables.iter_mut().flat_map(|table| &mut table.columns).for_each(|(_, column)| column.canonicalize());
        let captures = Vec::new();
        Outcome { tables, captures, warnings, end: self.end, events, ties, start_spread, setup, running }
    }
}
