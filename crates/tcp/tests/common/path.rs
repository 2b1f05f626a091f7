//! A small deterministic path for tests: connections whose ends meet over one FIFO link each way. A rule
//! decides what becomes of each packet; a ledger of bytes, known by their sequence numbers, says whether
//! what the ends claim can be true.
#![allow(dead_code)]

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;

use engine::Stream;
use net::{Ecn, Flags, Options, Segment, Seq};
use tcp::{Endpoint, Error, State, Tcp};
use units::{Bytes, Duration, Rate, Time};

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fate {
    pub dropped: bool,
    /// Marked CE, if it is ECN-capable.
    pub marked: bool,
    /// Delay beyond the path's, so that others overtake it.
    pub late: Duration,
    /// A copy of it arrives, so much later.
    pub again: Option<Duration>,
}

impl Fate {
    pub const PASS: Fate = Fate { dropped: false, marked: false, late: Duration::ZERO, again: None };
    pub const DROP: Fate = Fate { dropped: true, ..Fate::PASS };
    pub const MARK: Fate = Fate { marked: true, ..Fate::PASS };
}

/// A packet that enters the path, as a rule sees it.
pub struct Passage<'a> {
    pub now: Time,
    pub pair: usize,
    /// 0: from the end that opened; 1: from the other.
    pub way: usize,
    /// How many packets, and how many with data, went this way of this pair before.
    pub nth: u64,
    pub nth_data: u64,
    pub segment: &'a Segment,
    pub options: &'a Options,
    pub field: Ecn,
    /// The end that sent it.
    pub sender: &'a Endpoint,
}

/// Random harm, the same for every packet: each probability is of its own.
#[derive(Clone, Copy, Debug, Default)]
pub struct Harm {
    pub loss: f64,
    /// A corrupted packet fails its checksum: it is lost as well.
    pub corruption: f64,
    pub duplication: f64,
    pub reordering: f64,
    pub marking: f64,
    /// Longest delay of a packet that is reordered, or of a copy, in milliseconds.
    pub late_ms: u64,
}

impl Harm {
    /// As a rule with this seed.
    pub fn rule(self, seed: u64) -> impl FnMut(&Passage) -> Fate {
        let mut random = Stream::new(seed, "harm");
        move |_| {
            let mut is = |p: f64| p > 0.0 && random.uniform() < p;
            let dropped = is(self.loss) | is(self.corruption);
            let (again, late, marked) = (is(self.duplication), is(self.reordering), is(self.marking));
            let mut span = || Duration::from_millis(random.below(self.late_ms.max(1)) + 1);
            Fate {
                dropped,
                marked,
                late: if late { span() } else { Duration::ZERO },
                again: again.then(&mut span),
            }
        }
    }
}

/// A FIFO link; without a rate nothing queues.
#[derive(Clone, Debug, Default)]
pub struct Link {
    pub rate: Option<Rate>,
    /// Packets it holds, that in service included.
    pub limit: usize,
    pub drops: u64,
    leaving: VecDeque<Time>,
}

impl Link {
    /// A bottleneck.
    pub fn new(rate: Rate, limit: usize) -> Self {
        Link { rate: Some(rate), limit, ..Link::default() }
    }

    /// When a packet that arrives now has left; `None`: it was dropped.
    fn pass(&mut self, now: Time, size: u16) -> Option<Time> {
        let Some(rate) = self.rate else { return Some(now) };
        while self.leaving.front().is_some_and(|&t| t <= now) {
            self.leaving.pop_front();
        }
        if self.leaving.len() >= self.limit {
            self.drops += 1;
            return None;
        }
        let start = self.leaving.back().copied().unwrap_or(now);
        let left = start + rate.transmission_time(Bytes(u64::from(size)));
        self.leaving.push_back(left);
        Some(left)
    }
}

