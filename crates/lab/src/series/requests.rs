//! Every request.

use std::collections::HashMap;

use units::Time;

use super::recorder::{Names, Needs, Recorder, RequestRecord, RunStart, StoredRows};
use crate::columns::{self, Definition as _};
use crate::memory::List;
use crate::record::{Column, Table, seconds};

columns::tables! {
    /// Every request of flows whose two hosts send data: first those that have their response, as they had it.
    Columns "requests" {
        flow in "": "Whose.";
        connection in "": "The number of the connection of its flow that it went over, as the traffic counts them.";
        start_s in "s": "When it was written: for the first of a connection, when that was opened and sent its first SYN.";
        opened_s in "s": "When the handshake of that connection was done at the client; empty if it never was.";
        completed_s in "s": "When the last byte of its response was read; empty if that never was.";
        duration_s in "s": "The time from `start_s` to `completed_s`.";
        client_timeouts in "times": "Retransmission timeouts of that connection's client by then: of the SYN and of requests. They are counted from the last response to a request that the warm-up had.";
        server_timeouts in "times": "Those of its server: of the SYN-ACK and of responses.";
        request_bytes in "bytes": "Its size.";
        response_bytes in "bytes": "The size of the response.";
    }
}

/// Requests in the order in which they were answered, then those that were not.
#[derive(Debug)]
pub struct Requests {
    list: List<RequestRecord>,
    begins: Time,
    /// By flow and connection: timeouts by the response to the last request that is not recorded.
    before: HashMap<[u32; 2], [u32; 2]>,
}

impl Recorder for Requests {
    type Table = Columns;
    const NEEDS: Needs = Needs::NOTHING;

    fn begin(start: &RunStart) -> Self {
        Requests { list: List::default(), begins: start.begins, before: HashMap::new() }
    }

    fn stored_rows(&self) -> StoredRows {
        StoredRows::from(&self.list)
    }

    fn on_request(&mut self, request: &RequestRecord) {
        let connection = [request.flow, request.connection];
        if request.since < self.begins {
            self.before.insert(connection, request.timeouts);
            return;
        }
        let before = self.before.get(&connection).copied().unwrap_or_default();
        let timeouts = [0, 1].map(|end| request.timeouts[end] - before[end]);
        self.list.push(RequestRecord { timeouts, ..*request });
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
