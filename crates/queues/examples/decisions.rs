//! Write the decisions of a queue on random traffic, for the tests that compare the queue with its
//! reference implementation.
//!
//! The program reads `{"queue": …, "rate": …, "seed": 1, "arrivals": 1000, "flows": 10}` from
//! standard input. The program writes 32 bytes per packet to standard output, little-endian: time
//! of arrival at the queue in ps (8), time of the drop or of the arrival at the end of the link in
//! ps (8), flow (4), size (2), ECN field, DSCP, outcome, seven zeros. The outcome is 0 for a passed
//! packet, 1 to 3 for a marked packet and 4 to 6 for a dropped packet, depending on the reason.
//!
//! With `"explain": true`, the program instead writes a line of JSON per drop and mark, in the
//! order of the decisions: the number of the packet, the rule, and the variables of the queue.
//!
//! The packets arrive in periods of random length and load, with random idle times between periods.
//! The packets have all sizes, every ECN field and five codepoints. If the traffic has fewer than
//! 100 flows, one flow sends a third of the packets.

use std::io::{Read, Write};

use engine::Stream;
use net::{Ecn, Explanation, Fate, Flight, Label, Link, Packet, Probe, Received};
use queues::diffserv::{Flow, Flows, Protocol};
use queues::{Discipline, NoCustomAqms, Queue};
use serde_json::Value;
use units::{Bytes, Duration, Rate, Read as _, Time};

/// Outcomes of all packets.
struct Outcomes {
    /// Outcome code of each packet and the time of the outcome, indexed by the packet's sequence
    /// number.
    codes: Vec<(u8, Time)>,
    /// Explanation of each drop and mark, with the packet's sequence number.
    explanations: Vec<(u32, Explanation)>,
}

impl Probe for Outcomes {
    fn fate(&mut self, now: Time, fate: &Fate, explanation: Option<&Explanation>) {
        let (packet, code) = match fate {
            Fate::Marked(packet, why) => (packet, 1 + why.index()),
            Fate::Dropped(packet, why) => (packet, 4 + why.index()),
        };
        let seq = packet.segment.seq.0;
        self.codes[seq as usize] = (code as u8, now);
        self.explanations.extend(explanation.map(|explanation| (seq, explanation.clone())));
    }
}

/// Link with the queue under test.
struct Bottleneck {
    link: Link<Discipline>,
    flight: Flight,
    outcomes: Outcomes,
}

impl Bottleneck {
    /// Record the arrival of every packet that reaches the end of the link by the time `until`.
    fn advance(&mut self, until: Time) {
        self.link.catch_up(until, &mut self.flight, &mut self.outcomes);
        while self.link.due() <= until
            && let Some(position) = self.link.deliver(until, &mut self.flight)
        {
            let entry = &self.flight[position];
            self.outcomes.codes[entry.packet.segment.seq.0 as usize].1 = entry.arrives;
        }
    }

    /// Let a packet arrive at the queue.
    fn enter(&mut self, now: Time, mut packet: Packet) {
        match self.link.receive(now, &mut packet, &mut self.outcomes) {
            Received::Admitted(arrives) => {
                self.link.put([now, arrives], 0, &packet, &mut self.flight);
            }
            Received::Enqueue => {
                self.link.enqueue(now, packet.connection, packet, &mut self.flight, &mut self.outcomes)
            }
            Received::Dropped => {}
            Received::Uncounted => unreachable!("this link always counts"),
        }
    }
}

/// TCP flows from the host "a" to the host "b", each with its number as its name. The tuple field
/// is the number of flows.
#[derive(Debug)]
struct Numbered(u64);

impl Flows for Numbered {
    fn count(&self) -> usize {
        self.0 as usize
    }

    fn flow(&self, number: usize) -> Flow {
        let (from, to) = ("a".into(), "b".into());
        Flow { name: number.to_string(), from, to, protocol: Protocol::Tcp, traffic: "bulk" }
    }
}

/// Generator of random traffic: periods of random length and load, and random idle times.
struct Traffic {
    random: Stream,
    rate: Rate,
    now: Time,
    left: u64,
    load: f64,
    flows: u64,
}

