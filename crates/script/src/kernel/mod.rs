//! Settings of the host: the TCP parameters of new sockets, and other kernel settings.

pub mod fast_open;
mod module;
mod sysctl;
mod value;

use serde_json::{Map, Value, json};
use tcp::{Stack, Tcp};
use units::Duration;

use crate::command::Effect;
use crate::own::Own;
use crate::settings;

/// Settings of the host. The default values are those of Linux.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// TCP parameters of new sockets.
    pub tcp: Tcp,
    /// Parameters of CUBIC that the script set. CUBIC's parameters apply when CUBIC is the
    /// congestion control.
    cubic: Map<String, Value>,
    /// True if a connection is reset when the queue of its listening socket is full
    /// (tcp_abort_on_overflow).
    pub abort_on_overflow: bool,
    /// Maximum backlog of `listen` (net.core.somaxconn).
    pub somaxconn: i64,
    /// Maximum values of SO_RCVBUF and SO_SNDBUF (net.core.rmem_max, net.core.wmem_max).
    pub buffers: (i64, i64),
    /// Default sizes of the receive and send buffer (second values of tcp_rmem and tcp_wmem).
    pub first_buffers: (i64, i64),
    /// True if the response to a SYN has the DSCP of the SYN (tcp_reflect_tos).
    pub reflect_tos: bool,
    /// Maximum time in FIN-WAIT-2 without an application (tcp_fin_timeout). `None` means unlimited
    /// (RFC 9293 §3.6).
    pub fin_timeout: Option<Duration>,
    /// Maximum number of retransmissions of a connection without an application
    /// (tcp_orphan_retries). `None` means the same number as for a connection with an application.
    pub orphan_retries: Option<u64>,
    /// True if TIME-WAIT ignores resets (tcp_rfc1337).
    pub rfc1337: bool,
    /// Fast Open settings.
    pub fast_open: fast_open::FastOpen,
    /// True if the queue discipline of the interface paces (tc-fq(8)).
    pub paces: bool,
    /// Number of unsent bytes from which on a socket accepts no more data (tcp_notsent_lowat).
    pub notsent_lowat: u32,
}

impl Kernel {
    /// Create settings with these TCP parameters. With Linux parameters, the other settings are
    /// also those of Linux.
    pub fn new(tcp: Tcp) -> Self {
        let linux = tcp.stack == Stack::Linux;
        Kernel {
            tcp,
            cubic: Map::new(),
            abort_on_overflow: false,
            somaxconn: 4096,
            buffers: (212_992, 212_992),
            first_buffers: (131_072, 16_384),
            reflect_tos: false,
            fin_timeout: linux.then(|| Duration::from_millis(60_000)),
            orphan_retries: linux.then_some(8),
            rfc1337: false,
            fast_open: fast_open::FastOpen::default(),
            paces: false,
            notsent_lowat: u32::MAX,
        }
    }

    /// Apply an effect of a command, except waiting. Return an error that names an unsupported
    /// effect.
    pub fn apply(&mut self, effect: &Effect) -> Result<(), String> {
        match effect {
            Effect::Sysctl(name, value) => sysctl::set(self, name, value),
            Effect::Module(module, name, value) => module::set(self, module, name, value),
            Effect::Route(metric, value) => self.route(metric, value),
            Effect::Refused(what) => Err(what.clone()),
            Effect::Qdisc { paces } => {
                self.paces = *paces;
                Ok(())
            }
            Effect::FlushMetrics | Effect::Restore | Effect::Script(_) | Effect::Sleep(_) => Ok(()),
        }
    }

    /// Change TCP parameters of new sockets. Return an error if a value is invalid.
    pub fn change(&mut self, changes: &[(&'static str, Value)]) -> Result<(), String> {
        self.tcp = settings::change(&self.tcp, changes)?;
        Ok(())
    }

    /// Return the TCP parameters of a connection. Parameters that were fixed when the socket was
    /// created, and those of the socket's options, replace the parameters of the kernel. A passive
    /// connection has the current default congestion control, unless its listener set one.
    pub fn parameters(&self, made: &Tcp, own: &Own, passive: bool) -> Tcp {
        let (mut tcp, made) = (self.tcp.clone(), made.clone());
        (tcp.receive_window, tcp.rto.min) = (made.receive_window, made.rto.min);
        if !passive {
            tcp.congestion = made.congestion;
        }
        own.lay_over(&mut tcp);
        tcp
    }

    /// Return the parameters of a connection after a change of kernel settings that Linux applies
    /// to existing connections. The change does not affect parameters that the socket's own options
    /// set.
    pub fn heeded(&self, tcp: &Tcp, own: &Own) -> Tcp {
        let mut heeded = tcp.clone();
        macro_rules! heed {
            ($($($key:ident).+),+) => { $( heeded.$($key).+ = self.tcp.$($key).+; )+ };
        }
        heed!(
            connection.syn_retries,
            connection.synack_retries,
            connection.syn_linear_timeouts,
            connection.retries,
            cwnd.idle_restart,
            recovery.dsack,
            recovery.frto,
            recovery.tail_loss_probe,
            details.invalid_ack_spacing
        );
        own.lay_over(&mut heeded);
        heeded
    }

    /// Set the congestion control of new sockets.
    fn choose(&mut self, kind: &str) -> Option<()> {
        self.tcp = self.with_congestion(&self.tcp, kind)?;
        Some(())
    }

    /// Return `tcp` with another congestion control, or `None` if the name is unknown.
    pub fn with_congestion(&self, tcp: &Tcp, kind: &str) -> Option<Tcp> {
        let mut table = Map::from_iter([("kind".to_string(), json!(kind))]);
        if kind == "cubic" {
            table.extend(self.cubic.clone());
        }
        settings::change(tcp, &[("congestion", Value::Object(table))]).ok()
    }

    /// Set a metric of the route (ip-route(8)).
    fn route(&mut self, metric: &str, value: &str) -> Result<(), String> {
        let unsupported = || format!("ip route … {metric} {value}");
        let number = value::integer(value);
        let changes = match (metric, number) {
            ("initcwnd", Some(n)) => vec![("initial_window", json!(format!("{n} packets")))],
            ("mtu", Some(n)) => vec![("mss", json!(format!("{} B", (n - HEADERS).max(0))))],
            ("rto_min", _) => vec![("rto.min", json!(value::milliseconds(value).ok_or_else(unsupported)?))],
            ("fastopen_no_cookie", Some(n)) => {
                self.fast_open.route_needs_no_cookie = n != 0;
                return Ok(());
            }
            ("congctl", _) => return self.choose(value).ok_or_else(unsupported),
            ("features", _) if value == "ecn" => vec![("ecn.mode", json!("rfc3168"))],
            _ => return Err(unsupported()),
        };
        self.change(&changes).map_err(|_| unsupported())
    }
}

/// Size of the IPv4 and TCP headers without options, in bytes.
pub const HEADERS: i64 = 40;