/// When an application closes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Closes {
    /// With its last write.
    #[default]
    AfterWrites,
    /// When it has written all and the other side has closed.
    AfterPeer,
    /// Never.
    Never,
}

/// An application.
#[derive(Clone, Debug, Default)]
pub struct App {
    /// What it writes, in order of time.
    pub writes: VecDeque<(Time, u64)>,
    pub closes: Closes,
    /// How long it takes to read, and how many bytes then; otherwise it reads everything at once.
    pub reads: Option<(Duration, u32)>,
}

impl App {
    /// Writes this much at the beginning, then closes.
    pub fn writes(bytes: u64) -> Self {
        App { writes: [(Time::ZERO, bytes)].into(), ..App::default() }
    }

    /// Writes nothing, and closes when the other side does.
    pub fn listens() -> Self {
        App { closes: Closes::AfterPeer, ..App::default() }
    }
}

/// What one end sent and the other got, in bytes from the first.
#[derive(Clone, Debug, Default)]
struct Ledger {
    iss: Seq,
    written: u64,
    closed: bool,
    /// Disjoint ranges that arrived, in order.
    arrived: Vec<(u64, u64)>,
    /// Where the data ends, by a FIN that arrived.
    fin: Option<u64>,
    /// The highest acknowledgement the receiver sent, and the right edge of its window.
    acked: u64,
    edge: i64,
    /// The farthest right edge that arrived at the sender.
    told: i64,
    /// Segments sent that ask for an answer, since an ACK last advanced.
    tries: u64,
    advanced: u64,
    /// Bytes the application read.
    read: u64,
}

impl Ledger {
    /// Position of a sequence number, 0 for the first byte: that nearest to what was acknowledged last.
    fn at(&self, seq: Seq) -> i64 {
        let base = self.iss + 1 + self.acked as u32;
        self.acked as i64 + i64::from(seq.minus(base))
    }

    fn in_order(&self) -> u64 {
        self.arrived.first().filter(|r| r.0 == 0).map_or(0, |r| r.1)
    }

    fn has(&self, start: i64, end: i64) -> bool {
        self.arrived.iter().any(|r| r.0 as i64 <= start && end <= r.1 as i64)
    }

    fn arrives(&mut self, start: u64, end: u64) {
        if start == end {
            return;
        }
        let (mut s, mut e) = (start, end);
        self.arrived.retain(|r| {
            let apart = r.1 < s || r.0 > e;
            if !apart {
                (s, e) = (s.min(r.0), e.max(r.1));
            }
            apart
        });
        let i = self.arrived.partition_point(|r| r.0 < s);
        self.arrived.insert(i, (s, e));
    }

    /// The sender of this data sends a segment.
    fn on_sent(&mut self, segment: &Segment) {
        if segment.flags.has(Flags::RST) {
            return;
        }
        self.tries += u64::from(segment.seq_len() > 0 || self.at(segment.seq) < self.advanced as i64);
        if segment.seq_len() == 0 {
            return;
        }
        let start = self.at(segment.seq);
        if segment.flags.has(Flags::SYN) {
            assert_eq!((start, segment.len), (-1, 0), "a SYN of {segment:?}");
            return;
        }
        let end = start + i64::from(segment.len);
        assert!(start >= 0 && end as u64 <= self.written, "{segment:?} holds what was not written: {self:?}");
        let fin = segment.flags.has(Flags::FIN);
        assert!(!fin || (self.closed && end as u64 == self.written), "{segment:?} ends too early: {self:?}");
        let probe = i64::from(segment.len <= 1);
        assert!(end + i64::from(fin) <= self.told + probe, "{segment:?} exceeds the window: {self:?}");
    }

