//! Requests and responses that follow each other over a connection.

use units::{Duration, Range, Time, params, words};

use crate::application::{Actions, Application, Context, EndpointState, Event, Needs, Side, Transaction};
use crate::conversation::Conversation;
use crate::distribution::Size;
use crate::draws::RandomDraws;
use crate::spacing::Spacing;

words! {
    /// Endpoint that closes the connection after the last response.
    pub enum Closes {
        /// The client closes when it has received the last response.
        Client = "client",
        /// The server closes after it has written the last response, as HTTP/1.0 does.
        Server = "server",
    }
}

params! {
    /// Requests and responses that follow each other over a connection. The client (`from`) opens
    /// the connection and writes a request. The server (`to`) answers each complete request. When
    /// the response is complete, the client writes the next request. For transactions that consist
    /// of connect, request, response and close, set one request per connection and the key
    /// `arrivals`. With `after = "closing"`, the transactions form a closed loop.
    pub struct RequestResponse: "request_response" {
        /// Size of a request, fixed or sampled from a distribution.
        request: Size = required, in Range::between(1.0, 1e12), from "";
        /// Size of a response, fixed or sampled from a distribution.
        response: Size = required, in Range::between(1.0, 1e12), from "";
        /// Number of requests per connection. If the number of requests is absent, requests
        /// continue until the end of the run, so the run needs a duration.
        requests: Option<u64> = (None), in Range::between(1.0, 4e9), from "";
        /// Mean time that the server needs from the arrival of a request to its response.
        server_time: Duration = (Duration::ZERO), in Range::at_least(0.0), from "";
        /// Distribution of the time that the server needs from the arrival of a request to its
        /// response.
        server_spacing: Spacing = (Spacing::Constant), in Range::ANY, from "";
        /// Mean time that the client waits after the arrival of a response before its next request.
        think_time: Duration = (Duration::ZERO), in Range::at_least(0.0), from "";
        /// Distribution of the time that the client waits after the arrival of a response before
        /// its next request.
        think_spacing: Spacing = (Spacing::Constant), in Range::ANY, from "";
        /// Endpoint that closes the connection after the last response.
        closes: Closes = (Closes::Client), in Range::ANY, from "rfc1945 §1.3: the server closes; rfc9112 §9.3: either endpoint may close, because connections persist";
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
