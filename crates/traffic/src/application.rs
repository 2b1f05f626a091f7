//! Applications: what the two ends of a connection do with it. An application is told of events at either end and
//! answers with actions; the connection does what they say. What it is told of at an end is what it asks for
//! ([`Application::wants`]), so that one which only writes costs nothing a packet.

use units::param::Invalid;
use units::{Duration, Time};

pub use crate::side::Side;

use crate::draws::Lots;
use crate::opener::Opener;

/// What happens at an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The client opens the connection: what is written now goes out when the handshake is done. The server hears nothing of it.
    Opening,
    /// The handshake is done at this end.
    Opened,
    /// So many more bytes came in order. They are read, or wait to be read where the application holds them back.
    Received(u64),
    /// The time that was asked for has come.
    Woken,
    /// So many bytes may be written before as many wait to be sent as the application wants.
    Room(u64),
    /// The other end has closed, and all that it sent has been told.
    PeerClosed,
}

/// A request, with its response.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answered {
    /// When the request was written.
    pub since: Time,
    /// Its bytes.
    pub request: u64,
    /// Those of the response.
    pub response: u64,
}

/// What an application does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Actions {
    /// Bytes that it writes; [`u64::MAX`]: data without end.
    pub write: u64,
    /// Bytes that it reads of those that it holds back.
    pub read: u64,
    /// Whether it closes: it has no more to write.
    pub close: bool,
    /// When it is to be woken at this end, in place of the time that was set; [`Time::NEVER`]: that remains.
    pub wake: Time,
}

impl Actions {
    /// Nothing.
    pub const NONE: Actions = Actions { write: 0, read: 0, close: false, wake: Time::NEVER };
    /// It closes.
    pub const CLOSE: Actions = Actions { close: true, ..Actions::NONE };

    /// It writes.
    pub fn write(bytes: u64) -> Actions {
        Actions { write: bytes, ..Actions::NONE }
    }

    /// It waits.
    pub fn wake(at: Time) -> Actions {
        Actions { wake: at, ..Actions::NONE }
    }
}

/// What an application wants of an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wants {
    /// To be told of what happens. If not, it hears only of the opening and of the times that it asked for, and the end closes
    /// when the other has.
    pub told: bool,
    /// Of what happens, only that all is there up to where it waits for something ([`Memory::place`]), and that the other end has closed.
    pub whole: bool,
    /// To read when it likes, rather than at once.
    pub holds: bool,
    /// That so many bytes wait to be sent; it is told when fewer do.
    pub waiting: u64,
}

impl Wants {
    /// Nothing.
    pub const NOTHING: Wants = Wants { told: false, whole: false, holds: false, waiting: 0 };
    /// To be told.
    pub const TOLD: Wants = Wants { told: true, ..Wants::NOTHING };
    /// To be told of whole things alone: requests, or responses.
    pub const WHOLE: Wants = Wants { whole: true, ..Wants::TOLD };
}

/// What is remembered of an end. The connection counts bytes, the rest is the application's to use.
#[derive(Clone, Copy, Debug, Default)]
pub struct Memory {
    /// Bytes that were written here so far.
    pub written: u64,
    /// Bytes that came here in order so far.
    pub received: u64,
    /// The application's: how many messages it began here.
    pub begun: u32,
    /// How many came to their end.
    pub ended: u32,
    /// Where in what comes here something ends that it waits for.
    pub place: u64,
    /// A time.
    pub since: Time,
}

/// Where requests and responses are counted.
pub trait Log {
    /// A request is written.
    fn asked(&mut self);
    /// A request has its whole response, now.
    fn answered(&mut self, answered: &Answered);
}

impl Memory {
    /// Whether what it waits for came with the last so many bytes.
    pub fn has_it(&self, came: u64) -> bool {
        self.received >= self.place && self.received - came < self.place
    }
}

/// None are counted.
impl Log for () {
    fn asked(&mut self) {}
    fn answered(&mut self, _: &Answered) {}
}

/// A connection, as its application has it.
pub struct Talk<'a> {
    /// The time.
    pub now: Time,
    /// What it remembers of the client's end. Both ends may look at both: what one learns there, headers would say.
    pub client: &'a mut Memory,
    /// What it remembers of the server's; nothing, if it [wants](Application::wants) to be told nothing there.
    pub server: &'a mut Memory,
    /// The connection's random numbers.
    pub lots: Lots<'a>,
    /// Where requests and responses are counted.
    pub log: &'a mut dyn Log,
}

impl Talk<'_> {
    /// The time so much later.
    pub fn after(&self, span: Duration) -> Time {
        self.now + span
    }
}

/// What can be done with a connection.
pub trait Application {
    /// What it does at an end when something happens there.
    fn on(&self, side: Side, event: Event, talk: &mut Talk) -> Actions;

    /// What it wants of an end.
    fn wants(&self, _: Side) -> Wants {
        Wants::NOTHING
    }

    /// Whether it remembers anything, or is woken. One that writes and closes at the opening need not.
    fn remembers(&self) -> bool {
        true
    }

    /// Whether a connection with it ever closes; if not, the key whose absence says so, and what to give there.
    fn ends(&self) -> Result<(), (&'static str, &'static str)> {
        Ok(())
    }

    /// Reads what it needs of files, before a run; `path` is where the traffic stands.
    fn load(&self, _path: &str) -> Result<(), Invalid> {
        Ok(())
    }

    /// What opens its connections, if it says that itself; if not, a flow has one, or as many as its `arrivals`.
    fn opener(&self) -> Option<&dyn Opener> {
        None
    }

    /// A request that was written and has no response, by its place in the order in which a connection has its responses, given
    /// what was remembered of the client's end; none: it has no requests.
    fn asked(&self, _number: u32, _client: &Memory, _lots: Lots) -> Option<Answered> {
        None
    }

    /// How much of it is done, between 0 and 1, if that is known: given what was remembered of the client's end and the
    /// bytes of it that were acknowledged.
    fn share_done(&self, _client: &Memory, _acked: u64, _lots: Lots) -> f64 {
        0.0
    }
}
