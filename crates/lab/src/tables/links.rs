//! Tables of links, and of their conditioners, classes and impairments.

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
    /// Return the counts of all links since the beginning of the run.
    pub(crate) fn link_counts(&self) -> Vec<LinkCounts> {
        (0..self.network.links.len()).map(|l| self.counts_of_link(l)).collect()
    }

    /// Return the counts of a link since the beginning of the run.
    fn counts_of_link(&self, l: usize) -> LinkCounts {
        let (counters, inside) = (self.network.links[l].counters(), &self.network.insides[l]);
        let signals = counters.signals();
        // A packet on a link with impairments is delivered when it leaves the wire.
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

    /// Return the table of links, with one row per link and direction.
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

    /// Return a list of all classes of schedulers. An entry has the index of the link, the index of
    /// the class, the counts since the beginning of the run, and the number of waiting packets.
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

    /// Return the table of classes, or `None` if no queue has classes.
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

    /// Return the table of impairments.
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

    /// Return a list of all colours of the rules of conditioners. An entry has the index of the
    /// link, and the counts since the beginning of the run. The packets that no rule matched also
    /// have an entry.
    pub(crate) fn conditioners_seen(&self) -> impl Iterator<Item = (u32, Seen)> {
        let conditioners = self.network.conditioners.iter().zip(self.plan.conditioned());
        conditioners.flat_map(|(conditioner, l)| {
            conditioner.seen(self.plan.links[l as usize].condition()).map(move |seen| (l, seen))
        })
    }

    /// Return the table of conditioners, with one row per colour of each rule, and one row for the
    /// packets that no rule matched.
    pub(super) fn conditioner_table(&self, names: &Arc<Vec<String>>) -> Table {
        let (links, mut seen): (Vec<u32>, Vec<Seen>) = self.conditioners_seen().unzip();
        let before = &self.baseline.conditioners;
        seen.iter_mut().zip(before).for_each(|(seen, before)| seen.came = seen.came - *before);
        let names_column = |get: &dyn Fn(&Seen) -> String| names_of(seen.iter().map(get));
        let count = |get: &dyn Fn(&Seen) -> u64| Column::Count(seen.iter().map(get).collect());
        columns::Conditioners {
            link: Column::Name(links, names.clone()),
            rule: names_column(&|s| s.of.map_or("none".into(), |(rule, _)| rule.to_string())),
            colour: names_column(&|s| s.of.map_or("none".into(), |(_, colour)| colour.name().into())),
            action: names_column(&|s| s.action.to_string()),
            arrived_packets: count(&|s| s.came.packets),
            arrived_bytes: count(&|s| s.came.bytes),
            dropped_packets: count(&|s| s.dropped().packets),
            dropped_bytes: count(&|s| s.dropped().bytes),
        }
        .table()
    }
}
