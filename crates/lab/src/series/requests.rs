//! Every request that has its response.

use std::sync::Arc;

use traffic::application::Answered;
use units::Time;

use crate::columns;
use crate::memory::List;
use crate::record::{Column, Table};

/// Requests in the order in which they were answered.
#[derive(Debug, Default)]
pub struct Requests {
    list: List<(Time, u32, Answered)>,
}

impl Requests {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether one was left away.
    pub fn is_full(&self) -> bool {
        self.list.is_full()
    }

    /// Adds one of a flow.
    pub fn push(&mut self, now: Time, flow: u32, answered: &Answered) {
        self.list.push((now, flow, *answered));
    }

    /// As a table.
    pub fn table(&self, flows: &Arc<Vec<String>>) -> Table {
        type Request = (Time, u32, Answered);
        let float = |get: &dyn Fn(&Request) -> f64| Column::Float(self.list.iter().map(get).collect());
        let count = |get: &dyn Fn(&Request) -> u64| Column::Count(self.list.iter().map(get).collect());
        columns::Requests {
            flow: Column::Name(self.list.iter().map(|r| r.1).collect(), flows.clone()),
            start_s: float(&|r| r.2.since.seconds()),
            completed_s: float(&|r| r.0.seconds()),
            duration_s: float(&|r| r.0.since(r.2.since).seconds()),
            request_bytes: count(&|r| r.2.request),
            response_bytes: count(&|r| r.2.response),
        }
        .table()
    }
}
