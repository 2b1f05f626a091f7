//! Requests and their responses, as applications that have such tell of them.

use tcp::Endpoint;
use traffic::application::{RequestLog, Transaction};
use units::Time;

use crate::flow_index::index_of_flow;
use crate::histogram::Histogram;
use crate::series::{RecordedSeries, RequestRecord};
use crate::slot::Slot;

/// The requests of a flow.
#[derive(Debug, Default)]
pub struct Exchange {
    /// Requests that were written.
    pub begun: u64,
    /// The times from a request to the end of its response, of those that were answered.
    pub times: Histogram,
    /// The bytes of these requests and of their responses.
    pub bytes: [u64; 2],
}

/// The requests of all flows whose two hosts send data.
#[derive(Debug, Default)]
pub struct Exchanges {
    /// These flows, in their order.
    pub flows: Vec<u32>,
    of: Vec<Exchange>,
    /// Requests that were written before this time are not counted.
    begins: Time,
}

impl Exchanges {
    /// Those of these flows, which are in order, from a time on.
    pub fn new(flows: Vec<u32>, begins: Time) -> Self {
        let of = flows.iter().map(|_| Exchange::default()).collect();
        Exchanges { flows, of, begins }
    }

    /// Where the application of a connection tells of its requests; series hear of them too.
    pub fn log<'a>(
        &'a mut self,
        series: &'a mut RecordedSeries,
        slot: &Slot,
        ends: [&'a Endpoint; 2],
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

    /// The requests of a flow, if one that was written at this time counts.
    fn of(&mut self, flow: u32, written: Time) -> Option<&mut Exchange> {
        let index = index_of_flow(flow, &self.flows, |flow| *flow);
        self.of.get_mut(index).filter(|_| self.flows[index] == flow && written >= self.begins)
    }

    /// Each flow that wrote any, with its requests.
    pub fn each(&self) -> impl Iterator<Item = (u32, &Exchange)> {
        self.flows.iter().copied().zip(&self.of).filter(|(_, exchange)| exchange.begun > 0)
    }
}

/// A request of a flow and its connection, as series hear of it.
pub fn request_record(
    whose: [u32; 2],
    ends: [&Endpoint; 2],
    request: &Transaction,
    completed: Time,
) -> RequestRecord {
    let [flow, connection] = whose;
    RequestRecord {
        flow,
        connection,
        since: request.since,
        opened: ends[0].milestones().0,
        completed,
        timeouts: ends.map(Endpoint::timeouts),
        bytes: [request.request, request.response],
    }
}

/// Enters the requests of a connection.
#[derive(Debug)]
pub struct ConnectionRequests<'a> {
    exchanges: &'a mut Exchanges,
    series: &'a mut RecordedSeries,
    flow: u32,
    connection: u32,
    ends: [&'a Endpoint; 2],
    now: Time,
    /// How many were answered now.
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
