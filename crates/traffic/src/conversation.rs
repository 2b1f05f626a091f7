//! Requests and responses over a connection: the part that several applications share.

use units::{Duration, Time};

use crate::application::{Actions, Answered, Event, Memory, Side, Talk};
use crate::draws::RandomDraws;

/// The requests of a connection. The server answers them in the order in which they arrive.
pub trait Conversation {
    /// Return the number of requests, or `None` if they never end.
    fn count(&self, draws: RandomDraws) -> Option<u32>;

    /// Return the size of request `number`, in bytes.
    fn request(&self, number: u32, draws: RandomDraws) -> u64;

    /// Return the number of bytes that the server sends from the end of the previous response until
    /// response `number`, in the order of completion, is complete.
    fn response(&self, number: u32, draws: RandomDraws) -> u64;

    /// Return the processing time of the server for request `number`.
    fn server_time(&self, number: u32, draws: RandomDraws) -> Duration;

    /// Return the earliest time to write request `number`. It is computed when the earlier requests
    /// are written and, if request `number` waits for the previous response, when that response is
    /// complete.
    fn due(&self, number: u32, now: Time, draws: RandomDraws) -> Time;

    /// Return true if request `number` waits for the response to the previous request.
    fn waits(&self, number: u32) -> bool;

    /// Return true if the server closes after the last response. Otherwise the client closes when
    /// it has the last response.
    fn server_closes(&self) -> bool;

    /// Return the request whose response is number `number` in the order of completion.
    fn told(&self, number: u32, client: &Memory, draws: RandomDraws) -> Answered {
        let (request, response) = (self.request(number, draws), self.response_of(number, client, draws));
        Answered { since: client.since, request, response }
    }

    /// Return the size of response `number`, as [`Conversation::response`]. While the client waits
    /// for the first response, the size is the client's [`Memory::place`], which avoids a draw.
    fn response_of(&self, number: u32, client: &Memory, draws: RandomDraws) -> u64 {
        let is_awaited = number == 0 && client.ended == 0 && client.begun > 0;
        if is_awaited { client.place } else { self.response(number, draws) }
    }

    /// Return the actions of an endpoint in response to an event.
    fn converse(&self, side: Side, event: Event, talk: &mut Talk) -> Actions {
        match (side, event) {
            (Side::Client, Event::Opening | Event::Woken) => self.ask(true, talk),
            (Side::Client, Event::Received(_)) => self.take_responses(talk),
            (Side::Server, Event::Received(_)) => self.take_requests(talk),
            (Side::Server, Event::Woken) => self.answer(true, talk),
            (_, Event::PeerClosed) => Actions::CLOSE,
            _ => Actions::NONE,
        }
    }

    /// Write the requests that are due. `now` is true if the timer of the next request has just
    /// expired.
    fn ask(&self, mut now: bool, talk: &mut Talk) -> Actions {
        let mut actions = Actions::NONE;
        loop {
            let number = talk.client.begun;
            let waits = self.waits(number) && talk.client.ended < number;
            if waits || self.count(talk.draws) == Some(number) {
                return actions;
            }
            if !std::mem::take(&mut now) {
                let due = self.due(number, talk.now, talk.draws);
                if due > talk.now {
                    return Actions { wake: due, ..actions };
                }
            }
            let request = self.request(number, talk.draws);
            if talk.server.ended == number {
                talk.server.place += request;
            }
            if talk.client.ended == number {
                talk.client.place += self.response(number, talk.draws);
            }
            actions.write += request;
            talk.client.begun += 1;
            talk.client.since = talk.now;
            talk.log.asked();
        }
    }

    /// Process data that arrived at the client. [`Memory::place`] is the offset at which the
    /// awaited response ends. (A real client would read it from the headers.)
    fn take_responses(&self, talk: &mut Talk) -> Actions {
        let before = talk.client.ended;
        while talk.client.ended < talk.client.begun && talk.client.received >= talk.client.place {
            talk.log.answered(&self.told(talk.client.ended, talk.client, talk.draws));
            talk.client.ended += 1;
            if talk.client.ended < talk.client.begun {
                talk.client.place += self.response(talk.client.ended, talk.draws);
            }
        }
        if talk.client.ended == before {
            Actions::NONE
        } else if self.count(talk.draws) != Some(talk.client.ended) {
            self.ask(false, talk)
        } else if self.server_closes() {
            Actions::NONE
        } else {
            Actions::CLOSE
        }
    }

    /// Process data that arrived at the server. [`Memory::place`] is the offset at which the
    /// awaited request ends.
    fn take_requests(&self, talk: &mut Talk) -> Actions {
        let idle = talk.server.begun == talk.server.ended;
        let before = talk.server.ended;
        while talk.server.ended < talk.client.begun && talk.server.received >= talk.server.place {
            talk.server.ended += 1;
            if talk.server.ended < talk.client.begun {
                talk.server.place += self.request(talk.server.ended, talk.draws);
            }
        }
        if idle && talk.server.ended > before { self.answer(false, talk) } else { Actions::NONE }
    }

    /// Answer the received requests in their order. `ready` is true if the processing time of the
    /// next response has just ended.
    fn answer(&self, mut ready: bool, talk: &mut Talk) -> Actions {
        let mut actions = Actions::NONE;
        while talk.server.begun < talk.server.ended {
            let number = talk.server.begun;
            if !std::mem::take(&mut ready) {
                let time = self.server_time(number, talk.draws);
                if time > Duration::ZERO {
                    return Actions { wake: talk.after(time), ..actions };
                }
            }
            actions.write += self.response_of(number, talk.client, talk.draws);
            talk.server.begun += 1;
            let last = self.count(talk.draws) == Some(talk.server.begun);
            actions.close = last && self.server_closes();
        }
        actions
    }
}
