//! Network of a run: links, conditioners, wires, packets in flight, and routes.

use impairments::Wire;
use net::{Flight, Inside, Link, Packet};
use queues::Discipline;
use queues::diffserv::Conditioner;

use crate::build::Hop;

/// Components that packets traverse.
pub struct Network {
    /// Links.
    pub links: Vec<Link<Discipline>>,
    /// Packets that are in flight on all links.
    pub flight: Flight,
    /// Hops of all routes, one route after the other. The last hop of a route marks the end of the
    /// route.
    pub hops: Vec<Hop>,
    /// Conditioners before the queues of links, in the order of the links.
    pub conditioners: Vec<Conditioner>,
    /// Wires, one per link with impairments, in the order of the links.
    pub wires: Vec<Wire>,
    /// For each wire, the index of the link that precedes the wire.
    pub impaired: Vec<u32>,
    /// Packets inside each link, as counted at the latest check of the counters.
    pub insides: Vec<Inside>,
}

impl Network {
    /// Call the function `see` with each packet that is inside a link or a wire.
    pub fn each_inside(&self, see: &mut impl FnMut(&Packet)) {
        for link in &self.links {
            link.pipe(&self.flight).for_each(|entry| see(&entry.packet));
            link.locate_stored(&mut Inside::default(), &mut *see);
        }
        self.wires.iter().flat_map(Wire::inside).for_each(|entry| see(&entry.packet));
    }
}
