//! The network of a run: links with what stands before and behind them, what is in flight, and the routes.

use impairments::Wire;
use net::{Flight, Inside, Link, Packet};
use queues::Discipline;
use queues::diffserv::Conditioner;

use crate::build::Hop;

/// What packets go through.
pub struct Network {
    /// The links.
    pub links: Vec<Link<Discipline>>,
    /// What is in flight on all of them.
    pub flight: Flight,
    /// All routes one after the other, each with its end.
    pub hops: Vec<Hop>,
    /// The conditioners before the queues of links, in the order of the links.
    pub conditioners: Vec<Conditioner>,
    /// The wires of links with impairments, in the order of the links.
    pub wires: Vec<Wire>,
    /// The link before each wire.
    pub impaired: Vec<u32>,
    /// What was inside each link at the last check.
    pub insides: Vec<Inside>,
}

impl Network {
    /// Show each packet that is inside a link or a wire.
    pub fn each_inside(&self, see: &mut impl FnMut(&Packet)) {
        for link in &self.links {
            link.pipe(&self.flight).for_each(|entry| see(&entry.packet));
            link.locate_stored(&mut Inside::default(), &mut *see);
        }
        self.wires.iter().flat_map(Wire::inside).for_each(|entry| see(&entry.packet));
    }
}
