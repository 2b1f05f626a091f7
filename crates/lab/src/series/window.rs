//! The windows of senders, sampled.

use net::End;
use tcp::Endpoint;
use units::Duration;

use super::recorder::{Names, Needs, Recorder, RunStart, SampledCounts, Snapshot, StoredRows};
use super::samples::Samples;
use crate::columns::{self, Definition as _};
use crate::record::Table;

columns::tables! {
    /// cwnd, ssthresh, FlightSize and acknowledged bytes of each flow, sampled; where both hosts send data, at both ends.
    Columns "window" or "reply_window" {
        time_s in "s": "When.";
        flow in "": "Whose.";
        cwnd_bytes in "bytes": "Congestion window.";
        ssthresh_bytes in "bytes": "Slow-start threshold; infinite before the first cut.";
        flight_bytes in "bytes": "Sent and not yet acknowledged (FlightSize).";
        acked_bytes in "bytes": "Acknowledged so far.";
        rto_s in "s": "The retransmission timeout.";
    }
}

/// A sender at an instant. Windows to seven digits; what is exact is in halves, so that a sample has no
/// gaps: the room that samples take is most of what they cost.
#[derive(Clone, Copy, Debug)]
struct Sample {
    acked: [u32; 2],
    rto: [u32; 2],
    cwnd: f32,
    ssthresh: f32,
    flight: u32,
}

fn halves(x: u64) -> [u32; 2] {
    [(x >> 32) as u32, x as u32]
}

fn whole([high, low]: [u32; 2]) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

impl Sample {
    /// That of a sender now.
    #[inline]
    fn of(sender: &Endpoint) -> Self {
        let w = sender.window();
        Sample {
            acked: halves(sender.acked()),
            rto: halves(sender.rto().0),
            cwnd: w.cwnd as f32,
            ssthresh: w.ssthresh as f32,
            flight: w.flight as u32,
        }
    }
}

/// Ends of flows that are one connection, and their windows.
#[derive(Debug)]
struct Sampled {
    ends: Vec<End>,
    flows: Vec<u32>,
    samples: Samples<Sample>,
}

impl Sampled {
    fn new(ends: impl Iterator<Item = (End, u32)>) -> Self {
        let (ends, flows) = ends.unzip();
        Sampled { ends, flows, samples: Samples::default() }
    }

    fn columns(&self, names: &Names) -> Columns {
        let samples = &self.samples;
        Columns {
            time_s: samples.times(self.flows.len()),
            flow: samples.keys(&self.flows, names.flows()),
            cwnd_bytes: samples.column(|s| f64::from(s.cwnd)),
            ssthresh_bytes: samples.column(|s| f64::from(s.ssthresh)),
            flight_bytes: samples.column(|s| f64::from(s.flight)),
            acked_bytes: samples.column(|s| whole(s.acked) as f64),
            rto_s: samples.column(|s| Duration(whole(s.rto)).seconds()),
        }
    }
}

/// The windows of clients, and of servers where both hosts send data.
#[derive(Debug)]
pub struct Window {
    clients: Sampled,
    servers: Sampled,
}

impl Recorder for Window {
    type Table = Columns;
    const NEEDS: Needs = Needs { samples: true, ..Needs::NOTHING };

    fn begin(start: &RunStart) -> Self {
        let single = || (0..).zip(start.single);
        let bidirectional = single().filter(|(_, connection)| connection.is_bidirectional);
        Window {
            clients: Sampled::new(single().map(|(s, of)| (End::sender(s), of.flow))),
            servers: Sampled::new(bidirectional.map(|(s, of)| (End::receiver(s), of.flow))),
        }
    }

    fn rows_per_sample(of: &SampledCounts) -> u64 {
        of.single + of.bidirectional
    }

    fn stored_rows(&self) -> StoredRows {
        self.clients.samples.stored_rows() + self.servers.samples.stored_rows()
    }

    fn sample(&mut self, at: &mut Snapshot) {
        for Sampled { ends, samples, .. } in [&mut self.clients, &mut self.servers] {
            samples.take(at.now, ends.len(), ends.iter().map(|&end| Sample::of(&at.endpoints[end])));
        }
    }

    fn tables(self, names: &Names) -> Vec<Table> {
        let mut tables = vec![self.clients.columns(names).table()];
        if !self.servers.ends.is_empty() {
            tables.push(self.servers.columns(names).named("reply_window"));
        }
        tables
    }
}
