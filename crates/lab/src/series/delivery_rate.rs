//! Delivery rates of senders, sampled.

use net::End;

use super::recorder::{Names, Needs, Recorder, RunStart, SampledCounts, Snapshot, StoredRows};
use super::samples::Samples;
use crate::columns::{self, Definition as _};
use crate::record::Table;

columns::tables! {
    /// Delivery rate of each flow's sender at its last ACK, sampled (Linux: tcpi_delivery_rate of TCP_INFO).
    Columns "delivery_rate" {
        time_s in "s": "Time of the sample.";
        flow in "": "Name of the flow.";
        delivery_rate_bps in "bit/s": "Data delivered over the longer of the intervals in which it was sent and acknowledged. NaN before the first sample, and for a sender without SACK.";
    }
}

/// Delivery rates of flows that are one connection.
#[derive(Debug)]
pub struct DeliveryRate {
    flows: Vec<u32>,
    ends: Vec<End>,
    samples: Samples<f32>,
}

impl Recorder for DeliveryRate {
    type Table = Columns;
    const NEEDS: Needs = Needs { samples: true, rates: true, ..Needs::NOTHING };

    fn begin(start: &RunStart) -> Self {
        let (ends, flows) = (0..).zip(start.single).map(|(s, of)| (End::sender(s), of.flow)).unzip();
        DeliveryRate { flows, ends, samples: Samples::default() }
    }

    fn rows_per_sample(of: &SampledCounts) -> u64 {
        of.single
    }

    fn stored_rows(&self) -> StoredRows {
        self.samples.stored_rows()
    }

    fn sample(&mut self, at: &mut Snapshot) {
        let rate = |&end: &End| at.endpoints[end].delivery_rate().map_or(f32::NAN, |(rate, _)| rate as f32);
        self.samples.take(at.now, self.ends.len(), self.ends.iter().map(rate));
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
