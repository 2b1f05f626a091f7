//! Which ends of connections are told ahead: a packet that the last link that decides anything admits is handed to
//! them at once, with the time when it arrives, and costs no event there.
//!
//! An end that is alone on the links of its host hears of the network by one way, on which packets arrive in the order in
//! which they were admitted, and what it sends meets nothing of others until it has crossed the host's link. So it can live
//! ahead of the others, in its own order of time. It is told when it is alone, when its application does nothing after
//! the opening, and when nobody looks at it meanwhile: no series of what it does, no sample of its links, no capture.

use super::built::BuiltNetwork;
use super::hops::Hop;
use super::plan::Plan;
use crate::scenario::Scenario;
use crate::series::Series;

/// Finds the ends that are told ahead, and says so on the routes to them.
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
            let (first, back) = (slot.first_hop[direction] as usize, slot.first_hop[1 - direction] as usize);
            let last = first + built.hops[first..].iter().take_while(|hop| !hop.is_last()).count() - 1;
            let decides = last - usize::from(built.hops[last].only_delays());
            // What the other end sends meets an event before that, so that no end waits for what it tells itself.
            if decides > first && alone(built.hops[last]) && alone(built.hops[back]) {
                built.hops[decides].set_delivers_early();
            }
        }
    }
}

/// How many flows, each way counted, use each link.
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
