//! Sockets of the connections: they execute what the applications of the scenario demand, and
//! report what happens.

use std::io::{self, ErrorKind::WouldBlock};
use std::net::{SocketAddr, SocketAddrV4};
use std::os::fd::OwnedFd;

use lab::Forwarding;
use net::End;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, sockopt};
use traffic::application::{Actions, Event, Needs};
use units::Time;

use crate::error::Error;
use crate::settings::Settings;
use crate::sys::{TcpInfo, discard, limit_window, unsent_bytes};

/// Bytes per call of read and write.
const CHUNK: usize = 128 * 1024;
/// Connections that wait for `accept`.
const BACKLOG: i32 = 4096;
static ZEROS: [u8; CHUNK] = [0; CHUNK];

/// Return a TCP socket of the calling thread's namespace that does not block.
fn socket(settings: &Settings) -> Result<OwnedFd, Error> {
    let congestion = &settings.congestion;
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = rustix::net::socket_with(AddressFamily::INET, SocketType::STREAM, flags, None)
        .map_err(Error::of("the kernel refuses a socket"))?;
    sockopt::set_tcp_congestion(&socket, congestion)
        .map_err(Error::of(format!("the kernel has no congestion control {congestion:?}")))?;
    sockopt::set_socket_reuseaddr(&socket, true).map_err(Error::of("SO_REUSEADDR"))?;
    if let Some(bytes) = settings.window {
        limit_window(&socket, bytes).map_err(Error::of("TCP_WINDOW_CLAMP"))?;
    }
    Ok(socket)
}

/// Return a socket that accepts connections.
pub fn listen(address: SocketAddrV4, settings: &Settings) -> Result<OwnedFd, Error> {
    let socket = socket(settings)?;
    rustix::net::bind(&socket, &address).map_err(Error::of(format!("{address} cannot be bound")))?;
    rustix::net::listen(&socket, BACKLOG).map_err(Error::of(format!("no socket can listen at {address}")))?;
    Ok(socket)
}

/// Return a socket that has begun to connect.
pub fn connect(from: SocketAddrV4, to: SocketAddrV4, settings: &Settings) -> Result<OwnedFd, Error> {
    let socket = socket(settings)?;
    rustix::net::bind(&socket, &from).map_err(Error::of(format!("{from} cannot be bound")))?;
    match rustix::net::connect(&socket, &to) {
        Ok(()) | Err(Errno::INPROGRESS) => Ok(socket),
        Err(error) => Err(Error::of(format!("{from} cannot connect to {to}"))(error)),
    }
}

/// Accept a connection, and return its socket and the port of its client, or `None` if no
/// connection waits.
pub fn accept(listener: &OwnedFd) -> Result<Option<(OwnedFd, u16)>, Error> {
    match rustix::net::acceptfrom_with(listener, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC) {
        Ok((socket, address)) => {
            let port = address.and_then(|address| SocketAddr::try_from(address).ok()).map_or(0, |a| a.port());
            Ok(Some((socket, port)))
        }
        Err(Errno::AGAIN | Errno::CONNABORTED) => Ok(None),
        Err(error) => Err(Error::of("a connection cannot be accepted")(error)),
    }
}

/// Socket at one end of a connection.
#[derive(Debug)]
pub struct Socket {
    file: OwnedFd,
    end: End,
    needs: Needs,
    opened: bool,
    /// Bytes that the application has written and the kernel has not taken.
    pending: u64,
    /// True if the application closed this end.
    closing: bool,
    /// True after this end was shut down for writing.
    shut: bool,
    /// True after the FIN of the peer was read.
    ended: bool,
    /// Bytes that were announced to an application that reads at its own pace, and bytes that it
    /// has read.
    announced: u64,
    read: u64,
    /// Events for which the router waits, or `None` if it no longer waits for any.
    interest: Option<EventFlags>,
}

impl Socket {
    /// Return the socket of a client that connects, or of a server that is connected. The socket
    /// reports its events with the number `key`.
    pub fn new(file: OwnedFd, end: End, needs: Needs, (poll, key): (&OwnedFd, u64)) -> Result<Socket, Error> {
        let interest = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP;
        let interest = if needs.own_pace { interest | EventFlags::ET } else { interest };
        epoll::add(poll, &file, EventData::new_u64(key), interest).map_err(Error::of("epoll"))?;
        Ok(Socket {
            file,
            end,
            needs,
            opened: false,
            pending: 0,
            closing: false,
            shut: false,
            ended: false,
            announced: 0,
            read: 0,
            interest: Some(interest),
        })
    }

    /// Report to `network` what the kernel counts.
    pub fn measure(&self, now: Time, network: &mut Forwarding) {
        let Ok(info) = TcpInfo::of(&self.file) else { return };
        network.measured(now, self.end, info.state());
    }

