//! What a script needs that is not there, as far as it can be seen without running it.

use crate::calls::{NAMES, SOCKET_OPTIONS};
use crate::command;
use crate::constants;
use crate::matching;
use crate::syntax::{Action, Call, Event, Expr, Flags, Packet, Script, Setting, Way};

/// Settings that change nothing here: addresses, ports, tools, and what is told while a script runs.
const HARMLESS: &[&str] = &[
    "bind_port",
    "code_command",
    "code_format",
    "connect_port",
    "debug",
    "dry_run",
    "gateway_ip",
    "init_scripts",
    "local_ip",
    "netmask_ip",
    "non_fatal",
    "persistent_tun_dev",
    "quiet",
    "remote_ip",
    "send_omit_free",
    "speed",
    "strict_segments",
    "tcp_ts_ecr_scaled",
    "tcp_ts_tick_usecs",
    "timeout",
    "verbose",
];

/// The first thing that is not supported, with its line.
pub fn missing(script: &Script) -> Option<(u32, String)> {
    let settings = script.settings.iter().filter_map(|s| Some((s.line, setting(s)?)));
    let init = script.init.iter().filter_map(|c| Some((c.line, command::read(&c.text).err()?)));
    let events = script.events.iter().filter_map(|e| Some((e.line, event(e)?)));
    settings.chain(init).chain(events).next()
}

fn setting(setting: &Setting) -> Option<String> {
    let value = setting.value.as_deref().unwrap_or("");
    let fine = match setting.name.as_str() {
        "ip_version" => value == "ipv4",
        "code_sockopt" => value == "TCP_INFO" || value.is_empty(),
        "tolerance_usecs" | "mtu" => value.parse::<u32>().is_ok(),
        "set" | "preset" => !value.is_empty(), // ours; what is wrong with them is told when they are set
        name => HARMLESS.contains(&name),
    };
    (!fine).then(|| setting.to_string())
}

fn event(event: &Event) -> Option<String> {
    match &event.action {
        Action::Packet(p) => packet(p),
        Action::Foreign(_, kind) => Some(format!("{kind} packet")),
        Action::Call(c) => call(c),
        Action::Command(c) => command::read(&c.text).err(),
        Action::Code(_) => None,
    }
}

fn packet(packet: &Packet) -> Option<String> {
    if let Some(ip) = &packet.ip {
        return Some(format!("IP field {ip}"));
    }
    if packet.flags.has(Flags::URG) || packet.urgent.is_some_and(|u| u != 0) {
        return Some("urgent data".into());
    }
    let list = packet.options.as_ref()?;
    let open = if packet.way == Way::In { matching::partial(list) } else { None };
    matching::values(list).err().or(open)
}

fn call(call: &Call) -> Option<String> {
    if !NAMES.contains(&call.name.as_str()) {
        return Some(format!("system call {}", call.name));
    }
    if let Some(symbol) = call.args.iter().find_map(unknown) {
        return Some(format!("symbol {symbol}"));
    }
    let arg = |i: usize| call.args.get(i).map(ToString::to_string).unwrap_or_default();
    match call.name.as_str() {
        "socket" => {
            if arg(0) == "AF_INET6" || arg(0) == "PF_INET6" {
                return Some("IPv6".into());
            }
            let stream =
                arg(1).split('|').all(|f| matches!(f, "SOCK_STREAM" | "SOCK_NONBLOCK" | "SOCK_CLOEXEC"));
            let tcp = stream && matches!(arg(2).as_str(), "IPPROTO_TCP" | "0" | "6");
            (!tcp).then(|| format!("socket({}, {}, {})", arg(0), arg(1), arg(2)))
        }
        "setsockopt" | "getsockopt" => {
            let (level, option) = (arg(1), arg(2));
            let same = |a: &str, b: &str| a == b || constants::value(a) == constants::value(b);
            let known = SOCKET_OPTIONS.iter().any(|(l, o)| same(l, &level) && *o == option);
            (!known && option.parse::<i64>().is_err()).then(|| format!("socket option {option}"))
        }
        _ => None,
    }
}

/// A symbol in an expression that has no value here.
fn unknown(e: &Expr) -> Option<String> {
    match e {
        Expr::Word(name) => constants::value(name).is_none().then(|| name.clone()),
        Expr::Or(all) | Expr::List(all) => all.iter().find_map(unknown),
        Expr::Struct(fields) => fields.iter().find_map(|f| unknown(&f.value)),
        _ => None,
    }
}
