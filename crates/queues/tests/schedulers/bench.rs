//! Test bench: a link with a queue, the packets that arrive at the queue, and the outcome of each
//! packet.

use engine::Stream;
use net::{Ecn, Explanation, Fate, Flight, Inside, Label, Link, Packet, Probe, Received};
use queues::diffserv::{Flow, Flows, Protocol};
use queues::{Discipline, NoCustomAqms, Queue};
use serde_json::Value;
use units::{Bytes, Duration, Rate, Read as _, Time};

/// Outcome of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Time of arrival.
    pub came: Time,
    /// Time at which the transmission of the packet ended, or time at which the packet was dropped.
    pub done: Time,
    /// True if the packet was sent.
    pub sent: bool,
    /// True if the packet was marked.
    pub marked: bool,
    /// Size in bytes.
    pub size: u16,
}

/// TCP flows named "f0", "f1", … in this order. The tuple field is the number of flows.
#[derive(Debug)]
pub struct Named(pub usize);

impl Flows for Named {
    fn count(&self) -> usize {
        self.0
    }
    fn flow(&self, number: usize) -> Flow {
        let name = format!("f{number}");
        Flow { name, from: "a".into(), to: "b".into(), protocol: Protocol::Tcp, traffic: "bulk" }
    }
}

#[derive(Default)]
struct Seen(Vec<Outcome>);

impl Probe for Seen {
    fn fate(&mut self, now: Time, fate: &Fate, _: Option<&Explanation>) {
        match fate {
            Fate::Dropped(packet, _) => self.0[packet.segment.seq.0 as usize].done = now,
            Fate::Marked(packet, _) => {
                assert!(packet.ecn.is_capable(), "a Not-ECT packet is marked");
                self.0[packet.segment.seq.0 as usize].marked = true;
            }
        }
    }
}

/// Link with the queue under test.
pub struct Bench {
    link: Link<Discipline>,
    flight: Flight,
    seen: Seen,
    /// Sequence numbers of the packets, in the order in which the packets were sent.
    pub order: Vec<u32>,
    flows: Vec<u32>,
    now: Time,
}

/// Return the random stream that the queue of a bench uses.
pub fn stream(seed: u64) -> Stream {
    Stream::new(seed, "queue")
}

impl Bench {
    /// Create a bench with a link of the rate `rate` and without propagation delay.
    pub fn new(queue: &Value, rate: Rate, random: Stream) -> Bench {
        let queue = Queue::read(queue, "queue").unwrap_or_else(|e| panic!("{e}"));
        queue.check_matches(&Named(64), "queue").unwrap();
        let link =
            Link::new(rate, Duration::ZERO, queue.build("link", rate, random, &NoCustomAqms, &Named(64)));
        Bench {
            link,
            flight: Flight::default(),
            seen: Seen::default(),
            order: Vec::new(),
            flows: Vec::new(),
            now: Time::ZERO,
        }
    }

    /// Record every packet whose transmission ends by the time `until`.
    pub fn advance(&mut self, until: Time) {
        // Time advances event by event, as in a simulation.
        while self.link.next_event() <= until {
            let now = self.link.next_event();
            self.link.catch_up(now, &mut self.flight, &mut self.seen);
            while let Some(position) = self.link.deliver(now, &mut self.flight) {
                let entry = &self.flight[position];
                let seq = entry.packet.segment.seq.0;
                let outcome = &mut self.seen.0[seq as usize];
                (outcome.done, outcome.sent) = (entry.arrives, true);
                self.order.push(seq);
            }
        }
        self.link.catch_up(until, &mut self.flight, &mut self.seen);
        self.now = self.now.max(until);
    }

    /// Let a packet of a flow arrive at the queue.
    pub fn arrive(&mut self, now: Time, flow: u32, size: u16, ecn: Ecn, dscp: u8) {
        self.advance(now);
        let seq = self.seen.0.len() as u32;
        self.seen.0.push(Outcome { came: now, size, ..Outcome::default() });
        self.flows.push(flow);
        let mut packet = Packet {
            connection: flow,
            size,
            ecn,
            label: Label::default().with_dscp(dscp),
            ..Packet::default()
        };
        packet.segment.seq.0 = seq;
        match self.link.receive(now, &mut packet, &mut self.seen) {
            Received::Admitted(arrives) => {
                self.link.put([now, arrives], 0, &packet, &mut self.flight);
            }
            Received::Enqueue => self.link.enqueue(now, flow, packet, &mut self.flight, &mut self.seen),
            Received::Dropped => {}
            Received::Uncounted => unreachable!("this link always counts"),
        }
    }

    /// Let a packet arrive that is not ECN-capable and has the codepoint 0.
    pub fn send(&mut self, now: Time, flow: u32, size: u16) {
        self.arrive(now, flow, size, Ecn::NotEct, 0);
    }

    /// Compare the counters of the link, of the queue and of the queue's classes with the packets
    /// that they contain.
    pub fn check(&mut self) {
        let mut inside = Inside::default();
        self.link.locate_all(&self.flight, self.now, &mut inside);
        self.link.locate_stored(&mut inside, |_| {});
        self.link.counters().check(&inside, self.now).unwrap();
        assert_eq!(u64::from(self.link.backlog(self.now).packets), inside.waiting.packets);
        if let Some(classes) = self.link.queue().classes() {
            let signals = self.link.counters().signals();
            classes.check(self.link.counters().arrived, signals.dropped, signals.marked()).unwrap();
        }
    }

