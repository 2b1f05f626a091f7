//! Control messages of recvmsg and sendmsg (cmsg(3)), and the error queue.

use units::Time;

use super::{Answer, CallContext, Reply, member, number};
use crate::constants::value as constant;
use crate::host::error_queue::Entry;
use crate::host::stamps::{REQUESTS, SOFTWARE};
use crate::syntax::{Expr, Field};

/// A control message (cmsg) that accompanies received or sent data.
pub(super) struct Control {
    level: &'static str,
    kind: &'static str,
    data: Data,
}

enum Data {
    Number(i64),
    Time(Time),
    /// Members of sock_extended_err (linux/errqueue.h).
    Error([(&'static str, i64); 6]),
}

fn of(name: &str) -> i64 {
    constant(name).unwrap_or(0)
}

impl Control {
    /// Create the control message TCP_CM_INQ, whose value is the number of bytes that can still be
    /// read (Linux, tcp_inq_hint).
    pub(super) fn inq(bytes: i64) -> Self {
        Control { level: "SOL_TCP", kind: "TCP_CM_INQ", data: Data::Number(bytes) }
    }

    /// Return the control messages that describe an entry of the error queue (Linux,
    /// ip_recv_error).
    fn of(entry: &Entry, flags: i64) -> Vec<Self> {
        let error = |errno, origin, code, info, data| {
            let members = [
                ("ee_errno", errno),
                ("ee_origin", of(origin)),
                ("ee_type", 0),
                ("ee_code", code),
                ("ee_info", info),
                ("ee_data", data),
            ];
            Control { level: "SOL_IP", kind: "IP_RECVERR", data: Data::Error(members) }
        };
        match entry {
            Entry::Stamp(stamp) => {
                let time =
                    Control { level: "SOL_SOCKET", kind: "SCM_TIMESTAMPING", data: Data::Time(stamp.at) };
                let (info, data) = (stamp.event as i64, stamp.id.into());
                let error = error(of("ENOMSG"), "SO_EE_ORIGIN_TIMESTAMPING", 0, info, data);
                if flags & SOFTWARE != 0 { vec![time, error] } else { vec![error] }
            }
            // The TUN interface through which scripts run always copies the data of a zero-copy
            // write (Linux, tun_net_xmit: skb_orphan_frags_rx).
            Entry::Done(first, last) => {
                let copied = of("SO_EE_CODE_ZEROCOPY_COPIED");
                vec![error(0, "SO_EE_ORIGIN_ZEROCOPY", copied, (*first).into(), (*last).into())]
            }
        }
    }
}

impl CallContext<'_> {
    /// Read the first entry of the socket's error queue.
    pub(super) fn read_error(&mut self, fd: i64, size: u64) -> Answer {
        let Ok((_, connection)) = self.connection(fd, "EAGAIN") else { return Ok(Reply::Fails("EAGAIN")) };
        let flags = connection.stamps.flags;
        let Some(entry) = connection.errors.pop() else { return Ok(Reply::Fails("EAGAIN")) };
        let packet = matches!(entry, Entry::Stamp(stamp) if stamp.packet);
        if packet && size > 0 {
            let what = "the packet with a timestamp, unless SOF_TIMESTAMPING_OPT_TSONLY is set";
            return Err(Reply::Unsupported(what.into()));
        }
        let cut = if packet { of("MSG_TRUNC") } else { 0 };
        self.received(0, of("MSG_ERRQUEUE") | cut, &Control::of(&entry, flags))
    }

    /// Compare the flags and the control messages of a recvmsg call with those that the script
    /// expects. The recvmsg call received `bytes` bytes.
    pub(super) fn received(&self, bytes: i64, flags: i64, controls: &[Control]) -> Answer {
        if self.call.name != "recvmsg" {
            return Ok(Reply::Done(bytes));
        }
        let Expr::Struct(fields) = self.arg(1)? else { return Ok(Reply::Done(bytes)) };
        let expected: Option<&[Expr]> = match member(fields, "msg_control") {
            None => Some(&[]),
            Some(Expr::List(list)) => Some(list),
            Some(Expr::Ellipsis) => None,
            Some(other) => return Err(Reply::Wrong(format!("{other} is not a list of control messages"))),
        };
        let cut = expected.is_some_and(|e| e.len() < controls.len());
        let flags = if cut { flags | of("MSG_CTRUNC") } else { flags };
        if let Some(expected) = member(fields, "msg_flags").filter(|e| !matches!(e, Expr::Ellipsis)) {
            let expected = number(expected)?;
            if expected != flags {
                return Ok(Reply::Differs(format!("msg_flags: {expected:#x} expected, {flags:#x} returned")));
            }
        }
        for (i, item) in expected.unwrap_or_default().iter().enumerate() {
            let n = i + 1;
            let Some(control) = controls.get(i) else {
                let came = controls.len();
                return Ok(Reply::Differs(format!("control message {n} expected, {came} returned")));
            };
            if let Some(problem) = self.differs(item, control)? {
                return Ok(Reply::Differs(format!("control message {n}: {problem}")));
            }
        }
        Ok(Reply::Done(bytes))
    }

    /// Return the difference between an expected and a returned control message.
    fn differs(&self, expected: &Expr, control: &Control) -> Result<Option<String>, Reply> {
        let (level, kind, data) = parts(expected)?;
        let other = |name: &str, expected: i64, real: i64| {
            (expected != real).then(|| format!("{name}: {expected} expected, {real} returned"))
        };
        if let Some(problem) = other("cmsg_level", number(level)?, of(control.level)).or(other(
            "cmsg_type",
            number(kind)?,
            of(control.kind),
        )) {
            return Ok(Some(problem));
        }
        match (&control.data, data) {
            (_, Expr::Ellipsis) => Ok(None),
            (Data::Number(real), data) => Ok(other("cmsg_data", number(data)?, *real)),
            (Data::Time(at), Expr::Struct(fields)) => self.other_time(fields, *at),
            (Data::Error(real), Expr::Struct(fields)) => {
                for (name, value) in real {
                    let expected = member(fields, name).map(number).transpose()?;
                    if let Some(problem) = expected.and_then(|e| other(name, e, *value)) {
                        return Ok(Some(problem));
                    }
                }
                Ok(None)
            }
            (_, data) => Err(Reply::Wrong(format!(
                "{data} is not valid as the data of a control message {}",
                control.kind
            ))),
        }
    }

    /// Return the difference between the expected and the returned timestamp of a control message.
    /// If the script expects 0 seconds and 0 nanoseconds, any timestamp matches.
    fn other_time(&self, fields: &[Field], at: Time) -> Result<Option<String>, Reply> {
        let get = |name: &str| -> Result<u64, Reply> {
            let value = member(fields, name).map_or(Ok(0), number)?;
            u64::try_from(value).map_err(|_| {
                Reply::Wrong(format!("the member {name} of a timestamp must be at least 0, not {value}"))
            })
        };
        let nanoseconds = get("scm_sec")?.saturating_mul(1_000_000_000).saturating_add(get("scm_nsec")?);
        let expected = Time(nanoseconds.saturating_mul(1000));
        let near = expected.0.abs_diff(at.0) <= self.host.tolerance.0;
        let differs = nanoseconds > 0 && !near;
        Ok(differs.then(|| format!("time: {expected} expected, {at} returned")))
    }

    /// Return the timestamp requests of a sent message. The flags of the socket apply, unless the
    /// message has its own flags.
    pub(super) fn requested_times(&self, socket_flags: i64) -> Result<i64, Reply> {
        let Some(Expr::Struct(fields)) = self.call.args.get(1).filter(|_| self.call.name == "sendmsg") else {
            return Ok(socket_flags);
        };
        let list = match member(fields, "msg_control") {
            Some(Expr::List(list)) => list,
            None | Some(Expr::Ellipsis) => return Ok(socket_flags),
            Some(other) => return Err(Reply::Wrong(format!("{other} is not a list of control messages"))),
        };
        let mut flags = socket_flags;
        for item in list {
            let (level, kind, data) = parts(item)?;
            let times = Some(number(level)?) == constant("SOL_SOCKET")
                && Some(number(kind)?) == constant("SO_TIMESTAMPING");
            if !times {
                return Err(Reply::Unsupported(format!("control message {item} of sendmsg")));
            }
            let own = number(data)?;
            if own & !REQUESTS != 0 {
                return Err(Reply::Fails("EINVAL")); // Linux, __sock_cmsg_send
            }
            flags = flags & !REQUESTS | own;
        }
        Ok(flags)
    }
}

/// Return level, type and data of a control message such as `{cmsg_level=SOL_IP,
/// cmsg_type=IP_RECVERR, cmsg_data={…}}`.
fn parts(e: &Expr) -> Result<(&Expr, &Expr, &Expr), Reply> {
    let wrong = || Reply::Wrong(format!("{e} is not {{cmsg_level=…, cmsg_type=…, cmsg_data=…}}"));
    let Expr::Struct(fields) = e else { return Err(wrong()) };
    let get = |name: &str| member(fields, name).ok_or_else(wrong);
    Ok((get("cmsg_level")?, get("cmsg_type")?, get("cmsg_data")?))
}
