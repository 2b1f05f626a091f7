//! Implementation of the system calls fcntl(2) and ioctl(2).

use tcp::State;

use super::{Answer, CallContext, Reply};
use crate::constants::value as constant;

impl CallContext<'_> {
    pub(super) fn fcntl(&mut self) -> Answer {
        let (fd, command) = (self.fd()?, self.value(1)?);
        let nonblock = constant("O_NONBLOCK").unwrap_or(0);
        if Some(command) == constant("F_GETFL") {
            let flags = if self.socket_of(fd)?.nonblocking { nonblock } else { 0 };
            return Ok(Reply::Done(flags | 2));
        }
        if Some(command) == constant("F_SETFL") {
            let flags = self.value(2)?;
            self.socket_of(fd)?.nonblocking = flags & nonblock != 0;
            return Ok(Reply::Done(0));
        }
        Err(Reply::Unsupported(format!("fcntl command {command}")))
    }

    pub(super) fn ioctl(&mut self) -> Answer {
        let (fd, request) = (self.fd()?, self.value(1)?);
        let is = |name: &str| Some(request) == constant(name);
        if is("FIONBIO") {
            self.socket_of(fd)?.nonblocking = self.value(2)? != 0;
            return Ok(Reply::Done(0));
        }
        if !is("SIOCINQ") && !is("SIOCOUTQ") && !is("SIOCOUTQNSD") {
            return Err(Reply::Unsupported(format!("ioctl {request:#x}")));
        }
        if self.socket_of(fd)?.listens {
            return Ok(Reply::Fails("EINVAL"));
        }
        if matches!(self.arg(2)?, crate::syntax::Expr::Word(name) if name == "NULL") {
            return Ok(Reply::Fails("EFAULT"));
        }
        let real = match self.socket_of(fd)?.connection {
            None => 0,
            Some(index) => {
                let connection = &self.host.connections[index];
                let stack = &connection.stack;
                let early = matches!(connection.state(), State::SynSent | State::SynReceived);
                match (early, is("SIOCINQ"), is("SIOCOUTQ")) {
                    (true, ..) => 0,
                    (_, true, _) => stack.readable(),
                    // An unacknowledged FIN counts as one byte of unsent data in SIOCOUTQ (Linux,
                    // tcp_ioctl).
                    (_, _, true) => stack.held() + stack.fin_held().0,
                    _ => stack.unsent() + stack.fin_held().1,
                }
            }
        };
        let expected = self.value(2)?;
        let differs = || Reply::Differs(format!("{expected} expected, {real} returned"));
        Ok(if expected == real as i64 { Reply::Done(0) } else { differs() })
    }
}
