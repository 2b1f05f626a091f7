//! The network: packets, links, routes, and what a queue discipline must promise.
//!
//! A packet's way: `Link::receive` → queue discipline → transmitter → propagation →
//! `Link::deliver` → the next hop of its route. The law decides (verdicts), the shell stores, marks
//! and drops, and the link alone counts: its [`Ledger`] proves that no packet was lost unnoticed.

mod discipline;
mod ledger;
mod link;
mod packet;
mod route;

pub use discipline::{Aqm, Backlog, Fate, Fates, QueueCx, QueueDiscipline, Verdict, Why};
pub use ledger::{Count, Ledger, Violation};
pub use link::{Link, NoProbe, Probe};
pub use packet::{Ecn, Flags, Packet, Segment, Seq};
pub use route::{Edge, shortest_path};
