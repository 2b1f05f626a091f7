//! Series with a row per packet that was marked.

use net::Fate;

use super::incidents::{IncidentKind, Incidents};

/// Series of the marks.
pub type Marks = Incidents<Marked>;

/// Mark of a packet, as a kind of incident.
#[derive(Debug)]
pub struct Marked;

impl IncidentKind for Marked {
    const NAME: &'static str = "marks";
    const ABOUT: &'static str = "Every marked packet.";

    fn includes(fate: &Fate) -> bool {
        matches!(fate, Fate::Marked(..))
    }
}
