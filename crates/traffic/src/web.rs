//! Web pages: a user has sessions, a session has pages, and a page has objects.
//!
//! Sources: Feldmann, Gilbert, Huang & Willinger 1999, §2, for sessions, pages and objects with one
//! connection each. Source for the objects of a page and the times between pages: Barford &
//! Crovella 1998. Sources for the use of connections: RFC 1945, RFC 9112 and RFC 9113. The random
//! numbers of web traffic depend only on the user, the page and the object. The pages are therefore
//! the same for every way to use connections, and independent of the network.

use units::param::{Invalid, join};
use units::{Duration, Range, Read, Time, params, words};

use crate::application::{Actions, Application, Context, EndpointState, Event, Needs, Side, Transaction};
use crate::conversation::Conversation;
use crate::distribution::{Count, Size, Times};
use crate::draws::RandomDraws;
use crate::opener::{NextOpening, Opener, OpenerEvent, Progress};
use crate::web_presets::Preset;

words! {
    /// Use of connections.
    pub enum Connections {
        /// One connection per object. The server closes the connection after its only response
        /// (HTTP/1.0).
        Each = "each",
        /// One connection per page. The client requests the objects of a page one after the other
        /// (HTTP/1.1).
        Persistent = "persistent",
        /// One connection per page. The client requests all objects without waiting for earlier
        /// responses, and the responses arrive in the order of the requests (HTTP/1.1).
        Pipelined = "pipelined",
        /// One connection per page. The server sends all objects of the page at the same time, in
        /// turns of 16 KiB per object (HTTP/2).
        Multiplexed = "multiplexed",
        /// One connection per session. The client requests all objects of the session one after the
        /// other, and pauses between pages (HTTP/1.1 with keep-alive).
        Session = "session",
    }
}

words! {
    /// Event from which the time until the next page counts.
    pub enum PageGapFrom {
        /// The time counts from the arrival of the last object of the previous page, as for a user
        /// who reads a page before requesting the next one.
        End = "end",
        /// The time counts from the beginning of the previous page. A page begins even if earlier
        /// pages are not complete.
        Start = "start",
    }
}

params! {
    /// Web users. Each flow is one user. The flow's key `from` names the host of the user, and `to`
    /// the host of the server. A session consists of pages, and a page consists of objects. Each
    /// object is one request with its response. The first page begins after one `page_gap`, counted
    /// from the start of the flow.
    pub struct Web: "web", checked by Web::check {
        /// Named model of web traffic, which gives values to keys. A value of the named model
        /// applies only if the scenario does not set the key.
        preset: Preset = (Preset::None), in Range::ANY, from "";
        /// Number of pages per session. If all pages of a session share one connection, the maximum
        /// is 1000 pages, and a larger sampled number of pages is reduced to 1000. If the number of
        /// pages is absent, the user has one session that never ends.
        pages: Option<Count> = (None), in Range::ANY, from "";
        /// Number of sessions per user. If the number of sessions is absent, sessions continue
        /// until the end of the run.
        sessions: Option<u64> = (None), in Range::between(1.0, 4e9), from "";
        /// Time until the next session begins, counted from the event that `page_gap_from` names.
        /// If `session_gap` is absent, the time until the next session has the distribution of
        /// `page_gap`.
        session_gap: Option<Times> = (None), in Range::ANY, from "";
        /// Time between pages.
        page_gap: Times = preset, in Range::at_least(0.0), from "";
        /// Event from which the time until the next page counts.
        page_gap_from: PageGapFrom = (PageGapFrom::End), in Range::ANY, from "barford1998surge: OFF times begin when a page has arrived";
        /// Number of objects per page. Numbers of objects above the maximum of 1024 count as 1024.
        objects: Count = preset, in Range::ANY, from "";
        /// Time between two consecutive requests of a page, if each object has its own connection.
        object_gap: Times = (Times::fixed(Duration::ZERO)), in Range::at_least(0.0), from "";
        /// Size of a request.
        request: Size = preset, in Range::between(1.0, 1e12), from "";
        /// Size of an object.
        response: Size = preset, in Range::between(1.0, 1e15), from "";
        /// Size of the first object of a page. If `main_response` is absent, the first object has
        /// the same distribution of sizes as the other objects.
        main_response: Option<Size> = (None), in Range::between(1.0, 1e15), from "";
        /// Time from the arrival of the first object of a page to the requests for the other
        /// objects. If `parse_time` is absent, the other objects are requested without waiting for
        /// the first object.
        parse_time: Option<Times> = (None), in Range::at_least(0.0), from "";
        /// Time that the server needs from the arrival of a request to its response. The server
        /// processes the requests of a connection one after the other, but multiplexed requests
        /// together.
        server_time: Times = (Times::fixed(Duration::ZERO)), in Range::at_least(0.0), from "";
        /// Time that the server needs for the first object of a page, which is often generated by a
        /// program. If `main_server_time` is absent, the first object has the same distribution of
        /// processing times as the other objects.
        main_server_time: Option<Times> = (None), in Range::at_least(0.0), from "";
        /// Use of connections.
        connections: Connections = (Connections::Each), in Range::ANY, from "rfc1945 §1.3";
        /// Maximum number of objects per user that are requested but not complete, if each object
        /// has its own connection. If `parallel` is absent, the number of unfinished objects per
        /// user is unlimited.
        parallel: Option<u64> = (None), in Range::between(1.0, 1e6), from "rfc2616 §8.1.4: two; browsers use six and more";
    }
}

