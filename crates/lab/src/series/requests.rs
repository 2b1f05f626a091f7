//! Every request that has its response.

use traffic::application::Answered;
use units::Time;

use super::recorder::{Held, Names, Recorder, Start, Wants};
use crate::columns::{self, Definition as _};
use crate::memory::List;
use crate::record::{Column, Table};

columns::tables! {
    /// Every request that has its response, of flows whose two hosts send data.
    Columns "requests" {
        flow in "": "Whose.";
        start_s in "s": "When it was written.";
        completed_s in "s": "When the last byte of its response was read.";
        duration_s in "s": "The time from `start_s` to `completed_s`.";
        request_bytes in "bytes": "Its size.";
        response_bytes in "bytes": "The size of the response.";
    }
}

/// Requests in the order in which they were answered.
#[derive(Debug, Default)]
pub struct Requests {
    list: List<(Time, u32, Answered)>,
}

impl Recorder for Requests {
    type Table = Columns;
    const WANTS: Wants = Wants::NOTHING;

    fn begin(_: &Start) -> Self {
        Requests::default()
    }

    fn held(&self) -> Held {
        Held::from(&self.list)
    }

    fn answered(&mut self, now: Time, flow: u32, answered: &Answered) {
        self.list.push((now, flow, *answered));
    }

    fn tables(self, names: &Names) -> Vec<Table> {
        type Request = (Time, u32, Answered);
        let float = |get: &dyn Fn(&Request) -> f64| Column::Float(self.list.iter().map(get).collect());
        let count = |get: &dyn Fn(&Request) -> u64| Column::Count(self.list.iter().map(get).collect());
        let columns = Columns {
            flow: Column::Name(self.list.iter().map(|r| r.1).collect(), names.flows().clone()),
            start_s: float(&|r| r.2.since.seconds()),
            completed_s: float(&|r| r.0.seconds()),
            duration_s: float(&|r| r.0.since(r.2.since).seconds()),
            request_bytes: count(&|r| r.2.request),
            response_bytes: count(&|r| r.2.response),
        };
        vec![columns.table()]
    }
}
