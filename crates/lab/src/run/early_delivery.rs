//! Early delivery of packets to endpoints whose simulation is ahead of the other endpoints
//! (`build/early_delivery.rs`). Early delivery stops at the horizon, which is the end of the run,
//! the end of the warm-up, or the next check of the counters. At the horizon, all endpoints have
//! reached the same simulated time.

use net::{End, InPipe, Packet};
use units::Time;

use super::{Simulation, Step};
use crate::failure::Failure;

impl Simulation<'_> {
    /// Deliver a packet early. The last link that queues or drops packets has admitted the packet,
    /// and the packet arrives at the endpoint at the time `arrives`. `hop` is the hop of the last
    /// link of the route. This link must be empty, and the endpoint must be able to [receive
    /// packets early](Connections::can_receive_early).
    #[inline(never)]
    pub(super) fn deliver_early(&mut self, arrives: Time, end: End, hop: u32, packet: &mut Packet) -> Step {
        packet.hop = hop;
        self.advance_and_deliver(arrives, end, packet)
    }

    /// Advance an endpoint to the arrival time of a packet. Before this time, timers of the
    /// endpoint may expire; process them in order, and then deliver the packet.
    #[inline(always)]
    fn advance_and_deliver(&mut self, arrives: Time, end: End, packet: &Packet) -> Step {
        self.latest_early_arrival = self.latest_early_arrival.max(arrives);
        loop {
            let due = self.connections.endpoints[end].deadline();
            if due >= arrives {
                return self.arrive(arrives, end, packet);
            }
            self.connections.endpoints[end].on_timer(due);
            self.pump(due, end)?;
        }
    }

    /// Check the counters at the horizon, where all endpoints have reached the same simulated time.
    /// Set the next horizon. The horizon is at most `limit`.
    #[cold]
    pub(super) fn audit(&mut self, limit: Time) -> Result<(), Failure> {
        self.end = self.horizon;
        self.check_times()?;
        if self.warming_up && self.horizon == self.next_horizon(limit) {
            self.end_warm_up()?;
        } else {
            self.check()?;
        }
        self.horizon = self.next_horizon(limit);
        for hop in 0..self.network.hops.len() {
            if self.network.hops[hop].delivers_early() {
                let [this, next] = self.hops_from(hop as u32);
                let last = if next.only_delays() { next.link() } else { this.link() };
                self.deliver_waiting(last).map_err(|v| *v)?;
            }
        }
        Ok(())
    }

    /// Deliver all packets that arrive up to the new horizon, from the pipe of the last link before
    /// an endpoint.
    fn deliver_waiting(&mut self, link: u32) -> Step {
        loop {
            let first = self.network.links[link as usize].pipe(&self.network.flight).next().copied();
            let end = |packet: &Packet| End::reached(packet.connection, packet.label.direction());
            let deliverable =
                |e: &InPipe| e.arrives <= self.horizon && self.connections.can_receive_early(end(&e.packet));
            let Some(InPipe { arrives, packet, .. }) = first.filter(deliverable) else { break };
            self.network.links[link as usize].deliver(arrives, &mut self.network.flight);
            if let Some(before) = self.network.links[link as usize].feeder() {
                self.network.links[before as usize].delivered_beyond(&packet);
            }
            self.advance_and_deliver(arrives, end(&packet), &packet)?;
        }
        self.events.set(self.lanes.link(link), self.network.links[link as usize].due());
        Ok(())
    }
}
