//! Applications: the programs at the two endpoints of a connection. The simulator notifies an
//! application of events at an endpoint. The application returns actions, which the connection
//! carries out. An application selects the events that it needs ([`Application::needs`]), so that
//! one which only writes costs no instruction per packet.

use units::param::Invalid;
use units::{Duration, Time};

pub use crate::side::Side;

use crate::draws::RandomDraws;
use crate::opener::Opener;

/// Event at an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The client opens the connection. Data written now is sent when the handshake is complete.
    /// The server does not receive this event.
    Opening,
    /// The handshake is complete at this endpoint.
    Opened,
    /// The given number of bytes arrived in order. The endpoint reads the arrived bytes at once,
    /// unless the application reads at its own pace.
    Received(u64),
    /// The timer of the application expired.
    Woken,
    /// The unsent data fell below the level that the application maintains ([`Needs::unsent`]).
    /// Writing the given number of bytes would restore that level.
    SendSpace(u64),
    /// The peer closed the connection, and all its data was delivered to the application.
    PeerClosed,
}

/// A request with its response.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transaction {
    /// Time when the client wrote the request.
    pub since: Time,
    /// Size of the request, in bytes.
    pub request: u64,
    /// Size of the response, in bytes.
    pub response: u64,
}

/// Actions of an application at an endpoint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Actions {
    /// Number of bytes to write. [`u64::MAX`] means an unlimited amount of data.
    pub write: u64,
    /// Number of bytes to read, if the application reads at its own pace.
    pub read: u64,
    /// True to close: the application writes no more data.
    pub close: bool,
    /// Time at which to set the timer of this endpoint. [`Time::NEVER`] leaves the timer as it is.
    pub wake: Time,
}

impl Actions {
    /// No action.
    pub const NONE: Actions = Actions { write: 0, read: 0, close: false, wake: Time::NEVER };
    /// Close this endpoint.
    pub const CLOSE: Actions = Actions { close: true, ..Actions::NONE };

    /// Return the action that writes `bytes` bytes.
    pub fn write(bytes: u64) -> Actions {
        Actions { write: bytes, ..Actions::NONE }
    }

    /// Return the action that sets the timer of this endpoint.
    pub fn wake(at: Time) -> Actions {
        Actions { wake: at, ..Actions::NONE }
    }
}

/// Events and services that an application needs at an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// True if the application needs events beyond the opening and its own timer. If the value is
    /// false, the endpoint closes when the peer has closed.
    pub events: bool,
    /// True if the application needs only the event that the data up to [`EndpointState::awaited`]
    /// arrived, and the event that the peer closed.
    pub messages: bool,
    /// True if the application reads at its own pace instead of at once.
    pub own_pace: bool,
    /// Amount of unsent data that the application maintains, in bytes. The application receives
    /// [`Event::SendSpace`] when the unsent data is below this amount.
    pub unsent: u64,
}

impl Needs {
    /// Only the opening and the timer.
    pub const NOTHING: Needs = Needs { events: false, messages: false, own_pace: false, unsent: 0 };
    /// All events.
    pub const EVENTS: Needs = Needs { events: true, ..Needs::NOTHING };
    /// Only the events that complete a message, which is a request or a response.
    pub const MESSAGES: Needs = Needs { messages: true, ..Needs::EVENTS };
}

/// State of an application at one endpoint. The connection counts the bytes, and the application
/// sets the other fields.
#[derive(Clone, Copy, Debug, Default)]
pub struct EndpointState {
    /// Bytes written at this endpoint.
    pub written: u64,
    /// Bytes received in order at this endpoint.
    pub received: u64,
    /// Number of messages that the application began at this endpoint.
    pub begun: u32,
    /// Number of messages that the application finished at this endpoint.
    pub ended: u32,
    /// Offset in the received data at which the awaited message ends.
    pub awaited: u64,
    /// A time that the application stores, such as the time of its last request.
    pub since: Time,
}

/// Counter of requests and responses.
pub trait RequestLog {
    /// Count a request that the client has just written.
    fn requested(&mut self);
    /// Count a request whose response is complete now.
    fn responded(&mut self, transaction: &Transaction);
}

impl EndpointState {
    /// Return true if the last `came` bytes completed the awaited message.
    pub fn completes(&self, came: u64) -> bool {
        self.received >= self.awaited && self.received - came < self.awaited
    }
}

/// A counter that ignores every request.
impl RequestLog for () {
    fn requested(&mut self) {}
    fn responded(&mut self, _: &Transaction) {}
}

/// State of a connection, as its application sees it.
pub struct Context<'a> {
    /// Current time.
    pub now: Time,
    /// State of the client endpoint. Either endpoint may read the states of both, because the
    /// headers of a real protocol would contain this information.
    pub client: &'a mut EndpointState,
    /// State of the server endpoint. The state is not updated if the application
    /// [needs](Application::needs) no events at the server.
    pub server: &'a mut EndpointState,
    /// Random numbers of the connection.
    pub draws: RandomDraws<'a>,
    /// Counter of requests and responses.
    pub log: &'a mut dyn RequestLog,
}

impl Context<'_> {
    /// Return the time that is `span` after the current time.
    pub fn after(&self, span: Duration) -> Time {
        self.now + span
    }
}

/// Behaviour of the two endpoints of a connection.
pub trait Application {
    /// Return the actions of an endpoint in response to an event there.
    fn on(&self, side: Side, event: Event, context: &mut Context) -> Actions;

    /// Return the events and services that the application needs at an endpoint.
    fn needs(&self, _: Side) -> Needs {
        Needs::NOTHING
    }

    /// Return false if the application stores nothing and sets no timer, such as an application
    /// that writes all its data at the opening and closes. The connections of an application that
    /// stores nothing have no application state.
    fn has_state(&self) -> bool {
        true
    }

    /// Return `Ok` if the application closes every one of its connections. Otherwise return the key
    /// whose absence makes it endless, and the value that the key needs.
    fn ends(&self) -> Result<(), (&'static str, &'static str)> {
        Ok(())
    }

    /// Read the files that the application needs, before a run. `path` is the key of the traffic in
    /// the scenario, for errors.
    fn load(&self, _path: &str) -> Result<(), Invalid> {
        Ok(())
    }

    /// Return the opener of the connections, if this traffic decides when its connections open.
    /// Otherwise the flow has one connection, or those of its `arrivals`.
    fn opener(&self) -> Option<&dyn Opener> {
        None
    }

    /// Return request `number`, which the client has written and which has no response yet, given
    /// the state of the client endpoint. Requests are counted in the order of their responses.
    /// Return `None` if the application has no requests.
    fn pending_request(
        &self,
        _number: u32,
        _client: &EndpointState,
        _lots: RandomDraws,
    ) -> Option<Transaction> {
        None
    }

    /// Return the completed share of the work, from 0 to 1, given the state of the client endpoint
    /// and the acknowledged bytes. The result is 0 if the share is unknown.
    fn share_done(&self, _client: &EndpointState, _acked: u64, _lots: RandomDraws) -> f64 {
        0.0
    }
}
