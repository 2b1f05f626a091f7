//! Applications are the programs at the two endpoints of a connection. The simulator notifies an
//! application of each event at one of its endpoints. The application returns actions in response
//! to an event, and the connection performs these actions. An application selects the events that
//! it needs ([`Application::needs`]), so that an application that only writes costs no time per
//! packet.

use units::param::Invalid;
use units::{Duration, Time};

pub use crate::side::Side;

use crate::draws::RandomDraws;
use crate::opener::Opener;

/// Event at an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The client opens the connection and may write at once. Data that the client writes at this
    /// event is sent when the handshake is complete. The event `Opening` occurs only at the client.
    Opening,
    /// The handshake is complete at this endpoint.
    Opened,
    /// The given number of bytes has arrived in order. The endpoint reads arriving bytes at once,
    /// unless the application itself determines when it reads.
    Received(u64),
    /// The timer of the application expired.
    Woken,
    /// The unsent data has fallen below the amount that the application maintains
    /// ([`Needs::unsent`]). The value of the event is the number of bytes that the application has
    /// to write so that the amount of unsent data is [`Needs::unsent`] again.
    SendSpace(u64),
    /// The peer has closed the connection, and all data of the peer was delivered to the
    /// application.
    PeerClosed,
}

/// A request and its response.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transaction {
    /// Time when the client wrote the request.
    pub since: Time,
    /// Size of the request, in bytes.
    pub request: u64,
    /// Size of the response, in bytes.
    pub response: u64,
}

/// Actions of an application at one endpoint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Actions {
    /// Number of bytes to write. The value [`u64::MAX`] means an unlimited amount of data.
    pub write: u64,
    /// Number of bytes to read, if the application itself determines when it reads.
    pub read: u64,
    /// True to close the endpoint, so that the application writes no more data.
    pub close: bool,
    /// Expiry time of the timer of this endpoint. If the time is [`Time::NEVER`], the timer does
    /// not change.
    pub wake: Time,
}

impl Actions {
    /// No action.
    pub const NONE: Actions = Actions { write: 0, read: 0, close: false, wake: Time::NEVER };
    /// Close this endpoint.
    pub const CLOSE: Actions = Actions { close: true, ..Actions::NONE };

    /// Return the action of writing `bytes` bytes.
    pub fn write(bytes: u64) -> Actions {
        Actions { write: bytes, ..Actions::NONE }
    }

    /// Return the action of setting the timer of this endpoint.
    pub fn wake(at: Time) -> Actions {
        Actions { wake: at, ..Actions::NONE }
    }
}

/// Events and services that an application needs at an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// True if the application needs any event other than the opening and its own timer. If the
    /// application needs only the opening and its own timer, the endpoint closes as soon as the
    /// peer has closed.
    pub events: bool,
    /// True if the application needs only two kinds of events: the arrival of all data up to
    /// [`EndpointState::awaited`], and the close of the peer.
    pub messages: bool,
    /// True if the application itself determines when it reads, and false if the endpoint reads at
    /// once.
    pub own_pace: bool,
    /// Amount of unsent data that the application maintains, in bytes. The application receives the
    /// event [`Event::SendSpace`] when the unsent data is below this amount.
    pub unsent: u64,
}

impl Needs {
    /// Needs of an application that uses only two events: the opening of the connection, and the
    /// expiry of the application's timer.
    pub const NOTHING: Needs = Needs { events: false, messages: false, own_pace: false, unsent: 0 };
    /// All events.
    pub const EVENTS: Needs = Needs { events: true, ..Needs::NOTHING };
    /// The application needs only the events that complete a message, that is, a request or a
    /// response.
    pub const MESSAGES: Needs = Needs { messages: true, ..Needs::EVENTS };
}

