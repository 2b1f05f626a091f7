//! Kernel parameters (sysctl) by name, and their effects in the simulated host (Linux 6.12,
//! Documentation/networking/ip-sysctl.rst).

use serde_json::{Value, json};
use units::Duration;

use super::Kernel;
use super::fast_open::Keys;
use super::value::{integer, integers};

/// Kernel parameters whose value a script cannot observe. A parameter cannot be observed if it is
/// obsolete, or if it concerns several hosts, processes or addresses, a queue below TCP, or the
/// segmentation by an interface.
const UNSEEN: &[&str] = &[
    "tcp_adv_win_scale",              // obsolete since Linux 6.6
    "tcp_allowed_congestion_control", // for processes without privileges
    "tcp_autocorking",                // waits for the device queue, which is always empty here
    "tcp_backlog_ack_defer",
    "tcp_base_mss", // for MTU probing, as the next three
    "tcp_mtu_probe_floor",
    "tcp_probe_interval",
    "tcp_probe_threshold",
    "tcp_child_ehash_entries",
    "tcp_comp_sack_slack_ns", // for compressed ACKs
    "tcp_early_demux",
    "tcp_fack",            // obsolete
    "tcp_keepalive_intvl", // for SO_KEEPALIVE, which is not supported
    "tcp_keepalive_probes",
    "tcp_keepalive_time",
    "tcp_limit_output_bytes", // for the device queue
    "tcp_low_latency",        // obsolete
    "tcp_migrate_req",
    "tcp_min_tso_segs",
    "tcp_plb_cong_thresh", // for PLB
    "tcp_plb_idle_rehash_rounds",
    "tcp_plb_rehash_rounds",
    "tcp_plb_suspend_rto_sec",
    "tcp_retries1", // requests another route
    "tcp_stdurg",   // for urgent data, which is not supported
    "tcp_tso_rtt_log",
    "tcp_tw_reuse", // for ports
];

/// Kernel parameters of which only some values are supported. If a kernel parameter has an
/// unsupported value, Linux behaves in a way that aqmlab does not implement.
const WITHIN: &[(&str, i64, i64)] = &[
    ("tcp_challenge_ack_limit", 1000, i64::MAX), // per second
    ("tcp_comp_sack_delay_ns", 0, 0),
    ("tcp_comp_sack_nr", 0, 0),
    ("tcp_fastopen_blackhole_timeout_sec", 0, 0),
    ("tcp_fwmark_accept", 0, 0),
    ("tcp_l3mdev_accept", 0, 0),
    ("tcp_max_orphans", 64, i64::MAX),
    ("tcp_max_syn_backlog", 64, i64::MAX),
    ("tcp_max_tw_buckets", 64, i64::MAX),
    ("tcp_min_rtt_wlen", 300, i64::MAX), // the minimum RTT is that of the whole connection
    ("tcp_moderate_rcvbuf", 0, 0),
    ("tcp_mtu_probing", 0, 0),
    ("tcp_no_metrics_save", 1, 1),
    ("tcp_no_ssthresh_metrics_save", 1, 1),
    ("tcp_pacing_ca_ratio", 120, 120),
    ("tcp_pacing_ss_ratio", 200, 200),
    ("tcp_pingpong_thresh", 1, 1),
    ("tcp_plb_enabled", 0, 0),
    ("tcp_retrans_collapse", 0, 0),
    ("tcp_shrink_window", 0, 0),
    ("tcp_syncookies", 0, 1),
    ("tcp_thin_dupack", 0, 0),
    ("tcp_thin_linear_timeouts", 0, 0),
    ("tcp_tso_win_divisor", 3, 3),
    ("tcp_workaround_signed_windows", 0, 0),
];

/// Prefixes of the names of IPv4 parameters that aqmlab ignores. These parameters concern routes,
/// ports, addresses, fragments and protocols other than TCP.
const UNSEEN_OF_IP: &[&str] = &[
    "conf.",
    "fib_",
    "icmp_",
    "igmp_",
    "inet_peer_",
    "ip_",
    "ipfrag_",
    "neigh.",
    "nexthop_",
    "ping_",
    "route.",
    "udp_",
];

