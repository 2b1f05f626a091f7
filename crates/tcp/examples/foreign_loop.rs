//! TCP through CoDel in an event loop of one's own.
//!
//! The crates `tcp` and `queues` contain no event loop, no threads and no clock. This program shows
//! how another simulator, or a router in user space, uses the two crates. One connection sends 10
//! MB over a link with a rate of 10 Mbit/s and a round-trip time of 40 ms. CoDel manages the queue
//! of the link. The program prints the goodput, the drops, and the mean delay of a packet in the
//! queue.
//!
//! `cargo run --release -p aqmlab-tcp --example foreign_loop`

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::Stream;
use net::{
    Arrival, Direction, Ecn, Fates, Label, Next, Options, Packet, QueueDiscipline, QueuedPacket, Segment,
};
use queues::codel::{Codel, CodelQueue};
use queues::fifo::Buffer;
use queues::{DisciplineParams, QueueContext};
use serde_json::json;
use tcp::{Endpoint, Tcp};
use units::{Bytes, Depth, Duration, Rate, Read, Time};

const RATE: Rate = Rate(10_000_000);
const ONE_WAY: Duration = Duration::from_millis(20);
const TRANSFER: u64 = 10_000_000;
const CLIENT: usize = 0;
const SERVER: usize = 1;

/// A packet at the receiving host.
type Delivery = (usize, Segment, Options, Ecn);

/// Event loop: a clock, the packets on the wires, and the queue of the link.
struct Network {
    now: Time,
    /// Packets that reach a host, by time and by their order.
    deliveries: BTreeMap<(Time, u64), Delivery>,
    count: u64,
    queue: CodelQueue,
    fates: Fates,
    /// TCP options of the client's packets. The field `Packet::options` of a packet is an index
    /// into this list.
    options: Vec<Options>,
    /// Time at which the transmitter has sent its packet.
    free_at: Time,
    waited: Duration,
    sent: u64,
}

impl Network {
    /// Put a packet of the client into the queue.
    fn enqueue(&mut self, segment: Segment, options: Options, ecn: Ecn, size: u16) {
        let number = self.options.len() as u32;
        self.options.push(options);
        let label = Label::new(Direction::Forward);
        let packet = Packet { connection: 0, size, ecn, label, hop: 0, options: number, segment };
        let at = Arrival { now: self.now, backlog: self.queue.backlog(), free_at: self.free_at };
        let queued = QueuedPacket { packet, source: 0, entered: self.now };
        self.queue.enqueue(queued, &at, &mut self.fates);
    }

    /// Send the next packet of the queue if the transmitter is free.
    fn transmit(&mut self) {
        if self.free_at > self.now {
            return;
        }
        if let Next::Packet(QueuedPacket { packet, entered, .. }) =
            self.queue.dequeue(self.now, &mut self.fates)
        {
            self.free_at = self.now + RATE.transmission_time(Bytes(u64::from(packet.size)));
            self.waited = self.waited + self.now.since(entered);
            self.sent += 1;
            let options = self.options[packet.options as usize];
            self.deliver(self.free_at + ONE_WAY, (SERVER, packet.segment, options, packet.ecn));
        }
    }

    /// Let a packet arrive at a host at a later time.
    fn deliver(&mut self, at: Time, delivery: Delivery) {
        self.count += 1;
        self.deliveries.insert((at, self.count), delivery);
    }

    /// Send all segments that an endpoint has to send now.
    fn poll(&mut self, host: usize, endpoint: &mut Endpoint) {
        let mut options = Options::default();
        while let Some((segment, ecn)) = endpoint.poll(self.now, &mut options) {
            let of_segment = if endpoint.has_options() { options } else { Options::default() };
            let size = endpoint.wire_size(&segment) + of_segment.wire_len();
            if host == CLIENT {
                self.enqueue(segment, of_segment, ecn, size);
            } else {
                self.deliver(self.now + ONE_WAY, (CLIENT, segment, of_segment, ecn));
            }
        }
    }
}

/// Result of the transfer.
pub struct Transfer {
    /// Time from the SYN to the ACK of the last byte.
    pub seconds: f64,
    /// Number of segments that the client sent with data, retransmissions included.
    pub segments: u64,
    /// Number of packets that CoDel dropped.
    pub drops: usize,
    /// Mean delay of a packet in the queue.
    pub queueing_delay_s: f64,
}

/// Transfer the bytes from the client to the server.
pub fn transfer() -> Result<Transfer, Box<dyn std::error::Error>> {
    let tcp = Arc::new(Tcp::from_keys(json!({ "stack": "linux" }))?);
    let mut hosts = [Endpoint::new(tcp.clone(), Duration::ZERO), Endpoint::new(tcp, Duration::ZERO)];
    let context = QueueContext::new(RATE, Depth::Packets(1000.0), Stream::new(1, "queue"));
    let buffer = Buffer::read(&json!({ "limit": "1000 packets" }), "queue")?;
    let mut network = Network {
        now: Time::ZERO,
        deliveries: BTreeMap::new(),
        count: 0,
        queue: Codel::read(&json!({}), "queue")?.discipline(&buffer, context),
        fates: Fates::default(),
        options: Vec::new(),
        free_at: Time::ZERO,
        waited: Duration::ZERO,
        sent: 0,
    };

    hosts[SERVER].listen();
    hosts[CLIENT].connect();
    hosts[CLIENT].write(TRANSFER);
    hosts[CLIENT].close();
    while hosts[CLIENT].acked() < TRANSFER {
        for (host, endpoint) in hosts.iter_mut().enumerate() {
            network.poll(host, endpoint);
        }
        network.transmit();
        // The next event is the earliest of a delivery, the end of a transmission, and a timer.
        let delivery = network.deliveries.keys().next().map_or(Time::NEVER, |key| key.0);
        let busy = if network.free_at > network.now { network.free_at } else { Time::NEVER };
        let timers = hosts.iter().map(Endpoint::deadline).min().unwrap_or(Time::NEVER);
        network.now = delivery.min(busy).min(timers);
        while let Some(entry) = network.deliveries.first_entry()
            && entry.key().0 <= network.now
        {
            let (host, segment, options, ecn) = entry.remove();
            hosts[host].on_segment(network.now, &segment, &options, ecn);
        }
        for endpoint in &mut hosts {
            if endpoint.deadline() <= network.now {
                endpoint.on_timer(network.now);
            }
        }
    }
    Ok(Transfer {
        seconds: network.now.seconds(),
        segments: hosts[CLIENT].sender_stats().segments,
        drops: network.fates.count(),
        queueing_delay_s: network.waited.seconds() / network.sent as f64,
    })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let Transfer { seconds, segments, drops, queueing_delay_s } = transfer()?;
    let goodput = 8e-6 * TRANSFER as f64 / seconds;
    println!("{TRANSFER} bytes in {seconds:.3} s: goodput {goodput:.3} Mbit/s");
    println!("CoDel dropped {drops} of {segments} segments; mean delay {:.2} ms", 1e3 * queueing_delay_s);
    Ok(())
}
