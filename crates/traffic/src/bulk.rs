//! A bulk transfer: one file, or data without end.

use units::{Range, params};

use crate::application::{Actions, Application, Event, Memory, Side, Talk};
use crate::draws::Lots;
use crate::size::Size;

params! {
    /// A bulk transfer. The sender opens the connection, writes everything at once and closes; the
    /// receiver closes when the sender has.
    pub struct Bulk: "bulk" {
        /// Size of the file: fixed, or a table of a distribution; absent: data without end, and the run needs a duration.
        size: Option<Size> = (None), in Range::between(1.0, 1e15), from "";
    }
}

impl Bulk {
    fn bytes(&self, lots: Lots) -> Option<u64> {
        self.size.as_ref().map(|size| lots.size(Side::Client, size, 0))
    }
}

impl Application for Bulk {
    fn on(&self, _: Side, event: Event, talk: &mut Talk) -> Actions {
        match event {
            Event::Opening => {
                let write = self.bytes(talk.lots).unwrap_or(u64::MAX);
                Actions { write, close: self.size.is_some(), ..Actions::NONE }
            }
            _ => Actions::NONE,
        }
    }

    fn remembers(&self) -> bool {
        false
    }

    fn ends(&self) -> Result<(), (&'static str, &'static str)> {
        self.size.as_ref().map(drop).ok_or(("size", "a size"))
    }

    fn share_done(&self, _: &Memory, acked: u64, lots: Lots) -> f64 {
        self.bytes(lots).map_or(0.0, |size| acked as f64 / size as f64)
    }
}
