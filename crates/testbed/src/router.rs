//! The event loop: packets of the TUN devices, events of the sockets, and times of the network.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;

use lab::{Failure, Forwarding, Happening, Outcome, Scenario, Watch, forward};
use net::{Direction, Ecn, End, Flags, Packet, Segment};
use queues::CustomAqms;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::io::Errno;
use traffic::application::Event;
use units::{Duration, Time};
use wire::{Datagram, Endpoints, Family, Ip, Protocol, SegmentExtras, Transport, headers};

use crate::capture::Captures;
use crate::clock::{Clock, Pace, timespec};
use crate::error::Error;
use crate::host::Host;
use crate::lateness::Lateness;
use crate::qdisc::Qdisc;
use crate::report::{Counters, Report, counters};
use crate::settings::Settings;
use crate::sockets::{Socket, accept, connect, listen};
use crate::sys;

/// Port at which each server listens.
const SERVER_PORT: u16 = 5001;
/// First port of clients. The ports below belong to servers.
const FIRST_CLIENT_PORT: u16 = 10_000;
/// Number of ports of the clients of a pair of hosts.
const CLIENT_PORTS: usize = (u16::MAX - FIRST_CLIENT_PORT) as usize + 1;
const NO_CONNECTION: u32 = u32::MAX;
/// Longest time without a check for a cancellation.
const CHECK: Duration = Duration::from_millis(50);
/// Time before an event of the network from which the router no longer sleeps in real time,
/// because a sleeping thread wakes late.
const SPIN: Duration = Duration(60_000_000);
const LONGEST_PACKET: usize = 65_535;
/// Bytes of the headers of IPv4 and UDP.
const IP_AND_UDP: u16 = 28;

/// Kinds of the numbers with which the kernel reports events, in the highest bits.
const TUN: u64 = 1 << 62;
const LISTENER: u64 = 1 << 61;
const QDISC: u64 = 1 << 60;

/// Options of a run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Kind of time.
    pub pace: Pace,
    /// Links whose queue is a queue discipline of the kernel: the name of each link, and commands
    /// of tc(8) for the device DEV.
    pub qdiscs: Vec<(String, String)>,
    /// Existing folder for the captures that the scenario requests. Without a folder, the run
    /// writes no captures.
    pub captures: Option<PathBuf>,
}

/// Two hosts: the clients of some flows, and their servers. All their flows have the same TCP
/// parameters.
#[derive(Debug)]
struct Pair {
    settings: [Settings; 2],
    hosts: [Host; 2],
    listener: OwnedFd,
    /// Connection of each port of the clients.
    connections: Vec<u32>,
    next_port: usize,
}

impl Pair {
    /// Create the pair with the number `number`.
    fn create(number: usize, settings: [Settings; 2], poll: &OwnedFd) -> Result<Pair, Error> {
        let [high, low] = [(number >> 8) as u8, number as u8];
        let addresses = [1, 2].map(|host| Ipv4Addr::new(10, high, low, host));
        let client = Host::create(addresses[0], addresses[1], &settings[0])?;
        let server = Host::create(addresses[1], addresses[0], &settings[1])?;
        let listener = listen(SocketAddrV4::new(addresses[1], SERVER_PORT), &settings[1])?;
        let add = |file: &OwnedFd, key: u64| {
            epoll::add(poll, file, EventData::new_u64(key), EventFlags::IN).map_err(Error::of("epoll"))
        };
        let hosts = [client, server];
        for (side, host) in hosts.iter().enumerate() {
            add(&host.tun, TUN | (2 * number + side) as u64)?;
        }
        add(&listener, LISTENER | number as u64)?;
        let connections = vec![NO_CONNECTION; CLIENT_PORTS];
        Ok(Pair { settings, hosts, listener, connections, next_port: 0 })
    }

    /// Assign an unused port of the client to a connection.
    fn assign_port(&mut self, connection: u32) -> Option<u16> {
        let free = |at: &usize| self.connections[*at] == NO_CONNECTION;
        let at = (self.next_port..CLIENT_PORTS).chain(0..self.next_port).find(free)?;
        self.connections[at] = connection;
        self.next_port = (at + 1) % CLIENT_PORTS;
        Some(FIRST_CLIENT_PORT + at as u16)
    }