/// Parameters of the network core (net.core) without an effect, which concern queues and buffers
/// that TCP does not use.
const UNSEEN_OF_ALL: &[&str] = &[
    "busy_poll",
    "busy_read",
    "default_qdisc",
    "netdev_budget",
    "netdev_budget_usecs",
    "netdev_max_backlog",
    "optmem_max",
    "rmem_default",
    "wmem_default",
];

/// Set a kernel parameter, given by its name with dots, or return an error if the parameter is not
/// supported.
pub(super) fn set(kernel: &mut Kernel, name: &str, value: &str) -> Result<(), String> {
    let value = value.trim();
    let done =
        match name.split_once('.').and_then(|(net, rest)| (net == "net").then_some(rest)?.split_once('.')) {
            Some(("ipv4", name)) if name.starts_with("tcp_") => of_tcp(kernel, name, value),
            Some(("ipv4", name)) => UNSEEN_OF_IP.iter().any(|u| name.starts_with(u)).then_some(()),
            Some(("core", name)) => of_all(kernel, name, value),
            Some(("ipv6", _)) => Some(()), // scripts use IPv4
            _ => None,
        };
    done.ok_or_else(|| format!("sysctl {name}={value}{}", why(name)))
}

/// Return the reason why a setting is not supported, if the name of the setting does not explain
/// it.
fn why(name: &str) -> &'static str {
    match name {
        "net.ipv4.tcp_tso_win_divisor" => {
            ": segments wait until they fill a third of the window (tcp.offload)"
        }
        "net.ipv4.tcp_mtu_probing" => ": path MTU probing is not supported",
        _ => "",
    }
}

fn of_all(kernel: &mut Kernel, name: &str, value: &str) -> Option<()> {
    let positive = || integer(value).filter(|n| *n >= 0);
    match name {
        "somaxconn" => kernel.somaxconn = positive()?,
        "rmem_max" => kernel.buffers.0 = positive()?,
        "wmem_max" => kernel.buffers.1 = positive()?,
        _ => return UNSEEN_OF_ALL.contains(&name).then_some(()),
    }
    Some(())
}

fn of_tcp(kernel: &mut Kernel, name: &str, value: &str) -> Option<()> {
    if let Some((_, low, high)) = WITHIN.iter().find(|w| w.0 == name) {
        return (*low..=*high).contains(&integer(value)?).then_some(());
    }
    if UNSEEN.contains(&name) {
        return Some(());
    }
    if of_host(kernel, name, value)? {
        return Some(());
    }
    kernel.change(&of_sockets(name, value)?).ok()
}

/// Set a parameter that belongs to the host and not to a connection. Return true if the parameter
/// `name` belongs to the host and not to a connection.
fn of_host(kernel: &mut Kernel, name: &str, value: &str) -> Option<bool> {
    let number = || integer(value);
    match name {
        "tcp_abort_on_overflow" => kernel.abort_on_overflow = number()? != 0,
        "tcp_congestion_control" => kernel.choose(value)?,
        "tcp_fastopen" => kernel.fast_open.set_bits(number()?)?,
        "tcp_fastopen_key" => kernel.fast_open.keys = Keys::read(value)?,
        "tcp_fin_timeout" => kernel.fin_timeout = Some(seconds(number()?)?),
        // If the value of tcp_orphan_retries is 0, the maximum is 8 retransmissions.
        "tcp_orphan_retries" => {
            let number = number().and_then(|n| u64::try_from(n).ok())?;
            kernel.orphan_retries = Some(if number == 0 { 8 } else { number });
        }
        "tcp_notsent_lowat" => kernel.notsent_lowat = u32::try_from(number()?).ok()?,
        "tcp_reflect_tos" => kernel.reflect_tos = number()? != 0,
        "tcp_rfc1337" => kernel.rfc1337 = number()? != 0,
        // The values of tcp_mem are in pages, and apply to all connections together.
        "tcp_mem" => (integers::<3>(value)?[2] >= 1024).then_some(())?,
        // In this model, the amount of written data that waits in the send buffer is unlimited. In
        // Linux, the send buffer grows up to its maximum before a write blocks.
        "tcp_wmem" => {
            let [_, usual, most] = integers(value)?;
            (most >= 1 << 20).then_some(())?;
            kernel.first_buffers.1 = usual;
        }
        "tcp_rmem" => {
            kernel.first_buffers.0 = integers::<3>(value)?[1];
            return Some(false);
        }
        _ => return Some(false),
    }
    Some(true)
}

