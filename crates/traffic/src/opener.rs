//! When the connections of a flow are opened, where it has more than one: after each other ([`Arrivals`](crate::Arrivals)), or
//! as traffic that says it itself will have it, page by page or as a list says.

use units::Time;

use crate::draws::Lots;

/// What an opener is told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// The flow begins.
    Begins,
    /// The connection that it asked for is opened.
    Opened,
    /// A request of one of its connections, by the number of that, has its whole response.
    Answered(u32),
    /// The client of one of its connections closes, by the number of that: it has all that it
    /// wanted.
    Finished(u32),
    /// One of its connections is closed at both ends, and so many of its requests never had their response.
    Closed {
        /// Its number.
        connection: u32,
        /// How many.
        unanswered: u32,
    },
}

/// What follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The next connection is opened then.
    At(Time),
    /// Nothing: what was to come still is.
    Waits,
    /// There are no more.
    Over,
}

/// How a flow stands. An opener uses what it needs; the run keeps it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    /// When the flow began.
    pub began: Time,
    /// Connections opened so far.
    pub opened: u32,
    /// Connections or requests that are not over.
    pub open: u32,
    /// The page that is looked at, counted from 0 over all sessions.
    pub page: u32,
    /// When it began.
    pub page_began: Time,
    /// How many objects it has; 0: it has not begun.
    pub objects: u32,
    /// How many of these were opened.
    pub begun: u32,
    /// How many are there, or never will be.
    pub done: u32,
    /// When the next object is due that waits for others to be done; [`Time::NEVER`]: none waits.
    pub due: Time,
    /// How many pages of the session are left after this one.
    pub pages_left: u32,
    /// How many sessions began.
    pub sessions: u32,
}

impl Progress {
    /// That of a flow that begins then.
    pub fn new(began: Time) -> Self {
        Progress { began, due: Time::NEVER, ..Progress::default() }
    }
}

/// Opens the connections of a flow.
pub trait Opener {
    /// What follows from what it is told of. `lots`: what the flow draws, whose connection is not said yet ([`Lots::of`]).
    fn next(&self, progress: &mut Progress, told: Told, now: Time, lots: Lots) -> Next;

    /// The number of the connection that is opened next.
    fn connection(&self, progress: &Progress) -> u32 {
        progress.opened
    }

    /// Whether they come to an end; if not, the key whose absence says so, and what to give there.
    fn ends(&self) -> Result<(), (&'static str, &'static str)>;

    /// How much of it is done, between 0 and 1, if that is known.
    fn share_done(&self, _progress: &Progress, _lots: Lots) -> f64 {
        0.0
    }
}
