//! Messages that an application writes at intervals over one long connection.

use units::{Duration, Range, params};

use crate::application::{Actions, Application, Context, EndpointState, Event, Side};
use crate::distribution::Size;
use crate::draws::RandomDraws;
use crate::spacing::Spacing;

params! {
    /// Messages that the sender writes at intervals over one connection. The sender opens the
    /// connection and writes a message after each interval. After the last message the sender
    /// closes the connection, and then the receiver closes it.
    pub struct Messages: "messages" {
        /// Size of a message, fixed or sampled from a distribution.
        size: Size = required, in Range::between(1.0, 1e12), from "";
        /// Mean interval between messages. The first message is written one interval after the
        /// opening of the connection.
        interval: Duration = required, in Range::above(0.0), from "";
        /// Distribution of the intervals between messages.
        spacing: Spacing = (Spacing::Exponential), in Range::ANY, from "";
        /// Number of messages. If the number of messages is absent, messages continue until the end
        /// of the run, so the run needs a duration.
        messages: Option<u64> = (None), in Range::between(1.0, 4e9), from "";
    }
}

impl Application for Messages {
    fn on(&self, side: Side, event: Event, context: &mut Context) -> Actions {
        let mut actions = Actions::NONE;
        if event == Event::Woken {
            actions.write = context.draws.size(side, &self.size, context.client.begun);
            context.client.begun += 1;
        }
        if self.messages == Some(u64::from(context.client.begun)) {
            actions.close = true;
        } else {
            let wait = context.draws.time(side, self.spacing, self.interval, context.client.begun);
            actions.wake = context.after(wait);
        }
        actions
    }

    fn ends(&self) -> Result<(), (&'static str, &'static str)> {
        self.messages.map(drop).ok_or(("messages", "a number of messages"))
    }

    fn share_done(&self, client: &EndpointState, _: u64, _: RandomDraws) -> f64 {
        self.messages.map_or(0.0, |n| f64::from(client.begun) / n as f64)
    }
}
