//! What a wire does to packets beside delaying them: it loses, damages, doubles and holds them.
//!
//! An impairment sees the packets that reach the far end of a link, one after the other, and says of each
//! what becomes of it ([`Act`]); the [`Wire`] does it and keeps the account. Links without impairments
//! have no wire of this kind.
//!
//! Add one: copy a file, list it in [`Impairment`] and in [`Wire`]'s stages.

mod act;
pub mod bit_errors;
pub mod corruption;
pub mod delay_spikes;
pub mod duplication;
mod episodes;
pub mod gilbert_elliott;
mod impairment;
pub mod jitter;
pub mod listed_loss;
pub mod loss;
pub mod outage;
pub mod periodic_loss;
pub mod reordering;
mod wire;

pub use act::Act;
pub use impairment::Impairment;
pub use wire::{Counts, InWire, Wire, Witness};
