//! Two optimizations of links. A link that only delays packets needs no event per packet, because
//! the previous link computes the time at which a packet arrives at the far end. If the queue of a
//! link cannot become longer than the limit of the queue, the link does not count the waiting
//! packets.

use super::built::BuiltNetwork;
use super::hops::Hop;
use super::plan::Plan;
use crate::scenario::Scenario;

/// Link that precedes a given link on all routes, if the routes agree.
#[derive(Clone, Copy, PartialEq)]
enum Previous {
    Nothing,
    Link(usize),
    Several,
}

/// Find the links that only delay packets, and mark the hops of these links.
pub(super) fn find_delay_links(scenario: &Scenario, plan: &Plan, built: &mut BuiltNetwork) {
    let mut before = vec![Previous::Nothing; built.links.len()];
    for hops in built.hops.chunk_by(|a, _| !a.is_end()) {
        let mut previous = Previous::Several; // An endpoint can send at any time.
        for hop in hops {
            if !hop.is_link() || hop.link() as usize >= built.links.len() {
                previous = Previous::Several; // Only the wire or conditioner knows its effect.
                continue;
            }
            let entry = &mut before[hop.link() as usize];
            *entry =
                if *entry == Previous::Nothing || *entry == previous { previous } else { Previous::Several };
            previous = Previous::Link(hop.link() as usize);
        }
    }
    let sizes = plan.tables.iter().flat_map(|t| [&t.sender, &t.receiver]).map(|tcp| {
        let (data, control) = (tcp.wire.data_header.0, tcp.wire.control_header.0);
        ((data + 1).min(control), (data + tcp.mss.0).max(control))
    });
    let datagrams = built.datagrams.iter().map(|(stream, _)| stream.sizes());
    let sizes = sizes.chain(datagrams.map(|(min, max)| (u64::from(min), u64::from(max))));
    let (min, max) = sizes.fold((u64::MAX, 0), |a, b| (a.0.min(b.0), a.1.max(b.1)));
    let (min, max) = (min.min(65_535) as u16, max.min(65_535) as u16);
    // A link with a sampled queue needs an event per packet, because a sample must contain only
    // packets that have already arrived at the queue.
    let mut sampled = vec![false; built.links.len()];
    if scenario.record.series.iter().any(|series| series.needs().queues) {
        plan.recorded(&scenario.record).iter().for_each(|&l| sampled[l as usize] = true);
    }
    // If a link only delays packets, the previous link must not be a link that only delays packets.
    let mut delays = vec![false; built.links.len()];
    let mut passes_on = vec![false; built.links.len()];
    for l in 0..built.links.len() {
        if let Previous::Link(b) = before[l]
            && !passes_on[l]
            && !delays[b]
            && !sampled[l]
            && built.links[l].only_delays(&built.links[b], min, max)
        {
            delays[l] = true;
            passes_on[b] = true;
            built.links[l].set_feeder(b as u32);
        }
    }
    for (l, link) in built.links.iter_mut().enumerate() {
        if !sampled[l] && !delays[l] && !passes_on[l] {
            link.leave_uncounted(min);
        }
    }
    let only_delays = |h: &Hop| h.is_link() && delays.get(h.link() as usize).is_some_and(|only| *only);
    for hop in built.hops.iter_mut().filter(|h| only_delays(h)) {
        hop.set_only_delays();
    }
}
