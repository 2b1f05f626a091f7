//! Impairments of the wire behind a link: losses, damage, duplicates and additional delays.
//!
//! An impairment processes each packet that reaches the far end of a link, in order, and returns
//! its [`Effect`]. The [`Wire`] applies the effect to the packet and increases the counter of the
//! effect. A link without impairments has no [`Wire`].
//!
//! [`RateChanges`] changes the rate of a link over time. A rate change acts in the transmitter of
//! the link ([`net::Pace`]), before the packet reaches the wire.
//!
//! The guide docs/how-to/add-an-impairment.md adds an example of an impairment.

mod effect;
mod episodes;
pub mod kinds;
pub mod rate_changes;
mod wire;

pub use effect::{Chance, Effect, Impair, Kind, Passage};
pub use kinds::Impairment;
pub use rate_changes::RateChanges;
pub use wire::{Counts, InWire, Wire, Witness};

/// Return the manual pages of impairments and rate changes.
pub fn pages() -> Vec<units::param::Json> {
    [Impairment::pages(), RateChanges::pages()].concat()
}
