//! Implementation of the system calls epoll_create, epoll_ctl and epoll_wait (epoll(7)).

use units::{Duration, Time};

use super::poll::ready;
use super::{Answer, CallContext, Reply, is_null, member, number};
use crate::constants::value as constant;
use crate::host::{ALWAYS, EDGE, Epoll, Interest, ONCE};
use crate::syntax::{Expr, Field};

/// Return the user data of an epoll event, which a script writes as `fd=4`, `ptr=4`, `u32=4` or
/// `u64=4`.
fn data(fields: &[Field]) -> Result<i64, Reply> {
    let given = ["fd", "ptr", "u32", "u64", "data"].iter().find_map(|name| member(fields, name));
    given.map_or(Ok(0), number)
}

/// Return the members of a struct epoll_event that the script contains.
fn members(e: &Expr) -> Option<&[Field]> {
    if let Expr::Struct(fields) = e { Some(fields) } else { None }
}

fn events(fields: &[Field]) -> Result<i64, Reply> {
    member(fields, "events").map_or(Ok(0), number)
}

impl CallContext<'_> {
    pub(super) fn epoll_create(&mut self) -> Answer {
        let size = self.value(0)?;
        let wrong = if self.call.name == "epoll_create" {
            size <= 0
        } else {
            Some(size) != constant("EPOLL_CLOEXEC") && size != 0
        };
        if wrong {
            return Ok(Reply::Fails("EINVAL"));
        }
        let fd = self.new_fd()?;
        if fd < 0 {
            return Err(Reply::Unsupported(format!("an {}() that fails", self.call.name)));
        }
        self.host.epolls.insert(fd, Epoll::default());
        Ok(Reply::Done(fd))
    }

    /// Return the epoll instance whose descriptor is an argument of the system call.
    fn epoll(&mut self) -> Result<&mut Epoll, Reply> {
        let fd = self.value(0)?;
        let error = if self.host.sockets.contains_key(&fd) { "EINVAL" } else { "EBADF" };
        self.host.epolls.get_mut(&fd).ok_or(Reply::Fails(error))
    }

    pub(super) fn epoll_ctl(&mut self) -> Answer {
        let (operation, fd) = (self.value(1)?, self.value(2)?);
        let is = |name: &str| Some(operation) == constant(name);
        if self.host.epolls.contains_key(&fd) {
            let itself = self.value(0)? == fd;
            return if itself {
                Ok(Reply::Fails("EINVAL"))
            } else {
                Err(Reply::Unsupported("an epoll instance that watches another epoll instance".into()))
            };
        }
        let wanted = match self.call.args.get(3) {
            Some(Expr::Struct(fields)) => {
                Some(Interest { fd, events: events(fields)? | ALWAYS, data: data(fields)? })
            }
            Some(e) if is_null(e) && !is("EPOLL_CTL_DEL") => return Ok(Reply::Fails("EFAULT")),
            _ => None,
        };
        let there = self.host.sockets.contains_key(&fd);
        let epoll = self.epoll()?;
        if !there {
            return Ok(Reply::Fails("EBADF"));
        }
        let known = epoll.interest(fd).is_some();
        let wrong = || Reply::Wrong("epoll_ctl needs an event such as {events=EPOLLIN, fd=4}".into());
        if is("EPOLL_CTL_DEL") {
            epoll.forget(fd);
            return Ok(if known { Reply::Done(0) } else { Reply::Fails("ENOENT") });
        }
        if is("EPOLL_CTL_ADD") {
            if known {
                return Ok(Reply::Fails("EEXIST"));
            }
            epoll.interests.push(wanted.ok_or_else(wrong)?);
        } else if is("EPOLL_CTL_MOD") {
            let Some(interest) = epoll.interest(fd) else { return Ok(Reply::Fails("ENOENT")) };
            *interest = wanted.ok_or_else(wrong)?;
        } else {
            return Ok(Reply::Fails("EINVAL"));
        }
        // If an event is already ready when epoll_ctl runs, epoll delivers the event even if it is
        // edge-triggered.
        let mask = ready(self.host, fd);
        self.epoll()?.wake(fd, mask);
        Ok(Reply::Done(0))
    }

    pub(super) fn epoll_wait(&mut self) -> Answer {
        let (most, timeout) = (self.value(2)?, self.value(3)?);
        let null = is_null(self.arg(1)?);
        let waiting = self.epoll()?.clone();
        if most <= 0 {
            return Ok(Reply::Fails("EINVAL"));
        }
        let delivered = self.deliver(&waiting, most as usize)?;
        let until = match timeout {
            t if t < 0 => Time::NEVER,
            t => self.progress.since + Duration::from_millis((t as u64).min(1_000_000_000)),
        };
        if delivered.is_empty() && self.now < until {
            return Ok(Reply::Blocks(until));
        }
        if null && !delivered.is_empty() {
            return Ok(Reply::Fails("EFAULT"));
        }
        let problem = self.compare(&delivered)?;
        Ok(problem.map_or(Reply::Done(delivered.len() as i64), Reply::Differs))
    }

    /// Remove the events to be delivered from the ready list of the epoll instance, and return them
    /// (Linux, ep_send_events).
    fn deliver(&mut self, epoll: &Epoll, most: usize) -> Result<Vec<(i64, i64)>, Reply> {
        let mut left = epoll.clone();
        let mut delivered = Vec::new();
        for _ in 0..epoll.ready.len() {
            let Some(fd) = left.ready.pop_front().filter(|_| delivered.len() < most) else { break };
            let mask = ready(self.host, fd);
            let Some(interest) = left.interest(fd) else { continue };
            let mask = mask & interest.events & !(EDGE | ONCE);
            if mask == 0 {
                continue;
            }
            delivered.push((mask, interest.data));
            if interest.events & ONCE != 0 {
                interest.events &= EDGE | ONCE; // until EPOLL_CTL_MOD enables it again
            } else if interest.events & EDGE == 0 {
                left.ready.push_back(fd);
            }
            if delivered.len() == most {
                break;
            }
        }
        *self.epoll()? = left;
        Ok(delivered)
    }

    /// Return the first difference between the epoll events that the script expects and the
    /// delivered events.
    fn compare(&self, delivered: &[(i64, i64)]) -> Result<Option<String>, Reply> {
        let expected: Vec<&[Field]> = match self.arg(1)? {
            Expr::Struct(fields) => vec![fields],
            Expr::List(all) => all.iter().filter_map(members).collect(),
            _ => vec![],
        };
        for (i, (fields, (mask, delivered_data))) in expected.iter().zip(delivered).enumerate() {
            let (events, data) = (events(fields)? & 0xffff_ffff, data(fields)?);
            if (events, data) != (*mask, *delivered_data) {
                return Ok(Some(format!(
                    "event {}: {events:#x} of {data} expected, {mask:#x} of {delivered_data} delivered",
                    i + 1
                )));
            }
        }
        Ok(None)
    }
}
