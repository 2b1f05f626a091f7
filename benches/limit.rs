//! Minimal loop that forwards packets, called the "limit loop". The speed of this loop is an upper
//! bound for the speed of a packet-level simulator on the same machine.
//!
//! The limit loop forwards packet records of 64 bytes over the links of a dumbbell, as in the
//! benchmark scenarios S2 and S3. Senders have fixed windows instead of TCP, and each packet is
//! acknowledged by an ACK. One array contains all packet records. Each link has a ring buffer of
//! packets in flight and at most one pending event. The pending events of all links are in a 4-ary
//! heap, and each packet causes one event per hop. The benchmark compares the number of packet hops
//! per CPU second of a simulator with that of the limit loop.
//!
//! Run the limit loop with
//! `cargo bench -p lab --bench limit -- FLOWS RATE ACCESS_RATE LIMIT SECONDS WINDOW`

use rustix::time::{ClockId, clock_gettime};

/// Packet record with the size of a cache line.
#[derive(Clone, Copy, Default)]
#[repr(C, align(64))]
struct Record {
    flow: u32,
    seq: u32,
    size: u32,
    hop: u32,
    sent: u64,
    ack: u64,
    rest: [u64; 4],
}

/// One-way link.
///
/// The ring buffer of a link contains the packets in flight as pairs of the arrival time at the end
/// of the link and the index of the packet record. Times are integers; a second has [`SECOND`]
/// units of time. If the limit of the link's queue is 0, the link never drops a packet.
#[derive(Default)]
#[repr(align(64))]
struct Link {
    ring: Vec<(u64, u32)>,
    mask: usize,
    head: usize,
    tail: usize,
    /// Index in the ring buffer of the first packet whose transmission has not begun.
    begun: usize,
    /// Capacity of the queue in packets.
    limit: usize,
    /// Transmission time of one byte, in units of 1/[`SECOND`] s.
    per_byte: u64,
    delay: u64,
    /// Time at which the last scheduled transmission of the link ends.
    free_at: u64,
}

/// Sender with a fixed window; the window is a number of packets.
#[derive(Default)]
struct Flow {
    window: u32,
    in_flight: u32,
    next: u32,
    /// Indices of the six links of the flow's path: three for its data, then three for its ACKs.
    path: [u32; 6],
}

/// 4-ary heap of events; an event is the integer `time << 13 | link`.
#[derive(Default)]
struct Heap(Vec<u64>);

/// Number of low-order bits of an event that contain the index of the event's link.
const LANE: u32 = 13;

impl Heap {
    /// Insert an event.
    fn push(&mut self, k: u64) {
        let mut i = self.0.len();
        self.0.push(k);
        while i > 0 && self.0[(i - 1) >> 2] > k {
            self.0[i] = self.0[(i - 1) >> 2];
            i = (i - 1) >> 2;
        }
        self.0[i] = k;
    }

    /// Remove the earliest event and insert a later event.
    fn replace_top(&mut self, k: u64) {
        let heap = self.0.as_mut_slice();
        let mut i = 0;
        loop {
            let first = 4 * i + 1;
            let (least, v) = match heap.get(first..first + 4) {
                Some(&[a, b, c, d]) => {
                    let (x, u) = if b < a { (1, b) } else { (0, a) };
                    let (y, v) = if d < c { (3, d) } else { (2, c) };
                    if v < u { (y, v) } else { (x, u) }
                }
                _ => match heap.get(first..).into_iter().flatten().enumerate().min_by_key(|e| e.1) {
                    Some((i, &v)) => (i, v),
                    None => break,
                },
            };
            if v >= k {
                break;
            }
            heap[i] = v;
            i = first + least;
        }
        heap[i] = k;
    }

    /// Remove the earliest event.
    fn pop(&mut self) {
        if let Some(k) = self.0.pop()
            && !self.0.is_empty()
        {
            self.replace_top(k);
        }
    }
}

/// State of the benchmark's loop that forwards packets: links, flows, packets and events.
#[derive(Default)]
struct Loop {
    slab: Vec<Record>,
    free: Vec<u32>,
    links: Vec<Link>,
    flows: Vec<Flow>,
    heap: Heap,
    now: u64,
    drops: u64,
}

