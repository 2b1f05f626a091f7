//! Counts of requests and responses that applications report.

use traffic::application::{RequestLog, Transaction};
use units::Time;

use crate::flow_index::index_of_flow;
use crate::histogram::Histogram;
use crate::series::{RecordedSeries, RequestRecord};
use crate::slot::Slot;

/// State of the two endpoints of a connection, for the records of its requests.
#[derive(Clone, Copy, Debug)]
pub struct Ends {
    /// Time at which the client's connection was established.
    pub opened: Time,
    /// Timeouts of the client and of the server so far.
    pub timeouts: [u32; 2],
}

/// Requests of a flow.
#[derive(Debug, Default)]
pub struct Exchange {
    /// Number of requests.
    pub begun: u64,
    /// Durations of the completed requests, from the write of the request to the end of the
    /// response.
    pub times: Histogram,
    /// Bytes of the completed requests, and bytes of their responses.
    pub bytes: [u64; 2],
}

/// Requests of all flows whose two hosts send data.
#[derive(Debug, Default)]
pub struct Exchanges {
    /// Indices of the flows whose two hosts send data, in ascending order.
    pub flows: Vec<u32>,
    exchanges: Vec<Exchange>,
    /// End of the warm-up. Requests that were written before the end of the warm-up are not
    /// counted.
    begins: Time,
}

impl Exchanges {
    /// Return counts of requests for the given flows, all with the value 0. `flows` has the flows
    /// in ascending order. Requests that are written before the time `begins` are not counted.
    pub fn new(flows: Vec<u32>, begins: Time) -> Self {
        let exchanges = flows.iter().map(|_| Exchange::default()).collect();
        Exchanges { flows, exchanges, begins }
    }

    /// Return the log to which the application of a connection reports its requests. The log also
    /// passes each completed request to the series.
    pub fn log<'a>(
        &'a mut self,
        series: &'a mut RecordedSeries,
        slot: &Slot,
        ends: Ends,
        now: Time,
    ) -> ConnectionRequests<'a> {
        ConnectionRequests {
            exchanges: self,
            series,
            flow: slot.flow,
            connection: slot.connection,
            ends,
            now,
            count: 0,
        }
    }

    /// Return the counts of a flow for a request that was written at the time `written`. Return
    /// `None` if the request is not counted.
    fn of(&mut self, flow: u32, written: Time) -> Option<&mut Exchange> {
        let index = index_of_flow(flow, &self.flows, |flow| *flow);
        self.exchanges.get_mut(index).filter(|_| self.flows[index] == flow && written >= self.begins)
    }

    /// Return each flow that has requests, and the counts of its requests.
    pub fn each(&self) -> impl Iterator<Item = (u32, &Exchange)> {
        self.flows.iter().copied().zip(&self.exchanges).filter(|(_, exchange)| exchange.begun > 0)
    }
}

/// Return the record of a request, in the form that the series need.
pub fn request_record(whose: [u32; 2], ends: Ends, request: &Transaction, completed: Time) -> RequestRecord {
    let [flow, connection] = whose;
    RequestRecord {
        flow,
        connection,
        since: request.since,
        opened: ends.opened,
        completed,
        timeouts: ends.timeouts,
        bytes: [request.request, request.response],
    }
}

/// Log of the requests of one connection.
#[derive(Debug)]
pub struct ConnectionRequests<'a> {
    exchanges: &'a mut Exchanges,
    series: &'a mut RecordedSeries,
    flow: u32,
    connection: u32,
    ends: Ends,
    now: Time,
    /// Number of responses that the application has reported to this log.
    pub count: u32,
}

impl RequestLog for ConnectionRequests<'_> {
    fn requested(&mut self) {
        if let Some(exchange) = self.exchanges.of(self.flow, self.now) {
            exchange.begun += 1;
        }
    }

    fn responded(&mut self, request: &Transaction) {
        self.count += 1;
        if let Some(exchange) = self.exchanges.of(self.flow, request.since) {
            exchange.times.add(self.now.since(request.since));
            exchange.bytes[0] += request.request;
            exchange.bytes[1] += request.response;
        }
        self.series.on_request(&request_record([self.flow, self.connection], self.ends, request, self.now));
    }
}
