//! A small deterministic path for tests: connections whose endpoints exchange packets over one FIFO
//! link in each direction. For each packet, a rule of the test decides if the packet is dropped,
//! marked, delayed or duplicated. Counters of bytes check that the sequence numbers and
//! acknowledgement numbers of the endpoints are possible.
#![allow(dead_code, unused_imports)]

mod counters;
mod fate;
mod link;
mod pair;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use net::{Cookie, Ecn, FastOpen, Flags, Options, Segment, Seq};
use tcp::fast_open::{Opening, Server};
use tcp::{Error, State};
use units::{Duration, Time};

pub use fate::{Fate, Impairments, Passage};
pub use link::Link;
pub use pair::{App, Closes, Fast, Pair};

struct InFlight {
    at: Time,
    number: u64,
    pair: usize,
    /// Index of the endpoint that receives the packet.
    to: usize,
    segment: Segment,
    options: Options,
    field: Ecn,
}

impl PartialEq for InFlight {
    fn eq(&self, other: &Self) -> bool {
        (self.at, self.number) == (other.at, other.number)
    }
}
impl Eq for InFlight {}
impl PartialOrd for InFlight {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for InFlight {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}

/// Maximum number of segments that an endpoint sends at one time.
const MAX_BURST: u32 = 20_000;

/// Connections, and the path between their endpoints.
pub struct Path<'a> {
    pub now: Time,
    pub pairs: Vec<Pair>,
    /// Links of the forward direction and of the reverse direction. The endpoints that open
    /// connections send in the forward direction.
    pub links: [Link; 2],
    pub events: u64,
    rule: Box<dyn FnMut(&Passage) -> Fate + 'a>,
    in_flight: BinaryHeap<Reverse<InFlight>>,
    number: u64,
}

impl<'a> Path<'a> {
    /// Create a path for these connections.
    pub fn new(pairs: Vec<Pair>, rule: impl FnMut(&Passage) -> Fate + 'a) -> Self {
        Path {
            now: Time::ZERO,
            pairs,
            links: Default::default(),
            events: 0,
            rule: Box::new(rule),
            in_flight: BinaryHeap::new(),
            number: 0,
        }
    }

    fn send(&mut self, p: usize, from: usize, segment: Segment, options: Options, field: Ecn) {
        let pair = &mut self.pairs[p];
        let slack = (1i64 << pair.ends[from].scale()) - 1;
        pair.counters[from].on_sent(&segment);
        pair.counters[1 - from].on_answered(&segment, &options, slack);
        let fate = (self.rule)(&Passage {
            now: self.now,
            pair: p,
            direction: from,
            nth: pair.sent[from],
            nth_data: pair.data[from],
            segment: &segment,
            options: &options,
            field,
            sender: &pair.ends[from],
        });
        pair.sent[from] += 1;
        pair.data[from] += u64::from(segment.len > 0);
        if fate.dropped {
            return;
        }
        let size = pair.ends[from].wire_size(&segment) + options.wire_len();
        let Some(left) = self.links[from].pass(self.now, size) else { return };
        let field = if fate.marked && field.is_capable() { Ecn::Ce } else { field };
        for extra in [Some(Duration::ZERO), fate.copy].into_iter().flatten() {
            self.number += 1;
            self.in_flight.push(Reverse(InFlight {
                at: left + pair.delays[from] + fate.extra_delay + extra,
                number: self.number,
                pair: p,
                to: 1 - from,
                segment,
                options,
                field,
            }));
        }
    }

    /// Send all segments that an endpoint has to send now.
    fn pump(&mut self, p: usize, end: usize) {
        let mut options = Options::default();
        for n in 0.. {
            assert!(n < MAX_BURST, "the endpoint sends without end: {}", self.pairs[p].describe());
            let Some((segment, field)) = self.pairs[p].ends[end].poll(self.now, &mut options) else { break };
            if !self.pairs[p].ends[end].has_options() {
                options = Options::default();
            }
            self.send(p, end, segment, options, field);
        }
    }

    fn arrive(&mut self, f: InFlight) {
        let pair = &mut self.pairs[f.pair];
        let (state, error) = (pair.ends[f.to].state(), pair.ends[f.to].error());
        if state == State::Closed && (error.is_some() || pair.opened) {
            // The host answers a segment for a connection that no longer exists (RFC 9293
            // §3.10.7.1).
            if !f.segment.flags.has(Flags::RST) {
                pair.reset_by_host = true;
                let acked = f.segment.flags.has(Flags::ACK);
                let (seq, ack, flags) = if acked {
                    (f.segment.ack, Seq(0), Flags::RST)
                } else {
                    (Seq(0), f.segment.end(), Flags::RST | Flags::ACK)
                };
                let reset = Segment { seq, ack, window: 0, len: 0, flags };
                self.send(f.pair, f.to, reset, Options::default(), Ecn::NotEct);
            }
            return;
        }
        pair.counters[1 - f.to].on_arrival(&f.segment);
        pair.counters[f.to].on_feedback(&f.segment);
        pair.ends[f.to].on_segment(self.now, &f.segment, &f.options, f.field);
        let takes = pair.ends[f.to].next_expected().after(f.segment.seq + 1);
        if f.segment.flags.has(Flags::SYN) && f.segment.len > 0 && takes {
            pair.counters[1 - f.to].on_syn_data(f.segment.len);
        }
        self.pump(f.pair, f.to);
        self.after(f.pair, f.to);
    }

