//! Series with a row per measured round-trip time.

use net::End;
use tcp::Endpoint;
use units::{Duration, Time};

use super::recorder::{Names, Needs, Recorder, RunStart, StoredRows};
use super::traced::Traced;
use crate::columns;
use crate::real_ends::KernelState;
use crate::record::{Column, Table};

columns::tables! {
    /// Every round-trip time that the senders of traced flows measure, with SRTT and RTO.
    Columns "rtt" or "reply_rtt" {
        time_s in "s": "Time of the measurement.";
        flow in "": "Flow of the sender.";
        rtt_s in "s": "Measured round-trip time. The column is empty if only the retransmission timeout changed, without a measurement.";
        srtt_s in "s": "Smoothed round-trip time after the measurement.";
        rto_s in "s": "Retransmission timeout after the measurement, including its exponential back-off.";
    }
}

/// Measurement of a round-trip time, or a change of the retransmission timeout without such a
/// measurement.
#[derive(Clone, Copy, Debug)]
struct Measurement {
    at: Time,
    flow: u32,
    rtt: Option<Duration>,
    srtt: Duration,
    rto: Duration,
}

/// Last recorded state of a sender: the number of its measurements, SRTT of a kernel, and the
/// retransmission timeout.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    samples: u32,
    srtt: Duration,
    rto: Duration,
}

/// Measurements of the round-trip times of the traced flows.
#[derive(Debug)]
pub struct Rtt {
    traced: Traced<Progress, Measurement>,
}

impl Recorder for Rtt {
    type Table = Columns;
    const NEEDS: Needs = Needs { hosts: true, reports: true, ..Needs::NOTHING };

    fn begin(start: &RunStart) -> Self {
        Rtt { traced: Traced::begin(start) }
    }

    fn stored_rows(&self) -> StoredRows {
        self.traced.stored_rows()
    }

    fn at_endpoint(&mut self, now: Time, end: End, flow: u32, sender: &Endpoint) {
        let Some(progress) = self.traced.progress(end) else { return };
        let ((samples, last), rto) = (sender.round_trips(), sender.rto());
        if samples != progress.samples || (rto != progress.rto && progress.samples > 0) {
            let rtt = (samples != progress.samples).then_some(last);
            (progress.samples, progress.rto) = (samples, rto);
            self.traced.push(now, end, Measurement { at: now, flow, rtt, srtt: sender.srtt(), rto });
        }
    }

    /// Record SRTT and RTO, if they changed. A kernel reports no single measurement.
    fn at_kernel(&mut self, now: Time, end: End, flow: u32, kernel: &KernelState) {
        let Some(progress) = self.traced.progress(end) else { return };
        let Some(srtt) = kernel.srtt.filter(|&srtt| (srtt, kernel.rto) != (progress.srtt, progress.rto))
        else {
            return;
        };
        (progress.srtt, progress.rto) = (srtt, kernel.rto);
        self.traced.push(now, end, Measurement { at: now, flow, rtt: None, srtt, rto: kernel.rto });
    }

    fn tables(self, names: &Names) -> Vec<Table> {
        self.traced.tables(|rows| Columns::from_rows(rows, names))
    }
}

impl Columns {
    fn from_rows(list: &[Measurement], names: &Names) -> Columns {
        let float = |get: &dyn Fn(&Measurement) -> f64| Column::Float(list.iter().map(get).collect());
        Columns {
            time_s: float(&|m| m.at.seconds()),
            flow: Column::Name(list.iter().map(|m| m.flow).collect(), names.flows().clone()),
            rtt_s: float(&|m| m.rtt.map_or(f64::NAN, Duration::seconds)),
            srtt_s: float(&|m| m.srtt.seconds()),
            rto_s: float(&|m| m.rto.seconds()),
        }
    }
}
