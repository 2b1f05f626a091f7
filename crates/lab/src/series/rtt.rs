//! Every round trip that a sender measures.

use net::End;
use tcp::Endpoint;
use units::{Duration, Time};

use super::recorder::{Names, Needs, Recorder, RunStart, StoredRows};
use super::traced::Traced;
use crate::columns;
use crate::record::{Column, Table};

columns::tables! {
    /// Every round trip that the sender of a traced flow measures, with SRTT and the timeout; where both hosts send data, both senders.
    Columns "rtt" or "reply_rtt" {
        time_s in "s": "When.";
        flow in "": "Whose.";
        rtt_s in "s": "The round trip that the sender measured; empty if only the timeout changed.";
        srtt_s in "s": "SRTT after it.";
        rto_s in "s": "The retransmission timeout with its back-off, after it.";
    }
}

/// A measurement, or a timeout that changed without one.
#[derive(Clone, Copy, Debug)]
struct Measured {
    at: Time,
    flow: u32,
    rtt: Option<Duration>,
    srtt: Duration,
    rto: Duration,
}

/// How far a sender has come with its measurements.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    samples: u32,
    rto: Duration,
}

/// The measurements of the flows that are traced.
#[derive(Debug)]
pub struct Rtt {
    traced: Traced<Progress, Measured>,
}

impl Recorder for Rtt {
    type Table = Columns;
    const NEEDS: Needs = Needs { packets: true, ..Needs::NOTHING };

    fn begin(start: &RunStart) -> Self {
        Rtt { traced: Traced::begin(start) }
    }

    fn stored_rows(&self) -> StoredRows {
        self.traced.stored_rows()
    }

    fn at_endpoint(&mut self, now: Time, end: End, flow: u32, sender: &Endpoint) {
        let Some(progress) = self.traced.of(end) else { return };
        let ((samples, last), rto) = (sender.round_trips(), sender.rto());
        if samples != progress.samples || (rto != progress.rto && progress.samples > 0) {
            let rtt = (samples != progress.samples).then_some(last);
            (progress.samples, progress.rto) = (samples, rto);
            self.traced.push(now, end, Measured { at: now, flow, rtt, srtt: sender.srtt(), rto });
        }
    }

    fn tables(self, names: &Names) -> Vec<Table> {
        self.traced.tables(|rows| Columns::of(rows, names))
    }
}

impl Columns {
    fn of(list: &[Measured], names: &Names) -> Columns {
        let float = |get: &dyn Fn(&Measured) -> f64| Column::Float(list.iter().map(get).collect());
        Columns {
            time_s: float(&|m| m.at.seconds()),
            flow: Column::Name(list.iter().map(|m| m.flow).collect(), names.flows().clone()),
            rtt_s: float(&|m| m.rtt.map_or(f64::NAN, Duration::seconds)),
            srtt_s: float(&|m| m.srtt.seconds()),
            rto_s: float(&|m| m.rto.seconds()),
        }
    }
}
