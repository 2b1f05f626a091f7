//! The system call poll(2).

use tcp::State;
use units::{Duration, Time};

use super::{Answer, CallContext, Reply, is_null, member, number};
use crate::constants::value as constant;
use crate::host::Host;
use crate::syntax::Expr;

const IN: i64 = 0x1 | 0x40;
const OUT: i64 = 0x4 | 0x100;
const ERR: i64 = 0x8;
const HUP: i64 = 0x10;
const NVAL: i64 = 0x20;
const RDHUP: i64 = 0x2000;

/// Return the poll events that are ready at a descriptor (Linux, tcp_poll).
pub fn ready(host: &mut Host, fd: i64) -> i64 {
    let Some(socket) = host.sockets.get(&fd) else { return NVAL };
    if socket.listens {
        return if host.connections.iter().any(|c| c.waits_for_accept(fd)) { IN } else { 0 };
    }
    if socket.fast_open.waits_for_data.is_some() {
        return OUT;
    }
    let Some(index) = socket.connection else { return OUT | HUP };
    let limit = socket.send_buffer;
    let low = constant("SO_RCVLOWAT").and_then(|o| socket.options.get(&(1, o)).copied()).unwrap_or(1);
    let connection = &mut host.connections[index];
    let errs = connection.error.is_some() || !connection.errors.is_empty();
    let mut mask = if errs { ERR } else { 0 };
    let over = connection.broken() || connection.gone;
    let no_more = connection.read_shut || connection.stack.peer_closed() || over;
    let closed = connection.state() == State::Closed;
    if (no_more && connection.cannot_send()) || closed {
        mask |= HUP;
    }
    if no_more {
        mask |= IN | RDHUP;
    }
    if matches!(connection.state(), State::SynSent | State::SynReceived) && !connection.stack.is_early() {
        return mask;
    }
    if connection.stack.readable() >= low.max(1) as u64 {
        mask |= IN;
    }
    if connection.write_shut || over || connection.is_writable(limit) {
        mask |= OUT;
    } else {
        connection.no_space = true;
    }
    mask
}

impl CallContext<'_> {
    pub(super) fn poll(&mut self) -> Answer {
        if is_null(self.arg(0)?) {
            return Ok(Reply::Fails("EFAULT"));
        }
        let Expr::List(entries) = &self.call.args[0] else {
            return Err(Reply::Wrong(
                "the first argument of poll must be a list of {fd=, events=, revents=}".into(),
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
