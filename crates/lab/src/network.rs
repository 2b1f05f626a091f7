//! The network of a run: links with what stands before and behind them, what is in flight, and the routes.

use impairments::Wire;
use net::{Flight, Inside, Link};
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
