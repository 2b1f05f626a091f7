//! Routes as the run walks them.

use super::plan::Plan;

/// A hop of a route: a link, the conditioner before one, whose number comes after those of all links, a wire with
/// impairments behind a link, or the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Hop(u32);

impl Hop {
    /// The end of a route: the packet has reached its endpoint.
    pub const END: Hop = Hop(u32::MAX);
    const DELIVERS_EARLY: u32 = 0b01 << 30;
    const DELAYS: u32 = 0b10 << 30;
    /// The end of a route of datagrams.
    pub const SINK: Hop = Hop(u32::MAX - 1);
    /// The end of a route to an endpoint whose application is told of what comes.
    pub const LISTENER: Hop = Hop(u32::MAX - 2);
    /// Everything from here on is no link.
    const WIRE: u32 = 0b11 << 30;

    /// The index of the link; for a conditioner its number behind those of all links.
    #[inline]
    pub fn link(self) -> u32 {
        self.0 & !Self::WIRE
    }

    /// Whether the route ends here.
    #[inline]
    pub fn is_end(self) -> bool {
        self == Self::END
    }

    /// Whether a route ends here, however.
    pub(super) fn is_last(self) -> bool {
        self.0 >= Self::LISTENER.0
    }

    /// Whether it is a link that only delays what the hop before admits ([`net::Link::only_delays`]).
    #[inline]
    pub fn only_delays(self) -> bool {
        self.0 & Self::WIRE == Self::DELAYS
    }

    /// Says that it is a link that only delays.
    pub(super) fn set_only_delays(&mut self) {
        self.0 |= Self::DELAYS;
    }

    /// Whether it is the last link that decides anything on the way to an end that is told ahead (`early_delivery.rs`).
    #[inline]
    pub fn delivers_early(self) -> bool {
        self.0 & Self::WIRE == Self::DELIVERS_EARLY
    }

    /// Says that it is the last link that decides anything on the way to an end that is told ahead.
    pub(super) fn set_delivers_early(&mut self) {
        self.0 |= Self::DELIVERS_EARLY;
    }

    /// Whether it is a link, or the conditioner before one.
    #[inline]
    pub fn is_link(self) -> bool {
        self.0 < Self::WIRE
    }

    /// The index of the wire, if it is one.
    pub fn wire(self) -> Option<usize> {
        (!self.is_link() && !self.is_last()).then_some((self.0 & !Self::WIRE) as usize)
    }
}

/// The routes of a plan one after the other, each with its end, and where each begins.
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

/// Copies the route that begins at `first`, with another end: where the copy begins.
pub(super) fn copy_with_end(hops: &mut Vec<Hop>, end: Hop, first: u32) -> u32 {
    let begins = hops.len() as u32;
    let links: Vec<Hop> = hops[first as usize..].iter().copied().take_while(|hop| !hop.is_end()).collect();
    hops.extend(links);
    hops.push(end);
    begins
}
