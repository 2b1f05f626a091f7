//! Openers determine the times at which the connections of a flow open, if the flow has several
//! connections. The opener [`Arrivals`](crate::Arrivals) opens connections one after the other. The
//! opener of web traffic opens connections page by page. The opener of a list of requests opens
//! connections at the times in the list.

use units::Time;

use crate::draws::RandomDraws;

/// Event at which an opener decides when the next connection opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenerEvent {
    /// The flow starts.
    Begins,
    /// The connection that the opener scheduled has opened.
    Opened,
    /// The response to a request is complete. The value is the number of the connection that
    /// carried the request.
    Answered(u32),
    /// The client of a connection closes because it has received all its responses. The value is
    /// the number of the connection that the client closes.
    Finished(u32),
    /// A connection is closed at both of its endpoints.
    Closed {
        /// Number of the connection.
        connection: u32,
        /// Number of requests of the closed connection that did not receive a complete response.
        unanswered: u32,
    },
}

/// Decision of an opener.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextOpening {
    /// Open the next connection at the given time.
    At(Time),
    /// Wait. The last decision that the opener returned remains valid.
    Wait,
    /// Open no further connection.
    End,
}

/// Progress of a flow. The run stores the progress of each flow, and an opener uses only the fields
/// that it needs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    /// Time when the flow started.
    pub began: Time,
    /// Number of connections that the flow has opened so far.
    pub opened: u32,
    /// Number of connections, or of requests, that are not yet finished.
    pub open: u32,
    /// Number of the current page. The pages of all sessions together are counted from 0.
    pub page: u32,
    /// Time when the current page began.
    pub page_began: Time,
    /// Number of objects of the current page, or 0 before the page begins.
    pub objects: u32,
    /// Number of objects of the current page that were already requested.
    pub begun: u32,
    /// Number of objects of the current page that are complete, or were abandoned because their
    /// connection closed.
    pub done: u32,
    /// Time when the next object is due, if the object waits because too many other objects are
    /// unfinished. The parameter `parallel` sets the maximum number of unfinished objects. If no
    /// object waits for the completion of other objects, the field is [`Time::NEVER`].
    pub due: Time,
    /// Number of pages that follow the current page in its session.
    pub pages_left: u32,
    /// Number of sessions that have begun.
    pub sessions: u32,
}

impl Progress {
    /// Return the progress of a flow that starts at the time `began`.
    pub fn new(began: Time) -> Self {
        Progress { began, due: Time::NEVER, ..Progress::default() }
    }
}

/// Schedule for the connections of a flow.
pub trait Opener {
    /// Return the decision of the opener after an event of the flow. The argument `draws` contains
    /// the random numbers of the flow, and [`RandomDraws::of_connection`] selects those of a
    /// connection.
    fn next(&self, progress: &mut Progress, event: OpenerEvent, now: Time, draws: RandomDraws)
    -> NextOpening;

    /// Return the number of the connection that will open next.
    fn connection(&self, progress: &Progress) -> u32 {
        progress.opened
    }

    /// Return `Ok` if the schedule ends at some time. If the schedule never ends, return the key
    /// that would make the schedule end, and a description of the key's value.
    fn ends(&self) -> Result<(), (&'static str, &'static str)>;

    /// Return the completed fraction of the schedule, from 0 to 1, or 0 if the fraction is unknown.
    fn share_done(&self, _progress: &Progress, _lots: RandomDraws) -> f64 {
        0.0
    }
}