    /// Return the connection of a port of the client.
    fn connection(&self, port: u16) -> Option<u32> {
        let at = port.checked_sub(FIRST_CLIENT_PORT)?;
        Some(self.connections[at as usize]).filter(|&connection| connection != NO_CONNECTION)
    }
}

/// Hosts of a run.
struct Hosts {
    pace: Pace,
    clock: Clock,
    poll: OwnedFd,
    pairs: Vec<Pair>,
    /// Pair of each flow. The value of a flow of datagrams is not used.
    pair_of: Vec<u32>,
    qdiscs: Vec<Qdisc>,
    /// Sockets of each connection, the client's first, and the port of the client.
    sockets: Vec<([Option<Socket>; 2], u16)>,
    happened: Vec<Happening>,
    captures: Captures,
    lateness: Lateness,
    buffer: Vec<u8>,
    /// Bytes of the last packet that the network created itself.
    datagram: Vec<u8>,
}

/// Encode a packet of a flow of datagrams as UDP over IPv4. Each flow has its own source port. The
/// payload consists of zeros.
fn udp<'a>(packet: &Packet, bytes: &'a mut Vec<u8>) -> &'a [u8] {
    let mut packet = *packet;
    packet.segment.len = packet.size.saturating_sub(IP_AND_UDP);
    let extras = SegmentExtras { protocol: Protocol::Udp, ..Default::default() };
    bytes.clear();
    let encoded = Endpoints::of(Family::V4, 0, 1, packet.connection)
        .and_then(|endpoints| headers(&packet, &extras, &endpoints, bytes));
    debug_assert!(encoded.is_ok(), "a datagram has fewer than 65,535 bytes");
    bytes.resize(bytes.len() + usize::from(packet.segment.len), 0);
    bytes
}

/// Run a scenario over the TCP of the kernel. Return its result, and the report of the kernel and
/// the router.
///
/// # Errors
/// If the scenario or the network fails, or the kernel refuses an operation.
pub fn run(
    scenario: &Scenario,
    watch: &Watch,
    custom_aqms: &(dyn CustomAqms + Sync),
    plan: &Plan,
) -> Result<(Outcome, Report), Error> {
    sys::raise_open_files();
    // The run changes the namespace of its thread, so it has a thread of its own.
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let mut report = Report::default();
            let external: Vec<String> = plan.qdiscs.iter().map(|(link, _)| link.clone()).collect();
            let outcome = forward(scenario, custom_aqms, &external, |network| {
                let mut hosts = Hosts::create(network, plan)?;
                if let Some(folder) = &plan.captures {
                    hosts.captures = Captures::begin(scenario, network, folder)?;
                }
                report.real_time = plan.pace == Pace::Real && real_time();
                let end = hosts.run(network, watch);
                if report.real_time {
                    let _ = rustix::mm::munlockall();
                }
                report.counters = hosts.counters(network)?;
                for (qdisc, (link, _)) in hosts.qdiscs.iter().zip(&plan.qdiscs) {
                    report.qdiscs.push((link.clone(), qdisc.statistics()?));
                }
                report.lateness = hosts.lateness;
                hosts.captures.finish()?;
                end
            })?;
            Ok((outcome, report))
        });
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Give the calling thread a real-time priority, and lock the memory of the process. Return true
/// if the kernel permits both.
fn real_time() -> bool {
    let locked = rustix::mm::mlockall(rustix::mm::MlockAllFlags::CURRENT).is_ok();
    sys::raise_priority() && locked
}