    /// The receiver of this data sends a segment.
    fn on_answered(&mut self, segment: &Segment, options: &Options, slack: i64) {
        if segment.flags.has(Flags::RST) || !segment.flags.has(Flags::ACK) {
            return;
        }
        let ack = self.at(segment.ack);
        let most = self.in_order() + u64::from(self.fin == Some(self.in_order()));
        assert!(ack <= most as i64, "{segment:?} acknowledges what did not arrive: {self:?}");
        assert!(ack >= self.acked as i64, "{segment:?} takes an acknowledgement back: {self:?}");
        self.acked = ack as u64;
        let edge = ack + i64::from(segment.window);
        if !segment.flags.has(Flags::SYN) {
            assert!(edge + slack >= self.edge, "{segment:?} takes the window back: {self:?}");
            self.edge = self.edge.max(edge);
        }
        for &(start, end) in options.sack() {
            let (s, e) = (self.at(start), self.at(end));
            assert!(self.has(s, e), "{options:?} reports what did not arrive: {self:?}");
        }
    }

    /// A segment of the sender arrives.
    fn on_arrival(&mut self, segment: &Segment) {
        if segment.flags.has(Flags::SYN) || segment.flags.has(Flags::RST) || segment.seq_len() == 0 {
            return;
        }
        let start = self.at(segment.seq) as u64;
        let end = start + u64::from(segment.len);
        self.arrives(start, end);
        if segment.flags.has(Flags::FIN) {
            self.fin = Some(end);
        }
    }

    /// A segment of the receiver arrives at the sender.
    fn on_told(&mut self, segment: &Segment) {
        if segment.flags.has(Flags::RST) {
            return;
        }
        let ack = if segment.flags.has(Flags::ACK) { self.at(segment.ack) } else { 0 };
        self.told = self.told.max(ack + i64::from(segment.window));
        if ack > self.advanced as i64 || (segment.flags.has(Flags::SYN) && ack == 0) {
            self.advanced = ack as u64;
            self.tries = 0;
        }
        if segment.window == 0 {
            self.tries = 0; // RFC 9293 §3.8.6.1: a probe that is answered keeps the connection open
        }
    }
}

/// A connection.
pub struct Pair {
    /// The end that opens, and the other.
    pub ends: [Endpoint; 2],
    pub apps: [App; 2],
    /// Propagation from each end to the other.
    pub delays: [Duration; 2],
    /// When it opens.
    pub opens: Time,
    opened: bool,
    both_open: bool,
    /// A host answered a segment of it with a reset, after TIME-WAIT.
    forgotten: bool,
    ledgers: [Ledger; 2],
    next_read: [Option<Time>; 2],
    sent: [u64; 2],
    data: [u64; 2],
}

impl Pair {
    /// Two ends with these parameters, half a round trip apart.
    pub fn new(tcps: [Tcp; 2], rtt: Duration, apps: [App; 2]) -> Self {
        let ends = tcps.map(|tcp| Endpoint::new(Arc::new(tcp), Duration::ZERO));
        let half = Duration(rtt.0 / 2);
        Pair {
            ends,
            apps,
            delays: [half, Duration(rtt.0 - half.0)],
            opens: Time::ZERO,
            opened: false,
            both_open: false,
            forgotten: false,
            ledgers: Default::default(),
            next_read: [None; 2],
            sent: [0; 2],
            data: [0; 2],
        }
    }

    /// First sequence numbers.
    pub fn set_iss(&mut self, iss: [u32; 2]) {
        for (i, iss) in iss.into_iter().enumerate() {
            self.ends[i].set_iss(Seq(iss));
            self.ledgers[i].iss = Seq(iss);
        }
    }

    /// Both ends open actively.
    pub fn open_at_once(&mut self) {
        self.both_open = true;
    }

    /// Bytes that arrived in order at the other side of `end`.
    pub fn delivered(&self, end: usize) -> u64 {
        self.ledgers[end].in_order()
    }

