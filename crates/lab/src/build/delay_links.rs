//! Which links only delay what the link before them admits, so that a packet costs no event there; and which need not
//! count what waits, until it might be too much.

use super::built::BuiltNetwork;
use super::hops::Hop;
use super::plan::Plan;
use crate::scenario::Scenario;

/// What comes before a link on the routes.
#[derive(Clone, Copy, PartialEq)]
enum Previous {
    Nothing,
    Link(usize),
    Several,
}

/// Finds the links that only delay, and says so in the routes.
pub(super) fn find_delay_links(scenario: &Scenario, plan: &Plan, built: &mut BuiltNetwork) {
    let mut before = vec![Previous::Nothing; built.links.len()];
    for hops in built.hops.chunk_by(|a, _| !a.is_end()) {
        let mut previous = Previous::Several; // an endpoint sends whenever it likes
        for hop in hops {
            if !hop.is_link() || hop.link() as usize >= built.links.len() {
                previous = Previous::Several; // what a wire or a conditioner does is known to it alone
                continue;
            }
            let here = &mut before[hop.link() as usize];
            *here =
                if *here == Previous::Nothing || *here == previous { previous } else { Previous::Several };
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
    // A queue that is sampled is simulated: what is on its way to it is not in it yet.
    let mut sampled = vec![false; built.links.len()];
    if scenario.record.series.iter().any(|series| series.needs().queues) {
        plan.recorded(&scenario.record).iter().for_each(|&l| sampled[l as usize] = true);
    }
    // Only one hop is passed on at a time: what passes on is not passed on to.
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
