//! Every dropped packet.

use net::Fate;

use super::incidents::{Happened, Incidents};

/// The drops, as they happen.
pub type Drops = Incidents<Dropped>;

/// A drop.
#[derive(Debug)]
pub struct Dropped;

impl Happened for Dropped {
    const WORD: &'static str = "drops";
    const ABOUT: &'static str = "Every dropped packet.";

    fn is(fate: &Fate) -> bool {
        matches!(fate, Fate::Dropped(..))
    }
}