impl Hosts {
    /// Create the hosts of all flows.
    fn create(network: &Forwarding, plan: &Plan) -> Result<Hosts, Error> {
        let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
        let poll = epoll::create(CreateFlags::CLOEXEC).map_err(Error::of("epoll"))?;
        let mut pairs: Vec<Pair> = Vec::new();
        let mut pair_of = Vec::new();
        for flow in 0..network.flows() {
            let Some(tcps) = network.hosts(flow) else {
                pair_of.push(0);
                continue;
            };
            let settings = [Settings::of(tcps[0]), Settings::of(tcps[1])];
            let [client, server] = settings.map(|of| of.map_err(Failure::from));
            let settings = [client?, server?];
            let known = pairs.iter().position(|pair| pair.settings == settings);
            let number = pairs.len();
            if known.is_none() {
                pairs.push(Pair::create(number, settings, &poll)?);
            }
            pair_of.push(known.unwrap_or(number) as u32);
        }
        let mtu = pairs.iter().flat_map(|pair| &pair.settings).map(|of| of.mtu).max().unwrap_or(1500);
        let mut qdiscs = Vec::new();
        for (name, commands) in &plan.qdiscs {
            let Some(link) = network.link(name) else { continue };
            let qdisc = Qdisc::create(link, network.rate(link), mtu, commands, plan.pace)?;
            let key = EventData::new_u64(QDISC | qdiscs.len() as u64);
            epoll::add(&poll, &qdisc.exit, key, EventFlags::IN).map_err(Error::of("epoll"))?;
            qdiscs.push(qdisc);
        }
        Ok(Hosts {
            pace: plan.pace,
            qdiscs,
            clock: Clock::start(plan.pace),
            poll,
            pairs,
            pair_of,
            sockets: Vec::new(),
            happened: Vec::new(),
            captures: Captures::default(),
            lateness: Lateness::default(),
            buffer: vec![0; LONGEST_PACKET],
            datagram: Vec::new(),
        })
    }

    /// Run until the run is over, and return its end.
    fn run(&mut self, network: &mut Forwarding, watch: &Watch) -> Result<Time, Error> {
        self.clock = Clock::start(self.pace);
        let mut events = Vec::with_capacity(256);
        let (limit, begins) = (network.limit(), network.begins());
        let mut warming_up = begins > Time::ZERO;
        let mut checked = Time::ZERO;
        loop {
            let now = self.clock.now();
            if warming_up && now >= begins {
                warming_up = false;
                self.measure_all(network);
            }
            if network.next_sample() <= now {
                self.measure_all(network);
            }
            network.advance(now)?;
            self.deliver(network)?;
            self.process_happened(network)?;
            self.feed(network)?;
            if now >= limit || network.is_done() {
                self.measure_all(network);
                return Ok(now.min(limit));
            }
            if now.since(checked) >= CHECK {
                checked = now;
                watch.observe(now.seconds() / limit.seconds())?;
            }
            let mut next = network.next_time().min(limit).min(now + CHECK);
            if warming_up {
                next = next.min(begins);
            }
            let left = next.since(self.clock.now().min(next));
            let sleeps = match self.pace {
                Pace::Virtual => left,
                Pace::Real => Duration(left.0.saturating_sub(SPIN.0)),
            };
            self.poll(&mut events, sleeps)?;
            self.clock.waited();
            for event in &events {
                self.on_event(event, network)?;
                self.feed(network)?;
            }
        }
    }

