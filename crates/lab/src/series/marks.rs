//! Every marked packet.

use net::Fate;

use super::incidents::{Happened, Incidents};

/// The marks, as they happen.
pub type Marks = Incidents<Marked>;

/// A mark.
#[derive(Debug)]
pub struct Marked;

impl Happened for Marked {
    const WORD: &'static str = "marks";
    const ABOUT: &'static str = "Every marked packet.";

    fn is(fate: &Fate) -> bool {
        matches!(fate, Fate::Marked(..))
    }
}
