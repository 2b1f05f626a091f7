//! Samples of the delivery rates of senders.

use net::End;

use super::recorder::{Names, Needs, Recorder, RunStart, SampledCounts, Snapshot, StoredRows};
use super::samples::Samples;
use crate::columns::{self, Definition as _};
use crate::record::Table;

columns::tables! {
    /// Samples of the delivery rate of each sender at its last ACK (tcpi_delivery_rate in Linux).
    Columns "delivery_rate" {
        time_s in "s": "Time of the sample.";
        flow in "": "Name of the flow.";
        delivery_rate_bps in "bit/s": "Delivery rate: the data delivered during one measurement, divided by the time in which the data was sent or by the time in which it was acknowledged, whichever is longer. The delivery rate is NaN before the first measurement, and is always NaN for a sender without SACK.";
    }
}

/// Delivery rates of the flows with a single connection.
#[derive(Debug)]
pub struct DeliveryRate {
    flows: Vec<u32>,
    senders: Vec<End>,
    samples: Samples<f32>,
}

impl Recorder for DeliveryRate {
    type Table = Columns;
    const NEEDS: Needs = Needs { samples: true, rates: true, ..Needs::NOTHING };

    fn begin(start: &RunStart) -> Self {
        let (senders, flows) = (0..).zip(start.single).map(|(s, of)| (End::sender(s), of.flow)).unzip();
        DeliveryRate { flows, senders, samples: Samples::default() }
    }

    fn rows_per_sample(counts: &SampledCounts) -> u64 {
        counts.single
    }

    fn stored_rows(&self) -> StoredRows {
        self.samples.stored_rows()
    }

    fn sample(&mut self, snapshot: &mut Snapshot) {
        let rate = |&end: &End| snapshot.senders.of(end).delivery_rate.map_or(f32::NAN, |rate| rate as f32);
        self.samples.take(snapshot.now, self.senders.len(), self.senders.iter().map(rate));
    }

    fn tables(self, names: &Names) -> Vec<Table> {
        let samples = &self.samples;
        let columns = Columns {
            time_s: samples.times(self.flows.len()),
            flow: samples.keys(&self.flows, names.flows()),
            delivery_rate_bps: samples.column(|&rate| 8.0 * f64::from(rate)),
        };
        vec![columns.table()]
    }
}