impl Loop {
    /// Send the packet record `r` over link `l`, or drop the packet if the link's queue is full.
    fn send(&mut self, l: u32, r: u32) {
        let record = &self.slab[r as usize];
        let link = &mut self.links[l as usize];
        if link.limit > 0 {
            while link.begun != link.tail && link.ring[link.begun & link.mask].0 - link.delay <= self.now {
                link.begun += 1;
            }
            if link.tail - link.begun >= link.limit {
                self.drops += 1;
                self.flows[record.flow as usize].in_flight -= 1;
                self.free.push(r);
                return;
            }
        }
        link.free_at = link.free_at.max(self.now) + u64::from(record.size) * link.per_byte;
        let arrival = link.free_at + link.delay;
        if link.head == link.tail {
            self.heap.push((arrival << LANE) | u64::from(l));
        }
        let slot = link.tail & link.mask;
        link.ring[slot] = (arrival, r);
        link.tail += 1;
    }

    /// Send packets of flow `f` until its window is full.
    fn fill_window(&mut self, f: u32) {
        while self.flows[f as usize].in_flight < self.flows[f as usize].window {
            let Some(r) = self.free.pop() else { return };
            let flow = &mut self.flows[f as usize];
            let record = &mut self.slab[r as usize];
            *record = Record { flow: f, seq: flow.next, size: 1500, sent: self.now, ..*record };
            record.hop = 0;
            flow.next += 1;
            flow.in_flight += 1;
            let first = flow.path[0];
            self.send(first, r);
        }
    }
}

/// Return the CPU time of this thread in s.
fn cpu() -> f64 {
    let t = clock_gettime(ClockId::ThreadCPUTime);
    t.tv_sec as f64 + t.tv_nsec as f64 * 1e-9
}

/// Number of units of time in a second; one unit is an eighth of a nanosecond.
const SECOND: f64 = 8e9;

fn main() {
    let numbers: Vec<f64> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    let get = |i: usize, default: f64| numbers.get(i).copied().unwrap_or(default);
    let (n, rate, access) = (get(0, 100.0) as u32, get(1, 100e6), get(2, 1e9));
    let (limit, seconds, window) = (get(3, 1000.0) as usize, get(4, 60.0), get(5, 16.0) as u32);
    let records = (n * window * 4 + 1000) as usize;
    let mut s = Loop {
        slab: vec![Record::default(); records],
        free: (0..records as u32).rev().collect(),
        ..Loop::default()
    };
    let link = |rate: f64, delay: f64, limit: usize, ring: usize| Link {
        ring: vec![(0, 0); ring.next_power_of_two()],
        mask: ring.next_power_of_two() - 1,
        limit,
        per_byte: ((8.0 / rate * SECOND).round() as u64).max(1),
        delay: (delay * SECOND) as u64,
        ..Link::default()
    };
    s.links.push(link(rate, 0.001, limit, records));
    s.links.push(link(rate, 0.001, 0, records));
    for i in 0..n {
        let round_trip = 0.010 + 0.140 * f64::from(i) / f64::from(n.max(2) - 1);
        let delay = (round_trip / 2.0 - 0.001) / 2.0;
        let first = s.links.len() as u32;
        s.links.extend((0..4).map(|_| link(access, delay, 0, window as usize * 2 + 8)));
        let path = [first, 0, first + 1, first + 2, 1, first + 3];
        s.flows.push(Flow { window, path, ..Flow::default() });
    }
    assert!(s.links.len() < 1 << LANE, "too many links: an event has 13 bits for the index of its link");
    let end = (seconds * SECOND) as u64;
    let begin = cpu();
    (0..n).for_each(|f| s.fill_window(f));
    let (mut hops, mut bottleneck) = (0u64, 0u64);
    while let Some(&top) = s.heap.0.first() {
        s.now = top >> LANE;
        if s.now >= end {
            break;
        }
        let l = (top & ((1 << LANE) - 1)) as u32;
        let link = &mut s.links[l as usize];
        let r = link.ring[link.head & link.mask].1;
        link.begun = link.begun.max(link.head + 1);
        link.head += 1;
        hops += 1;
        bottleneck += u64::from(l == 0);
        if link.head == link.tail {
            s.heap.pop();
        } else {
            let next = link.ring[link.head & link.mask].0;
            s.heap.replace_top((next << LANE) | u64::from(l));
        }
        let record = &mut s.slab[r as usize];
        record.hop += 1;
        let (hop, f) = (record.hop, record.flow);
        if hop == 3 {
            (record.size, record.ack) = (40, u64::from(record.seq));
        }
        if hop == 6 {
            s.flows[f as usize].in_flight -= 1;
            s.free.push(r);
            s.fill_window(f);
        } else {
            s.send(s.flows[f as usize].path[hop as usize], r);
        }
    }
    let seconds = cpu() - begin;
    println!(
        "{{\"hops\": {hops}, \"bottleneck_packets\": {bottleneck}, \"cpu_s\": {seconds:.6}, \"drops\": {}}}",
        s.drops
    );
}
