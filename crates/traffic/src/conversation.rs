//! Requests and responses over a connection. Several applications use this module.

use units::{Duration, Time};

use crate::application::{Actions, Context, EndpointState, Event, Side, Transaction};
use crate::draws::RandomDraws;

/// The requests of one connection. The server answers the requests of a connection in the order of
/// their arrival.
pub trait Conversation {
    /// Return the number of requests of the connection, or `None` if the number is unlimited.
    fn count(&self, draws: RandomDraws) -> Option<u32>;

    /// Return the size of the request with the given number, in bytes.
    fn request(&self, number: u32, draws: RandomDraws) -> u64;

    /// Return the size of the response with the given number, in bytes. The size includes all bytes
    /// that the server sends after the previous response is complete. Responses are numbered in the
    /// order in which they are complete.
    fn response(&self, number: u32, draws: RandomDraws) -> u64;

    /// Return the server's processing time for the request with the given number.
    fn server_time(&self, number: u32, draws: RandomDraws) -> Duration;

    /// Return the earliest time at which the client may write the request with the given number.
    /// The client calls this function when it has written the previous request, or when the
    /// previous response is complete if the request has to wait for this response.
    fn due(&self, number: u32, now: Time, draws: RandomDraws) -> Time;

    /// Return true if the request with the given number has to wait for the response to the
    /// previous request.
    fn waits(&self, number: u32) -> bool;

    /// Return true if the server closes the connection after the last response. If the server does
    /// not close first, the client closes when it has received the last response.
    fn server_closes(&self) -> bool;

    /// Return the request and the response with the given number, in the order in which responses
    /// are complete.
    fn transaction(&self, number: u32, client: &EndpointState, draws: RandomDraws) -> Transaction {
        let (request, response) = (self.request(number, draws), self.response_of(number, client, draws));
        Transaction { since: client.since, request, response }
    }

    /// Return the size of the response with the given number, which is equal to
    /// [`Conversation::response`]. While the client waits for the first response, its field
    /// [`EndpointState::awaited`] is equal to the size of the response, so the size need not be
    /// sampled again.
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

    /// Write all requests that are due. The argument `now` is true if the timer for the next
    /// request has just expired.
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

    /// Process data that arrived at the client. The field [`EndpointState::awaited`] is the offset
    /// in the received data at which the next response ends. (A real client would read the size of
    /// the response from a header.)
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

    /// Process data that arrived at the server. The field [`EndpointState::awaited`] is the offset
    /// in the received data at which the next request ends.
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

    /// Write the responses to the received requests, in the order in which the requests arrived.
    /// The argument `ready` is true if the processing time for the next response has just ended.
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
