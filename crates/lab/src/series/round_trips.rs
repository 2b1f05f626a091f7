//! Every round trip that a sender measures.

use std::sync::Arc;

use units::{Duration, Time};

use crate::columns;
use crate::record::{Column, Table};

/// A measurement, or a timeout that changed without one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measured {
    pub(super) at: Time,
    pub(super) flow: u32,
    pub(super) rtt: Option<Duration>,
    pub(super) srtt: Duration,
    pub(super) rto: Duration,
}

/// As a table.
pub(super) fn table(list: &[Measured], flows: &Arc<Vec<String>>) -> Table {
    let float = |get: &dyn Fn(&Measured) -> f64| Column::Float(list.iter().map(get).collect());
    columns::RoundTrips {
        time_s: float(&|m| m.at.seconds()),
        flow: Column::Name(list.iter().map(|m| m.flow).collect(), flows.clone()),
        rtt_s: float(&|m| m.rtt.map_or(f64::NAN, Duration::seconds)),
        srtt_s: float(&|m| m.srtt.seconds()),
        rto_s: float(&|m| m.rto.seconds()),
    }
    .table()
}