    /// Whether everything each end wrote was delivered, acknowledged and read.
    pub fn is_complete(&self) -> bool {
        (0..2).all(|i| {
            let ledger = &self.ledgers[i];
            let (here, there) = (&self.ends[i], &self.ends[1 - i]);
            let read = self.apps[1 - i].reads.is_none() || ledger.read == ledger.written;
            // An end whose last ACK was lost may hear from a host that has forgotten the connection.
            read && (here.acked() == ledger.written || self.forgotten)
                && ledger.in_order() == ledger.written
                && ledger.acked >= ledger.written
                && there.readable() == 0
                && self.apps[i].writes.is_empty()
        })
    }

    /// Whether both ends are closed.
    pub fn is_closed(&self) -> bool {
        self.ends.iter().all(Endpoint::is_closed)
    }

    /// What is known, for a message.
    pub fn describe(&self) -> String {
        format!(
            "{:?} {:?}\n{:?} {:?}\n{:?}\n{:?}",
            self.ends[0].state(),
            self.ends[0].error(),
            self.ends[1].state(),
            self.ends[1].error(),
            self.ledgers[0],
            self.ledgers[1]
        )
    }
}

struct Flying {
    at: Time,
    number: u64,
    pair: usize,
    /// The end it goes to.
    to: usize,
    segment: Segment,
    options: Options,
    field: Ecn,
}

impl PartialEq for Flying {
    fn eq(&self, other: &Self) -> bool {
        (self.at, self.number) == (other.at, other.number)
    }
}
impl Eq for Flying {}
impl PartialOrd for Flying {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Flying {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}

/// Most segments that one call may let go.
const MOST_AT_ONCE: u32 = 20_000;

/// Connections and what lies between their ends.
pub struct Path<'a> {
    pub now: Time,
    pub pairs: Vec<Pair>,
    /// From the ends that open, and back.
    pub links: [Link; 2],
    pub events: u64,
    rule: Box<dyn FnMut(&Passage) -> Fate + 'a>,
    flying: BinaryHeap<Reverse<Flying>>,
    number: u64,
}

impl<'a> Path<'a> {
    /// A path for these connections.
    pub fn new(pairs: Vec<Pair>, rule: impl FnMut(&Passage) -> Fate + 'a) -> Self {
        Path {
            now: Time::ZERO,
            pairs,
            links: Default::default(),
            events: 0,
            rule: Box::new(rule),
            flying: BinaryHeap::new(),
            number: 0,
        }
    }

