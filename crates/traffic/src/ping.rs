//! A probe of the round trip as applications have it, alone or on a connection that is loaded.

use units::param::{Invalid, join};
use units::{Bytes, Duration, Range, Read, Time, params, words};

use crate::application::{Actions, Answered, Application, Event, Memory, Side, Talk, Wants};
use crate::draws::Lots;

words! {
    /// What else a probe's connection carries.
    pub enum Load {
        /// Nothing.
        None = "none",
        /// Data without end from the server.
        Download = "download",
        /// Data without end from the client.
        Upload = "upload",
    }
}

params! {
    /// A probe of the round trip as applications have it. When the connection is open the client (`from`) writes a ping, and the
    /// server (`to`) writes as many bytes at once when it has it whole. With `load` the same connection carries data without end,
    /// between which pings and replies stand: that is responsiveness under load (`ippmresponsiveness`, Measuring Responsiveness).
    pub struct Ping: "ping", checked by check_ping {
        /// Bytes of a ping, and of its reply.
        size: Bytes = (Bytes(64)), in Range::between(1.0, 1e6), from "ping(8): 56 bytes and a header of 8";
        /// Time from one ping to the next, whether or not that has its reply; absent: the next goes when the reply has come.
        interval: Option<Duration> = (None), in Range::above(0.0), from "";
        /// How many pings; absent: they never end, and the run needs a duration.
        pings: Option<u64> = (None), in Range::between(1.0, 4e9), from "";
        /// What else the connection carries.
        load: Load = (Load::None), in Range::ANY, from "";
        /// How much of the load waits at its sender to be sent; a ping or a reply goes behind it.
        unsent: Bytes = (Bytes(16_384)), in Range::between(1.0, 1e9), from "ippmresponsiveness, Client side influence: a bare minimum, as by TCP_NOTSENT_LOWAT";
    }
}

fn check_ping(p: &Ping, path: &str) -> Result<(), Invalid> {
    match &p.interval {
        Some(interval) if p.load != Load::None => {
            let problem = "means nothing on a loaded connection, where a ping goes when the reply to the one before has come";
            Err(Invalid::new(&join(path, "interval"), &interval.write(), problem).remedy("leave it out"))
        }
        _ => Ok(()),
    }
}

impl Ping {
    /// The client's next ping; `since` is when the first was written if they are evenly spaced, else when the last was.
    fn ping(&self, talk: &mut Talk) -> Actions {
        talk.client.begun += 1;
        talk.server.place = talk.client.written + self.size.0;
        talk.log.asked();
        let more = self.pings != Some(u64::from(talk.client.begun));
        if talk.client.begun == 1 || self.interval.is_none() {
            talk.client.since = talk.now;
        }
        let next = if more { self.written(talk.client, talk.client.begun) } else { None };
        Actions { wake: next.unwrap_or(Time::NEVER), ..Actions::write(self.size.0) }
    }

    /// When a ping was or will be written, by its number from 0, if they are evenly spaced.
    fn written(&self, client: &Memory, number: u32) -> Option<Time> {
        self.interval.map(|interval| client.since + Duration(interval.0.saturating_mul(u64::from(number))))
    }

    /// How many pings, or replies, came whole with the last so many bytes.
    fn whole(&self, end: &Memory, came: u64) -> u32 {
        match self.load {
            Load::None => (end.received / self.size.0 - (end.received - came) / self.size.0) as u32,
            _ => u32::from(end.has_it(came)),
        }
    }

    /// The server has pings.
    fn reply(&self, talk: &mut Talk, pings: u32) -> Actions {
        if pings == 0 {
            return Actions::NONE;
        }
        let reply = self.size.0 * u64::from(pings);
        talk.client.place = talk.server.written + reply;
        Actions::write(reply)
    }

    /// The client has replies.
    fn on_replies(&self, talk: &mut Talk, replies: u32) -> Actions {
        for _ in 0..replies {
            let answered = self.asked(talk.client.ended, talk.client, talk.lots);
            talk.client.ended += 1;
            answered.iter().for_each(|answered| talk.log.answered(answered));
        }
        match self.interval {
            _ if self.pings == Some(u64::from(talk.client.ended)) => Actions::CLOSE,
            None if replies > 0 => self.ping(talk),
            _ => Actions::NONE,
        }
    }
}

impl Application for Ping {
    fn on(&self, side: Side, event: Event, talk: &mut Talk) -> Actions {
        match (side, event) {
            (Side::Client, Event::Opened | Event::Woken) => self.ping(talk),
            (Side::Client, Event::Received(n)) => self.on_replies(talk, self.whole(talk.client, n)),
            (Side::Server, Event::Received(n)) => self.reply(talk, self.whole(talk.server, n)),
            (_, Event::Room(n)) => Actions::write(n),
            (_, Event::PeerClosed) => Actions::CLOSE,
            _ => Actions::NONE,
        }
    }

    fn wants(&self, side: Side) -> Wants {
        let loads = match self.load {
            Load::None => false,
            Load::Download => side == Side::Server,
            Load::Upload => side == Side::Client,
        };
        Wants { waiting: if loads { self.unsent.0 } else { 0 }, ..Wants::TOLD }
    }

    fn asked(&self, number: u32, client: &Memory, _: Lots) -> Option<Answered> {
        let since = self.written(client, number).unwrap_or(client.since);
        Some(Answered { since, request: self.size.0, response: self.size.0 })
    }

    fn ends(&self) -> Result<(), (&'static str, &'static str)> {
        self.pings.map(drop).ok_or(("pings", "a number of pings"))
    }

    fn share_done(&self, client: &Memory, _: u64, _: Lots) -> f64 {
        self.pings.map_or(0.0, |n| f64::from(client.ended) / n as f64)
    }
}