    /// Pass an event to the application, and do what it demands.
    pub fn notify(&mut self, now: Time, event: Event, network: &mut Forwarding) -> io::Result<()> {
        let Actions { write, read, close, wake: _ } = network.on(now, self.end, event);
        self.pending = self.pending.saturating_add(write);
        self.closing |= close;
        if read > 0 {
            self.read_exactly(read)?;
        }
        if self.opened { self.flush() } else { Ok(()) }
    }

    /// Process the events that the kernel reports. Return false if the connection failed.
    pub fn on_events(
        &mut self,
        now: Time,
        events: EventFlags,
        (poll, key): (&OwnedFd, u64),
        network: &mut Forwarding,
    ) -> io::Result<bool> {
        if events.contains(EventFlags::ERR) {
            return Ok(false);
        }
        if !self.opened && events.contains(EventFlags::OUT) {
            self.opened = true;
            self.notify(now, Event::Opened, network)?;
        }
        if events.intersects(EventFlags::IN | EventFlags::RDHUP | EventFlags::HUP) && !self.ended {
            match self.needs.own_pace {
                true => self.announce(now, events, network)?,
                false => self.read_all(now, network)?,
            }
        }
        if self.opened && events.contains(EventFlags::OUT) {
            self.flush()?;
            if self.needs.unsent > 0 && !self.closing && self.pending == 0 {
                let unsent = unsent_bytes(&self.file)?;
                if unsent < self.needs.unsent {
                    self.notify(now, Event::SendSpace(self.needs.unsent - unsent), network)?;
                }
            }
        }
        self.update_interest(poll, key)?;
        Ok(true)
    }

    /// Wait only for events that this end needs.
    pub fn update_interest(&mut self, poll: &OwnedFd, key: u64) -> io::Result<()> {
        let Some(current) = self.interest.filter(|_| !self.needs.own_pace) else { return Ok(()) };
        if self.ended && self.shut {
            // epoll would report EPOLLHUP again and again until the socket is released.
            self.interest = None;
            return Ok(epoll::delete(poll, &self.file)?);
        }
        let mut interest = EventFlags::empty();
        interest.set(EventFlags::IN, !self.ended);
        let refills = self.needs.unsent > 0 && !self.closing;
        interest.set(EventFlags::OUT, !self.opened || self.pending > 0 || refills);
        if interest != current {
            epoll::modify(poll, &self.file, EventData::new_u64(key), interest)?;
            self.interest = Some(interest);
        }
        Ok(())
    }

    /// Give the kernel as much of the written data as it takes, and close afterwards if the
    /// application closed.
    fn flush(&mut self) -> io::Result<()> {
        while self.pending > 0 {
            let size = self.pending.min(CHUNK as u64) as usize;
            match rustix::io::write(&self.file, &ZEROS[..size]) {
                Ok(taken) if self.pending != u64::MAX => self.pending -= taken as u64,
                Ok(_) => {}
                Err(Errno::AGAIN) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
        if self.closing && !self.shut {
            self.shut = true;
            rustix::net::shutdown(&self.file, rustix::net::Shutdown::Write)?;
        }
        Ok(())
    }

    /// Read all data that has arrived.
    fn read_all(&mut self, now: Time, network: &mut Forwarding) -> io::Result<()> {
        loop {
            match discard(&self.file, CHUNK) {
                Ok(0) => return self.end(now, network),
                Ok(bytes) => {
                    if self.needs.messages {
                        self.measure(now, network);
                    }
                    self.notify(now, Event::Received(bytes as u64), network)?;
                    if bytes < CHUNK {
                        return Ok(());
                    }
                }
                Err(error) if error.kind() == WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }

    /// Announce the data that has arrived to an application that reads at its own pace.
    fn announce(&mut self, now: Time, events: EventFlags, network: &mut Forwarding) -> io::Result<()> {
        let arrived = self.read + rustix::io::ioctl_fionread(&self.file)?;
        if arrived > self.announced {
            let bytes = arrived - std::mem::replace(&mut self.announced, arrived);
            self.notify(now, Event::Received(bytes), network)?;
        }
        if events.intersects(EventFlags::RDHUP | EventFlags::HUP) {
            self.end(now, network)?;
        }
        Ok(())
    }

    /// Read a number of bytes that have arrived.
    fn read_exactly(&mut self, bytes: u64) -> io::Result<()> {
        let mut left = bytes;
        while left > 0 {
            match discard(&self.file, left.min(CHUNK as u64) as usize) {
                Ok(0) => break,
                Ok(taken) => left -= taken as u64,
                Err(error) if error.kind() == WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        self.read += bytes - left;
        Ok(())
    }

    /// Report that the peer has closed.
    fn end(&mut self, now: Time, network: &mut Forwarding) -> io::Result<()> {
        if std::mem::replace(&mut self.ended, true) {
            return Ok(());
        }
        self.notify(now, Event::PeerClosed, network)
    }
}