/// Maximum number of objects per page. If each object has its own connection, the first connection
/// of page n has the index n · `MAX_OBJECTS`.
const MAX_OBJECTS: u32 = 1024;
/// Maximum number of pages per connection.
const MAX_PAGES_OF_CONNECTION: u32 = 1000;
/// Maximum number of pages per user.
const MAX_PAGES: u32 = u32::MAX / MAX_OBJECTS;
/// Maximum number of bytes that the server sends of one multiplexed object before it sends bytes of
/// the next object. This number is the maximum size of a frame (RFC 9113 §4.2).
const FRAME: u64 = 16_384;
/// Indices of the random times that belong to a page. The indices from 1 to `MAX_OBJECTS - 1`
/// belong to the times between the objects of the page.
const AFTER_PAGE: u32 = 0;
const PARSING: u32 = MAX_OBJECTS;
const AFTER_SESSION: u32 = MAX_OBJECTS + 1;
const BEFORE_FIRST: u32 = MAX_OBJECTS + 2;

impl Web {
    fn check(&self, path: &str) -> Result<(), Invalid> {
        let needs_pages = [
            ("sessions", self.sessions.map(|n| n.write())),
            ("session_gap", self.session_gap.as_ref().map(Times::write)),
        ];
        for (key, given) in needs_pages {
            if let (Some(value), None) = (given, &self.pages) {
                let problem = "has no effect without the key pages, because the session never ends";
                return Err(Invalid::new(&join(path, key), &value, problem)
                    .remedy("set the key pages, or remove this key"));
            }
        }
        if self.connections == Connections::Session {
            let refuse = |key: &str, value, problem| Err(Invalid::new(&join(path, key), &value, problem));
            if self.pages.is_none() {
                return refuse("connections", self.connections.write(), "needs sessions that end")
                    .map_err(|refusal| refusal.remedy("give pages"));
            }
            if self.page_gap_from == PageGapFrom::Start {
                let problem = "cannot be used if all pages of a session share one connection";
                return refuse("page_gap_from", self.page_gap_from.write(), problem)
                    .map_err(|refusal| refusal.remedy("remove it"));
            }
        }
        match self.parallel {
            Some(parallel) if self.connections != Connections::Each => {
                let problem = "cannot be used unless each object has its own connection";
                Err(Invalid::new(&join(path, "parallel"), &parallel.write(), problem).remedy("remove it"))
            }
            _ => Ok(()),
        }
    }

