//! The windows of senders, sampled.

use std::sync::Arc;

use tcp::Endpoint;
use units::Duration;

use super::samples::Samples;
use crate::columns;
use crate::record::Table;

/// A sender at an instant. Windows to seven digits; what is exact is in halves, so that a sample has no
/// gaps: the room that samples take is most of what they cost.
#[derive(Clone, Copy, Debug)]
pub struct WindowSample {
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

impl WindowSample {
    /// That of a sender now.
    #[inline]
    pub fn of(sender: &Endpoint) -> Self {
        let w = sender.window();
        WindowSample {
            acked: halves(sender.acked()),
            rto: halves(sender.rto().0),
            cwnd: w.cwnd as f32,
            ssthresh: w.ssthresh as f32,
            flight: w.flight as u32,
        }
    }
}

impl Samples<WindowSample> {
    /// As a table, given the flows that were sampled each time.
    pub fn table(self, flows: &[u32], names: &Arc<Vec<String>>) -> Table {
        columns::Window {
            time_s: self.times(flows.len()),
            flow: self.keys(flows, names),
            cwnd_bytes: self.column(|s| f64::from(s.cwnd)),
            ssthresh_bytes: self.column(|s| f64::from(s.ssthresh)),
            flight_bytes: self.column(|s| f64::from(s.flight)),
            acked_bytes: self.column(|s| whole(s.acked) as f64),
            rto_s: self.column(|s| Duration(whole(s.rto)).seconds()),
        }
        .table()
    }
}
