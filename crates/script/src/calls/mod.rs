//! System calls of a script, whose results are those of Linux sockets (socket(7), tcp(7)).

mod control;
mod data;
mod epoll;
mod fast_open;
mod message;
mod open;
pub mod options;
mod poll;

use units::Time;

use crate::constants;
use crate::host::{Connection, Host, Socket};
use crate::syntax::{Call, Expr, Field, Outcome};

/// Names of the supported system calls.
pub const NAMES: &[&str] = &[
    "socket",
    "bind",
    "listen",
    "accept",
    "accept4",
    "connect",
    "read",
    "readv",
    "recv",
    "recvfrom",
    "recvmsg",
    "write",
    "writev",
    "send",
    "sendto",
    "sendmsg",
    "shutdown",
    "close",
    "fcntl",
    "ioctl",
    "getsockopt",
    "setsockopt",
    "poll",
    "epoll_create",
    "epoll_create1",
    "epoll_ctl",
    "epoll_wait",
];

/// Result of executing a system call of a script.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// The call succeeds and returns the given value.
    Done(i64),
    /// The call fails: it returns -1 and sets errno to the given error.
    Fails(&'static str),
    /// The call blocks. If a time is given, the blocking call returns at this time at the latest.
    Blocks(Time),
    /// The call returned a value through one of its arguments, but the script expects another
    /// value.
    Differs(String),
    /// The call needs a feature that the crate does not support.
    Unsupported(String),
    /// The script contains an invalid call.
    Wrong(String),
}

/// Progress of a blocking system call.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Time when the blocking system call began.
    pub since: Time,
    /// True when a blocking call is tried again, and false at the first attempt.
    pub again: bool,
    /// Number of bytes that the call has read or written so far.
    pub bytes: u64,
}

/// A system call that is being executed.
pub(crate) struct CallContext<'a> {
    pub host: &'a mut Host,
    pub call: &'a Call,
    pub now: Time,
    pub progress: &'a mut Progress,
}

type Answer = Result<Reply, Reply>;

/// Execute a system call. If the system call blocked before, try to complete it.
pub fn make(host: &mut Host, call: &Call, now: Time, progress: &mut Progress) -> Reply {
    let mut context = CallContext { host, call, now, progress };
    let answer = match call.name.as_str() {
        "socket" => context.socket(),
        "bind" => context.bind(),
        "listen" => context.listen(),
        "accept" | "accept4" => context.accept(),
        "connect" => context.connect(),
        "shutdown" => context.shutdown(),
        "close" => context.close(),
        "read" | "readv" | "recv" | "recvfrom" | "recvmsg" => context.read(),
        "write" | "writev" | "send" | "sendto" | "sendmsg" => context.write(),
        "fcntl" => context.fcntl(),
        "ioctl" => context.ioctl(),
        "getsockopt" => context.getsockopt(),
        "setsockopt" => context.setsockopt(),
        "poll" => context.poll(),
        "epoll_create" | "epoll_create1" => context.epoll_create(),
        "epoll_ctl" => context.epoll_ctl(),
        "epoll_wait" => context.epoll_wait(),
        name => Err(Reply::Unsupported(format!("system call {name}"))),
    };
    context.progress.again = true;
    answer.unwrap_or_else(|reply| reply)
}

/// Return the number that an expression of the script denotes.
pub(crate) fn number(e: &Expr) -> Result<i64, Reply> {
    match e {
        Expr::Int(value) => Ok(*value),
        Expr::Word(name) => {
            constants::value(name).ok_or_else(|| Reply::Unsupported(format!("symbol {name}")))
        }
        Expr::Or(all) => all.iter().try_fold(0, |sum, e| Ok(sum | number(e)?)),
        Expr::List(all) if all.len() == 1 => number(&all[0]),
        Expr::Call(name, args) if args.len() == 1 && matches!(name.as_str(), "htons" | "htonl") => {
            number(&args[0])
        }
        other => Err(Reply::Wrong(format!("{other} is not a number"))),
    }
}

/// Return true if an expression of the script is `NULL`.
fn is_null(e: &Expr) -> bool {
    matches!(e, Expr::Word(name) if name == "NULL")
}

/// Return the member of a struct with the given name.
pub(crate) fn member<'a>(fields: &'a [Field], name: &str) -> Option<&'a Expr> {
    fields.iter().find(|f| f.name.as_deref() == Some(name)).map(|f| &f.value)
}

impl CallContext<'_> {
    fn arg(&self, i: usize) -> Result<&Expr, Reply> {
        let n = self.call.args.len();
        self.call.args.get(i).ok_or_else(|| {
            Reply::Wrong(format!(
                "{} has only {n} argument{}, which is too few",
                self.call.name,
                if n == 1 { "" } else { "s" }
            ))
        })
    }

    fn value(&self, i: usize) -> Result<i64, Reply> {
        number(self.arg(i)?)
    }

    fn fd(&self) -> Result<i64, Reply> {
        let fd = self.value(0)?;
        if self.host.sockets.contains_key(&fd) { Ok(fd) } else { Err(Reply::Fails("EBADF")) }
    }

    fn socket_of(&mut self, fd: i64) -> Result<&mut Socket, Reply> {
        self.host.sockets.get_mut(&fd).ok_or(Reply::Fails("EBADF"))
    }

    /// Return the connection of a socket. If the socket has no connection, return the error
    /// `otherwise`.
    fn connection(&mut self, fd: i64, otherwise: &'static str) -> Result<(usize, &mut Connection), Reply> {
        let index = self.socket_of(fd)?.connection.ok_or(Reply::Fails(otherwise))?;
        Ok((index, &mut self.host.connections[index]))
    }

    /// Return the descriptor number for a new socket. If the script expects a number, the
    /// descriptor has this number. If the script does not expect a number, the descriptor has the
    /// lowest free number.
    ///
    /// If the script expects a descriptor number that is already in use, the number denotes the new
    /// socket until the new socket is closed. (packetdrill searches its open descriptors for a
    /// number, the newest first.)
    fn new_fd(&mut self) -> Result<i64, Reply> {
        let fd = match &self.call.result {
            Outcome::Is(e) => number(e)?,
            Outcome::Between(low, _) => *low,
            Outcome::Any => (3..).find(|fd| !self.host.is_open(*fd)).unwrap_or(3),
        };
        if self.host.is_open(fd) {
            self.host.hide(fd);
        }
        Ok(fd)
    }

    fn blocks(&self) -> Reply {
        Reply::Blocks(Time::NEVER)
    }
}
