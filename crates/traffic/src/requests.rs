//! Requests from a list. A list of requests does not depend on the network, so runs over different
//! networks can have the same traffic.

mod list;

use units::param::{Invalid, join};
use units::{Duration, Range, Time, params, words};

pub use list::List;

use crate::application::{Actions, Application, Context, EndpointState, Event, Needs, Side, Transaction};
use crate::conversation::Conversation;
use crate::distribution::Times;
use crate::draws::RandomDraws;
use crate::opener::{NextOpening, Opener, OpenerEvent, Progress};

words! {
    /// Rule for the times at which the client writes the requests, if a connection has several
    /// requests.
    pub enum Order {
        /// The client writes a request at the listed time, or later when the previous response is
        /// complete (HTTP/1.1 without pipelining).
        InTurn = "in-turn",
        /// The client writes a request at the listed time, even if earlier responses are not
        /// complete (pipelining).
        Pipelined = "pipelined",
    }
}

params! {
    /// Requests from a list that gives the time, the sizes and the connection of each request. The
    /// requests do not depend on what happens in the run. The command `aqmlab calibrate` writes the
    /// requests of a run as a list of requests. The flows of a `[[flows]]` table correspond to the
    /// users of the list, in the same order.
    pub struct Requests: "requests" {
        /// Name of a text file with five columns: user, connection, at_s, request_bytes,
        /// response_bytes.
        list: List = required, in Range::ANY, from "";
        /// Rule for the times at which the client writes the requests of a connection.
        order: Order = (Order::InTurn), in Range::ANY, from "rfc9112 §9.3.2";
        /// Time that the server needs from the arrival of a request to its response. The server
        /// processes the requests of the same connection one after the other.
        server_time: Times = (Times::fixed(Duration::ZERO)), in Range::at_least(0.0), from "";
    }
}

impl Conversation for Requests {
    fn count(&self, draws: RandomDraws) -> Option<u32> {
        Some(self.list.requests(draws.numbers()).len() as u32)
    }

    fn request(&self, number: u32, draws: RandomDraws) -> u64 {
        self.list.requests(draws.numbers()).get(number as usize).map_or(0, |r| r.request)
    }

    fn response(&self, number: u32, draws: RandomDraws) -> u64 {
        self.list.requests(draws.numbers()).get(number as usize).map_or(0, |r| r.response)
    }

    fn server_time(&self, number: u32, draws: RandomDraws) -> Duration {
        draws.times(Side::Server, &self.server_time, number)
    }

    fn due(&self, number: u32, _: Time, draws: RandomDraws) -> Time {
        self.list.requests(draws.numbers()).get(number as usize).map_or(Time::NEVER, |r| r.at)
    }

    fn waits(&self, _: u32) -> bool {
        self.order == Order::InTurn
    }

    fn server_closes(&self) -> bool {
        true
    }

    fn transaction(&self, number: u32, client: &EndpointState, draws: RandomDraws) -> Transaction {
        let since = match self.order {
            Order::InTurn => client.since,
            Order::Pipelined => self.due(number, Time::ZERO, draws),
        };
        Transaction { since, request: self.request(number, draws), response: self.response(number, draws) }
    }
}

impl Application for Requests {
    fn on(&self, side: Side, event: Event, context: &mut Context) -> Actions {
        self.respond(side, event, context)
    }

    fn needs(&self, _: Side) -> Needs {
        Needs::MESSAGES
    }

    fn load(&self, path: &str) -> Result<(), Invalid> {
        self.list.load(&join(path, "list"))
    }

    fn opener(&self) -> Option<&dyn Opener> {
        Some(self)
    }

    fn pending_request(
        &self,
        number: u32,
        client: &EndpointState,
        draws: RandomDraws,
    ) -> Option<Transaction> {
        Some(self.transaction(number, client, draws))
    }
}

impl Opener for Requests {
    fn next(&self, progress: &mut Progress, event: OpenerEvent, _: Time, draws: RandomDraws) -> NextOpening {
        if !matches!(event, OpenerEvent::Begins | OpenerEvent::Opened) {
            return NextOpening::Wait;
        }
        let (user, _) = draws.numbers();
        match self.list.requests((user, progress.opened)).first() {
            Some(first) => NextOpening::At(first.at),
            None => NextOpening::End,
        }
    }

    fn ends(&self) -> Result<(), (&'static str, &'static str)> {
        Ok(())
    }

    fn share_done(&self, progress: &Progress, draws: RandomDraws) -> f64 {
        let (user, _) = draws.numbers();
        f64::from(progress.opened) / f64::from(self.list.connections(user).max(1))
    }
}
