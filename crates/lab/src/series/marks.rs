//! Series with a row per marked packet.

use net::Fate;

use super::incidents::{IncidentKind, Incidents};

/// Series of the marks.
pub type Marks = Incidents<Marked>;

/// Kind of incident: a mark.
#[derive(Debug)]
pub struct Marked;

impl IncidentKind for Marked {
    const NAME: &'static str = "marks";
    const ABOUT: &'static str = "Every marked packet.";

    fn includes(fate: &Fate) -> bool {
        matches!(fate, Fate::Marked(..))
    }
}
