//! Series with a row per request.

use std::collections::BTreeMap;

use units::Time;

use super::recorder::{Names, Needs, Recorder, RequestRecord, RunStart, StoredRows};
use crate::columns::{self, Definition as _};
use crate::memory::List;
use crate::record::{Column, Table, seconds};
use crate::totals::ConnectionTotals;

columns::tables! {
    /// Every request: completed requests in the order of their responses, then unfinished ones.
    Columns "requests" {
        flow in "": "Flow of the request.";
        connection in "": "Number of the request's connection within the flow. The traffic model assigns a number to each connection.";
        start_s in "s": "Time at which the client wrote the request. For the first request of a connection, `start_s` is the time at which the client opened the connection and sent the SYN.";
        opened_s in "s": "Time at which the client completed the handshake of the connection. The column is empty if the handshake was not completed.";
        completed_s in "s": "Time at which the application of the client read the last byte of the response. The column is empty if the response was not completed.";
        duration_s in "s": "Time from `start_s` to `completed_s`.";
        client_timeouts in "times": "Retransmission timeouts of the client, for the SYN or requests, from the opening of the connection to the completion of the request. If earlier requests of the connection were written during the warm-up, the timeouts are counted from the response to the last of those requests.";
        server_timeouts in "times": "Retransmission timeouts of the server, for the SYN-ACK or responses, counted over the same time as `client_timeouts`.";
        request_bytes in "bytes": "Size of the request.";
        response_bytes in "bytes": "Size of the response.";
    }
}

/// Recorded requests: first the completed requests in the order of their responses, then the
/// requests without a response.
#[derive(Debug)]
pub struct Requests {
    list: List<RequestRecord>,
    begins: Time,
    /// Number of retransmission timeouts of each connection when the response to the last request
    /// of the warm-up was complete. The key is the flow and the connection. Only connections that
    /// may have further requests are in the map.
    baselines: BTreeMap<[u32; 2], [u32; 2]>,
}

impl Recorder for Requests {
    type Table = Columns;
    const NEEDS: Needs = Needs::NOTHING;

    fn begin(start: &RunStart) -> Self {
        Requests { list: List::default(), begins: start.begins, baselines: BTreeMap::new() }
    }

    fn stored_rows(&self) -> StoredRows {
        StoredRows::from(&self.list)
    }

    fn on_request(&mut self, request: &RequestRecord) {
        let connection = [request.flow, request.connection];
        if request.since < self.begins {
            self.baselines.insert(connection, request.timeouts);
            return;
        }
        let baseline = self.baselines.get(&connection).copied().unwrap_or_default();
        let timeouts = [0, 1].map(|end| request.timeouts[end] - baseline[end]);
        self.list.push(RequestRecord { timeouts, ..*request });
    }

    fn on_connection_end(&mut self, connection: [u32; 2], _: &ConnectionTotals) {
        self.baselines.remove(&connection);
    }

    fn tables(self, names: &Names) -> Vec<Table> {
        let float = |get: &dyn Fn(&RequestRecord) -> f64| Column::Float(self.list.iter().map(get).collect());
        let count = |get: &dyn Fn(&RequestRecord) -> u64| Column::Count(self.list.iter().map(get).collect());
        let duration = |r: &RequestRecord| match r.completed {
            Time::NEVER => f64::NAN,
            completed => completed.since(r.since).seconds(),
        };
        let columns = Columns {
            flow: Column::Name(self.list.iter().map(|r| r.flow).collect(), names.flows().clone()),
            connection: count(&|r| u64::from(r.connection)),
            start_s: float(&|r| r.since.seconds()),
            opened_s: float(&|r| seconds(r.opened)),
            completed_s: float(&|r| seconds(r.completed)),
            duration_s: float(&duration),
            client_timeouts: count(&|r| u64::from(r.timeouts[0])),
            server_timeouts: count(&|r| u64::from(r.timeouts[1])),
            request_bytes: count(&|r| r.bytes[0]),
            response_bytes: count(&|r| r.bytes[1]),
        };
        vec![columns.table()]
    }
}
