//! Settings of the simulated host: the TCP parameters of new sockets, and other kernel settings.

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

/// Settings of the host. The default values of the settings are those of Linux.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// TCP parameters of new sockets.
    pub tcp: Tcp,
    /// Parameters of CUBIC that the script has set. The parameters of CUBIC apply only while CUBIC
    /// is the congestion control.
    cubic: Map<String, Value>,
    /// True if the host resets a connection for which the accept queue of the listening socket is
    /// full (tcp_abort_on_overflow).
    pub abort_on_overflow: bool,
    /// Maximum backlog argument of a `listen` call (net.core.somaxconn).
    pub somaxconn: i64,
    /// Maximum values of SO_RCVBUF and SO_SNDBUF (net.core.rmem_max, net.core.wmem_max).
    pub buffers: (i64, i64),
    /// Default sizes of the receive buffer and the send buffer (second values of tcp_rmem and
    /// tcp_wmem).
    pub first_buffers: (i64, i64),
    /// True if the SYN-ACK has the DSCP of the received SYN (tcp_reflect_tos).
    pub reflect_tos: bool,
    /// Maximum time in the state FIN-WAIT-2 after the application closed the socket
    /// (tcp_fin_timeout). `None` means that the time in FIN-WAIT-2 is unlimited (RFC 9293 §3.6).
    pub fin_timeout: Option<Duration>,
    /// Maximum number of retransmissions after the application closed the socket
    /// (tcp_orphan_retries). `None` means the same maximum as before the application closed the
    /// socket.
    pub orphan_retries: Option<u64>,
    /// True if a connection in TIME-WAIT ignores resets (tcp_rfc1337).
    pub rfc1337: bool,
    /// Fast Open settings.
    pub fast_open: fast_open::FastOpen,
    /// True if the queue discipline of the network interface paces segments (tc-fq(8)).
    pub paces: bool,
    /// Limit of unsent data in bytes: a socket accepts data only below this limit
    /// (tcp_notsent_lowat).
    pub notsent_lowat: u32,
}

impl Kernel {
    /// Create the settings of a host from TCP parameters. If the TCP parameters are those of the
    /// Linux stack, the other settings are those of Linux, too.
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

    /// Apply the effect of a shell command, except for waiting. Return an error that names the
    /// effect if the effect is not supported.
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

    /// Change the TCP parameters of new sockets. Return an error if the new value of a parameter is
    /// invalid.
    pub fn change(&mut self, changes: &[(&'static str, Value)]) -> Result<(), String> {
        self.tcp = settings::change(&self.tcp, changes)?;
        Ok(())
    }

    /// Return the TCP parameters of a new connection. Three sources are combined: the present
    /// parameters of the kernel, the parameters that were fixed when the socket was created, and
    /// the parameters from options of the socket. A passive connection has the present default
    /// congestion control, unless its listening socket has set one.
    pub fn parameters(&self, made: &Tcp, own: &Own, passive: bool) -> Tcp {
        let (mut tcp, made) = (self.tcp.clone(), made.clone());
        (tcp.receive_window, tcp.rto.min) = (made.receive_window, made.rto.min);
        if !passive {
            tcp.congestion = made.congestion;
        }
        own.lay_over(&mut tcp);
        tcp
    }

    /// Return the TCP parameters of an existing connection after a kernel setting changed. Linux
    /// applies only some changes of kernel settings to existing connections. A change of a kernel
    /// setting does not affect a parameter that an option of the socket has set.
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

    /// Return `tcp` with another congestion control, or `None` if the name of the congestion
    /// control is unknown.
    pub fn with_congestion(&self, tcp: &Tcp, kind: &str) -> Option<Tcp> {
        let mut table = Map::from_iter([("kind".to_string(), json!(kind))]);
        if kind == "cubic" {
            table.extend(self.cubic.clone());
        }
        settings::change(tcp, &[("congestion", Value::Object(table))]).ok()
    }

    /// Set a metric of the route to the peer (ip-route(8)).
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