const LOADS: [f64; 8] = [0.1, 0.5, 0.9, 0.95, 1.0, 1.05, 1.3, 4.0];
const IDLE: [u64; 3] = [1_000_000_000, 100_000_000_000, 3_000_000_000_000];
const SIZES: [u16; 4] = [40, 576, 1500, 1500];
const CODEPOINTS: [u8; 5] = [0, 10, 10, 12, 14];
const FIELDS: [Ecn; 5] = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect0, Ecn::Ect1, Ecn::Ce];

impl Traffic {
    fn next(&mut self, seq: u32) -> Packet {
        let r = &mut self.random;
        if self.left == 0 {
            let longest = [20, 200, 2000][r.below(3) as usize];
            (self.left, self.load) = (1 + r.below(longest), LOADS[r.below(8) as usize]);
            if r.below(4) == 0 {
                let longest = IDLE[r.below(3) as usize];
                self.now += Duration(r.below(longest));
            }
        }
        self.left -= 1;
        let size = if r.below(5) == 0 { 40 + r.below(1461) as u16 } else { SIZES[r.below(4) as usize] };
        // One in twenty packets arrives at the same time as the previous packet.
        if r.below(20) > 0 {
            let mean = self.rate.transmission_time(Bytes(904)).0 as f64 / self.load;
            self.now += Duration((2.0 * mean * r.uniform()) as u64);
        }
        let flow = if self.flows < 100 && r.below(3) == 0 { 0 } else { r.below(self.flows) as u32 };
        let ecn = FIELDS[r.below(5) as usize];
        let label = Label::default().with_dscp(CODEPOINTS[r.below(5) as usize]);
        let mut packet = Packet { connection: flow, size, ecn, label, ..Packet::default() };
        packet.segment.seq.0 = seq;
        packet
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let spec: Value = serde_json::from_str(&text)?;
    let queue = Queue::read(&spec["queue"], "queue")?;
    let rate = Rate::read(&spec["rate"], "rate")?;
    let seed = u64::read(&spec["seed"], "seed")?;
    let arrivals = u64::read(&spec["arrivals"], "arrivals")?;

    let flows = u64::read(&spec["flows"], "flows")?.max(1);
    let queue = queue.build("link", rate, Stream::new(seed, "queue"), &NoCustomAqms, &Numbered(flows));
    let mut bottleneck = Bottleneck {
        link: Link::new(rate, Duration::ZERO, queue),
        flight: Flight::default(),
        outcomes: Outcomes { codes: vec![(0, Time::ZERO); arrivals as usize], explanations: Vec::new() },
    };
    let explains = spec["explain"] == true;
    if explains {
        bottleneck.link.explain();
    }
    let mut traffic =
        Traffic { random: Stream::new(seed, "traffic"), rate, now: Time::ZERO, left: 0, load: 1.0, flows };
    let mut records = Vec::with_capacity(arrivals as usize);
    for seq in 0..arrivals as u32 {
        let packet = traffic.next(seq);
        records.push((traffic.now, packet));
        bottleneck.advance(traffic.now);
        bottleneck.enter(traffic.now, packet);
    }
    bottleneck.advance(Time::NEVER);

    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    if explains {
        for (seq, explanation) in &bottleneck.outcomes.explanations {
            let value = |x: f64| if x.is_nan() { Value::Null } else { x.into() };
            let values: serde_json::Map<_, _> =
                explanation.values().iter().map(|(v, x)| (v.name.to_string(), value(*x))).collect();
            let rule = explanation.rule().name;
            writeln!(out, "{}", serde_json::json!({"packet": seq, "rule": rule, "values": values}))?;
        }
        return Ok(());
    }
    for ((now, packet), (code, done)) in records.iter().zip(&bottleneck.outcomes.codes) {
        out.write_all(&now.0.to_le_bytes())?;
        out.write_all(&done.0.to_le_bytes())?;
        out.write_all(&packet.connection.to_le_bytes())?;
        out.write_all(&packet.size.to_le_bytes())?;
        out.write_all(&[packet.ecn as u8, packet.label.dscp(), *code, 0, 0, 0, 0, 0, 0, 0])?;
    }
    Ok(())
}
