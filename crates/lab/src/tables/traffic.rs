//! Tables of datagrams, of requests, and of the connections of flows with `arrivals`.

use std::sync::Arc;

use crate::arriving_flows::ArrivingFlow;
use crate::columns::{self, Definition as _};
use crate::datagrams::Datagrams;
use crate::exchanges::Exchange;
use crate::record::{Column, Table, names_of, seconds};
use crate::run::Simulation;

impl Simulation<'_> {
    /// Return the table of datagrams, with one row per flow.
    pub(super) fn datagram_table(&self, names: &Arc<Vec<String>>) -> Table {
        let datagrams = &self.connections.datagrams;
        let all_dropped =
            |k: usize| self.connections.records.slots[self.connections.single + k].counters.dropped[0];
        let dropped = |k: usize| u64::from(all_dropped(k)) - datagrams[k].warm_up.dropped;
        let names_column =
            |get: &dyn Fn(usize) -> String| names_of(datagrams.iter().map(|s| get(s.flow as usize)));
        let float = |get: &dyn Fn(&Datagrams) -> f64| Column::Float(datagrams.iter().map(get).collect());
        let count = |get: &dyn Fn(&Datagrams) -> u64| Column::Count(datagrams.iter().map(get).collect());
        let arrived = |s: &Datagrams| s.received.all.packets - s.received.copies;
        let jitter = |s: &Datagrams| match s.received.delays.count() {
            0 | 1 => f64::NAN,
            _ => s.received.jitter * 1e-12,
        };
        let duration = |s: &Datagrams| self.end.since(s.start.max(self.begins())).seconds();
        let sent = |s: &Datagrams| s.sent - s.warm_up.sent;
        let goodput = |s: &Datagrams| {
            if duration(s) > 0.0 { s.received.payload as f64 * 8.0 / duration(s) } else { 0.0 }
        };
        columns::Datagrams {
            flow: Column::Name(datagrams.iter().map(|s| s.flow).collect(), names.clone()),
            from: names_column(&|f| self.plan.from(f)),
            to: names_column(&|f| self.plan.to(f)),
            start_s: float(&|s| seconds(s.start)),
            sent_packets: count(&|s| sent(s).packets),
            sent_bytes: count(&|s| sent(s).bytes),
            received_packets: count(&arrived),
            received_bytes: count(&|s| s.received.payload),
            goodput_bps: float(&goodput),
            lost_packets: count(&|s| s.warm_up.in_network + sent(s).packets - arrived(s)),
            dropped_packets: Column::Count((0..datagrams.len()).map(dropped).collect()),
            marked_packets: count(&|s| s.received.marked),
            duplicate_packets: count(&|s| s.received.copies),
            reordered_packets: count(&|s| s.received.reordered),
            mean_delay_s: float(&|s| s.received.delays.mean_s()),
            shortest_delay_s: float(&|s| s.received.delays.shortest_s()),
            median_delay_s: float(&|s| s.received.delays.percentile_s(0.5)),
            p99_delay_s: float(&|s| s.received.delays.percentile_s(0.99)),
            longest_delay_s: float(&|s| s.received.delays.longest_s()),
            jitter_s: float(&jitter),
        }
        .table()
    }

    /// Return the table of exchanges, with one row per flow that has requests.
    pub(super) fn exchange_table(&self, names: &Arc<Vec<String>>) -> Table {
        let (flows, all): (Vec<u32>, Vec<&Exchange>) = self.connections.exchanges.each().unzip();
        let float = |get: &dyn Fn(&Exchange) -> f64| Column::Float(all.iter().map(|e| get(e)).collect());
        let count = |get: &dyn Fn(&Exchange) -> u64| Column::Count(all.iter().map(|e| get(e)).collect());
        columns::Exchanges {
            flow: Column::Name(flows, names.clone()),
            requests: count(&|e| e.begun),
            completed: count(&|e| e.times.count()),
            unfinished: count(&|e| e.begun - e.times.count()),
            request_bytes: count(&|e| e.bytes[0]),
            response_bytes: count(&|e| e.bytes[1]),
            mean_duration_s: float(&|e| e.times.mean_s()),
            median_duration_s: float(&|e| e.times.percentile_s(0.5)),
            p95_duration_s: float(&|e| e.times.percentile_s(0.95)),
            p99_duration_s: float(&|e| e.times.percentile_s(0.99)),
            longest_duration_s: float(&|e| e.times.longest_s()),
            responsiveness_rpm: float(&|e| 60.0 / e.times.mean_s()),
        }
        .table()
    }

    /// Return the table of connections, with one row per flow with `arrivals`.
    pub(super) fn connection_table(&self, names: &Arc<Vec<String>>) -> Table {
        let flows = &self.connections.arriving_flows;
        let before = |k: usize| self.baseline.opened.get(k).copied().unwrap_or_default();
        let opened = |k: usize| u64::from(flows[k].progress.opened) - before(k);
        let float = |get: &dyn Fn(&ArrivingFlow) -> f64| Column::Float(flows.iter().map(get).collect());
        let count = |get: &dyn Fn(&ArrivingFlow) -> u64| Column::Count(flows.iter().map(get).collect());
        columns::Connections {
            flow: Column::Name(flows.iter().map(|s| s.flow).collect(), names.clone()),
            opened: Column::Count((0..flows.len()).map(opened).collect()),
            completed: count(&|s| s.durations.count()),
            completed_bytes: count(&|s| s.completed_bytes),
            mean_duration_s: float(&|s| s.durations.mean_s()),
            median_duration_s: float(&|s| s.durations.percentile_s(0.5)),
            p90_duration_s: float(&|s| s.durations.percentile_s(0.9)),
            p99_duration_s: float(&|s| s.durations.percentile_s(0.99)),
            longest_duration_s: float(&|s| s.durations.longest_s()),
        }
        .table()
    }
}
