//! Queue disciplines, one file each, and the FIFO shell that acts on what a law decides.
//!
//! Add one: copy a law, list it in [`Law`] and in [`Discipline`].

mod discipline;
pub mod drop_tail;
pub mod fifo;
pub mod red;

pub use discipline::{Discipline, Law, Queue};
