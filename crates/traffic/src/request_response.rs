//! Requests and responses, one after the other over a connection.

use units::{Duration, Range, Time, params, words};

use crate::application::{Actions, Application, Context, EndpointState, Event, Needs, Side, Transaction};
use crate::conversation::Conversation;
use crate::distribution::Size;
use crate::draws::RandomDraws;
use crate::spacing::Spacing;

words! {
    /// Endpoint that closes the connection after the last response.
    pub enum Closes {
        /// The client closes when it has the last response.
        Client = "client",
        /// The server closes after it has written the last response, as HTTP/1.0 does.
        Server = "server",
    }
}

params! {
    /// Requests and responses, one after the other over a connection. The client (`from`) opens the
    /// connection and writes a request. The server (`to`) answers each complete request, and the
    /// client writes the next request after the complete response. For transactions of connect,
    /// request, response and close, give one request per connection and use `arrivals`; `after =
    /// "closing"` makes a closed loop of them.
    pub struct RequestResponse: "request_response" {
        /// Size of a request, fixed or sampled from a distribution.
        request: Size = required, in Range::between(1.0, 1e12), from "";
        /// Size of a response, fixed or sampled from a distribution.
        response: Size = required, in Range::between(1.0, 1e12), from "";
        /// Number of requests per connection. If the number of requests is absent, requests
        /// continue until the end of the run, and the run needs a duration.
        requests: Option<u64> = (None), in Range::between(1.0, 4e9), from "";
        /// Mean time from the arrival of a request to its response.
        server_time: Duration = (Duration::ZERO), in Range::at_least(0.0), from "";
        /// Distribution of the times from the arrival of a request to its response.
        server_spacing: Spacing = (Spacing::Constant), in Range::ANY, from "";
        /// Mean time from the arrival of a response to the next request.
        think_time: Duration = (Duration::ZERO), in Range::at_least(0.0), from "";
        /// Distribution of the times from the arrival of a response to the next request.
        think_spacing: Spacing = (Spacing::Constant), in Range::ANY, from "";
        /// Endpoint that closes the connection after the last response.
        closes: Closes = (Closes::Client), in Range::ANY, from "rfc1945 §1.3: the server; rfc9112 §9.3: either, as connections persist";
    }
}

impl Conversation for RequestResponse {
    fn count(&self, _: RandomDraws) -> Option<u32> {
        self.requests.map(|n| n as u32)
    }

    fn request(&self, number: u32, draws: RandomDraws) -> u64 {
        draws.size(Side::Client, &self.request, number)
    }

    fn response(&self, number: u32, draws: RandomDraws) -> u64 {
        draws.size(Side::Server, &self.response, number)
    }

    fn server_time(&self, number: u32, draws: RandomDraws) -> Duration {
        draws.time(Side::Server, self.server_spacing, self.server_time, number)
    }

    fn due(&self, number: u32, now: Time, draws: RandomDraws) -> Time {
        let think = |before| draws.time(Side::Client, self.think_spacing, self.think_time, before);
        now + number.checked_sub(1).map_or(Duration::ZERO, think)
    }

    fn waits(&self, _: u32) -> bool {
        true
    }

    fn server_closes(&self) -> bool {
        self.closes == Closes::Server
    }
}

impl Application for RequestResponse {
    fn on(&self, side: Side, event: Event, context: &mut Context) -> Actions {
        self.respond(side, event, context)
    }

    fn needs(&self, _: Side) -> Needs {
        Needs::MESSAGES
    }

    fn pending_request(
        &self,
        number: u32,
        client: &EndpointState,
        draws: RandomDraws,
    ) -> Option<Transaction> {
        Some(self.transaction(number, client, draws))
    }

    fn ends(&self) -> Result<(), (&'static str, &'static str)> {
        self.requests.map(drop).ok_or(("requests", "a number of requests"))
    }

    fn share_done(&self, client: &EndpointState, _: u64, _: RandomDraws) -> f64 {
        self.requests.map_or(0.0, |n| f64::from(client.ended) / n as f64)
    }
}
