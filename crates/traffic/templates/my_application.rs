//! Template for an application. The example application uploads a file, and the server confirms the
//! upload. The guide docs/how-to/add-an-application.md explains the place of each line in aqmlab.
//!
//! Source: name the source of the traffic here, with its key in references.bib. (This application
//! is invented.)

// The module `application.rs` defines the events and the actions of an application. The module
// `draws.rs` defines the random numbers of an application, which depend only on the flow, the
// connection and an index.
use units::{Duration, Range, params};

use crate::application::{Actions, Application, Context, EndpointState, Event, Needs, Side, Transaction};
use crate::distribution::Size;
use crate::draws::RandomDraws;

// The following definition of the application's parameters is the only one. The macro `params!`
// generates the struct, the reader with its errors, the JSON Schema, the manual page (from these
// comments) and the Python object. Each parameter has a type with a unit, a default (or
// `required`), a range, and the source of the default. The name of the kind in a scenario is
// "my_application".
params! {
    /// A file upload that the server confirms. The client (`from`) opens the connection and writes
    /// the file. The server (`to`) stores the file and then sends a confirmation. The client closes
    /// the connection when it has received the confirmation.
    pub struct MyApplication: "my_application" {
        /// Size of the file, fixed or sampled from a distribution.
        size: Size = required, in Range::between(1.0, 1e12), from "";
        /// Size of the confirmation.
        confirmation: Size = (Size::fixed(units::Bytes(100))), in Range::between(1.0, 1e6), from "invented";
        /// Time that the server needs from the arrival of the file to its confirmation.
        storing: Duration = (Duration::ZERO), in Range::at_least(0.0), from "invented";
    }
}

impl MyApplication {
    // A random number depends only on the flow, the connection and an index, so both endpoints
    // compute the same sizes.
    fn sizes(&self, draws: RandomDraws) -> [u64; 2] {
        [draws.size(Side::Client, &self.size, 0), draws.size(Side::Server, &self.confirmation, 0)]
    }
}

impl Application for MyApplication {
    // Return the actions of an endpoint in response to an event. The argument `context` contains
    // the state of both endpoints. The connection itself counts the bytes written and received.
    fn on(&self, side: Side, event: Event, context: &mut Context) -> Actions {
        let [file, confirmation] = self.sizes(context.draws);
        match (side, event) {
            (Side::Client, Event::Opening) => {
                context.server.awaited = file;
                context.client.awaited = confirmation;
                context.client.since = context.now;
                context.log.requested();
                Actions::write(file)
            }
            (Side::Server, Event::Received(n)) if context.server.completes(n) => {
                Actions::wake(context.after(self.storing))
            }
            (Side::Server, Event::Woken) => Actions::write(confirmation),
            (Side::Client, Event::Received(n)) if context.client.completes(n) => {
                let since = context.client.since;
                context.log.responded(&Transaction { since, request: file, response: confirmation });
                Actions::CLOSE
            }
            (_, Event::PeerClosed) => Actions::CLOSE,
            _ => Actions::NONE,
        }
    }

    // The function `needs` selects the events that the application receives. By default, an
    // application receives only the opening and the expiry of its own timer. An application may
    // also determine itself when it reads, or maintain an amount of unsent data.
    fn needs(&self, _: Side) -> Needs {
        Needs::EVENTS
    }

    // The progress display shows the fraction of the work that is done.
    fn share_done(&self, client: &EndpointState, acked: u64, draws: RandomDraws) -> f64 {
        if client.received > 0 { 1.0 } else { acked as f64 / self.sizes(draws)[0] as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::DrawStreams;
    use serde_json::json;
    use units::{Read, Time};

    fn ask(side: Side, event: Event, [client, server]: &mut [EndpointState; 2]) -> Actions {
        let upload = MyApplication::read(&json!({"size": "5 kB", "storing": "10 ms"}), "traffic").unwrap();
        let streams = DrawStreams::new(1, "my_application");
        let (now, draws) = (Time::ZERO + Duration::from_millis(500), streams.of(0, 0));
        upload.on(side, event, &mut Context { now, client, server, draws, log: &mut () })
    }

    #[test]
    fn the_client_writes_the_file_at_the_opening() {
        let ends = &mut [EndpointState::default(); 2];
        assert_eq!(ask(Side::Client, Event::Opening, ends), Actions::write(5000));
    }

    #[test]
    fn the_server_confirms_the_file_after_storing_it() {
        let ends = &mut [EndpointState::default(); 2];
        ask(Side::Client, Event::Opening, ends);
        ends[1].received = 4000;
        assert_eq!(ask(Side::Server, Event::Received(4000), ends), Actions::NONE);
        ends[1].received = 5000;
        let stored = Time::ZERO + Duration::from_millis(510);
        assert_eq!(ask(Side::Server, Event::Received(1000), ends), Actions::wake(stored));
        assert_eq!(ask(Side::Server, Event::Woken, ends), Actions::write(100));
    }

    #[test]
    fn the_client_closes_after_the_confirmation() {
        let ends = &mut [EndpointState::default(); 2];
        ask(Side::Client, Event::Opening, ends);
        ends[0].received = 100;
        assert_eq!(ask(Side::Client, Event::Received(100), ends), Actions::CLOSE);
    }
}
