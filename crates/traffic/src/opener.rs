//! The times at which the connections of a flow open, if the flow has more than one.
//! [`Arrivals`](crate::Arrivals) opens connections one after the other. Web traffic opens
//! connections page by page, and a list of requests opens them at the listed times.

use units::Time;

use crate::draws::RandomDraws;

/// Event that an opener responds to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenerEvent {
    /// The flow starts.
    Begins,
    /// The connection that the opener scheduled is open.
    Opened,
    /// The complete response to a request has arrived. The value is the number of the request's
    /// connection.
    Answered(u32),
    /// The client of a connection closes because it has all its responses. The value is the number
    /// of the connection.
    Finished(u32),
    /// A connection is closed at both endpoints.
    Closed {
        /// Number of the connection.
        connection: u32,
        /// Number of requests of the closed connection that never received a response.
        unanswered: u32,
    },
}

/// Decision of an opener.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextOpening {
    /// Open the next connection at this time.
    At(Time),
    /// Wait. The previous decision of the opener stays in force.
    Wait,
    /// Open no further connection.
    End,
}

/// Progress of a flow. The run stores the progress, and each opener uses the fields that it needs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    /// Time when the flow started.
    pub began: Time,
    /// Number of connections opened so far.
    pub opened: u32,
    /// Number of connections, or requests, that are not finished.
    pub open: u32,
    /// Number of the current page, counted from 0 over all sessions.
    pub page: u32,
    /// Time when the current page began.
    pub page_began: Time,
    /// Number of objects of the current page; 0 before the page begins.
    pub objects: u32,
    /// Number of objects of the current page that were requested.
    pub begun: u32,
    /// Number of objects of the current page that are complete or that were abandoned because their
    /// connection closed.
    pub done: u32,
    /// Time when the next object is due, if it waits for others because of `parallel`; otherwise
    /// [`Time::NEVER`].
    pub due: Time,
    /// Number of pages of the session after the current page.
    pub pages_left: u32,
    /// Number of sessions that began.
    pub sessions: u32,
}

impl Progress {
    /// Return the progress of a flow that starts at `began`.
    pub fn new(began: Time) -> Self {
        Progress { began, due: Time::NEVER, ..Progress::default() }
    }
}

/// Schedule of the connections of a flow.
pub trait Opener {
    /// Return the decision of the opener after an event. `draws` are the random numbers of the
    /// flow; [`RandomDraws::of_connection`] selects the connection.
    fn next(&self, progress: &mut Progress, event: OpenerEvent, now: Time, draws: RandomDraws)
    -> NextOpening;

    /// Return the number of the connection that opens next.
    fn connection(&self, progress: &Progress) -> u32 {
        progress.opened
    }

    /// Return `Ok` if the schedule ends. Otherwise return the key whose absence makes the schedule
    /// endless, and the value that the key needs.
    fn ends(&self) -> Result<(), (&'static str, &'static str)>;

    /// Return the completed share of the schedule, from 0 to 1, or 0 if the share is unknown.
    fn share_done(&self, _progress: &Progress, _lots: RandomDraws) -> f64 {
        0.0
    }
}
