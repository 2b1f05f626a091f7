//! Requests and responses over a connection: the part that several applications share.

use units::{Duration, Time};

use crate::application::{Actions, Context, EndpointState, Event, Side, Transaction};
use crate::draws::RandomDraws;

/// The requests of a connection. The server answers the requests in the order in which they arrive.
pub trait Conversation {
    /// Return the number of requests of the connection, or `None` if the number is unlimited.
    fn count(&self, draws: RandomDraws) -> Option<u32>;

    /// Return the size of request `number`, in bytes.
    fn request(&self, number: u32, draws: RandomDraws) -> u64;

    /// Return the number of bytes that the server sends from the completion of the previous
    /// response to the completion of response `number`. Responses are numbered in the order of
    /// completion.
    fn response(&self, number: u32, draws: RandomDraws) -> u64;

    /// Return the processing time of the server for request `number`.
    fn server_time(&self, number: u32, draws: RandomDraws) -> Duration;

    /// Return the earliest time to write request `number`. The client computes this time when it
    /// writes the earlier requests and, if request `number` waits for the previous response, when
    /// that response is complete.
    fn due(&self, number: u32, now: Time, draws: RandomDraws) -> Time;

    /// Return true if request `number` waits for the response to the previous request.
    fn waits(&self, number: u32) -> bool;

    /// Return true if the server closes after the last response. Otherwise the client closes when
    /// it has the last response.
    fn server_closes(&self) -> bool;

    /// Return the request of response `number`, in the order of completion.
    fn transaction(&self, number: u32, client: &EndpointState, draws: RandomDraws) -> Transaction {
        let (request, response) = (self.request(number, draws), self.response_of(number, client, draws));
        Transaction { since: client.since, request, response }
    }

    /// Return the size of response `number`, as [`Conversation::response`]. While the client waits
    /// for the first response, the size is the client's [`EndpointState::awaited`], which avoids a
    /// second sample.
    fn response_of(&self, number: u32, client: &EndpointState, draws: RandomDraws) -> u64 {
        let is_awaited = number == 0 && client.ended == 0 && client.begun > 0;
        if is_awaited { client.awaited } else { self.response(number, draws) }
    }

    /// Return the actions of an endpoint in response to an event.
    fn respond(&self, side: Side, event: Event, context: &mut Context) -> Actions {
        match (side, event) {
            (Side::Client, Event::Opening | Event::Woken) => self.write_requests(true, context),
            (Side::Client, Event::Received(_)) => self.process_responses(context),
            (Side::Server, Event::Received(_)) => self.process_requests(context),
            (Side::Server, Event::Woken) => self.write_responses(true, context),
            (_, Event::PeerClosed) => Actions::CLOSE,
            _ => Actions::NONE,
        }
    }

    /// Write the requests that are due. `now` is true if the timer of the next request has just
    /// expired.
    fn write_requests(&self, mut now: bool, context: &mut Context) -> Actions {
        let mut actions = Actions::NONE;
        loop {
            let number = context.client.begun;
            let waits = self.waits(number) && context.client.ended < number;
            if waits || self.count(context.draws) == Some(number) {
                return actions;
            }
            if !std::mem::take(&mut now) {
                let due = self.due(number, context.now, context.draws);
                if due > context.now {
                    return Actions { wake: due, ..actions };
                }
            }
            let request = self.request(number, context.draws);
            if context.server.ended == number {
                context.server.awaited += request;
            }
            if context.client.ended == number {
                context.client.awaited += self.response(number, context.draws);
            }
            actions.write += request;
            context.client.begun += 1;
            context.client.since = context.now;
            context.log.requested();
        }
    }

    /// Process data that arrived at the client. [`EndpointState::awaited`] is the offset at which
    /// the awaited response ends. (A real client would read the size of the response from the
    /// headers.)
    fn process_responses(&self, context: &mut Context) -> Actions {
        let before = context.client.ended;
        while context.client.ended < context.client.begun && context.client.received >= context.client.awaited
        {
            context.log.responded(&self.transaction(context.client.ended, context.client, context.draws));
            context.client.ended += 1;
            if context.client.ended < context.client.begun {
                context.client.awaited += self.response(context.client.ended, context.draws);
            }
        }
        if context.client.ended == before {
            Actions::NONE
        } else if self.count(context.draws) != Some(context.client.ended) {
            self.write_requests(false, context)
        } else if self.server_closes() {
            Actions::NONE
        } else {
            Actions::CLOSE
        }
    }

    /// Process data that arrived at the server. [`EndpointState::awaited`] is the offset at which
    /// the awaited request ends.
    fn process_requests(&self, context: &mut Context) -> Actions {
        let idle = context.server.begun == context.server.ended;
        let before = context.server.ended;
        while context.server.ended < context.client.begun && context.server.received >= context.server.awaited
        {
            context.server.ended += 1;
            if context.server.ended < context.client.begun {
                context.server.awaited += self.request(context.server.ended, context.draws);
            }
        }
        if idle && context.server.ended > before {
            self.write_responses(false, context)
        } else {
            Actions::NONE
        }
    }

    /// Answer the received requests in the order of their arrival. `ready` is true if the
    /// processing time of the next response has just ended.
    fn write_responses(&self, mut ready: bool, context: &mut Context) -> Actions {
        let mut actions = Actions::NONE;
        while context.server.begun < context.server.ended {
            let number = context.server.begun;
            if !std::mem::take(&mut ready) {
                let time = self.server_time(number, context.draws);
                if time > Duration::ZERO {
                    return Actions { wake: context.after(time), ..actions };
                }
            }
            actions.write += self.response_of(number, context.client, context.draws);
            context.server.begun += 1;
            let last = self.count(context.draws) == Some(context.server.begun);
            actions.close = last && self.server_closes();
        }
        actions
    }
}
