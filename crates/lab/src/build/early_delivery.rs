//! Choice of the endpoints that can receive packets early. Early delivery means that the last link
//! that queues or drops packets delivers a packet to the endpoint in advance, with its arrival
//! time. The arrival of a packet that was delivered early needs no event.
//!
//! Early delivery is correct for an endpoint that is the only user of the links of its host. All
//! packets to the endpoint arrive over one link, in the order in which the link admitted them. The
//! packets from the endpoint share no link with other traffic until they have crossed the link of
//! the host. The simulation of the endpoint can therefore be ahead of the simulation of the other
//! endpoints. Early delivery also requires an application that is inactive after the opening of the
//! connection. The run must not record the state of endpoints, sample the queues of the links of
//! the endpoint's host, or capture packets. Series of drops, marks and queueing delays do not
//! prevent early delivery: a link reports its packets in the order of time, and the tables order
//! the rows of different links by time.

use super::built::BuiltNetwork;
use super::hops::Hop;
use super::plan::Plan;
use crate::scenario::Scenario;

/// Select the endpoints that can receive packets early. On the route to each of these endpoints,
/// mark the hop of the last link that queues or drops packets.
pub(super) fn find_early_delivery(scenario: &Scenario, plan: &Plan, built: &mut BuiltNetwork) {
    let record = &scenario.record;
    let mut needs = record.series.iter().map(|series| series.needs());
    if needs.clone().any(|needs| needs.reads_endpoints()) || !record.pcap.on.is_empty() {
        return;
    }
    let sampled = if needs.any(|needs| needs.queues) { plan.recorded(record) } else { Vec::new() };
    let users = users(built);
    let alone = |hop: Hop| {
        let link = hop.link() as usize;
        hop.is_link() && users.get(link) == Some(&1) && sampled.binary_search(&hop.link()).is_err()
    };
    for slot in &built.slots {
        if plan.application(slot.flow as usize).is_none_or(|a| a.has_state()) {
            continue;
        }
        for direction in [0, 1] {
            let (first, reverse) =
                (slot.first_hop[direction] as usize, slot.first_hop[1 - direction] as usize);
            let last = first + built.hops[first..].iter().take_while(|hop| !hop.is_last()).count() - 1;
            let decides = last - usize::from(built.hops[last].only_delays());
            // The link that delivers a packet early must not be the first link of the route.
            // Otherwise a packet and the reply to the packet could be delivered within one event.
            // With a link between the peer and the link that delivers early, each packet of the
            // peer causes an event before the packet is delivered.
            if decides > first && alone(built.hops[last]) && alone(built.hops[reverse]) {
                built.hops[decides].set_delivers_early();
            }
        }
    }
}

/// Return the number of routes that use each link. A flow has one route per direction.
fn users(built: &BuiltNetwork) -> Vec<u32> {
    let lasting = built.slots.iter().flat_map(|slot| slot.first_hop);
    let passing = built.arriving_flows.iter().flat_map(|source| source.first_hop.repeat(2));
    let datagrams = built.datagrams.iter().map(|(stream, _)| stream.first_hop);
    let mut users = vec![0; built.links.len()];
    for first in lasting.chain(passing).chain(datagrams) {
        let route = built.hops[first as usize..].iter().take_while(|&&hop| !hop.is_last());
        for hop in route.filter(|hop| hop.is_link()) {
            if let Some(users) = users.get_mut(hop.link() as usize) {
                *users += 1;
            }
        }
    }
    users
}