    fn send(&mut self, p: usize, from: usize, segment: Segment, options: Options, field: Ecn) {
        let pair = &mut self.pairs[p];
        let slack = (1i64 << pair.ends[from].scale()) - 1;
        pair.ledgers[from].on_sent(&segment);
        pair.ledgers[1 - from].on_answered(&segment, &options, slack);
        let fate = (self.rule)(&Passage {
            now: self.now,
            pair: p,
            way: from,
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
        let size = pair.ends[from].wire_size(&segment, &options);
        let Some(left) = self.links[from].pass(self.now, size) else { return };
        let field = if fate.marked && field.is_capable() { Ecn::Ce } else { field };
        for extra in [Some(Duration::ZERO), fate.again].into_iter().flatten() {
            self.number += 1;
            self.flying.push(Reverse(Flying {
                at: left + pair.delays[from] + fate.late + extra,
                number: self.number,
                pair: p,
                to: 1 - from,
                segment,
                options,
                field,
            }));
        }
    }

    /// Lets everything go that an end has to send.
    fn pump(&mut self, p: usize, end: usize) {
        let mut options = Options::default();
        for n in 0.. {
            assert!(n < MOST_AT_ONCE, "it sends without end: {}", self.pairs[p].describe());
            if !self.pairs[p].ends[end].has_options() {
                options = Options::default();
            }
            let Some((segment, field)) = self.pairs[p].ends[end].poll(self.now, &mut options) else { break };
            self.send(p, end, segment, options, field);
        }
    }

    fn arrive(&mut self, f: Flying) {
        let pair = &mut self.pairs[f.pair];
        let (state, error) = (pair.ends[f.to].state(), pair.ends[f.to].error());
        if state == State::Closed && (error.is_some() || pair.opened) {
            // The host answers for a connection that is no more (RFC 9293 §3.10.7.1).
            if !f.segment.flags.has(Flags::RST) {
                pair.forgotten = true;
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
        pair.ledgers[1 - f.to].on_arrival(&f.segment);
        pair.ledgers[f.to].on_told(&f.segment);
        pair.ends[f.to].on_segment(self.now, &f.segment, &f.options, f.field);
        self.pump(f.pair, f.to);
        self.after(f.pair, f.to);
    }

    /// What the application does when something has happened at its end.
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
        if due && !pair.ledgers[end].closed {
            pair.ledgers[end].closed = true;
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
            if pair.both_open {
                pair.ends[1].connect()
            } else {
                pair.ends[1].listen()
            }
            pair.ends[0].connect();
            self.pump(p, 1);
            self.pump(p, 0);
            return;
        }
        let (app, tcp) = (&mut pair.apps[end], &mut pair.ends[end]);
        if pair.next_read[end].is_some_and(|t| t <= now) {
            pair.next_read[end] = None;
            let most = app.reads.map_or(0, |r| r.1);
            let readable = tcp.readable();
            let n = tcp.read(most);
            assert_eq!(n, most.min(readable));
            let ledger = &mut pair.ledgers[1 - end];
            ledger.read += u64::from(n);
            assert!(ledger.read <= ledger.in_order(), "read {n}, which did not arrive: {ledger:?}");
        }
        while app.writes.front().is_some_and(|w| w.0 <= now) {
            let Some((_, bytes)) = app.writes.pop_front() else { break };
            // A server that listens still has no one to write to.
            if tcp.state() == State::Listen {
                app.writes.push_front((now + Duration::from_millis(10), bytes));
                break;
            }
            if !matches!(tcp.state(), State::Closed | State::TimeWait) {
                tcp.write(bytes);
                pair.ledgers[end].written = pair.ledgers[end].written.saturating_add(bytes);
            }
            if app.writes.is_empty() && app.closes == Closes::AfterWrites {
                tcp.close();
                pair.ledgers[end].closed = true;
            }
        }
        self.pump(p, end);
        self.after(p, end);
    }

    /// The next event; false if there is none, or none until `until`.
    pub fn step(&mut self, until: Time) -> bool {
        let mut next = self.flying.peek().map_or(Time::NEVER, |f| f.0.at);
        let mut what = None;
        for p in 0..self.pairs.len() {
            for end in 0..2 {
                let deadline = self.pairs[p].ends[end].deadline();
                for (at, timer) in [(deadline, true), (self.app_time(p, end), false)] {
                    if at < next {
                        (next, what) = (at, Some((p, end, timer)));
                    }
                }
            }
        }
        if next == Time::NEVER || next > until {
            return false;
        }
        assert!(next >= self.now, "time goes back to {next} at {}", self.now);
        self.now = next;
        self.events += 1;
        match what {
            None => {
                if let Some(Reverse(f)) = self.flying.pop() {
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

    /// Runs until nothing is left to happen, or `until`.
    pub fn run(&mut self, until: Time) {
        while self.step(until) {}
    }

    /// Whether an end gave up, and had tried as often as its parameters say.
    pub fn gave_up(&self) -> bool {
        let mut gave_up = false;
        for pair in &self.pairs {
            for (end, ledger) in pair.ends.iter().zip(&pair.ledgers) {
                if end.error() == Some(Error::TimedOut) {
                    let handshake = end.milestones().0 == Time::NEVER;
                    let most = if handshake { end.tcp().syn_retries } else { end.tcp().retries };
                    assert!(ledger.tries > most, "it gave up after {}: {}", ledger.tries, pair.describe());
                    gave_up = true;
                }
            }
        }
        gave_up
    }
}
