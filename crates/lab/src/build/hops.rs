//! Routes as lists of hops, which packets follow during a run.

use super::plan::Plan;

/// Hop of a route: a link, the conditioner before a link, the wire that applies the impairments of
/// a link, or the last hop, which marks the end of the route. Conditioners have hop numbers above
/// the hop numbers of all links.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Hop(u32);

impl Hop {
    /// Last hop of a TCP route to an endpoint whose application receives no events.
    pub const END: Hop = Hop(u32::MAX);
    /// Bits that are set in the hop of a link that delivers packets early to an endpoint.
    const DELIVERS_EARLY: u32 = 0b01 << 30;
    /// Bits of a hop number that are set if the hop is a link that only delays packets.
    const DELAYS: u32 = 0b10 << 30;
    /// Bit that is set in the hop of a link if the run observes the packets on this link.
    const OBSERVED: u32 = 1 << 29;
    /// Last hop of a route of datagrams, which have no TCP endpoint.
    pub const SINK: Hop = Hop(u32::MAX - 1);
    /// Last hop of a TCP route to an endpoint whose application receives events.
    pub const LISTENER: Hop = Hop(u32::MAX - 2);
    /// Last hop of a route to a real host, which is outside of the simulator.
    pub const REAL: Hop = Hop(u32::MAX - 3);
    /// Minimum hop number of a wire or of the last hop of a route.
    const WIRE: u32 = 0b11 << 30;

    /// Return the index of the link. For a conditioner, return the index of the conditioner plus
    /// the number of links in the network.
    #[inline]
    pub fn link(self) -> u32 {
        self.0 & !(Self::WIRE | Self::OBSERVED)
    }

    /// Return true if the run observes the packets on this link, for a series or a packet capture.
    #[inline]
    pub fn is_observed(self) -> bool {
        self.0 & Self::OBSERVED != 0
    }

    /// Mark this hop as a link on which the run observes the packets.
    pub(super) fn set_observed(&mut self) {
        self.0 |= Self::OBSERVED;
    }

    /// Return true if this hop is the last hop of a route to an endpoint whose application receives
    /// no events.
    #[inline]
    pub fn is_end(self) -> bool {
        self == Self::END
    }

    /// Return true if this hop is the last hop of a route.
    pub(super) fn is_last(self) -> bool {
        self.0 >= Self::REAL.0
    }

    /// Return true if this hop is a link that only delays the packets of the previous link
    /// ([`net::Link::only_delays`]).
    #[inline]
    pub fn only_delays(self) -> bool {
        self.0 & Self::WIRE == Self::DELAYS
    }

    /// Mark this hop as a link that only delays packets.
    pub(super) fn set_only_delays(&mut self) {
        self.0 |= Self::DELAYS;
    }

    /// Return true if this hop is a link that delivers packets to an endpoint before the simulation
    /// reaches their arrival time. No later link of the route queues or drops packets
    /// (`early_delivery.rs`).
    #[inline]
    pub fn delivers_early(self) -> bool {
        self.0 & Self::WIRE == Self::DELIVERS_EARLY
    }

    /// Mark this hop as a link that delivers packets to an endpoint before the simulation reaches
    /// their arrival time.
    pub(super) fn set_delivers_early(&mut self) {
        self.0 |= Self::DELIVERS_EARLY;
    }

    /// Return true if this hop is a link or a conditioner.
    #[inline]
    pub fn is_link(self) -> bool {
        self.0 < Self::WIRE
    }

    /// Return the index of the wire, or `None` if this hop is not a wire.
    pub fn wire(self) -> Option<usize> {
        (!self.is_link() && !self.is_last()).then_some((self.0 & !Self::WIRE) as usize)
    }
}

/// Return the hops of all routes of a plan, one route after the other, and the first hop of each
/// route.
pub(super) fn lay_out_hops(plan: &Plan, conditioned: &[u32], impaired: &[u32]) -> (Vec<Hop>, Vec<u32>) {
    let mut hops = Vec::new();
    let mut begins = Vec::with_capacity(plan.routes.len());
    for route in &plan.routes {
        begins.push(hops.len() as u32);
        for &l in route {
            if let Ok(c) = conditioned.binary_search(&(l as u32)) {
                hops.push(Hop((plan.links.len() + c) as u32));
            }
            hops.push(Hop(l as u32));
            if let Ok(wire) = impaired.binary_search(&(l as u32)) {
                hops.push(Hop(Hop::WIRE | wire as u32));
            }
        }
        hops.push(Hop::END);
    }
    (hops, begins)
}

/// Append a copy of the route whose first hop is `first`, but with `end` as the last hop. Return
/// the first hop of the copied route.
pub(super) fn copy_with_end(hops: &mut Vec<Hop>, end: Hop, first: u32) -> u32 {
    let begins = hops.len() as u32;
    let links: Vec<Hop> = hops[first as usize..].iter().copied().take_while(|hop| !hop.is_end()).collect();
    hops.extend(links);
    hops.push(end);
    begins
}