    /// Let the application respond to an event at its endpoint.
    fn after(&mut self, p: usize, end: usize) {
        let now = self.now;
        let pair = &mut self.pairs[p];
        let (app, tcp) = (&mut pair.apps[end], &mut pair.ends[end]);
        if let Some((wait, _)) = app.reads
            && pair.next_read[end].is_none()
            && tcp.readable() > 0
        {
            pair.next_read[end] = Some(now + wait);
        }
        let due = match app.closes {
            Closes::AfterPeer => tcp.peer_closed() && app.writes.is_empty(),
            _ => false,
        };
        if due && !pair.counters[end].closed {
            pair.counters[end].closed = true;
            tcp.close();
            self.pump(p, end);
        }
    }

    fn app_time(&self, p: usize, end: usize) -> Time {
        let pair = &self.pairs[p];
        let app = &pair.apps[end];
        let opens = if pair.opened { Time::NEVER } else { pair.opens };
        let writes = match app.writes.front() {
            Some(w) if pair.opened => w.0.max(pair.opens),
            _ => Time::NEVER,
        };
        opens.min(writes).min(pair.next_read[end].unwrap_or(Time::NEVER))
    }

    fn app(&mut self, p: usize, end: usize) {
        let now = self.now;
        let pair = &mut self.pairs[p];
        if !pair.opened {
            pair.opened = true;
            for (app, tcp) in pair.apps.iter().zip(&mut pair.ends) {
                if app.reads.is_some() {
                    tcp.hold_data();
                }
            }
            let cookie = |byte| Cookie::of(&[byte; 8]).unwrap_or_default();
            match pair.fast {
                _ if pair.both_open => pair.ends[1].connect(),
                Some(Fast::Accepted | Fast::Refused) => {
                    pair.ends[1].listen_fast(Server { cookie: cookie(1), ..Server::default() })
                }
                Some(Fast::Unknown) | None => pair.ends[1].listen(),
            }
            match pair.fast {
                Some(fast) => {
                    let cookie = cookie(if fast == Fast::Accepted { 1 } else { 2 });
                    let option = Some(FastOpen { cookie, experimental: false });
                    pair.ends[0].connect_fast(Opening { option, data: true, mss: None });
                }
                None => pair.ends[0].connect(),
            }
            self.pump(p, 1);
            if self.pairs[p].fast.is_none() {
                self.pump(p, 0);
                return;
            }
            self.app(p, 0); // data that is written at once is part of the SYN
            return;
        }
        let (app, tcp) = (&mut pair.apps[end], &mut pair.ends[end]);
        if pair.next_read[end].is_some_and(|t| t <= now) {
            pair.next_read[end] = None;
            let max = app.reads.map_or(0, |r| r.1);
            let readable = tcp.readable();
            let n = tcp.read(self.now, max);
            assert_eq!(n, max.min(readable));
            let counters = &mut pair.counters[1 - end];
            counters.read += u64::from(n);
            assert!(
                counters.read <= counters.in_order(),
                "the application read {n} bytes that did not arrive: {counters:?}"
            );
        }
        while app.writes.front().is_some_and(|w| w.0 <= now) {
            let Some((_, bytes)) = app.writes.pop_front() else { break };
            // A server cannot write before a connection exists.
            if tcp.state() == State::Listen {
                app.writes.push_front((now + Duration::from_millis(10), bytes));
                break;
            }
            if !matches!(tcp.state(), State::Closed | State::TimeWait) {
                tcp.write(bytes);
                pair.counters[end].written = pair.counters[end].written.saturating_add(bytes);
            }
            if app.writes.is_empty() && app.closes == Closes::AfterWrites {
                tcp.close();
                pair.counters[end].closed = true;
            }
        }
        self.pump(p, end);
        self.after(p, end);
    }

    /// Process the next event. Return false if no event is due up to `until`.
    pub fn step(&mut self, until: Time) -> bool {
        let mut next = self.in_flight.peek().map_or(Time::NEVER, |f| f.0.at);
        let mut source = None;
        for p in 0..self.pairs.len() {
            for end in 0..2 {
                let deadline = self.pairs[p].ends[end].deadline();
                for (at, timer) in [(deadline, true), (self.app_time(p, end), false)] {
                    if at < next {
                        (next, source) = (at, Some((p, end, timer)));
                    }
                }
            }
        }
        if next == Time::NEVER || next > until {
            return false;
        }
        assert!(next >= self.now, "the next event at {next} lies before {}", self.now);
        self.now = next;
        self.events += 1;
        match source {
            None => {
                if let Some(Reverse(f)) = self.in_flight.pop() {
                    self.arrive(f);
                }
            }
            Some((p, end, true)) => {
                self.pairs[p].ends[end].on_timer(next);
                self.pump(p, end);
                let deadline = self.pairs[p].ends[end].deadline();
                assert!(deadline > next, "deadline {deadline} at {next}: {}", self.pairs[p].describe());
                self.after(p, end);
            }
            Some((p, end, false)) => self.app(p, end),
        }
        true
    }

    /// Process all events up to `until`.
    pub fn run(&mut self, until: Time) {
        while self.step(until) {}
    }

    /// Return true if an endpoint gave up. Check that an endpoint that gave up made as many
    /// attempts as its parameters require.
    pub fn gave_up(&self) -> bool {
        let mut gave_up = false;
        for pair in &self.pairs {
            for (end, counters) in pair.ends.iter().zip(&pair.counters) {
                if end.error() == Some(Error::TimedOut) {
                    let handshake = end.milestones().0 == Time::NEVER;
                    let tcp = end.tcp();
                    let syns = tcp
                        .connection
                        .synack_retries
                        .min(tcp.connection.syn_retries + tcp.connection.syn_linear_timeouts);
                    let max = if handshake { syns } else { tcp.connection.retries };
                    assert!(
                        counters.attempts > max,
                        "the endpoint gave up after {} attempts: {}",
                        counters.attempts,
                        pair.describe()
                    );
                    gave_up = true;
                }
            }
        }
        gave_up
    }
}
