//! Check that a script needs no unsupported feature, before the script runs. The check reports all
//! unsupported features of the script together.

use crate::calls::NAMES;
use crate::calls::options::SUPPORTED;
use crate::command::{self, Effect};
use crate::constants;
use crate::kernel::Kernel;
use crate::matching;
use crate::report::Missing;
use crate::syntax::{Action, Call, Command, Event, Expr, Flags, Packet, Script, Setting};

/// Options of a script that have no effect: addresses, ports, tools, and output.
const HARMLESS: &[&str] = &[
    "bind_port",
    "code_command",
    "connect_port",
    "debug",
    "gateway_ip",
    "local_ip",
    "netmask_ip",
    "persistent_tun_dev",
    "quiet",
    "remote_ip",
    "send_omit_free",
    "speed",
    "timeout",
    "verbose",
];

/// Return all unsupported features of a script, each once, given the settings of the host and the
/// available shell scripts.
pub fn missing(script: &Script, kernel: &Kernel, known: &[(String, String)]) -> Vec<Missing> {
    let mut kernel = kernel.clone();
    let mut all: Vec<Missing> = Vec::new();
    let mut add = |line: u32, what: Vec<String>| {
        for what in what {
            if !all.iter().any(|m| m.what == what) {
                all.push(Missing { line, what });
            }
        }
    };
    for s in &script.settings {
        add(s.line, setting(s).into_iter().collect());
    }
    if let Some(command) = &script.init {
        add(command.line, missing_in(&mut kernel, command, known));
    }
    for e in &script.events {
        add(e.line, event(e, &mut kernel, known));
    }
    all
}

fn setting(setting: &Setting) -> Option<String> {
    let value = setting.value.as_deref().unwrap_or("");
    let fine = match setting.name.as_str() {
        "ip_version" => value == "ipv4",
        "code_format" => value == "python",
        "code_sockopt" => value == "TCP_INFO" || value.is_empty(),
        "tolerance_usecs" | "tcp_ts_tick_usecs" | "mtu" => value.parse::<u32>().is_ok(),
        "set" | "stack" => !value.is_empty(), // own options; an invalid value fails when it is set
        name => HARMLESS.contains(&name),
    };
    let renamed = if setting.name == "preset" { ", which is now --stack" } else { "" };
    (!fine).then(|| format!("{setting}{renamed}"))
}

fn event(event: &Event, kernel: &mut Kernel, known: &[(String, String)]) -> Vec<String> {
    match &event.action {
        Action::Packet(p) => packet(p),
        Action::Foreign(_, kind) => vec![format!("{kind} packet")],
        Action::Call(c) => call(c),
        Action::Command(c) => missing_in(kernel, c, known),
        Action::Code(_) => vec![],
    }
}

/// Return the unsupported features of a shell command. The argument `kernel` contains the settings
/// after the previous commands, and `known` the shell scripts that are available.
fn missing_in(kernel: &mut Kernel, command: &Command, known: &[(String, String)]) -> Vec<String> {
    let (effects, mut missing) = command::read(&command.text);
    for effect in effects {
        match &effect {
            Effect::Script(name) => match known.iter().find(|k| k.0 == *name) {
                Some((_, text)) => missing.extend(missing_in_prefix(kernel, name, text)),
                None if name.ends_with("defaults.sh") => {}
                None => missing.push(format!("shell script {name}, which is not available")),
            },
            other => missing.extend(kernel.apply(other).err()),
        }
    }
    missing
}

/// Return the settings of a shell script that cannot be applied.
///
/// Other commands of the shell script are ignored. The ignored commands prepare addresses, devices
/// and tools, which the simulated host does not have.
fn missing_in_prefix(kernel: &mut Kernel, name: &str, text: &str) -> Vec<String> {
    let (effects, unknown) = command::read(text);
    let mut missing: Vec<String> = unknown.into_iter().filter(|c| command::sets_up_kernel(c)).collect();
    for effect in &effects {
        match effect {
            Effect::Script(other) => missing.push(format!("shell script {other}")),
            other => missing.extend(kernel.apply(other).err()),
        }
    }
    missing.into_iter().map(|what| format!("{what}, in {name}")).collect()
}

fn packet(packet: &Packet) -> Vec<String> {
    let mut all = Vec::new();
    all.extend(packet.ip.as_ref().map(|ip| format!("IP field {ip}")));
    if packet.flags.has(Flags::URG) || packet.urgent.is_some_and(|u| u != 0) {
        all.push("urgent data".into());
    }
    if let Some(list) = &packet.options {
        all.extend(matching::unsupported(list, packet.way));
    }
    all
}

fn call(call: &Call) -> Vec<String> {
    if !NAMES.contains(&call.name.as_str()) {
        return vec![format!("system call {}", call.name)];
    }
    let mut all: Vec<String> = Vec::new();
    let arg = |i: usize| call.args.get(i).map(ToString::to_string).unwrap_or_default();
    match call.name.as_str() {
        "socket" => {
            if arg(0) == "AF_INET6" || arg(0) == "PF_INET6" {
                return vec!["IPv6".into()];
            }
            let stream =
                arg(1).split('|').all(|f| matches!(f, "SOCK_STREAM" | "SOCK_NONBLOCK" | "SOCK_CLOEXEC"));
            let tcp = stream && matches!(arg(2).as_str(), "IPPROTO_TCP" | "0" | "6");
            all.extend((!tcp).then(|| format!("socket({}, {}, {})", arg(0), arg(1), arg(2))));
        }
        "setsockopt" | "getsockopt" => {
            let (level, option) = (arg(1), arg(2));
            let same = |a: &str, b: &str| a == b || constants::value(a) == constants::value(b);
            let known = SUPPORTED.iter().any(|(l, o)| same(l, &level) && *o == option);
            if !known && option.parse::<i64>().is_err() {
                return vec![format!("socket option {option}")];
            }
        }
        _ => {}
    }
    all.extend(call.args.iter().flat_map(flags));
    let mut symbols = Vec::new();
    call.args.iter().for_each(|e| unknown(e, &mut symbols));
    all.extend(symbols.into_iter().map(|s| format!("symbol {s}")));
    all
}

/// Return the message flags of a call that are not supported.
fn flags(e: &Expr) -> Vec<String> {
    match e {
        Expr::Word(name) if name == "MSG_OOB" => vec![name.clone()],
        Expr::Or(list) => list.iter().flat_map(flags).collect(),
        _ => vec![],
    }
}

/// Add each symbol of an expression to `all` if the crate does not know the value of the symbol.
fn unknown(e: &Expr, all: &mut Vec<String>) {
    match e {
        Expr::Word(name) if constants::value(name).is_none() => all.push(name.clone()),
        Expr::Or(list) | Expr::List(list) | Expr::Call(_, list) => list.iter().for_each(|e| unknown(e, all)),
        Expr::Struct(fields) => fields.iter().for_each(|f| unknown(&f.value, all)),
        _ => {}
    }
}