    /// Return the number of pages in the session whose first page is `first`.
    fn pages_of_session(&self, first: u32, draws: RandomDraws) -> u32 {
        let most = if self.connections == Connections::Session { MAX_PAGES_OF_CONNECTION } else { MAX_PAGES };
        let pages = |count: &Count| {
            draws.of_connection(first).count(Side::Client, count, 1).min(u64::from(most)) as u32
        };
        self.pages.as_ref().map_or(u32::MAX, pages)
    }

    /// Return the page and the object of the request with the given number in the session whose
    /// first page is `first`. If the session has no request with the given number, return the page
    /// that follows the last page of the session.
    fn in_session(&self, first: u32, number: u32, draws: RandomDraws) -> (u32, u32) {
        let mut left = number;
        for page in first..first + self.pages_of_session(first, draws) {
            let objects = self.objects(page, draws);
            if left < objects {
                return (page, left);
            }
            left -= objects;
        }
        (first + self.pages_of_session(first, draws), left)
    }

    /// Return the page of a connection, and its object if the connection carries only one object.
    /// If the connection carries a session, return the first page of the session.
    fn place(&self, connection: u32) -> (u32, Option<u32>) {
        match self.connections {
            Connections::Each => (connection / MAX_OBJECTS, Some(connection % MAX_OBJECTS)),
            _ => (connection, None),
        }
    }

    /// Return the page and the object of the request with the given number on a connection.
    pub(crate) fn object(&self, number: u32, draws: RandomDraws) -> (u32, u32) {
        let (page, object) = self.place(draws.numbers().1);
        match self.connections {
            Connections::Session => self.in_session(page, number, draws),
            _ => (page, object.unwrap_or(number)),
        }
    }

    /// Return the number of objects that a connection carries, given its first page.
    fn objects_of_connection(&self, page: u32, draws: RandomDraws) -> u32 {
        match self.connections {
            Connections::Session => {
                (page..page + self.pages_of_session(page, draws)).map(|p| self.objects(p, draws)).sum()
            }
            _ => self.objects(page, draws),
        }
    }

    fn objects(&self, page: u32, draws: RandomDraws) -> u32 {
        draws.of_connection(page).count(Side::Client, &self.objects, 0).min(u64::from(MAX_OBJECTS)) as u32
    }

    fn size(&self, (page, object): (u32, u32), draws: RandomDraws) -> u64 {
        let main = self.main_response.as_ref().filter(|_| object == 0);
        draws.of_connection(page).size(Side::Server, main.unwrap_or(&self.response), object)
    }

    /// Return the object of a page that is the `k`-th one to be complete, and the number of bytes
    /// that the server has sent when this object is complete. The server sends the objects from
    /// number `first` on in turns, one frame per object.
    fn in_frames(&self, page: u32, first: u32, k: u32, draws: RandomDraws) -> (u32, u64) {
        let sizes: Vec<u64> = (0..self.objects(page, draws)).map(|o| self.size((page, o), draws)).collect();
        let (before, batch) = sizes.split_at(first as usize);
        if k < first {
            return (k, before[..=k as usize].iter().sum());
        }
        let mut order: Vec<(u64, usize)> = batch.iter().map(|size| size.div_ceil(FRAME)).zip(0..).collect();
        order.sort_unstable();
        let (rounds, object) = order[(k - first) as usize];
        let sent = |(o, size): (usize, &u64)| *size.min(&((rounds - u64::from(o > object)) * FRAME));
        let end: u64 = before.iter().sum::<u64>() + batch.iter().enumerate().map(sent).sum::<u64>();
        (first + object as u32, end)
    }

    /// Return the number of the first multiplexed object: 1 if the other objects wait for object 0,
    /// and 0 if all objects are multiplexed.
    fn first_of_batch(&self) -> u32 {
        u32::from(self.parse_time.is_some())
    }

    /// Return the time between a page and the next page or session.
    fn gap(&self, page: u32, number: u32, draws: RandomDraws) -> Duration {
        let session = self.session_gap.as_ref().filter(|_| number == AFTER_SESSION);
        draws.of_connection(page).times(Side::Client, session.unwrap_or(&self.page_gap), number)
    }

    fn session(&self, progress: &mut Progress, draws: RandomDraws) {
        progress.sessions += 1;
        progress.pages_left = self.pages_of_session(progress.page, draws) - 1;
    }

