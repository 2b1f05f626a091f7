//! Web requests that are sampled without a network: each response arrives at the instant at which
//! the server sends it. The sampled pages are the same as in a run, because the same code samples
//! them from the same random numbers. With an ever faster network, the request times of a run
//! approach the sampled request times.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use units::Time;

use crate::application::EndpointState;
use crate::conversation::Conversation;
use crate::draws::RandomDraws;
use crate::opener::{NextOpening, Opener, OpenerEvent, Progress};
use crate::web::Web;

/// A sampled request of a web user.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampled {
    /// Number of the user in its `[[flows]]` table.
    pub user: u32,
    /// Number of the page. The pages of a user are counted from 0.
    pub page: u32,
    /// Number of the connection. The connections of a user are counted from 0 in the order of
    /// opening.
    pub connection: u32,
    /// Number of the connection in result tables, which depends on the use of connections.
    pub number: u32,
    /// Time when the client writes the request.
    pub at: Time,
    /// Time when the response arrives.
    pub answered: Time,
    /// Size of the request, in bytes.
    pub request: u64,
    /// Size of the response, in bytes.
    pub response: u64,
}

/// Return the requests of a connection that opens at the time `opened`.
fn requests<'a>(
    web: &'a Web,
    user: u32,
    connection: u32,
    number: u32,
    opened: Time,
    draws: RandomDraws<'a>,
) -> impl Iterator<Item = Sampled> + 'a {
    let draws = draws.of_connection(number);
    let mut client = EndpointState { since: opened, ..EndpointState::default() };
    let mut there = opened;
    let request = move |n: u32| {
        if n > 0 {
            let from = if web.waits(n) { there } else { client.since };
            client.since = web.due(n, from, draws).max(from);
        }
        there = there.max(client.since) + web.server_time(n, draws);
        let transaction = web.transaction(n, &client, draws);
        let (request, response) = (transaction.request, transaction.response);
        let page = web.object(n, draws).0;
        Sampled { user, page, connection, number, at: transaction.since, answered: there, request, response }
    };
    (0..web.count(draws).unwrap_or(0)).map(request)
}

/// Sample the requests of a user from the time `start` to the time `until`, and append the requests
/// to a list. Sampling stops when the list has `most` requests. The argument `draws` contains the
/// random numbers of the user.
pub fn sample(
    web: &Web,
    start: Time,
    until: Time,
    draws: RandomDraws,
    most: usize,
    found: &mut Vec<Sampled>,
) {
    let mut progress = Progress::new(start);
    let mut answers: BinaryHeap<Reverse<(Time, u32)>> = BinaryHeap::new();
    let (mut opens, mut now, mut event) = (Time::NEVER, start, OpenerEvent::Begins);
    while now <= until && found.len() < most {
        match web.next(&mut progress, event, now, draws) {
            NextOpening::At(time) => opens = time.max(now),
            NextOpening::Wait => {}
            NextOpening::End => return,
        }
        match answers.peek() {
            Some(&Reverse((time, number))) if time <= opens => {
                answers.pop();
                (now, event) = (time, OpenerEvent::Answered(number));
            }
            _ if opens == Time::NEVER => return,
            _ => {
                (now, event) = (opens, OpenerEvent::Opened);
                opens = Time::NEVER;
                let number = web.connection(&progress);
                let all = requests(web, draws.numbers().0, progress.opened, number, now, draws);
                for request in all.take_while(|request| request.at <= until) {
                    answers.push(Reverse((request.answered, number)));
                    found.push(request);
                }
                progress.opened += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use units::Read;

    use super::*;
    use crate::draws::DrawStreams;

    fn sampled(more: Value, seconds: f64) -> Vec<Sampled> {
        let mut web = json!({"page_gap": "10 s", "objects": 3, "request": "100 B", "response": "1 kB",
            "server_time": "200 ms"});
        web.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let (web, streams) = (Web::read(&web, "").unwrap(), DrawStreams::new(1, "user"));
        let mut found = Vec::new();
        let until = Time::ZERO + units::Duration::from_seconds(seconds);
        sample(&web, Time::ZERO, until, streams.of(0, 0), 1000, &mut found);
        found
    }

    fn times(found: &[Sampled]) -> Vec<f64> {
        found.iter().map(|r| r.at.seconds()).collect()
    }

    /// The expected times were calculated by hand: each page begins 10 s after the end of the
    /// previous page. The objects of a page follow each other by 1 s, or each object follows the
    /// response to the previous one.
    #[test]
    fn requests_are_written_when_they_are_due() {
        let each = sampled(json!({"object_gap": "1 s"}), 25.0);
        assert_eq!(times(&each), [10.0, 11.0, 12.0, 22.2, 23.2, 24.2]);
        assert_eq!(each[3].page, 1);
        assert_eq!(each[5].connection, 5);
        assert_eq!(each[0].answered.seconds(), 10.2);
        let from_start = sampled(json!({"object_gap": "1 s", "page_gap_from": "start"}), 22.0);
        assert_eq!(times(&from_start), [10.0, 11.0, 12.0, 20.0, 21.0, 22.0]);
        let persistent = sampled(json!({"connections": "persistent", "parse_time": "1 s"}), 22.0);
        assert_eq!(times(&persistent), [10.0, 11.2, 11.4, 21.6]);
        assert_eq!(persistent[2].connection, 0);
        let pipelined = sampled(json!({"connections": "pipelined"}), 12.0);
        assert_eq!(times(&pipelined), [10.0, 10.0, 10.0]);
        assert_eq!(pipelined[2].answered.seconds(), 10.6);
        let parallel = sampled(json!({"parallel": 1}), 12.0);
        assert_eq!(times(&parallel), [10.0, 10.2, 10.4]);
    }

    #[test]
    fn a_sample_ends_with_the_sessions_the_time_or_the_maximum_number() {
        assert_eq!(sampled(json!({"pages": 2, "sessions": 2}), 1e6).len(), 12);
        assert_eq!(sampled(json!({"page_gap": "0 s", "server_time": "0 s"}), 1.0).len(), 1000);
        assert!(sampled(json!({}), 9.9).is_empty());
    }
}
