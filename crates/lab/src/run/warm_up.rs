//! The warm-up: at its end the counts so far become a baseline, which the tables subtract. So nothing is counted twice, and
//! a packet costs the same before and after.
//!
//! Events before that time belong to the warm-up, and events at that time or later do not. All endpoints have reached the same
//! time then (`ahead.rs`).

use std::collections::HashSet;

use net::Direction;
use units::param::Invalid;
use units::{Read, Time};

use super::Simulation;
use crate::baseline::Baseline;
use crate::failure::Failure;
use crate::memory::{SMALL, afford};
use crate::slot::Stage;
use crate::source::Account as Connections;
use crate::sum::{Counts, Sum};

impl Simulation<'_> {
    /// Time from which on the run counts.
    pub(crate) fn begins(&self) -> Time {
        Time::ZERO + self.scenario.warm_up
    }

    /// Return the next time at which all endpoints have to have reached the same time; `limit` is the end of the run.
    pub(super) fn next_horizon(&self, limit: Time) -> Time {
        if self.warming_up { limit.min(Time(self.begins().0 - 1)) } else { limit }
    }

    /// End the warm-up: take the counts so far as the baseline.
    pub(super) fn end_warm_up(&mut self) -> Result<(), Failure> {
        self.warming_up = false;
        self.end = self.begins();
        for (l, link) in self.network.links.iter_mut().enumerate() {
            link.catch_up(self.end, &mut self.network.flight, &mut self.connections.fates.of(l as u32));
        }
        self.release_over();
        self.check()?;
        let sums = self.connections.lasting + self.connections.accounts.len();
        let bytes = (2 * size_of::<Counts>() * sums) as u64;
        if bytes >= SMALL {
            afford(bytes, "the counts at the end of the warm-up")?;
        }
        self.baseline = Baseline {
            links: self.link_counts(),
            classes: self.class_accounts().into_iter().map(|(_, _, account, _)| account).collect(),
            conditioners: self.conditioners_seen().map(|(_, seen)| seen.came).collect(),
            lasting: Direction::BOTH.map(|way| self.lasting_counts(way)),
            accounts: Direction::BOTH.map(|way| self.account_counts(way)),
            opened: self.connections.sources.iter().map(|s| u64::from(s.progress.opened)).collect(),
        };
        self.network.wires.iter_mut().for_each(impairments::Wire::forget_counts);
        self.forget_datagrams();
        Ok(())
    }

    /// Counts of the flows that are one connection, of data that goes this way; empty if none does.
    fn lasting_counts(&self, way: Direction) -> Vec<Counts> {
        if way == Direction::Reverse && self.connections.exchanges.flows.is_empty() {
            return Vec::new();
        }
        (0..self.connections.lasting).map(|s| self.connections.sum(s, way).counts).collect()
    }

    /// Counts of the connections of each account, those that are not over among them.
    fn account_counts(&self, way: Direction) -> Vec<Counts> {
        let of = |account: &Connections| match way {
            Direction::Forward => account.sum,
            Direction::Reverse => account.replies.unwrap_or_default(),
        };
        let mut sums: Vec<Sum> = self.connections.accounts.iter().map(of).collect();
        for s in self.connections.first_passing()..self.connections.fates.slots.len() {
            let slot = &self.connections.fates.slots[s];
            if slot.stage != Stage::Free {
                let source = &self.connections.sources[self.connections.source_of(slot.flow)];
                sums[source.account].add(&self.connections.sum(s, way));
            }
        }
        sums.into_iter().map(|sum| sum.counts).collect()
    }

    /// Begin again to count the datagrams; those in the network count when they arrive, or are lost.
    fn forget_datagrams(&mut self) {
        let (first, count) = (self.connections.lasting, self.connections.datagrams.len());
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
            let dropped = self.connections.fates.slots[first + k].ledger.dropped[0];
            datagrams.end_warm_up(missing as u64, u64::from(dropped));
        }
    }

    /// Fail if the run was over before the warm-up.
    pub(super) fn check_warm_up(&self) -> Result<(), Failure> {
        if !self.warming_up {
            return Ok(());
        }
        let problem = format!("leaves nothing of the run, whose last connection closed at {}", self.end);
        Err(Invalid::new("warm_up", &self.scenario.warm_up.write(), problem)
            .remedy("shorten it, or set a duration")
            .into())
    }
}
