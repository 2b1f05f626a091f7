//! End of the warm-up. The counts at the end of the warm-up become a baseline, and the tables
//! contain the later counts minus the baseline. The run counts each event once, so the cost per
//! packet is the same during and after the warm-up.
//!
//! An event before the end of the warm-up is part of the warm-up. An event at the end of the
//! warm-up, or later, is not part of the warm-up. At the end of the warm-up, all endpoints have
//! reached the same simulated time (`early_delivery.rs`).

use std::collections::HashSet;

use net::Direction;
use units::param::Invalid;
use units::{Read, Time};

use super::Simulation;
use crate::arriving_flows::FlowTotals;
use crate::baseline::Baseline;
use crate::failure::Failure;
use crate::memory::{SMALL, ensure_available};
use crate::slot::Stage;
use crate::totals::{ConnectionTotals, Counts};

impl Simulation<'_> {
    /// Return the time at which the warm-up ends.
    pub(crate) fn begins(&self) -> Time {
        Time::ZERO + self.scenario.warm_up
    }

    /// Return the next horizon, the time at which all endpoints must have reached the same
    /// simulated time. `limit` is the end of the run.
    pub(super) fn next_horizon(&self, limit: Time) -> Time {
        if self.warming_up { limit.min(Time(self.begins().0 - 1)) } else { limit }
    }

    /// End the warm-up, and store the current counts as the baseline.
    pub(super) fn end_warm_up(&mut self) -> Result<(), Failure> {
        self.warming_up = false;
        self.end = self.begins();
        for (l, link) in self.network.links.iter_mut().enumerate() {
            link.catch_up(self.end, &mut self.network.flight, &mut self.connections.records.probe(l as u32));
        }
        self.release_drained();
        self.check()?;
        let rows = self.connections.single + self.connections.flow_totals.len();
        let bytes = (2 * size_of::<Counts>() * rows) as u64;
        if bytes >= SMALL {
            ensure_available(bytes, "the counts at the end of the warm-up")?;
        }
        self.baseline = Baseline {
            links: self.link_counts(),
            classes: self.class_counters().into_iter().map(|(_, _, counters, _)| counters).collect(),
            conditioners: self.conditioners_seen().map(|(_, seen)| seen.came).collect(),
            single: Direction::BOTH.map(|direction| self.single_counts(direction)),
            flow_totals: Direction::BOTH.map(|direction| self.arriving_counts(direction)),
            opened: self.connections.arriving_flows.iter().map(|s| u64::from(s.progress.opened)).collect(),
        };
        self.network.wires.iter_mut().for_each(impairments::Wire::forget_counts);
        self.forget_datagrams();
        Ok(())
    }

    /// Return the counts of the flows with a single connection, for data of the direction
    /// `direction`. The list is empty if no flow has data of this direction.
    fn single_counts(&self, direction: Direction) -> Vec<Counts> {
        if direction == Direction::Reverse && self.connections.exchanges.flows.is_empty() {
            return Vec::new();
        }
        (0..self.connections.single).map(|s| self.connections.totals_of(s, direction).counts).collect()
    }

    /// Return the totals of the flows that open connections during the run. The totals include the
    /// connections that are still open.
    fn arriving_counts(&self, direction: Direction) -> Vec<Counts> {
        let of = |totals: &FlowTotals| match direction {
            Direction::Forward => totals.forward,
            Direction::Reverse => totals.reverse.unwrap_or_default(),
        };
        let mut totals: Vec<ConnectionTotals> = self.connections.flow_totals.iter().map(of).collect();
        for s in self.connections.first_arriving_slot()..self.connections.records.slots.len() {
            let slot = &self.connections.records.slots[s];
            if slot.stage != Stage::Free {
                let arriving = &self.connections.arriving_flows[self.connections.arriving_flow_of(slot.flow)];
                totals[arriving.totals].add(&self.connections.totals_of(s, direction));
            }
        }
        totals.into_iter().map(|totals| totals.counts).collect()
    }

    /// Reset the counts of the flows of datagrams. If a datagram is in the network at the end of
    /// the warm-up, it is counted later, when it arrives or is lost.
    fn forget_datagrams(&mut self) {
        let (first, count) = (self.connections.single, self.connections.datagrams.len());
        if count == 0 {
            return;
        }
        let mut in_network = HashSet::new();
        self.network.each_inside(&mut |packet| {
            if (first..first + count).contains(&(packet.connection as usize)) {
                in_network.insert((packet.connection, packet.segment.seq.0));
            }
        });
        for (k, datagrams) in self.connections.datagrams.iter_mut().enumerate() {
            let of_this = in_network.iter().filter(|(s, _)| *s as usize == first + k);
            let missing = of_this.filter(|(_, number)| !datagrams.received.has(*number)).count();
            let dropped = self.connections.records.slots[first + k].counters.dropped[0];
            datagrams.end_warm_up(missing as u64, u64::from(dropped));
        }
    }

    /// Fail if the run ended before the end of the warm-up.
    pub(super) fn check_warm_up(&self) -> Result<(), Failure> {
        if !self.warming_up {
            return Ok(());
        }
        let problem = format!("is not shorter than the run, whose last connection closed at {}", self.end);
        Err(Invalid::new("warm_up", &self.scenario.warm_up.write(), problem)
            .remedy("shorten the warm-up, or set a duration")
            .into())
    }
}
