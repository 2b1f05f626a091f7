//! Implementation of the system calls that read and write data, such as recv and sendmsg.

use tcp::State;

use super::message::Control;
use super::options::TIMESTAMPING;
use super::{Answer, CallContext, Reply, is_null, number};
use crate::constants::value as constant;
use crate::stack::Stack;
use crate::syntax::Expr;

pub(super) fn has(flags: i64, name: &str) -> bool {
    constant(name).is_some_and(|bit| flags & bit != 0)
}

/// Return the total size of a list of buffers such as `[{..., 1000}, {..., 500}]`. The second
/// result is true if one of the buffers is a null pointer.
fn vector(list: &Expr) -> Result<(i64, bool), Reply> {
    let Expr::List(all) = list else { return Err(Reply::Wrong(format!("{list} is not a list of buffers"))) };
    all.iter().try_fold((0i64, false), |(sum, null), item| match item {
        Expr::Struct(fields) if fields.len() == 2 => {
            let bytes = number(&fields[1].value)?;
            Ok((sum.saturating_add(bytes), null || (bytes > 0 && is_null(&fields[0].value))))
        }
        other => Err(Reply::Wrong(format!("{other} is not a buffer such as {{..., 1000}}"))),
    })
}

/// Size of the buffer, and flags, of a system call that reads or writes data.
pub(super) struct Buffer {
    pub(super) size: u64,
    pub(super) flags: i64,
    /// True if the script gives a null pointer as the buffer.
    pub(super) null: bool,
}

