//! Series with a row per dropped packet.

use net::Fate;

use super::incidents::{IncidentKind, Incidents};

/// Series of the drops.
pub type Drops = Incidents<Dropped>;

/// Drop of a packet, as a kind of incident.
#[derive(Debug)]
pub struct Dropped;

impl IncidentKind for Dropped {
    const NAME: &'static str = "drops";
    const ABOUT: &'static str = "Every dropped packet.";

    fn includes(fate: &Fate) -> bool {
        matches!(fate, Fate::Dropped(..))
    }
}