    /// Schedule the next page of a user. The time until the next page counts from the time `since`.
    fn next_page(&self, progress: &mut Progress, since: Time, draws: RandomDraws) -> NextOpening {
        if self.connections == Connections::Session {
            progress.page += std::mem::take(&mut progress.pages_left); // the connection carried all pages
        }
        let page = progress.page;
        let over = progress.pages_left == 0;
        if over && self.sessions == Some(u64::from(progress.sessions)) || page + 1 >= MAX_PAGES {
            return NextOpening::End;
        }
        (progress.page, progress.begun, progress.done) = (page + 1, 0, 0);
        if over {
            self.session(progress, draws);
        } else {
            progress.pages_left -= u32::from(self.pages.is_some());
        }
        NextOpening::At(since + self.gap(page, if over { AFTER_SESSION } else { AFTER_PAGE }, draws))
    }

    /// Process the event that a connection has opened.
    fn on_opened(&self, progress: &mut Progress, now: Time, draws: RandomDraws) -> NextOpening {
        if progress.begun == 0 {
            (progress.page_began, progress.objects) = (now, self.objects_of_connection(progress.page, draws));
        }
        progress.open += 1;
        progress.begun =
            if self.connections == Connections::Each { progress.begun + 1 } else { progress.objects };
        if progress.begun < progress.objects {
            let waits = self.parse_time.is_some() && progress.begun == 1;
            return if waits { NextOpening::Wait } else { self.next_object(progress, now, draws) };
        }
        match self.page_gap_from {
            PageGapFrom::End => NextOpening::Wait,
            PageGapFrom::Start => self.next_page(progress, progress.page_began, draws),
        }
    }

    fn next_object(&self, progress: &mut Progress, now: Time, draws: RandomDraws) -> NextOpening {
        let due =
            now + draws.of_connection(progress.page).times(Side::Client, &self.object_gap, progress.begun);
        if self.parallel.is_some_and(|most| u64::from(progress.open) >= most) {
            progress.due = due;
            return NextOpening::Wait;
        }
        NextOpening::At(due)
    }

    /// Process the event that objects of a connection are complete or abandoned.
    fn on_done(
        &self,
        progress: &mut Progress,
        connection: u32,
        objects: u32,
        now: Time,
        draws: RandomDraws,
    ) -> NextOpening {
        let (page, object) = self.place(connection);
        if object.is_some() {
            progress.open -= objects;
        }
        if page == progress.page {
            progress.done += objects;
            if let (Some(0), Some(time), 1) = (object, &self.parse_time, progress.begun)
                && progress.objects > 1
            {
                return NextOpening::At(now + draws.of_connection(page).times(Side::Client, time, PARSING));
            }
        }
        if progress.due != Time::NEVER {
            return NextOpening::At(std::mem::replace(&mut progress.due, Time::NEVER).max(now));
        }
        let whole = page == progress.page && progress.begun > 0 && progress.done == progress.objects;
        if whole && self.page_gap_from == PageGapFrom::End {
            return self.next_page(progress, now, draws);
        }
        NextOpening::Wait
    }
}

impl Opener for Web {
    fn next(
        &self,
        progress: &mut Progress,
        event: OpenerEvent,
        now: Time,
        draws: RandomDraws,
    ) -> NextOpening {
        match event {
            OpenerEvent::Begins => {
                self.session(progress, draws);
                NextOpening::At(now + self.gap(0, BEFORE_FIRST, draws))
            }
            OpenerEvent::Opened => self.on_opened(progress, now, draws),
            OpenerEvent::Answered(connection) => self.on_done(progress, connection, 1, now, draws),
            OpenerEvent::Finished(_) | OpenerEvent::Closed { unanswered: 0, .. } => NextOpening::Wait,
            OpenerEvent::Closed { connection, unanswered } => {
                // If a connection closes before its objects are complete, the objects of the same
                // page that were not yet requested are abandoned, too.
                let (page, object) = self.place(connection);
                let rest = object.is_none() && page == progress.page;
                let lost = if rest { progress.objects - progress.done } else { unanswered };
                self.on_done(progress, connection, lost, now, draws)
            }
        }
    }

