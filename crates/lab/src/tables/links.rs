//! The tables of links, and of what stands before, in and behind their queues.

use std::sync::Arc;

use impairments::Counts;
use queues::diffserv::Seen;
use queues::schedulers::ClassCounters;
use units::Duration;

use crate::columns::{self, Definition as _};
use crate::record::{Column, Table, names_of};
use crate::run::Simulation;

impl Simulation<'_> {
    /// A row a link and direction.
    pub(super) fn link_table(&self, names: &Arc<Vec<String>>) -> Table {
        let n = self.network.links.len();
        let count = |get: &dyn Fn(usize) -> u64| Column::Count((0..n).map(get).collect());
        let ledger = |l: usize| self.network.links[l].counters();
        let signals = |l: usize| ledger(l).signals();
        let inside = |l: usize| &self.network.insides[l];
        let arrived = |l: usize| ledger(l).arrived - inside(l).to_come;
        let departed =
            |l: usize| ledger(l).arrived - signals(l).dropped - inside(l).to_come - inside(l).waiting;
        // Behind impairments: what left the wire.
        let delivered = |l: usize| match self.network.impaired.binary_search(&(l as u32)) {
            Ok(w) => self.network.wires[w].left().packets,
            Err(_) => ledger(l).delivered.packets + inside(l).beyond.packets,
        };
        let busy = |l: usize| Duration(ledger(l).work - inside(l).work).seconds();
        columns::Links {
            link: Column::Name((0..n as u32).collect(), names.clone()),
            arrived_packets: count(&|l| arrived(l).packets),
            arrived_bytes: count(&|l| arrived(l).bytes),
            dropped_packets: count(&|l| signals(l).dropped.packets),
            dropped_bytes: count(&|l| signals(l).dropped.bytes),
            dropped_full: count(&|l| signals(l).dropped_why[0]),
            dropped_early: count(&|l| signals(l).dropped_why[1]),
            dropped_threshold: count(&|l| signals(l).dropped_why[2]),
            marked_packets: count(&|l| signals(l).marked()),
            departed_packets: count(&|l| departed(l).packets),
            departed_bytes: count(&|l| departed(l).bytes),
            delivered_packets: count(&delivered),
            waiting_packets: count(&|l| inside(l).waiting.packets),
            busy_s: Column::Float((0..n).map(busy).collect()),
            utilization: Column::Float((0..n).map(|l| busy(l) / self.end.seconds().max(1e-12)).collect()),
        }
        .table()
    }

    /// A row a class of a scheduler, if there are any.
    pub(super) fn class_table(&self, names: &Arc<Vec<String>>) -> Option<Table> {
        let (mut links, mut places, mut seen) = (Vec::new(), Vec::new(), Vec::new());
        for (l, link) in self.network.links.iter().enumerate() {
            if let Some(classes) = link.queue().classes() {
                classes.each_class(&mut |place, account, waiting| {
                    links.push(l as u32);
                    places.push(place.to_string());
                    seen.push((*account, u64::from(waiting.packets)));
                });
            }
        }
        if seen.is_empty() {
            return None;
        }
        let count =
            |get: &dyn Fn(&ClassCounters) -> u64| Column::Count(seen.iter().map(|(a, _)| get(a)).collect());
        let table = columns::Classes {
            link: Column::Name(links, names.clone()),
            class: names_of(places.into_iter()),
            arrived_packets: count(&|a| a.arrived.packets),
            arrived_bytes: count(&|a| a.arrived.bytes),
            dropped_packets: count(&|a| a.dropped.packets),
            dropped_bytes: count(&|a| a.dropped.bytes),
            marked_packets: count(&|a| a.marked),
            departed_packets: count(&|a| a.departed.packets),
            departed_bytes: count(&|a| a.departed.bytes),
            waiting_packets: Column::Count(seen.iter().map(|(_, waiting)| *waiting).collect()),
        };
        Some(table.table())
    }

    /// A row an impairment.
    pub(super) fn impairment_table(&self, names: &Arc<Vec<String>>) -> Table {
        let (mut links, mut kinds, mut counts) = (Vec::new(), Vec::new(), Vec::new());
        for (wire, &l) in self.network.wires.iter().zip(&self.network.impaired) {
            for (impairment, count) in self.plan.links[l as usize].impairments().iter().zip(wire.counts()) {
                links.push(l);
                kinds.push(impairment.name().to_string());
                counts.push(*count);
            }
        }
        let count = |get: &dyn Fn(&Counts) -> u64| Column::Count(counts.iter().map(get).collect());
        columns::Impairments {
            link: Column::Name(links, names.clone()),
            kind: names_of(kinds.into_iter()),
            seen_packets: count(&|c| c.seen),
            lost_packets: count(&|c| c.lost),
            damaged_packets: count(&|c| c.damaged),
            doubled_packets: count(&|c| c.doubled),
            held_packets: count(&|c| c.held),
        }
        .table()
    }

    /// A row a colour of a rule of a conditioner, and one for what no rule took.
    pub(super) fn conditioner_table(&self, names: &Arc<Vec<String>>) -> Table {
        let (mut links, mut seen) = (Vec::new(), Vec::new());
        for (conditioner, l) in self.network.conditioners.iter().zip(self.plan.conditioned()) {
            seen.extend(conditioner.seen(self.plan.links[l as usize].condition()));
            links.resize(seen.len(), l);
        }
        let text = |get: &dyn Fn(&Seen) -> String| names_of(seen.iter().map(get));
        let count = |get: &dyn Fn(&Seen) -> u64| Column::Count(seen.iter().map(get).collect());
        columns::Conditioners {
            link: Column::Name(links, names.clone()),
            rule: text(&|s| s.of.map_or("none".into(), |(rule, _)| rule.to_string())),
            colour: text(&|s| s.of.map_or("none".into(), |(_, colour)| colour.name().into())),
            action: text(&|s| s.action.to_string()),
            arrived_packets: count(&|s| s.came.packets),
            arrived_bytes: count(&|s| s.came.bytes),
            dropped_packets: count(&|s| s.dropped().packets),
            dropped_bytes: count(&|s| s.dropped().bytes),
        }
        .table()
    }
}