    /// Wait for events of the kernel, at most for `span`.
    fn poll(&self, events: &mut Vec<epoll::Event>, span: Duration) -> Result<(), Error> {
        events.clear();
        match epoll::wait(&self.poll, rustix::buffer::spare_capacity(events), Some(&timespec(span))) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(Error::of("epoll")(error)),
        }
    }

    /// Process an event of the kernel.
    fn on_event(&mut self, event: &epoll::Event, network: &mut Forwarding) -> Result<(), Error> {
        let key = event.data.u64();
        if key & TUN != 0 {
            return self.receive((key & !TUN) as usize, network);
        }
        if key & LISTENER != 0 {
            return self.accept_all((key & !LISTENER) as usize, network);
        }
        if key & QDISC != 0 {
            return self.release((key & !QDISC) as usize, network);
        }
        let (connection, side) = ((key / 2) as u32, (key % 2) as usize);
        let flags = event.flags;
        self.at_socket(connection, side, network, |socket, now, poll, network| {
            socket.on_events(now, flags, (poll, key), network)
        })
    }

    /// Let a socket act. If it fails, give up its connection.
    fn at_socket(
        &mut self,
        connection: u32,
        side: usize,
        network: &mut Forwarding,
        act: impl FnOnce(&mut Socket, Time, &OwnedFd, &mut Forwarding) -> std::io::Result<bool>,
    ) -> Result<(), Error> {
        let now = self.clock.now();
        let Some((ends, _)) = self.sockets.get_mut(connection as usize) else { return Ok(()) };
        let Some(socket) = &mut ends[side] else { return Ok(()) };
        if !matches!(act(socket, now, &self.poll, network), Ok(true)) {
            network.abort(now, connection);
        }
        Ok(())
    }

    /// Pass the packets that a host has sent into the network.
    fn receive(&mut self, index: usize, network: &mut Forwarding) -> Result<(), Error> {
        let Hosts { pairs, clock, captures, buffer, .. } = self;
        let (pair, side) = (&pairs[index / 2], index % 2);
        let direction = Direction::BOTH[side];
        loop {
            let size = match rustix::io::read(&pair.hosts[side].tun, &mut buffer[..]) {
                Ok(size) => size,
                Err(Errno::AGAIN) => return Ok(()),
                Err(error) => return Err(Error::of("a TUN device cannot be read")(error)),
            };
            let bytes = &buffer[..size];
            let Ok(Datagram { ip, transport: Transport::Tcp(tcp), payload_len, .. }) = Datagram::read(bytes)
            else {
                continue;
            };
            let port = if side == 0 { tcp.source_port } else { tcp.destination_port };
            let Some(connection) = pair.connection(port) else { continue };
            let segment = Segment {
                seq: tcp.seq,
                ack: tcp.ack,
                window: u32::from(tcp.window),
                len: payload_len as u16,
                flags: tcp.flags,
            };
            let settings = &pair.settings[side];
            let capable = settings.capable_syn_ack && tcp.flags.has(Flags::SYN | Flags::ACK | Flags::ECE);
            let ecn = if capable { Ecn::Ect0 } else { ip.ecn() };
            let now = clock.now();
            captures.sent(now, network.flow(connection), direction, bytes);
            network.send(now, connection, direction, ecn, segment, bytes)?;
        }
    }

    /// Pass the packets that arrived at an external queue to the kernel.
    fn feed(&mut self, network: &mut Forwarding) -> Result<(), Error> {
        let Hosts { qdiscs, datagram, .. } = self;
        for qdisc in qdiscs {
            let mut result = Ok(());
            network.arrivals(qdisc.link, |ticket, packet, bytes| {
                if result.is_ok() {
                    let bytes = if bytes.is_empty() { udp(packet, datagram) } else { bytes };
                    result = qdisc.pass(ticket, packet.ecn, bytes);
                }
            });
            result?;
        }
        Ok(())
    }

    /// Report the packets that the kernel has released from a queue discipline.
    fn release(&mut self, index: usize, network: &mut Forwarding) -> Result<(), Error> {
        let Hosts { qdiscs, buffer, clock, .. } = self;
        let qdisc = &mut qdiscs[index];
        while let Some((ticket, marked)) = qdisc.next(buffer)? {
            network.release(clock.now(), qdisc.link, ticket, marked)?;
        }
        Ok(())
    }

    /// Hand the packets that have left the network to their hosts.
    fn deliver(&mut self, network: &mut Forwarding) -> Result<(), Error> {
        let Hosts { pairs, pair_of, clock, captures, lateness, buffer, .. } = self;
        let mut failed = None;
        network.departures(|departure| {
            let host = &pairs[pair_of[departure.flow as usize] as usize].hosts
                [departure.direction.opposite().index()];
            let bytes = &mut buffer[..departure.bytes.len()];
            bytes.copy_from_slice(departure.bytes);
            let Ok((mut ip, _)) = Ip::read(bytes) else { return };
            if (ip.ecn(), ip.dscp()) != (departure.ecn, departure.dscp) {
                ip.set_ecn(departure.ecn);
                ip.set_dscp(departure.dscp);
                let mut header = Vec::with_capacity(60);
                ip.write(&mut header);
                bytes[..header.len()].copy_from_slice(&header);
            }
            let now = clock.now();
            lateness.add(now.since(departure.time));
            captures.received(now, departure.flow, departure.direction, bytes);
            if let Err(error) = rustix::io::write(host.tun.as_fd(), bytes) {
                failed.get_or_insert(error);
            }
        });
        failed.map_or(Ok(()), |error| Err(Error::of("a TUN device cannot be written")(error)))
    }

    /// Process the events of the network that concern the sockets.
    fn process_happened(&mut self, network: &mut Forwarding) -> Result<(), Error> {
        let mut happened = std::mem::take(&mut self.happened);
        network.take_happened(&mut happened);
        for event in happened.drain(..) {
            match event {
                Happening::Opens(connection) => self.open(connection, network)?,
                Happening::Woken(end) => {
                    let (connection, side) = (end.connection(), usize::from(!end.is_sender()));
                    self.at_socket(connection, side, network, |socket, now, poll, network| {
                        socket.notify(now, Event::Woken, network)?;
                        socket.update_interest(poll, key_of(connection, side))?;
                        Ok(true)
                    })?;
                }
                Happening::Closed(connection) => self.close(connection, network),
            }
        }
        self.happened = happened;
        Ok(())
    }

    /// Open a connection.
    fn open(&mut self, connection: u32, network: &mut Forwarding) -> Result<(), Error> {
        let pair = &mut self.pairs[self.pair_of[network.flow(connection) as usize] as usize];
        let Some(port) = pair.assign_port(connection) else {
            let what = format!("more than {CLIENT_PORTS} connections are open at once");
            return Err(Error::of(what)(Errno::ADDRINUSE));
        };
        pair.hosts[0].namespace.enter()?;
        let [from, to] = [(0, port), (1, SERVER_PORT)]
            .map(|(side, port)| SocketAddrV4::new(pair.hosts[side].address, port));
        let file = connect(from, to, &pair.settings[0])?;
        let end = End::sender(connection);
        let socket = Socket::new(file, end, network.needs(end), (&self.poll, key_of(connection, 0)))?;
        if self.sockets.len() <= connection as usize {
            self.sockets.resize_with(connection as usize + 1, || ([None, None], 0));
        }
        self.sockets[connection as usize] = ([Some(socket), None], port);
        self.at_socket(connection, 0, network, |socket, now, _, network| {
            socket.notify(now, Event::Opening, network)?;
            Ok(true)
        })
    }

    /// Accept all connections that wait at a server.
    fn accept_all(&mut self, number: usize, network: &mut Forwarding) -> Result<(), Error> {
        while let Some((file, port)) = accept(&self.pairs[number].listener)? {
            let Some(connection) = self.pairs[number].connection(port) else { continue };
            let end = End::receiver(connection);
            let key = key_of(connection, 1);
            let socket = Socket::new(file, end, network.needs(end), (&self.poll, key))?;
            self.sockets[connection as usize].0[1] = Some(socket);
            self.at_socket(connection, 1, network, |socket, now, poll, network| {
                socket.on_events(now, EventFlags::OUT, (poll, key), network)
            })?;
        }
        Ok(())
    }

    /// Release the sockets and the port of a closed connection.
    fn close(&mut self, connection: u32, network: &mut Forwarding) {
        let Some((sockets, port)) = self.sockets.get_mut(connection as usize) else { return };
        let flow = network.flow(connection);
        sockets.iter().flatten().for_each(|socket| socket.measure(self.clock.now(), network));
        *sockets = [None, None];
        let pair = &mut self.pairs[self.pair_of[flow as usize] as usize];
        if let Some(at) = port.checked_sub(FIRST_CLIENT_PORT) {
            pair.connections[at as usize] = NO_CONNECTION;
        }
    }

    /// Return what the kernel counts for each host.
    fn counters(&self, network: &Forwarding) -> Result<Vec<Counters>, Error> {
        let mut all = Vec::new();
        for (number, pair) in self.pairs.iter().enumerate() {
            let here = |flow: &u32| {
                network.hosts(*flow).is_some() && self.pair_of[*flow as usize] as usize == number
            };
            let flows: Vec<String> =
                (0..network.flows()).filter(here).map(|flow| network.flow_name(flow)).collect();
            for (side, host) in pair.hosts.iter().enumerate() {
                host.namespace.enter()?;
                all.push(Counters { flows: flows.clone(), servers: side == 1, values: counters()? });
            }
        }
        Ok(all)
    }

    /// Report what the kernel counts for all open sockets.
    fn measure_all(&self, network: &mut Forwarding) {
        let now = self.clock.now();
        self.sockets
            .iter()
            .flat_map(|(both, _)| both)
            .flatten()
            .for_each(|socket| socket.measure(now, network));
    }
}

/// Return the number with which the kernel reports events of a socket.
fn key_of(connection: u32, side: usize) -> u64 {
    2 * u64::from(connection) + side as u64
}
