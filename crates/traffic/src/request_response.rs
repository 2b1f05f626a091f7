//! Requests and responses, one after the other over a connection.

use units::{Duration, Range, params, words};

use crate::application::{Actions, Answered, Application, Event, Memory, Side, Talk, Wants};
use crate::draws::Lots;
use crate::size::Size;
use crate::spacing::Spacing;

words! {
    /// Who closes the connection when all requests are answered.
    pub enum Closes {
        /// The client, when it has the last response.
        Client = "client",
        /// The server, behind the last response, as HTTP/1.0 does.
        Server = "server",
    }
}

params! {
    /// Requests and responses, one after the other over a connection. The client (`from`) opens it and writes a request, the
    /// server (`to`) answers each that it has whole, and the client writes the next when it has the whole response. A transaction
    /// that is connect, request, response and close has one request; `arrivals` makes many of it, in a closed loop with
    /// `after = "closing"`.
    pub struct RequestResponse: "request_response" {
        /// Size of a request: fixed, or a table of a distribution.
        request: Size = required, in Range::between(1.0, 1e12), from "";
        /// Size of a response.
        response: Size = required, in Range::between(1.0, 1e12), from "";
        /// How many requests a connection has; absent: they never end, and the run needs a duration.
        requests: Option<u64> = (None), in Range::between(1.0, 4e9), from "";
        /// Mean time from the arrival of a request to its response.
        server_time: Duration = (Duration::ZERO), in Range::at_least(0.0), from "";
        /// How these times are distributed.
        server_spacing: Spacing = (Spacing::Constant), in Range::ANY, from "";
        /// Mean time from the arrival of a response to the next request.
        think_time: Duration = (Duration::ZERO), in Range::at_least(0.0), from "";
        /// How these times are distributed.
        think_spacing: Spacing = (Spacing::Constant), in Range::ANY, from "";
        /// Who closes.
        closes: Closes = (Closes::Client), in Range::ANY, from "rfc1945 §1.3: the server; rfc9112 §9.3: either, as connections persist";
    }
}

impl RequestResponse {
    /// The client's next request. Where it and its response end, headers would tell.
    fn ask(&self, talk: &mut Talk) -> Actions {
        let request = self.request_size(talk.lots, talk.client.begun);
        talk.server.place = talk.client.written + request;
        talk.client.place = talk.server.written + self.response_size(talk.lots, talk.client.begun);
        talk.client.begun += 1;
        talk.client.since = talk.now;
        talk.log.asked();
        Actions::write(request)
    }

    /// The server's next response.
    fn answer(&self, talk: &mut Talk) -> Actions {
        let write = self.response_size(talk.lots, talk.server.begun);
        talk.server.begun += 1;
        let last = self.requests == Some(u64::from(talk.server.begun));
        Actions { close: last && self.closes == Closes::Server, ..Actions::write(write) }
    }

    fn request_size(&self, lots: Lots, number: u32) -> u64 {
        lots.size(Side::Client, &self.request, number)
    }

    fn response_size(&self, lots: Lots, number: u32) -> u64 {
        lots.size(Side::Server, &self.response, number)
    }

    /// The client has a response.
    fn on_response(&self, talk: &mut Talk) -> Actions {
        let number = talk.client.ended;
        talk.client.ended += 1;
        talk.log.answered(&Answered {
            since: talk.client.since,
            request: self.request_size(talk.lots, number),
            response: self.response_size(talk.lots, number),
        });
        if self.requests == Some(u64::from(talk.client.ended)) {
            return if self.closes == Closes::Client { Actions::CLOSE } else { Actions::NONE };
        }
        let time = talk.lots.time(Side::Client, self.think_spacing, self.think_time, number);
        if time == Duration::ZERO { self.ask(talk) } else { Actions::wake(talk.after(time)) }
    }

    /// The server has a request.
    fn on_request(&self, talk: &mut Talk) -> Actions {
        let time = talk.lots.time(Side::Server, self.server_spacing, self.server_time, talk.server.ended);
        talk.server.ended += 1;
        if time == Duration::ZERO { self.answer(talk) } else { Actions::wake(talk.after(time)) }
    }
}

impl Application for RequestResponse {
    fn on(&self, side: Side, event: Event, talk: &mut Talk) -> Actions {
        match (side, event) {
            (Side::Client, Event::Opening | Event::Woken) => self.ask(talk),
            (Side::Client, Event::Received(n)) if talk.client.has_it(n) => self.on_response(talk),
            (Side::Server, Event::Received(n)) if talk.server.has_it(n) => self.on_request(talk),
            (Side::Server, Event::Woken) => self.answer(talk),
            (_, Event::PeerClosed) => Actions::CLOSE,
            _ => Actions::NONE,
        }
    }

    fn wants(&self, _: Side) -> Wants {
        Wants::TOLD
    }

    fn ends(&self) -> Result<(), (&'static str, &'static str)> {
        self.requests.map(drop).ok_or(("requests", "a number of requests"))
    }

    fn share_done(&self, client: &Memory, _: u64, _: Lots) -> f64 {
        self.requests.map_or(0.0, |n| f64::from(client.ended) / n as f64)
    }
}
