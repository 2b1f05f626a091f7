//! Choice of the endpoints that can receive packets early. The last link that queues or drops a
//! packet delivers the packet to such an endpoint in advance, with its arrival time, so the arrival
//! needs no event.
//!
//! Early delivery is correct for an endpoint that is the only user of the links of its host. All
//! packets to this endpoint arrive over one link, in the order in which that link admitted them,
//! and the packets from this endpoint meet no other traffic before they have crossed the host's
//! link. The endpoint can therefore be simulated ahead of the others. Early delivery also requires
//! that the application is inactive after the opening of the connection, and that the run records
//! no series of the endpoint, no samples of its links, and no capture.

use super::built::BuiltNetwork;
use super::hops::Hop;
use super::plan::Plan;
use crate::scenario::Scenario;
use crate::series::Series;

/// Select the endpoints that can receive packets early, and mark, on the route to each of them, the
/// hop of the last link that queues or drops packets.
pub(super) fn find_early_delivery(scenario: &Scenario, plan: &Plan, built: &mut BuiltNetwork) {
    let record = &scenario.record;
    let unseen = |s: &Series| matches!(s, Series::Queue | Series::Transfers | Series::Requests);
    if !record.series.iter().all(unseen) || !record.pcap.on.is_empty() {
        return;
    }
    let sampled = |l: usize| {
        !record.series.is_empty() && (record.links.is_empty() || record.links.contains(&plan.links[l].name()))
    };
    let users = users(built);
    let alone = |hop: Hop| {
        let link = hop.link() as usize;
        hop.is_link() && users.get(link) == Some(&1) && !sampled(link)
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
            // Otherwise an endpoint could wait for a packet that it sends to itself. If another
            // link precedes the delivering link, each packet of the peer causes an event before
            // early delivery.
            if decides > first && alone(built.hops[last]) && alone(built.hops[reverse]) {
                built.hops[decides].set_delivers_early();
            }
        }
    }
}

/// Return, for each link, the number of routes of flows (one per direction of a flow) that use the
/// link.
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
