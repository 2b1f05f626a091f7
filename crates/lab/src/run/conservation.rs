//! Check of packet conservation: the counters of links and connections must agree with the packets
//! in the network.

use impairments::Wire;
use net::{Inside, Violation};
use units::Time;

use super::Simulation;
use crate::check;
use crate::failure::Failure;

impl Simulation<'_> {
    /// Return the name of the flow that uses the connection slot `s`, for the error about a
    /// violated invariant.
    pub(super) fn flow_label(&self, s: u32) -> String {
        format!("flow {}", self.plan.name(self.connections.records.slots[s as usize].flow as usize))
    }

    /// Return the error about a violated invariant.
    pub(super) fn violation(&self, at: Time, place: String, what: impl Into<String>) -> Violation {
        Violation { at, place, what: what.into() }
    }

    /// Compare the counters of all links and connections with the packets in the network.
    pub(super) fn check(&mut self) -> Result<(), Failure> {
        let now = self.end;
        let mut insides = std::mem::take(&mut self.network.insides);
        insides.clear();
        insides.resize(self.network.links.len(), Inside::default());
        for link in &self.network.links {
            for entry in link.pipe(&self.network.flight) {
                let p = &entry.packet;
                // For the check, the packet counts as arrived. After the check, the counters of
                // arrived packets return to their previous values.
                self.connections.records.slots[p.connection as usize].counters.arrived(p.label.direction());
                if let Some(before) = link.feeder() {
                    self.network.links[before as usize].locate(
                        entry,
                        true,
                        now,
                        &mut insides[before as usize],
                    );
                }
            }
        }
        for (link, inside) in self.network.links.iter().zip(&mut insides) {
            link.locate_all(&self.network.flight, now, inside);
            link.locate_stored(inside, |p| {
                self.connections.records.slots[p.connection as usize].counters.arrived(p.label.direction())
            });
        }
        for entry in self.network.wires.iter().flat_map(Wire::inside) {
            self.connections.records.slots[entry.packet.connection as usize]
                .counters
                .arrived(entry.packet.label.direction());
        }
        for (w, wire) in self.network.wires.iter().enumerate() {
            let place = || format!("wire {}", self.plan.links[self.network.impaired[w] as usize].name());
            wire.check().map_err(|what| self.violation(now, place(), what))?;
        }
        for (l, link) in self.network.links.iter_mut().enumerate() {
            let violation = |what| {
                let place = format!("link {}", self.plan.links[l].name());
                Failure::Violation(Violation { at: now, place, what })
            };
            link.counters().check(&insides[l], now).map_err(violation)?;
            check::check_classes(link.queue(), link.counters()).map_err(violation)?;
            let (waiting, counted) = (insides[l].waiting.packets, link.backlog(now).packets);
            if link.feeder().is_none() && link.counts() && u64::from(counted) != waiting {
                return Err(violation(format!(
                    "{waiting} packets wait in the queue, but the queue counts {counted} packets"
                )));
            }
        }
        for (s, slot) in self.connections.records.slots.iter().enumerate() {
            slot.counters.check().map_err(|what| self.violation(now, self.flow_label(s as u32), what))?;
        }
        self.network.each_inside(&mut |p| {
            self.connections.records.slots[p.connection as usize].counters.sent(p.label.direction());
        });
        for (conditioner, l) in self.network.conditioners.iter().zip(self.plan.conditioned()) {
            let place = || format!("conditioner of link {}", self.plan.links[l as usize].name());
            let arrived = self.network.links[l as usize].counters().arrived;
            conditioner.check(arrived).map_err(|what| self.violation(now, place(), what))?;
        }
        self.network.insides = insides;
        Ok(())
    }
}
