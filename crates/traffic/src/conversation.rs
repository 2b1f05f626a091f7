//! Requests and responses over a connection: what applications share that have such.

use units::{Duration, Time};

use crate::application::{Actions, Answered, Event, Memory, Side, Talk};
use crate::draws::Lots;

/// The requests of a connection. The server answers them one after the other, in the order in which they come.
pub trait Conversation {
    /// How many there are; none: they never end.
    fn count(&self, lots: Lots) -> Option<u32>;

    /// The bytes of a request.
    fn request(&self, number: u32, lots: Lots) -> u64;

    /// The bytes that the server sends until the response of this number in their order is whole.
    fn response(&self, number: u32, lots: Lots) -> u64;

    /// The time that the server takes for it.
    fn server_time(&self, number: u32, lots: Lots) -> Duration;

    /// When a request may be written, asked when those before it are, and if it waits for the response to the one before, when
    /// that has come.
    fn due(&self, number: u32, now: Time, lots: Lots) -> Time;

    /// Whether a request waits for the response to the one before.
    fn waits(&self, number: u32) -> bool;

    /// Whether the server closes behind the last response; if not, the client does when it has that.
    fn server_closes(&self) -> bool;

    /// The request whose response has this number: when it was written, and both sizes.
    fn told(&self, number: u32, client: &Memory, lots: Lots) -> Answered {
        let (request, response) = (self.request(number, lots), self.response_of(number, client, lots));
        Answered { since: client.since, request, response }
    }

    /// [`Conversation::response`]; while the client waits for the first, that is all up to its [`Memory::place`].
    fn response_of(&self, number: u32, client: &Memory, lots: Lots) -> u64 {
        let is_awaited = number == 0 && client.ended == 0 && client.begun > 0;
        if is_awaited { client.place } else { self.response(number, lots) }
    }

    /// What the ends do when something happens.
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

    /// The client writes what is due; `now`: the next is, as its time was waited for.
    fn ask(&self, mut now: bool, talk: &mut Talk) -> Actions {
        let mut actions = Actions::NONE;
        loop {
            let number = talk.client.begun;
            let waits = self.waits(number) && talk.client.ended < number;
            if waits || self.count(talk.lots) == Some(number) {
                return actions;
            }
            if !std::mem::take(&mut now) {
                let due = self.due(number, talk.now, talk.lots);
                if due > talk.now {
                    return Actions { wake: due, ..actions };
                }
            }
            let request = self.request(number, talk.lots);
            if talk.server.ended == number {
                talk.server.place += request;
            }
            if talk.client.ended == number {
                talk.client.place += self.response(number, talk.lots);
            }
            actions.write += request;
            talk.client.begun += 1;
            talk.client.since = talk.now;
            talk.log.asked();
        }
    }

    /// The client has more bytes. [`Memory::place`]: where the response ends that it waits for. (Headers would tell.)
    fn take_responses(&self, talk: &mut Talk) -> Actions {
        let before = talk.client.ended;
        while talk.client.ended < talk.client.begun && talk.client.received >= talk.client.place {
            talk.log.answered(&self.told(talk.client.ended, talk.client, talk.lots));
            talk.client.ended += 1;
            if talk.client.ended < talk.client.begun {
                talk.client.place += self.response(talk.client.ended, talk.lots);
            }
        }
        if talk.client.ended == before {
            Actions::NONE
        } else if self.count(talk.lots) != Some(talk.client.ended) {
            self.ask(false, talk)
        } else if self.server_closes() {
            Actions::NONE
        } else {
            Actions::CLOSE
        }
    }

    /// The server has more bytes. [`Memory::place`]: where the request ends that it waits for.
    fn take_requests(&self, talk: &mut Talk) -> Actions {
        let idle = talk.server.begun == talk.server.ended;
        let before = talk.server.ended;
        while talk.server.ended < talk.client.begun && talk.server.received >= talk.server.place {
            talk.server.ended += 1;
            if talk.server.ended < talk.client.begun {
                talk.server.place += self.request(talk.server.ended, talk.lots);
            }
        }
        if idle && talk.server.ended > before { self.answer(false, talk) } else { Actions::NONE }
    }

    /// The server answers what it has, one after the other; `ready`: the next is, as its time was waited for.
    fn answer(&self, mut ready: bool, talk: &mut Talk) -> Actions {
        let mut actions = Actions::NONE;
        while talk.server.begun < talk.server.ended {
            let number = talk.server.begun;
            if !std::mem::take(&mut ready) {
                let time = self.server_time(number, talk.lots);
                if time > Duration::ZERO {
                    return Actions { wake: talk.after(time), ..actions };
                }
            }
            actions.write += self.response_of(number, talk.client, talk.lots);
            talk.server.begun += 1;
            let last = self.count(talk.lots) == Some(talk.server.begun);
            actions.close = last && self.server_closes();
        }
        actions
    }
}