fn seconds(number: i64) -> Option<Duration> {
    (0..=1_000_000).contains(&number).then(|| Duration::from_millis(number as u64 * 1000))
}

/// Convert a kernel parameter to the corresponding changes of aqmlab's TCP parameters.
fn of_sockets(name: &str, value: &str) -> Option<Vec<(&'static str, Value)>> {
    let number = || integer(value).filter(|n| *n >= 0);
    let flag = || integer(value).map(|v| json!(v != 0));
    let one = |key, value| Some(vec![(key, value)]);
    match name {
        "tcp_sack" => one("sack", flag()?),
        "tcp_dsack" => one("recovery.dsack", flag()?),
        "tcp_timestamps" => one("timestamps", flag()?), // 1 and 2 differ only in the start of the clock
        "tcp_window_scaling" => one("window.scaling", json!(if number()? == 0 { "off" } else { "on" })),
        "tcp_ecn_fallback" => one("ecn.fallback", flag()?),
        "tcp_ecn" => {
            one("ecn.mode", json!(["off", "rfc3168", "passive", "accurate"].get(number()? as usize)?))
        }
        "tcp_frto" => one("recovery.frto", json!(if number()? == 0 { "off" } else { "sack" })),
        "tcp_slow_start_after_idle" => {
            one("cwnd.idle_restart", json!(if number()? == 0 { "off" } else { "rfc2861" }))
        }
        // Since Linux 4.13 the parameter tcp_early_retrans only enables the tail loss probe.
        "tcp_early_retrans" => one("recovery.tail_loss_probe", json!(number().filter(|n| *n <= 4)? >= 3)),
        // The bits of tcp_recovery mean: 1 RACK, 2 static reordering window, 4 no threshold of
        // duplicate ACKs.
        "tcp_recovery" => one("recovery.rack", json!(number().filter(|n| *n <= 1)? == 1)),
        "tcp_reordering" => one("recovery.duplicate_acks", json!(format!("{} packets", number()?))),
        "tcp_max_reordering" => one("recovery.reordering_max", json!(format!("{} packets", number()?))),
        "tcp_syn_retries" => one("connection.syn_retries", json!(number()?)),
        "tcp_synack_retries" => one("connection.synack_retries", json!(number()?)),
        "tcp_syn_linear_timeouts" => one("connection.syn_linear_timeouts", json!(number()?)),
        "tcp_retries2" => one("connection.retries", json!(number()?)),
        "tcp_rto_min_us" => one("rto.min", json!(format!("{} us", number()?))),
        "tcp_rto_max_ms" => one("rto.max", json!(format!("{} ms", number()?))),
        "tcp_min_snd_mss" => one("connection.min_mss", json!(format!("{} B", number()?))),
        "tcp_invalid_ratelimit" => one("details.invalid_ack_spacing", json!(format!("{} ms", number()?))),
        "tcp_rmem" => {
            // The initial receive window is half of the default size of the receive buffer. The
            // maximum size of the receive buffer determines the window scale option
            // (tcp_select_initial_window).
            let [_, usual, most] = integers(value)?;
            let shift = (0..14).find(|s| most >> s <= 65_535).unwrap_or(14);
            let window = format!("{} B", (usual / 2).clamp(1, 65_535));
            let tuning = ("window.tuning", json!("off"));
            Some(vec![("receive_window", json!(window)), ("window.shift", json!(shift)), tuning])
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tcp::Tcp;

    fn kernel() -> Kernel {
        Kernel::new(Tcp::of_stack("linux", &json!({})).unwrap())
    }

    fn after(name: &str, value: &str) -> Kernel {
        let mut kernel = kernel();
        set(&mut kernel, name, value).unwrap_or_else(|e| panic!("{e}"));
        kernel
    }

    #[test]
    fn kernel_parameters_set_tcp_parameters() {
        let tcp = |name: &str, value: &str| after(&format!("net.ipv4.tcp_{name}"), value).tcp;
        assert_eq!(tcp("reordering", "5").recovery.duplicate_acks, units::Packets(5.0));
        assert_eq!(tcp("ecn", "0x1").ecn.mode, tcp::Ecn::Rfc3168);
        assert_eq!(tcp("ecn", "2").ecn.mode, tcp::Ecn::Passive);
        assert!(tcp("timestamps", "2").timestamps);
        assert_eq!(
            (tcp("recovery", "0x0").recovery.rack, tcp("recovery", "0x1").recovery.rack),
            (false, true)
        );
        assert_eq!(
            (
                tcp("early_retrans", "3").recovery.tail_loss_probe,
                tcp("early_retrans", "0").recovery.tail_loss_probe
            ),
            (true, false)
        );
        let window = tcp("rmem", "4096 8192 0x400000");
        assert_eq!((window.receive_window, window.window.shift), (units::Bytes(4096), Some(7)));
        let kernel = after("net.ipv4.tcp_fin_timeout", "5");
        assert_eq!((kernel.fin_timeout, kernel.orphan_retries), (Some(Duration::from_millis(5000)), Some(8)));
        assert_eq!(after("net.core.somaxconn", "5").somaxconn, 5);
        assert_eq!(after("net.ipv4.tcp_orphan_retries", "0").orphan_retries, Some(8));
    }

    #[test]
    fn parameters_without_an_effect_are_accepted() {
        let plain = kernel().tcp;
        for (name, value) in [
            ("mtu_probing", "0"),
            ("comp_sack_nr", "0"),
            ("wmem", "4096 16384 4194304"),
            ("mem", "94446 125928 188892"),
            ("autocorking", "1"),
            ("tso_win_divisor", "3"),
            ("allowed_congestion_control", "reno cubic bbr"),
            ("pacing_ss_ratio", "200"),
        ] {
            assert_eq!(after(&format!("net.ipv4.tcp_{name}"), value).tcp, plain, "{name}");
        }
        for name in ["net.ipv4.ip_local_port_range", "net.ipv4.conf.all.rp_filter", "net.core.default_qdisc"]
        {
            assert_eq!(after(name, "1").tcp, plain);
        }
    }

    #[test]
    fn unsupported_parameters_are_refused() {
        for (name, value) in [
            ("net.ipv4.tcp_mtu_probing", "2"),
            ("net.ipv4.tcp_new_thing", "1"),
            ("net.ipv4.tcp_congestion_control", "quic"),
            ("net.ipv4.tcp_recovery", "0x3"),
            ("net.ipv4.tcp_ecn", "9"),
            ("net.ipv4.tcp_wmem", "4096 4096 4096"),
            ("net.ipv4.tcp_comp_sack_nr", "44"),
            ("net.ipv4.tcp_tso_win_divisor", "8"),
            ("net.ipv4.tcp_retries2", "0"),
            ("net.ipv4.tcp_fastopen", "0x100"),
            ("net.ipv4.tcp_fastopen_key", "a1a1a1a1"),
            ("net.ipv4.tcp_fastopen_blackhole_timeout_sec", "3600"),
            ("net.ipv4.tcp_sack", "yes"),
            ("net.ipv4.tcp_sack", ""),
            ("net.ipv4.vs", "1"),
            ("net.core.new_thing", "1"),
            ("kernel.panic", "1"),
            ("net", "1"),
        ] {
            let e = set(&mut kernel(), name, value).unwrap_err();
            assert_eq!(e, format!("sysctl {name}={value}{}", why(name)));
        }
    }
}
