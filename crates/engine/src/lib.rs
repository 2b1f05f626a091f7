//! Event queue in a total order, and named streams of random numbers. The crate does not depend on
//! the crates for networks.

mod events;
mod random;

pub use events::{EventQueue, Lane};
pub use random::{Indexed, Stream, hash};
