//! Construction of the endpoints, of the connection slots, of the flows that open connections
//! during the run, and of the flows of datagrams.

use std::collections::HashMap;

use engine::Stream;
use tcp::{Endpoint, Tcp};
use traffic::application::Side;
use traffic::opener::Progress;
use units::Time;

use super::built::BuiltNetwork;
use super::hops::{Hop, copy_with_end};
use super::offset::{offset, starts};
use super::plan::Plan;
use crate::arriving_flows::{ArrivingFlow, FlowTotals};
use crate::datagrams::Datagrams;
use crate::endpoints::Endpoints;
use crate::histogram::Histogram;
use crate::scenario::{Rows, Scenario};
use crate::slot::Slot;
use crate::totals::ConnectionTotals;

/// Copies of the routes of a plan. The copies differ from the original route only in the last hop.
struct RouteCopies<'a> {
    begins: &'a [u32],
    /// Index of the first hop of each copied route. The key is the index of the original route and
    /// the last hop of the copy.
    known: HashMap<(u32, Hop), u32>,
}

impl RouteCopies<'_> {
    /// Return the index of the first hop of a route. `route` is the index of the route, and `end`
    /// is the required last hop. If the last hop of the route differs from `end`, the first call
    /// copies the route and replaces the last hop of the copy.
    fn of(&mut self, route: u32, end: Hop, hops: &mut Vec<Hop>) -> u32 {
        let first = self.begins[route as usize];
        if end == Hop::END {
            return first;
        }
        *self.known.entry((route, end)).or_insert_with(|| copy_with_end(hops, end, first))
    }
}

/// Add each flow of the plan to the network. `begins` has the first hop of each route of the plan.
pub(super) fn add_flows(scenario: &Scenario, plan: &Plan, begins: &[u32], built: &mut BuiltNetwork) {
    let seed = scenario.seed;
    let single = |&f: &usize| plan.opener(f).is_none() && !plan.traffic(f).is_datagrams();
    let connections = (0..plan.flows()).filter(single).count();
    built.endpoints = Endpoints::with_capacity(connections);
    built.slots.reserve_exact(connections);
    let mut copies = RouteCopies { begins, known: HashMap::new() };
    for (f, flow) in plan.flows.iter().enumerate() {
        let name = plan.name(f);
        let table = &plan.tables[plan.table(f)];
        let start = starts(seed, plan.start_spread, table.start, &name);
        if let Some(emitter) = table.traffic.emitter(Stream::new(seed, &format!("flow/{name}/datagrams"))) {
            let first_hop = copies.of(flow[0], Hop::SINK, &mut built.hops);
            built.datagrams.push(Datagrams::new(f as u32, first_hop, Time::ZERO + start, emitter));
            continue;
        }
        let traced = &scenario.record.traced;
        let changes = scenario.record.series.iter().any(|series| series.needs().changes)
            && (traced.is_empty() || traced.contains(&name));
        let listens = [Side::Server, Side::Client].map(|side| plan.needs(f, side).events);
        let first_hop = [0, 1].map(|direction| {
            let end = if listens[direction] { Hop::LISTENER } else { Hop::END };
            copies.of(flow[direction], end, &mut built.hops)
        });
        let clock =
            |side: usize, tcp: &Tcp| offset(seed, &format!("flow/{name}/clock-{side}"), tcp.rto.granularity);
        let clocks = [clock(0, &table.sender), clock(1, &table.receiver)];
        if plan.opener(f).is_some() {
            // If the results have one row per `[[flows]]` table, all flows of a table share one
            // total.
            let together = scenario.record.flows == Rows::Table;
            let last = built
                .flow_totals
                .last()
                .filter(|last| together && plan.table(last.flow as usize) == plan.table(f));
            if last.is_none() {
                let reverse = plan.is_bidirectional(f).then(ConnectionTotals::default);
                built.flow_totals.push(FlowTotals {
                    flow: f as u32,
                    forward: ConnectionTotals::default(),
                    reverse,
                });
            }
            let arriving = ArrivingFlow {
                flow: f as u32,
                first_hop,
                dscp: table.dscp.0,
                hosts: [(table.sender.clone(), clocks[0]), (table.receiver.clone(), clocks[1])],
                progress: Progress::new(Time::ZERO + start),
                records_changes: changes,
                finished: false,
                totals: built.flow_totals.len() - 1,
                durations: Histogram::default(),
                completed_bytes: 0,
            };
            built.arriving_flows.push(arriving);
        } else {
            let ends = [(&table.sender, clocks[0]), (&table.receiver, clocks[1])];
            let mut ends = ends.map(|(tcp, clock)| Endpoint::new(tcp.clone(), clock));
            if scenario.record.series.iter().any(|series| series.needs().rates) {
                ends[0].measure_delivery_rate();
            }
            if changes {
                ends.iter_mut().for_each(Endpoint::record_cwnd_changes);
            }
            built.endpoints.push(ends);
            built.slots.push(Slot::new(f as u32, 0, first_hop, Time::ZERO + start, table.dscp.0));
        }
    }
}
