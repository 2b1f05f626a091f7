//! A bulk transfer: one file, or unlimited data. The receiver reads the data at once or at a
//! limited rate.

use units::{Bytes, Range, Rate, params};

use crate::application::{Actions, Application, Context, EndpointState, Event, Needs, Side};
use crate::distribution::Size;
use crate::draws::RandomDraws;

params! {
    /// A bulk transfer. The sender opens the connection, writes all its data at once and closes.
    /// The receiver closes after the sender has closed. If `read_rate` limits the receiver, unread
    /// data fills the receive window.
    pub struct Bulk: "bulk" {
        /// Size of the file, fixed or sampled from a distribution. If the size is absent, the
        /// sender has an unlimited amount of data, and the run needs a duration.
        size: Option<Size> = (None), in Range::between(1.0, 1e15), from "";
        /// Rate at which the receiving application reads. If `read_rate` is absent, the application
        /// reads all data at once.
        read_rate: Option<Rate> = (None), in Range::ANY, from "";
        /// Maximum number of bytes per read call, if `read_rate` is given.
        read_chunk: Bytes = (Bytes(4096)), in Range::between(1.0, 4e9), from "";
    }
}

/// Values with which the fields of [`EndpointState`] record the state of a server that reads
/// slowly. [`READING`] in the field [`EndpointState::begun`] means that the server waits between
/// two reads. [`CLOSED_THERE`] in the field [`EndpointState::ended`] means that the sender has
/// closed.
const READING: u32 = 1;
const CLOSED_THERE: u32 = 1;

impl Bulk {
    /// Return the size of the file, or `None` for an unlimited amount of data.
    pub(crate) fn bytes(&self, draws: RandomDraws) -> Option<u64> {
        self.size.as_ref().map(|size| draws.size(Side::Client, size, 0))
    }

    /// Read the next chunk when the time for the previous chunk has passed, and close after the
    /// last chunk. The field [`EndpointState::awaited`] counts the bytes that were read so far.
    fn read(&self, rate: Rate, event: Event, context: &mut Context) -> Actions {
        match event {
            Event::Woken => context.server.begun = 0,
            Event::PeerClosed => context.server.ended = CLOSED_THERE,
            _ => {}
        }
        let mut actions = Actions::NONE;
        let unread = context.server.received - context.server.awaited;
        if unread > 0 && context.server.begun != READING {
            actions.read = unread.min(self.read_chunk.0);
            actions.wake = context.after(rate.transmission_time(Bytes(actions.read)));
            context.server.begun = READING;
            context.server.awaited += actions.read;
        }
        actions.close =
            context.server.ended == CLOSED_THERE && context.server.awaited == context.server.received;
        actions
    }
}

impl Application for Bulk {
    fn on(&self, side: Side, event: Event, context: &mut Context) -> Actions {
        match (side, event, self.read_rate) {
            (Side::Client, Event::Opening, _) => {
                let write = self.bytes(context.draws).unwrap_or(u64::MAX);
                Actions { write, close: self.size.is_some(), ..Actions::NONE }
            }
            (Side::Server, event, Some(rate)) => self.read(rate, event, context),
            _ => Actions::NONE,
        }
    }

    fn needs(&self, side: Side) -> Needs {
        let slow = side == Side::Server && self.read_rate.is_some();
        if slow { Needs { own_pace: true, ..Needs::EVENTS } } else { Needs::NOTHING }
    }

    fn has_state(&self) -> bool {
        self.read_rate.is_some()
    }

    fn ends(&self) -> Result<(), (&'static str, &'static str)> {
        self.size.as_ref().map(drop).ok_or(("size", "a size"))
    }

    fn share_done(&self, _: &EndpointState, acked: u64, draws: RandomDraws) -> f64 {
        self.bytes(draws).map_or(0.0, |size| acked as f64 / size as f64)
    }
}