    fn connection(&self, progress: &Progress) -> u32 {
        match self.connections {
            Connections::Each => progress.page * MAX_OBJECTS + progress.begun,
            _ => progress.page,
        }
    }

    fn ends(&self) -> Result<(), (&'static str, &'static str)> {
        match (&self.pages, self.sessions) {
            (None, _) => Err(("pages", "a number of pages and a number of sessions")),
            (_, None) => Err(("sessions", "a number of sessions")),
            _ => Ok(()),
        }
    }

    fn share_done(&self, progress: &Progress, _: RandomDraws) -> f64 {
        self.sessions.map_or(0.0, |n| f64::from(progress.sessions.max(1) - 1) / n as f64)
    }
}

impl Conversation for Web {
    fn count(&self, draws: RandomDraws) -> Option<u32> {
        let (page, object) = self.place(draws.numbers().1);
        Some(if object.is_some() { 1 } else { self.objects_of_connection(page, draws) })
    }

    fn request(&self, number: u32, draws: RandomDraws) -> u64 {
        let (page, object) = self.object(number, draws);
        draws.of_connection(page).size(Side::Client, &self.request, object)
    }

    fn response(&self, number: u32, draws: RandomDraws) -> u64 {
        let (page, object) = self.object(number, draws);
        if self.connections != Connections::Multiplexed {
            return self.size((page, object), draws);
        }
        let end = |k: u32| self.in_frames(page, self.first_of_batch(), k, draws).1;
        end(number) - number.checked_sub(1).map_or(0, end)
    }

    fn server_time(&self, number: u32, draws: RandomDraws) -> Duration {
        let (page, object) = self.object(number, draws);
        // The server sends multiplexed objects together, so only the processing time of the first
        // multiplexed object counts.
        if self.connections == Connections::Multiplexed && number > self.first_of_batch() {
            return Duration::ZERO;
        }
        let main = self.main_server_time.as_ref().filter(|_| object == 0);
        draws.of_connection(page).times(Side::Server, main.unwrap_or(&self.server_time), object)
    }

    fn due(&self, number: u32, now: Time, draws: RandomDraws) -> Time {
        let (page, object) = match self.object(number, draws) {
            (page, _) if self.connections == Connections::Each => (page, 0),
            place => place,
        };
        now + match (object, &self.parse_time) {
            (0, _) if number > 0 => self.gap(page - 1, AFTER_PAGE, draws), // next page of the session
            (1, Some(time)) => draws.of_connection(page).times(Side::Client, time, PARSING),
            _ => Duration::ZERO,
        }
    }

    fn waits(&self, number: u32) -> bool {
        matches!(self.connections, Connections::Persistent | Connections::Session)
            || number == 1 && self.parse_time.is_some()
    }

    fn server_closes(&self) -> bool {
        self.connections == Connections::Each
    }

    fn transaction(&self, number: u32, client: &EndpointState, draws: RandomDraws) -> Transaction {
        let (page, object) = self.object(number, draws);
        let (object, response) = match self.connections {
            Connections::Multiplexed => {
                let object = self.in_frames(page, self.first_of_batch(), number, draws).0;
                (object, self.size((page, object), draws))
            }
            _ => (object, self.response_of(number, client, draws)),
        };
        let request = draws.of_connection(page).size(Side::Client, &self.request, object);
        Transaction { since: client.since, request, response }
    }
}

impl Application for Web {
    fn on(&self, side: Side, event: Event, context: &mut Context) -> Actions {
        self.respond(side, event, context)
    }

    fn needs(&self, _: Side) -> Needs {
        Needs::MESSAGES
    }

    fn opener(&self) -> Option<&dyn Opener> {
        Some(self)
    }

    fn pending_request(
        &self,
        number: u32,
        client: &EndpointState,
        draws: RandomDraws,
    ) -> Option<Transaction> {
        Some(self.transaction(number, client, draws))
    }

    fn ends(&self) -> Result<(), (&'static str, &'static str)> {
        Opener::ends(self)
    }
}
