//! The network: packets, links, routes, and the interface of queues.
//!
//! The path of a packet is `Link::receive` → queue → transmitter → propagation → `Link::deliver` →
//! the next hop of its route. The AQM returns a verdict, the queue discipline marks and drops
//! packets, and the link stores and counts packets. The counters of a link ([`LinkCounters`]) prove
//! that each packet was delivered or dropped, or is still in the link.

mod accurate_ecn;
mod counters;
mod direction;
mod discipline;
mod explanation;
mod fast_open;
mod link;
mod options;
mod packet;
mod route;
mod segment;
mod why;

pub use accurate_ecn::{AccEcn, AccEcnOrder};
pub use counters::{Count, Inside, LinkCounters, Violation};
pub use direction::{Direction, End};
pub use discipline::{
    Answer, Aqm, Arrival, Backlog, Fate, Fates, LinkQueue, Next, QueueDiscipline, QueuedPacket, Verdict,
};
pub use explanation::{Declared, Explanation, GENERAL_RULES, Rule, Variable, Variables};
pub use fast_open::{Cookie, FastOpen};
pub use link::{
    Flight, InPipe, Link, NoProbe, Opportunities, Pace, Position, Probe, Received, Steps, byte_time,
    time_to_send,
};
pub use options::{OptionStore, Options};
pub use packet::{Ecn, Label, Packet};
pub use route::{Edge, Routes};
pub use segment::{Flags, Segment, Seq};
pub use why::Why;