    /// Return true if packets wait while the link is idle.
    pub fn idles(&mut self) -> bool {
        !self.link.is_transmitting(self.now) && self.link.backlog(self.now).packets > 0
    }

    /// Return the number of waiting packets.
    pub fn waiting(&mut self) -> u32 {
        self.link.backlog(self.now).packets
    }

    /// Return the outcome of each packet, in the order of their arrivals.
    pub fn outcomes(&self) -> &[Outcome] {
        &self.seen.0
    }

    /// Return the flow to which a packet belongs.
    pub fn flow(&self, seq: u32) -> u32 {
        self.flows[seq as usize]
    }

    /// Send all waiting packets.
    pub fn finish(&mut self) {
        while self.link.next_event() < Time::NEVER {
            self.advance(self.link.next_event());
        }
    }
}

/// Generator of random packets in periods of random length and load, with random idle times between
/// periods.
pub struct Traffic {
    random: Stream,
    rate: Rate,
    now: Time,
    left: u64,
    load: f64,
    flows: u64,
    /// True if all packets of a flow have the same ECN field and the same DSCP.
    same: bool,
}

impl Traffic {
    /// Create random traffic of `flows` flows for a link of the rate `rate`.
    pub fn new(seed: u64, rate: Rate, flows: u64) -> Traffic {
        Traffic {
            random: Stream::new(seed, "traffic"),
            rate,
            now: Time::ZERO,
            left: 0,
            load: 1.0,
            flows,
            same: false,
        }
    }

    /// Make all packets of a flow have the same ECN field and codepoint.
    pub fn with_a_field_a_flow(self) -> Traffic {
        Traffic { same: true, ..self }
    }

    /// Generate the next random packet, and let the packet arrive at the queue under test.
    pub fn next(&mut self, bench: &mut Bench) {
        let r = &mut self.random;
        if self.left == 0 {
            let longest = [20, 200, 1000][r.below(3) as usize];
            self.left = 1 + r.below(longest);
            self.load = [0.1, 0.5, 0.9, 1.0, 1.1, 1.5, 4.0][r.below(7) as usize];
            if r.below(4) == 0 {
                let longest = [1_000_000_000, 100_000_000_000, 1_000_000_000_000][r.below(3) as usize];
                self.now += Duration(r.below(longest));
            }
        }
        self.left -= 1;
        let size = if r.below(5) == 0 {
            40 + r.below(1461) as u16
        } else {
            [40, 576, 1500, 1500][r.below(4) as usize]
        };
        if r.below(20) > 0 {
            let mean = self.rate.transmission_time(Bytes(904)).0 as f64 / self.load;
            self.now += Duration((2.0 * mean * r.uniform()) as u64);
        }
        let flow = r.below(self.flows) as u32;
        let (a, b) =
            if self.same { (u64::from(flow), u64::from(flow / 5)) } else { (r.below(5), r.below(5)) };
        let ecn = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect0, Ecn::Ect1, Ecn::Ce][a as usize % 5];
        let dscp = [0, 10, 12, 14, 46][b as usize % 5];
        bench.arrive(self.now, flow, size, ecn, dscp);
    }
}

/// Return every kind of queue except the schedulers, with parameters that cause signals for the
/// random traffic of the bench.
pub fn queue_kinds() -> Vec<Value> {
    let precedence =
        |dscp: Value| serde_json::json!({"dscp": dscp, "minth": "5 packets", "maxth": "20 packets"});
    let schedulers = kinds_of_schedulers();
    let kind = |page: &Value| {
        let mut queue = serde_json::json!({"kind": page["name"], "limit": "40 packets"});
        if queue["kind"] == "wred" {
            queue["precedences"] =
                serde_json::json!([precedence(serde_json::json!([10])), precedence(serde_json::json!([]))]);
        }
        if queue["kind"] == "tc_red" {
            (queue["max"], queue["limit"]) = ("20 kB".into(), "40 kB".into());
        }
        if page["parameters"].as_array().unwrap().iter().any(|p| p["name"] == "packet_limit") {
            queue["packet_limit"] = "60 packets".into();
        }
        queue
    };
    // Custom AQMs are excluded, because only the calling program supplies them.
    let here = |page: &&Value| !schedulers.contains(&page["name"]) && page["name"] != "custom";
    Queue::pages().iter().filter(here).map(kind).collect()
}

/// Return the kinds of queues that have no buffer of their own.
pub fn kinds_of_schedulers() -> Vec<Value> {
    let has_buffer =
        |page: &Value| page["parameters"].as_array().unwrap().iter().any(|p| p["name"] == "limit_counts");
    Queue::pages().iter().filter(|page| !has_buffer(page)).map(|page| page["name"].clone()).collect()
}

/// Return the time `x` milliseconds after the start.
pub fn ms(x: u64) -> Time {
    Time::ZERO + Duration::from_millis(x)
}
