//! Round-trip times that an application measures on an idle or a loaded connection.

use units::param::{Invalid, join};
use units::{Bytes, Duration, Range, Read, Time, params, words};

use crate::application::{Actions, Application, Context, EndpointState, Event, Needs, Side, Transaction};
use crate::draws::RandomDraws;

words! {
    /// Additional data on the connection over which pings are sent.
    pub enum Load {
        /// No other data.
        None = "none",
        /// Unlimited data from the server to the client.
        Download = "download",
        /// Unlimited data from the client to the server.
        Upload = "upload",
    }
}

params! {
    /// Round-trip times that an application measures by pings. When the connection is open, the
    /// client (`from`) writes the first ping. When the server (`to`) has received a complete ping,
    /// it writes a reply of the same size. If `load` is set, the same connection also carries an
    /// unlimited amount of data, and pings and replies queue behind this data. Pings with a load
    /// measure responsiveness under load (`ippmresponsiveness`, Measuring Responsiveness).
    pub struct Ping: "ping", checked by check_ping {
        /// Size of each ping and of each reply.
        size: Bytes = (Bytes(64)), in Range::between(1.0, 1e6), from "ping(8): 56 bytes of data and a header of 8 bytes";
        /// Interval between two pings. Pings with a fixed interval are written even if the previous
        /// reply has not arrived. If the interval is absent, the client writes the next ping when
        /// it has received the reply.
        interval: Option<Duration> = (None), in Range::above(0.0), from "";
        /// Number of pings. If the number of pings is absent, pings continue until the end of the
        /// run, so the run needs a duration.
        pings: Option<u64> = (None), in Range::between(1.0, 4e9), from "";
        /// Additional data on the connection over which pings are sent.
        load: Load = (Load::None), in Range::ANY, from "";
        /// Amount of unsent load data that the sender of the load maintains. When the application
        /// writes a ping or a reply, the connection first sends the load data that is still unsent.
        unsent: Bytes = (Bytes(16_384)), in Range::between(1.0, 1e9), from "ippmresponsiveness, Client side influence: the sender has a minimum of unsent data, as with TCP_NOTSENT_LOWAT";
    }
}

fn check_ping(p: &Ping, path: &str) -> Result<(), Invalid> {
    match &p.interval {
        Some(interval) if p.load != Load::None => {
            let problem = "cannot be used with a load, because the client then writes each ping when \
                the previous reply arrives";
            Err(Invalid::new(&join(path, "interval"), &interval.write(), problem)
                .remedy("remove the key interval"))
        }
        _ => Ok(()),
    }
}

impl Ping {
    /// Write the next ping. If the interval is fixed, the field `since` is the time of the first
    /// ping. If the interval is not fixed, the field `since` is the time of the last ping.
    fn ping(&self, context: &mut Context) -> Actions {
        context.client.begun += 1;
        context.server.awaited = context.client.written + self.size.0;
        context.log.requested();
        let more = self.pings != Some(u64::from(context.client.begun));
        if context.client.begun == 1 || self.interval.is_none() {
            context.client.since = context.now;
        }
        let next = if more { self.written(context.client, context.client.begun) } else { None };
        Actions { wake: next.unwrap_or(Time::NEVER), ..Actions::write(self.size.0) }
    }

    /// Return the time of the ping with the given number, counted from 0, if the interval is fixed.
    fn written(&self, client: &EndpointState, number: u32) -> Option<Time> {
        self.interval.map(|interval| client.since + Duration(interval.0.saturating_mul(u64::from(number))))
    }

    /// Return the number of pings or replies that became complete when the last bytes arrived. The
    /// argument `came` is the number of these bytes.
    fn whole(&self, end: &EndpointState, came: u64) -> u32 {
        match self.load {
            Load::None => (end.received / self.size.0 - (end.received - came) / self.size.0) as u32,
            _ => u32::from(end.completes(came)),
        }
    }

    /// Return the action of the server for complete pings, which is to write the replies.
    fn reply(&self, context: &mut Context, pings: u32) -> Actions {
        if pings == 0 {
            return Actions::NONE;
        }
        let reply = self.size.0 * u64::from(pings);
        context.client.awaited = context.server.written + reply;
        Actions::write(reply)
    }

    /// Process the complete replies that the client has received.
    fn on_replies(&self, context: &mut Context, replies: u32) -> Actions {
        for _ in 0..replies {
            let transaction = self.pending_request(context.client.ended, context.client, context.draws);
            context.client.ended += 1;
            transaction.iter().for_each(|transaction| context.log.responded(transaction));
        }
        match self.interval {
            _ if self.pings == Some(u64::from(context.client.ended)) => Actions::CLOSE,
            None if replies > 0 => self.ping(context),
            _ => Actions::NONE,
        }
    }
}

impl Application for Ping {
    fn on(&self, side: Side, event: Event, context: &mut Context) -> Actions {
        match (side, event) {
            (Side::Client, Event::Opened | Event::Woken) => self.ping(context),
            (Side::Client, Event::Received(n)) => self.on_replies(context, self.whole(context.client, n)),
            (Side::Server, Event::Received(n)) => self.reply(context, self.whole(context.server, n)),
            (_, Event::SendSpace(n)) => Actions::write(n),
            (_, Event::PeerClosed) => Actions::CLOSE,
            _ => Actions::NONE,
        }
    }

    fn needs(&self, side: Side) -> Needs {
        let loads = match self.load {
            Load::None => false,
            Load::Download => side == Side::Server,
            Load::Upload => side == Side::Client,
        };
        Needs { unsent: if loads { self.unsent.0 } else { 0 }, ..Needs::EVENTS }
    }

    fn pending_request(&self, number: u32, client: &EndpointState, _: RandomDraws) -> Option<Transaction> {
        let since = self.written(client, number).unwrap_or(client.since);
        Some(Transaction { since, request: self.size.0, response: self.size.0 })
    }

    fn ends(&self) -> Result<(), (&'static str, &'static str)> {
        self.pings.map(drop).ok_or(("pings", "a number of pings"))
    }

    fn share_done(&self, client: &EndpointState, _: u64, _: RandomDraws) -> f64 {
        self.pings.map_or(0.0, |n| f64::from(client.ended) / n as f64)
    }
}
