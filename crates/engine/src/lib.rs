//! Event queue in a total order, and named streams of random numbers. The crate `engine` contains
//! no code for networks.

mod events;
mod random;

pub use events::{EventQueue, Lane};
pub use random::{Indexed, Stream, hash};
