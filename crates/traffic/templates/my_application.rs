//! A confirmed upload: a template for an application of your own. docs/how-to/add-an-application.md says where each line goes.
//!
//! Source: name what the traffic follows here, with its key in references.bib. (This application is made up.)

// What an application is told and may answer is in `application.rs`; its random numbers are in `draws.rs`, so that they
// depend on the flow, the connection and a number alone.
use units::{Duration, Range, params};

use crate::application::{Actions, Answered, Application, Event, Memory, Side, Talk, Wants};
use crate::distribution::Size;
use crate::draws::Lots;

// The one definition of the parameters: the struct, the reader with its errors, the JSON Schema, the
// manual page (the comments are its text) and the Python object are made from it. Each has a type with
// a unit, a default (or `required`), a range, and where the default is from. "my_application" is the kind.
params! {
    /// A file that the server confirms. The client (`from`) opens the connection and writes the file, the server (`to`)
    /// confirms it when it has stored it, and the client closes when it knows.
    pub struct MyApplication: "my_application" {
        /// Size of the file: fixed, or a table of a distribution.
        size: Size = required, in Range::between(1.0, 1e12), from "";
        /// Size of the confirmation.
        confirmation: Size = (Size::fixed(units::Bytes(100))), in Range::between(1.0, 1e6), from "made up";
        /// Time from the arrival of the file to its confirmation.
        storing: Duration = (Duration::ZERO), in Range::at_least(0.0), from "made up";
    }
}

impl MyApplication {
    // Numbers are drawn from the connection's lots by their index, so both ends may draw the same.
    fn sizes(&self, lots: Lots) -> [u64; 2] {
        [lots.size(Side::Client, &self.size, 0), lots.size(Side::Server, &self.confirmation, 0)]
    }
}

impl Application for MyApplication {
    // Told of an event at an end, it answers with what it does there. What it remembers of both ends is in `talk`; the connection
    // counts the bytes written and received.
    fn on(&self, side: Side, event: Event, talk: &mut Talk) -> Actions {
        let [file, confirmation] = self.sizes(talk.lots);
        match (side, event) {
            (Side::Client, Event::Opening) => {
                talk.server.place = file;
                talk.client.place = confirmation;
                talk.client.since = talk.now;
                talk.log.asked();
                Actions::write(file)
            }
            (Side::Server, Event::Received(n)) if talk.server.has_it(n) => {
                Actions::wake(talk.after(self.storing))
            }
            (Side::Server, Event::Woken) => Actions::write(confirmation),
            (Side::Client, Event::Received(n)) if talk.client.has_it(n) => {
                let since = talk.client.since;
                talk.log.answered(&Answered { since, request: file, response: confirmation });
                Actions::CLOSE
            }
            (_, Event::PeerClosed) => Actions::CLOSE,
            _ => Actions::NONE,
        }
    }

    // An application that wants nothing of an end is not told of anything there but of the opening and of the times that it asks
    // for; others may read when they like, and be told when little waits to be sent.
    fn wants(&self, _: Side) -> Wants {
        Wants::TOLD
    }

    // For progress alone.
    fn share_done(&self, client: &Memory, acked: u64, lots: Lots) -> f64 {
        if client.received > 0 { 1.0 } else { acked as f64 / self.sizes(lots)[0] as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::Draws;
    use serde_json::json;
    use units::{Read, Time};

    fn ask(side: Side, event: Event, [client, server]: &mut [Memory; 2]) -> Actions {
        let upload = MyApplication::read(&json!({"size": "5 kB", "storing": "10 ms"}), "traffic").unwrap();
        let draws = Draws::new(1, "my_application");
        let (now, lots) = (Time::ZERO + Duration::from_millis(500), draws.of(0, 0));
        upload.on(side, event, &mut Talk { now, client, server, lots, log: &mut () })
    }

    #[test]
    fn the_file_goes_out_at_the_opening() {
        let ends = &mut [Memory::default(); 2];
        assert_eq!(ask(Side::Client, Event::Opening, ends), Actions::write(5000));
    }

    #[test]
    fn it_is_confirmed_when_it_is_stored() {
        let ends = &mut [Memory::default(); 2];
        ask(Side::Client, Event::Opening, ends);
        ends[1].received = 4000;
        assert_eq!(ask(Side::Server, Event::Received(4000), ends), Actions::NONE);
        ends[1].received = 5000;
        let stored = Time::ZERO + Duration::from_millis(510);
        assert_eq!(ask(Side::Server, Event::Received(1000), ends), Actions::wake(stored));
        assert_eq!(ask(Side::Server, Event::Woken, ends), Actions::write(100));
    }

    #[test]
    fn the_client_closes_when_it_knows() {
        let ends = &mut [Memory::default(); 2];
        ask(Side::Client, Event::Opening, ends);
        ends[0].received = 100;
        assert_eq!(ask(Side::Client, Event::Received(100), ends), Actions::CLOSE);
    }
}
