//! read and write, and their kin.

use tcp::State;

use super::{Answer, Making, Reply, Socket, number};
use crate::constants::value as constant;
use crate::syntax::Expr;

fn has(flags: i64, name: &str) -> bool {
    constant(name).is_some_and(|bit| flags & bit != 0)
}

/// The bytes of `[{..., 1000}, {..., 500}]`.
fn vector(list: &Expr) -> Result<i64, Reply> {
    let Expr::List(all) = list else { return Err(Reply::Wrong(format!("{list} is not a list of buffers"))) };
    all.iter().try_fold(0i64, |sum, item| match item {
        Expr::Struct(fields) if fields.len() == 2 => Ok(sum.saturating_add(number(&fields[1].value)?)),
        other => Err(Reply::Wrong(format!("{other} is not a buffer such as {{..., 1000}}"))),
    })
}

impl Making<'_> {
    /// The size of the buffer, and the flags.
    fn buffer(&self) -> Result<(u64, i64), Reply> {
        let (size, flags) = match self.call.name.as_str() {
            "read" | "write" => (self.value(2)?, 0),
            "readv" | "writev" => (vector(self.arg(1)?)?, 0),
            "recvmsg" | "sendmsg" => {
                let Expr::Struct(fields) = self.arg(1)? else {
                    return Err(Reply::Wrong(format!("{} is not a message", self.arg(1)?)));
                };
                if fields.iter().any(|f| f.name.as_deref() == Some("msg_control")) {
                    return Err(Reply::Unsupported("msg_control".into()));
                }
                let list = super::member(fields, "msg_iov");
                let list = list.ok_or_else(|| Reply::Wrong("the message has no msg_iov".into()))?;
                (vector(list)?, self.value(2)?)
            }
            _ => (self.value(2)?, self.value(3)?),
        };
        let known = [
            "MSG_DONTWAIT",
            "MSG_PEEK",
            "MSG_TRUNC",
            "MSG_WAITALL",
            "MSG_NOSIGNAL",
            "MSG_MORE",
            "MSG_DONTROUTE",
        ];
        let rest = known.iter().filter_map(|f| constant(f)).fold(flags, |rest, bit| rest & !bit);
        if rest != 0 {
            return Err(Reply::Unsupported(format!("flags {rest:#x} of {}", self.call.name)));
        }
        let size = u64::try_from(size).map_err(|_| Reply::Wrong(format!("a buffer of {size} bytes")))?;
        Ok((size, flags))
    }

    pub(super) fn read(&mut self) -> Answer {
        let (fd, now, got) = (self.fd()?, self.now, self.progress.bytes);
        let (size, flags) = self.buffer()?;
        let socket = self.socket_of(fd)?;
        let waits = !socket.nonblocking && !has(flags, "MSG_DONTWAIT");
        let low = constant("SO_RCVLOWAT").and_then(|o| socket.options.get(&(1, o)).copied()).unwrap_or(1);
        let target = if has(flags, "MSG_WAITALL") { size } else { size.min(low.max(1) as u64) };
        let (index, connection) = self.connection(fd, "ENOTCONN")?;
        let over =
            connection.stack.at_eof() || connection.read_shut || connection.broken() || connection.gone;
        if has(flags, "MSG_PEEK") && connection.stack.readable() > 0 {
            return Ok(Reply::Done(connection.stack.readable().min(size) as i64));
        }
        let got = got + connection.stack.read(size - got);
        let (error, ready) = (if got == 0 { connection.error.take() } else { None }, got >= target);
        self.host.pump(index, now); // the window may have opened
        self.progress.bytes = got;
        Ok(match error {
            Some(error) => Reply::Fails(error),
            None if ready || over || (got > 0 && !waits) => Reply::Done(got as i64),
            None if !waits => Reply::Fails("EAGAIN"),
            None => self.blocks(),
        })
    }

    pub(super) fn write(&mut self) -> Answer {
        let (fd, now, done) = (self.fd()?, self.now, self.progress.bytes);
        let (size, flags) = self.buffer()?;
        let socket = self.socket_of(fd)?;
        let waits = !socket.nonblocking && !has(flags, "MSG_DONTWAIT");
        let (limit, corked) = (send_buffer(socket), super::options::is_on(socket, "TCP_CORK"));
        let (index, connection) = self.connection(fd, "EPIPE")?;
        if let Some(error) = connection.error.take() {
            return Ok(if done > 0 { Reply::Done(done as i64) } else { Reply::Fails(error) });
        }
        if matches!(connection.state(), State::SynSent | State::SynReceived) {
            return Ok(if waits { self.blocks() } else { Reply::Fails("EAGAIN") });
        }
        if connection.deaf() {
            return Ok(if done > 0 { Reply::Done(done as i64) } else { Reply::Fails("EPIPE") });
        }
        let room = limit.saturating_sub(connection.stack.held());
        let taken = (size - done).min(room);
        if taken > 0 {
            connection.stack.set_cork(corked || has(flags, "MSG_MORE"));
            connection.stack.write(taken);
            self.host.pump(index, now);
        }
        let done = done + taken;
        self.progress.bytes = done;
        Ok(if done == size || (done > 0 && !waits) {
            Reply::Done(done as i64)
        } else if waits {
            self.blocks()
        } else {
            Reply::Fails("EAGAIN")
        })
    }
}

/// How much payload may wait in a socket: as much as was asked for with SO_SNDBUF (socket(7): the
/// kernel doubles it, for its own records), otherwise without bound.
pub(super) fn send_buffer(socket: &Socket) -> u64 {
    let set = constant("SO_SNDBUF").and_then(|o| socket.options.get(&(1, o)));
    set.map_or(u64::MAX, |&v| v.max(2304) as u64)
}
