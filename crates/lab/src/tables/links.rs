//! The tables of links, and of what stands before, in and behind their queues.

use std::sync::Arc;

use impairments::Counts;
use queues::diffserv::Seen;
use queues::schedulers::ClassCounters;
use units::Duration;

use crate::baseline::LinkCounts;
use crate::columns::{self, Definition as _};
use crate::record::{Column, Table, names_of};
use crate::run::Simulation;

impl Simulation<'_> {
    /// Counts of each link since the run began.
    pub(crate) fn link_counts(&self) -> Vec<LinkCounts> {
        (0..self.network.links.len()).map(|l| self.counts_of_link(l)).collect()
    }

    fn counts_of_link(&self, l: usize) -> LinkCounts {
        let (counters, inside) = (self.network.links[l].counters(), &self.network.insides[l]);
        let signals = counters.signals();
        // Behind impairments: what left the wire.
        let delivered = match self.network.impaired.binary_search(&(l as u32)) {
            Ok(w) => self.network.wires[w].left().packets,
            Err(_) => counters.delivered.packets + inside.beyond.packets,
        };
        let [full, early, threshold, ..] = signals.dropped_why;
        LinkCounts {
            arrived: counters.arrived - inside.to_come,
            dropped: signals.dropped,
            dropped_why: [full, early, threshold],
            marked: signals.marked(),
            departed: counters.arrived - signals.dropped - inside.to_come - inside.waiting,
            delivered,
            busy: Duration(counters.work - inside.work),
        }
    }

    /// A row a link and direction.
    pub(super) fn link_table(&self, names: &Arc<Vec<String>>) -> Table {
        let n = self.network.links.len();
        let mut counts = self.link_counts();
        counts.iter_mut().zip(&self.baseline.links).for_each(|(all, before)| *all = all.since(before));
        let count = |get: &dyn Fn(&LinkCounts) -> u64| Column::Count(counts.iter().map(get).collect());
        let float = |get: &dyn Fn(&LinkCounts) -> f64| Column::Float(counts.iter().map(get).collect());
        let counted_s = self.end.since(self.begins()).seconds().max(1e-12);
        columns::Links {
            link: Column::Name((0..n as u32).collect(), names.clone()),
            arrived_packets: count(&|c| c.arrived.packets),
            arrived_bytes: count(&|c| c.arrived.bytes),
            dropped_packets: count(&|c| c.dropped.packets),
            dropped_bytes: count(&|c| c.dropped.bytes),
            dropped_full: count(&|c| c.dropped_why[0]),
            dropped_early: count(&|c| c.dropped_why[1]),
            dropped_threshold: count(&|c| c.dropped_why[2]),
            marked_packets: count(&|c| c.marked),
            departed_packets: count(&|c| c.departed.packets),
            departed_bytes: count(&|c| c.departed.bytes),
            delivered_packets: count(&|c| c.delivered),
            waiting_packets: Column::Count(self.network.insides.iter().map(|i| i.waiting.packets).collect()),
            busy_s: float(&|c| c.busy.seconds()),
            utilization: float(&|c| c.busy.seconds() / counted_s),
        }
        .table()
    }

    /// Each class of a scheduler: link, place, counts since the run began, and the packets that wait.
    pub(crate) fn class_counters(&self) -> Vec<(u32, String, ClassCounters, u64)> {
        let mut all = Vec::new();
        for (l, link) in self.network.links.iter().enumerate() {
            if let Some(classes) = link.queue().classes() {
                classes.each_class(&mut |class, counters, waiting| {
                    all.push((l as u32, class.to_string(), *counters, u64::from(waiting.packets)));
                });
            }
        }
        all
    }

    /// A row a class of a scheduler, if there are any.
    pub(super) fn class_table(&self, names: &Arc<Vec<String>>) -> Option<Table> {
        let (mut links, mut class_names, mut rows) = (Vec::new(), Vec::new(), Vec::new());
        for (l, class, counters, waiting) in self.class_counters() {
            let before = self.baseline.classes.get(rows.len());
            links.push(l);
            class_names.push(class);
            rows.push((before.map_or(counters, |before| counters.since(before)), waiting));
        }
        if rows.is_empty() {
            return None;
        }
        let count =
            |get: &dyn Fn(&ClassCounters) -> u64| Column::Count(rows.iter().map(|(a, _)| get(a)).collect());
        let table = columns::Classes {
            link: Column::Name(links, names.clone()),
            class: names_of(class_names.into_iter()),
            arrived_packets: count(&|a| a.arrived.packets),
            arrived_bytes: count(&|a| a.arrived.bytes),
            dropped_packets: count(&|a| a.dropped.packets),
            dropped_bytes: count(&|a| a.dropped.bytes),
            marked_packets: count(&|a| a.marked),
            departed_packets: count(&|a| a.departed.packets),
            departed_bytes: count(&|a| a.departed.bytes),
            waiting_packets: Column::Count(rows.iter().map(|(_, waiting)| *waiting).collect()),
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

    /// Each colour of a rule of a conditioner, and what no rule took, since the run began, with the link.
    pub(crate) fn conditioners_seen(&self) -> impl Iterator<Item = (u32, Seen)> {
        let conditioners = self.network.conditioners.iter().zip(self.plan.conditioned());
        conditioners.flat_map(|(conditioner, l)| {
            conditioner.seen(self.plan.links[l as usize].condition()).map(move |seen| (l, seen))
        })
    }

    /// A row a colour of a rule of a conditioner, and one for what no rule took.
    pub(super) fn conditioner_table(&self, names: &Arc<Vec<String>>) -> Table {
        let (links, mut seen): (Vec<u32>, Vec<Seen>) = self.conditioners_seen().unzip();
        let before = &self.baseline.conditioners;
        seen.iter_mut().zip(before).for_each(|(seen, before)| seen.came = seen.came - *before);
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