/// State of an application at one endpoint. The connection counts the bytes written and received,
/// and the application sets the other fields.
#[derive(Clone, Copy, Debug, Default)]
pub struct EndpointState {
    /// Number of bytes that the application wrote at this endpoint.
    pub written: u64,
    /// Number of bytes that this endpoint received in order.
    pub received: u64,
    /// Number of messages that the application has begun at this endpoint.
    pub begun: u32,
    /// Number of messages that the application has finished at this endpoint.
    pub ended: u32,
    /// Position in the received data at which the expected message ends.
    pub awaited: u64,
    /// Time that the application stores for its own use, such as the time of its last request.
    pub since: Time,
}

/// Observer that counts requests and responses.
pub trait RequestLog {
    /// Count a request that the client has written.
    fn requested(&mut self);
    /// Count a request whose response is now complete.
    fn responded(&mut self, transaction: &Transaction);
}

impl EndpointState {
    /// Return true if the expected message is complete now, but was incomplete before the last
    /// bytes arrived. The argument `came` is the number of these bytes.
    pub fn completes(&self, came: u64) -> bool {
        self.received >= self.awaited && self.received - came < self.awaited
    }
}

/// An observer that ignores all requests and responses.
impl RequestLog for () {
    fn requested(&mut self) {}
    fn responded(&mut self, _: &Transaction) {}
}

/// State of a connection, as its application sees it.
pub struct Context<'a> {
    /// Current time.
    pub now: Time,
    /// State of the client endpoint. The application may read the states of both endpoints at
    /// either endpoint, because a real protocol would send the same information in its headers.
    pub client: &'a mut EndpointState,
    /// State of the server endpoint. If the application [needs](Application::needs) no events at
    /// the server, the state of the server is not updated.
    pub server: &'a mut EndpointState,
    /// Random numbers of the connection.
    pub draws: RandomDraws<'a>,
    /// Observer that counts requests and responses.
    pub log: &'a mut dyn RequestLog,
}

impl Context<'_> {
    /// Return the current time plus `span`.
    pub fn after(&self, span: Duration) -> Time {
        self.now + span
    }
}

/// Behaviour of an application at both endpoints of a connection.
pub trait Application {
    /// Return the actions of an endpoint in response to an event at this endpoint.
    fn on(&self, side: Side, event: Event, context: &mut Context) -> Actions;

    /// Return the events and services that the application needs at an endpoint.
    fn needs(&self, _: Side) -> Needs {
        Needs::NOTHING
    }

    /// Return false if the application stores nothing and sets no timer. An example of an
    /// application without state is one that writes all its data when the connection opens, and
    /// then closes. If an application stores nothing, its connections have no application state.
    fn has_state(&self) -> bool {
        true
    }

    /// Return `Ok` if the application closes each of its connections at some time. If some
    /// connections never close, return the key that would make them close, and a description of the
    /// key's value.
    fn ends(&self) -> Result<(), (&'static str, &'static str)> {
        Ok(())
    }

    /// Read the files that the application needs, before the run begins. The argument `path` is the
    /// path of the traffic in the scenario, for error messages.
    fn load(&self, _path: &str) -> Result<(), Invalid> {
        Ok(())
    }

    /// Return the opener of the flow's connections, if the traffic itself determines when its
    /// connections open. If the result is `None`, the flow has one connection, or the connections
    /// that its key `arrivals` describes.
    fn opener(&self) -> Option<&dyn Opener> {
        None
    }

    /// Return the request with the given number, which the client has written and whose response is
    /// not complete. The argument `client` is the state of the client endpoint. Requests are
    /// numbered in the order of their responses. Return `None` if the application does not use
    /// requests.
    fn pending_request(
        &self,
        _number: u32,
        _client: &EndpointState,
        _lots: RandomDraws,
    ) -> Option<Transaction> {
        None
    }

    /// Return the fraction of the connection's work that is done, from 0 to 1, given the state of
    /// the client endpoint and the number of acknowledged bytes. The result is 0 if the fraction is
    /// unknown.
    fn share_done(&self, _client: &EndpointState, _acked: u64, _lots: RandomDraws) -> f64 {
        0.0
    }
}
