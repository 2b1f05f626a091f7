//! Samples of the congestion windows of senders.

use net::End;
use units::Duration;

use super::recorder::{Names, Needs, Recorder, RunStart, SampledCounts, Snapshot, StoredRows};
use super::samples::Samples;
use crate::columns::{self, Definition as _};
use crate::record::Table;
use crate::sender_state::SenderState;

columns::tables! {
    /// Samples of cwnd, ssthresh, FlightSize, acknowledged bytes and RTO of each data sender.
    Columns "window" or "reply_window" {
        time_s in "s": "Time of the sample.";
        flow in "": "Flow of the sender.";
        cwnd_bytes in "bytes": "Congestion window.";
        ssthresh_bytes in "bytes": "Slow-start threshold. The threshold is infinite before the first reduction of the congestion window.";
        flight_bytes in "bytes": "Data that was sent and is not yet acknowledged (FlightSize).";
        acked_bytes in "bytes": "Data acknowledged since the start of the connection.";
        rto_s in "s": "Retransmission timeout, including its exponential back-off.";
    }
}

/// State of a sender at the time of a sample. The congestion window, ssthresh and FlightSize are
/// stored with about seven significant digits. Each 64-bit value is stored as two values of 32
/// bits, so that the struct needs no padding. A small struct is important, because memory is the
/// main cost of a sample.
#[derive(Clone, Copy, Debug)]
struct Sample {
    acked: [u32; 2],
    rto: [u32; 2],
    cwnd: f32,
    ssthresh: f32,
    flight: u32,
}

/// Return the high and the low half of a 64-bit value.
fn halves(x: u64) -> [u32; 2] {
    [(x >> 32) as u32, x as u32]
}

/// Return the 64-bit value with a given high and low half.
fn whole([high, low]: [u32; 2]) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

impl Sample {
    /// Return the state of a sender.
    #[inline]
    fn of(sender: SenderState) -> Self {
        Sample {
            acked: halves(sender.acked),
            rto: halves(sender.rto.0),
            cwnd: sender.cwnd as f32,
            ssthresh: sender.ssthresh as f32,
            flight: sender.flight as u32,
        }
    }
}

/// Endpoints of the flows with a single connection, and samples of their windows.
#[derive(Debug)]
struct Sampled {
    ends: Vec<End>,
    flows: Vec<u32>,
    samples: Samples<Sample>,
}

impl Sampled {
    /// Return an empty list of samples. `ends` contains the sampled endpoints and the flow of each
    /// endpoint.
    fn new(ends: impl Iterator<Item = (End, u32)>) -> Self {
        let (ends, flows) = ends.unzip();
        Sampled { ends, flows, samples: Samples::default() }
    }

    /// Return the columns of the table.
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

/// Samples of the clients, and samples of the servers if both hosts send data.
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
            clients: Sampled::new(single().map(|(s, flow)| (End::sender(s), flow.flow))),
            servers: Sampled::new(bidirectional.map(|(s, flow)| (End::receiver(s), flow.flow))),
        }
    }

    fn rows_per_sample(counts: &SampledCounts) -> u64 {
        counts.single + counts.bidirectional
    }

    fn stored_rows(&self) -> StoredRows {
        self.clients.samples.stored_rows() + self.servers.samples.stored_rows()
    }

    fn sample(&mut self, snapshot: &mut Snapshot) {
        for Sampled { ends, samples, .. } in [&mut self.clients, &mut self.servers] {
            samples.take(
                snapshot.now,
                ends.len(),
                ends.iter().map(|&end| Sample::of(snapshot.senders.of(end))),
            );
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
