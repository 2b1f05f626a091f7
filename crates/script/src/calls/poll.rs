//! poll(2).

use tcp::State;
use units::{Duration, Time};

use super::data::send_buffer;
use super::{Answer, Making, Reply, member, number};
use crate::host::Host;
use crate::syntax::Expr;

const IN: i64 = 0x1 | 0x40;
const OUT: i64 = 0x4 | 0x100;
const ERR: i64 = 0x8;
const HUP: i64 = 0x10;
const NVAL: i64 = 0x20;
const RDHUP: i64 = 0x2000;

/// Everything that is ready at a descriptor.
fn ready(host: &Host, fd: i64) -> i64 {
    let Some(socket) = host.sockets.get(&fd) else { return NVAL };
    if socket.listens {
        let waiting = |c: &crate::host::Connection| c.waits_at == Some(fd) && (c.established() || c.broken());
        return if host.connections.iter().any(waiting) { IN } else { 0 };
    }
    let Some(index) = socket.connection else { return OUT | HUP };
    let connection = &host.connections[index];
    let error = if connection.error.is_some() { ERR } else { 0 };
    if matches!(connection.state(), State::SynSent | State::SynReceived) {
        return error;
    }
    let over = connection.broken() || connection.gone;
    let no_more = connection.read_shut || connection.stack.peer_closed() || over;
    let mut mask = error;
    if (no_more && connection.deaf()) || connection.state() == State::Closed {
        mask |= HUP;
    }
    if no_more {
        mask |= IN | RDHUP;
    }
    if connection.stack.readable() > 0 {
        mask |= IN;
    }
    // Linux calls a socket writable when a third of its buffer is free.
    let (limit, held) = (send_buffer(socket), connection.stack.held());
    if connection.write_shut || limit - limit / 3 > held {
        mask |= OUT;
    }
    mask
}

impl Making<'_> {
    pub(super) fn poll(&mut self) -> Answer {
        let Expr::List(entries) = self.arg(0)? else {
            return Err(Reply::Wrong(
                "the first argument of poll is a list of {fd=, events=, revents=}".into(),
            ));
        };
        let timeout = self.value(2)?;
        let (mut count, mut problem) = (0, None);
        for entry in entries {
            let Expr::Struct(fields) = entry else {
                return Err(Reply::Wrong(format!("{entry} is not {{fd=, events=, revents=}}")));
            };
            let get = |name: &str| member(fields, name).map(number).transpose();
            let (fd, events) = (get("fd")?.unwrap_or(-1), get("events")?.unwrap_or(0));
            let returned = if fd < 0 { 0 } else { ready(self.host, fd) & (events | ERR | HUP | NVAL) };
            count += i64::from(returned != 0);
            if let Some(expected) = get("revents")?
                && expected != returned
            {
                problem = Some(format!(
                    "revents of descriptor {fd}: {expected:#x} expected, {returned:#x} returned"
                ));
            }
        }
        let until = if timeout < 0 {
            Time::NEVER
        } else {
            self.progress.since + Duration::from_millis((timeout as u64).min(1_000_000_000))
        };
        if count == 0 && self.now < until {
            return Ok(Reply::Blocks(until));
        }
        Ok(problem.map_or(Reply::Done(count), Reply::Differs))
    }
}