impl CallContext<'_> {
    fn buffer(&self) -> Result<Buffer, Reply> {
        let ((size, null), flags) = match self.call.name.as_str() {
            "read" | "write" => ((self.value(2)?, is_null(self.arg(1)?)), 0),
            "readv" | "writev" => (vector(self.arg(1)?)?, 0),
            "recvmsg" | "sendmsg" => {
                if is_null(self.arg(1)?) {
                    return Err(Reply::Fails("EFAULT"));
                }
                let Expr::Struct(fields) = self.arg(1)? else {
                    return Err(Reply::Wrong(format!(
                        "{} is not a message such as {{msg_name(...)=..., msg_iov(1)=[{{..., 8}}], \
                         msg_flags=0}}",
                        self.arg(1)?
                    )));
                };
                let list = super::member(fields, "msg_iov");
                let list = list.ok_or_else(|| {
                    Reply::Wrong("the message has no member msg_iov, which lists its buffers".into())
                })?;
                (vector(list)?, self.value(2)?)
            }
            _ => ((self.value(2)?, is_null(self.arg(1)?)), self.value(3)?),
        };
        let known = [
            "MSG_DONTWAIT",
            "MSG_PEEK",
            "MSG_TRUNC",
            "MSG_WAITALL",
            "MSG_NOSIGNAL",
            "MSG_MORE",
            "MSG_EOR",
            "MSG_DONTROUTE",
            "MSG_FASTOPEN",
            "MSG_ZEROCOPY",
        ];
        let reads = self.call.name.starts_with("recv");
        let known = known.iter().chain(reads.then_some(&"MSG_ERRQUEUE"));
        let rest = known.filter_map(|f| constant(f)).fold(flags, |rest, bit| rest & !bit);
        if rest != 0 {
            return Err(Reply::Unsupported(format!("flags {rest:#x} of {}", self.call.name)));
        }
        let size = u64::try_from(size).map_err(|_| {
            Reply::Wrong(format!("a buffer has the size {size} bytes, which must be at least 0"))
        })?;
        Ok(Buffer { size, flags, null: null && size > 0 })
    }

    pub(super) fn read(&mut self) -> Answer {
        let (fd, now, got) = (self.fd()?, self.now, self.progress.bytes);
        let Buffer { size, flags, null } = self.buffer()?;
        if has(flags, "MSG_ERRQUEUE") {
            return self.read_error(fd, size);
        }
        let socket = self.socket_of(fd)?;
        let tells_rest = socket.option("TCP_INQ").is_some_and(|v| v != 0);
        let waits = !socket.nonblocking && !has(flags, "MSG_DONTWAIT");
        let low = constant("SO_RCVLOWAT").and_then(|o| socket.options.get(&(1, o)).copied()).unwrap_or(1);
        let target = if has(flags, "MSG_WAITALL") { size } else { size.min(low.max(1) as u64) };
        if socket.fast_open.waits_for_data.is_some() {
            return Ok(if waits { self.blocks() } else { Reply::Fails("EAGAIN") });
        }
        let (index, connection) = self.connection(fd, "ENOTCONN")?;
        let over =
            connection.stack.at_eof() || connection.read_shut || connection.broken() || connection.gone;
        if null && connection.stack.readable() > 0 {
            return Ok(Reply::Fails("EFAULT"));
        }
        let rest = |stack: &Stack| {
            let bytes = stack.readable() as i64 + i64::from(stack.peer_closed());
            if tells_rest { vec![Control::inq(bytes)] } else { vec![] }
        };
        if has(flags, "MSG_PEEK") && connection.stack.readable() > 0 {
            let (bytes, rest) = (connection.stack.readable().min(size) as i64, rest(&connection.stack));
            return self.received(bytes, 0, &rest);
        }
        let got = got + connection.stack.read(now, size - got);
        let (error, ready) = (if got == 0 { connection.error.take() } else { None }, got >= target);
        let rest = rest(&connection.stack);
        self.host.pump(index, now); // reading may have opened the window
        self.progress.bytes = got;
        Ok(match error {
            Some(error) => Reply::Fails(error),
            None if ready || over || (got > 0 && !waits) => return self.received(got as i64, 0, &rest),
            None if !waits => Reply::Fails("EAGAIN"),
            None => self.blocks(),
        })
    }

    /// Return true if the socket option SO_ZEROCOPY is set, so that the socket may send data
    /// directly from the application's buffers. If SO_ZEROCOPY is not set, the flag MSG_ZEROCOPY
    /// has no effect.
    fn has_zero_copy(&mut self, fd: i64) -> Result<bool, Reply> {
        let option = constant("SO_ZEROCOPY").unwrap_or(0);
        Ok(self.socket_of(fd)?.options.get(&(1, option)).is_some_and(|value| *value != 0))
    }

    pub(super) fn write(&mut self) -> Answer {
        let (fd, now, done) = (self.fd()?, self.now, self.progress.bytes);
        let buffer = self.buffer()?;
        if !self.progress.again && self.opens_by_write(fd, buffer.flags)? {
            if has(buffer.flags, "MSG_ZEROCOPY") && self.has_zero_copy(fd)? {
                return Err(Reply::Unsupported("MSG_ZEROCOPY in a SYN".into()));
            }
            return self.write_fast(fd, &buffer);
        }
        let Buffer { size, flags, null } = buffer;
        let socket = self.socket_of(fd)?;
        let waits = !socket.nonblocking && !has(flags, "MSG_DONTWAIT");
        let times = socket.options.get(&(1, TIMESTAMPING)).copied().unwrap_or(0);
        let (limit, again) = (socket.send_buffer, self.progress.again);
        let times = self.requested_times(times)?;
        let zero_copy = has(flags, "MSG_ZEROCOPY") && self.has_zero_copy(fd)?;
        let (index, connection) = self.connection(fd, "EPIPE")?;
        let opening = again && connection.connecting;
        connection.connecting &= !(again && connection.established());
        if let Some(error) = connection.error.take() {
            if opening {
                self.socket_of(fd)?.connection = None; // the data of the SYN is discarded
                return Ok(Reply::Fails(error));
            }
            return Ok(if done > 0 { Reply::Done(done as i64) } else { Reply::Fails(error) });
        }
        if matches!(connection.state(), State::SynSent | State::SynReceived) && !connection.stack.is_early() {
            if waits && done < size {
                connection.stack.await_write(); // for the data that did not fit into the SYN
            }
            return Ok(if waits { self.blocks() } else { Reply::Fails("EAGAIN") });
        }
        if connection.cannot_send() {
            return Ok(if done > 0 { Reply::Done(done as i64) } else { Reply::Fails("EPIPE") });
        }
        if null {
            return Ok(Reply::Fails("EFAULT"));
        }
        // A blocked writer continues when the socket becomes writable (Linux,
        // sk_stream_write_space).
        let held = again && !connection.is_writable(limit);
        let taken = if held { 0 } else { (size - done).min(connection.room(limit)) };
        if taken > 0 {
            let (unsent, goal) = (connection.stack.unsent(), connection.goal());
            let written = connection.stack.acked().saturating_add(connection.stack.held());
            let (whole, end) = (done + taken == size, written.saturating_add(taken));
            connection.stack.expect_more(has(flags, "MSG_MORE"));
            connection.stack.write(taken);
            let before =
                connection.stamps.on_write(written, unsent, taken, goal, has(flags, "MSG_EOR") && whole);
            if whole || !waits {
                connection.stamps.request(end, times);
                if zero_copy {
                    connection.zero_copy.on_write(end, done + taken, before);
                }
            }
            if has(flags, "MSG_EOR") && whole {
                connection.stack.end_record();
            }
        }
        connection.no_space |= done + taken < size;
        self.host.pump(index, now);
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
