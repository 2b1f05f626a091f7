//! The clockwork: a queue of events in a total order, and named streams of random numbers.
//! Knows nothing of networks.

mod events;
mod random;

pub use events::{EventQueue, Lane};
pub use random::{Indexed, Stream, hash};
