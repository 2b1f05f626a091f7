//! Drops and marks, each as it happened.

use std::sync::Arc;

use net::Why;
use units::Time;

use crate::columns;
use crate::memory::List;
use crate::record::Column;

/// A drop or a mark.
#[derive(Clone, Copy, Debug)]
pub struct Incident {
    pub at: Time,
    pub link: u32,
    pub flow: u32,
    pub seq: u32,
    pub bytes: u16,
    pub why: Why,
}

/// Drops or marks as they happen.
#[derive(Debug, Default)]
pub struct Incidents {
    list: List<Incident>,
}

impl Incidents {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether one was left away.
    pub fn is_full(&self) -> bool {
        self.list.is_full()
    }

    /// Adds one.
    pub fn push(&mut self, incident: Incident) {
        self.list.push(incident);
    }

    /// As the columns of their table.
    pub fn columns(&self, links: &Arc<Vec<String>>, flows: &Arc<Vec<String>>) -> columns::Incidents {
        let reasons = Arc::new(Why::ALL.iter().map(|w| w.name().to_string()).collect::<Vec<_>>());
        let list = &self.list;
        columns::Incidents {
            time_s: Column::Float(list.iter().map(|i| i.at.seconds()).collect()),
            link: Column::Name(list.iter().map(|i| i.link).collect(), links.clone()),
            flow: Column::Name(list.iter().map(|i| i.flow).collect(), flows.clone()),
            // The SYN holds sequence number 0: data begins at 1.
            seq: Column::Count(list.iter().map(|i| u64::from(i.seq.saturating_sub(1))).collect()),
            bytes: Column::Count(list.iter().map(|i| u64::from(i.bytes)).collect()),
            reason: Column::Name(list.iter().map(|i| i.why.index() as u32).collect(), reasons),
        }
    }
}
