//! What a kernel parameter means here: names of Linux (ip-sysctl) into parameters of [`tcp::Tcp`].

use serde_json::{Value, json};
use tcp::Tcp;
use units::Read;

/// Parameters that say nothing about one connection on an idle host.
const HARMLESS: &[&str] = &[
    "tcp_abort_on_overflow",
    "tcp_adv_win_scale",
    "tcp_allowed_congestion_control",
    "tcp_app_win",
    "tcp_autocorking",
    "tcp_base_mss",
    "tcp_challenge_ack_limit",
    "tcp_fack",
    "tcp_fastopen",
    "tcp_fastopen_key",
    "tcp_invalid_ratelimit",
    "tcp_keepalive_intvl",
    "tcp_keepalive_probes",
    "tcp_keepalive_time",
    "tcp_limit_output_bytes",
    "tcp_low_latency",
    "tcp_max_orphans",
    "tcp_max_reordering",
    "tcp_max_syn_backlog",
    "tcp_max_tw_buckets",
    "tcp_mem",
    "tcp_min_rtt_wlen",
    "tcp_min_snd_mss",
    "tcp_min_tso_segs",
    "tcp_moderate_rcvbuf",
    "tcp_no_metrics_save",
    "tcp_no_ssthresh_metrics_save",
    "tcp_orphan_retries",
    "tcp_pacing_ca_ratio",
    "tcp_pacing_ss_ratio",
    "tcp_probe_interval",
    "tcp_probe_threshold",
    "tcp_reflect_tos",
    "tcp_tso_rtt_log",
    "tcp_tso_win_divisor",
    "tcp_tw_reuse",
    "tcp_wmem",
    "tcp_workaround_signed_windows",
];

/// Parameters that are understood only as they stand by default.
const ONLY: &[(&str, &str)] = &[
    ("tcp_comp_sack_nr", "0"),
    ("tcp_comp_sack_delay_ns", "0"),
    ("tcp_fin_timeout", "60"),
    ("tcp_migrate_req", "0"),
    ("tcp_mtu_probing", "0"),
    ("tcp_notsent_lowat", "4294967295"),
    ("tcp_notsent_lowat", "-1"),
    ("tcp_plb_enabled", "0"),
    ("tcp_retrans_collapse", "0"),
    ("tcp_retrans_collapse", "1"),
    ("tcp_retries1", "3"),
    ("tcp_rfc1337", "0"),
    ("tcp_shrink_window", "0"),
    ("tcp_stdurg", "0"),
    ("tcp_syncookies", "0"),
    ("tcp_syncookies", "1"),
    ("tcp_syn_linear_timeouts", "0"),
    ("tcp_thin_dupack", "0"),
    ("tcp_thin_linear_timeouts", "0"),
];

/// Changes of parameters that `name = value` stands for; `None`: not understood.
fn meaning(name: &str, value: &str) -> Option<Vec<(&'static str, Value)>> {
    let flag = || value.parse::<i64>().ok().map(|v| json!(v != 0));
    let number = || value.parse::<u64>().ok();
    Some(match name {
        "tcp_sack" => vec![("sack", flag()?)],
        "tcp_ecn_fallback" => vec![("ecn_fallback", flag()?)],
        "tcp_dsack" => vec![("dsack", flag()?)],
        "tcp_timestamps" => vec![("timestamps", flag()?)],
        "tcp_frto" => vec![("frto", json!(if number()? == 0 { "off" } else { "sack" }))],
        "tcp_slow_start_after_idle" => {
            vec![("idle_restart", json!(if number()? == 0 { "off" } else { "rfc2861" }))]
        }
        "tcp_window_scaling" => {
            vec![("window_scaling", json!(if number()? == 0 { "off" } else { "on" }))]
        }
        "tcp_ecn" => {
            let kind = match number()? {
                0 => "off",
                1 => "rfc3168",
                2 => "passive",
                3 => "accurate",
                _ => return None,
            };
            vec![("ecn", json!(kind))]
        }
        "tcp_congestion_control" => vec![("congestion", json!(value))],
        // Since Linux 4.13 the parameter only turns the tail loss probe on and off.
        "tcp_early_retrans" => vec![("tail_loss_probe", json!(number()? >= 3))],
        "tcp_recovery" => match number()? {
            v @ 0..=1 => vec![("rack", json!(v == 1))],
            _ => return None,
        },
        "tcp_reordering" => vec![("duplicate_acks", json!(format!("{} packets", number()?)))],
        "tcp_syn_retries" | "tcp_synack_retries" => vec![("syn_retries", json!(number()?))],
        "tcp_retries2" => vec![("retries", json!(number()?))],
        "tcp_rto_min_us" => vec![("rto_min", json!(format!("{} us", number()?)))],
        "tcp_rto_max_ms" => vec![("rto_max", json!(format!("{} ms", number()?)))],
        "tcp_rmem" => {
            // Half of the default is window at first; the most decides the shift (tcp_select_initial_window).
            let sizes: Vec<u64> = value.split_whitespace().map(str::parse).collect::<Result<_, _>>().ok()?;
            let [_, usual, most] = sizes[..] else { return None };
            let shift = (0..14).find(|s| most >> s <= 65_535).unwrap_or(14);
            vec![
                ("receive_window", json!(format!("{} B", (usual / 2).clamp(1, 65_535)))),
                ("window_shift", json!(shift)),
            ]
        }
        _ if HARMLESS.contains(&name) || ONLY.contains(&(name, value)) => vec![],
        _ => return None,
    })
}

/// `tcp` with parameters changed; `Err`: why not.
pub fn change(tcp: &Tcp, changes: &[(&'static str, Value)]) -> Result<Tcp, String> {
    let mut document = tcp.write();
    if let Value::Object(map) = &mut document {
        map.extend(changes.iter().map(|(key, value)| ((*key).to_string(), value.clone())));
    }
    Tcp::read(&document, "tcp").map_err(|e| e.to_string())
}

/// `tcp` with one parameter set by its path, as `tcp.congestion.kind=cubic`; `Err`: why not.
pub fn set(tcp: &Tcp, setting: &str) -> Result<Tcp, String> {
    let Some((path, value)) = setting.split_once('=') else {
        return Err(format!("{setting:?} is no setting: write tcp.key=value"));
    };
    let value = serde_json::from_str(value).unwrap_or_else(|_| json!(value));
    let mut document = tcp.write();
    let mut at = &mut document;
    for key in path.strip_prefix("tcp.").unwrap_or(path).split('.') {
        if !at.is_object() {
            *at = json!({});
        }
        at = &mut at[key];
    }
    *at = value;
    Tcp::read(&document, "tcp").map_err(|e| e.to_string())
}

/// `tcp` with a kernel parameter set; `Err`: it is not supported.
pub fn sysctl(tcp: &Tcp, name: &str, value: &str) -> Result<Tcp, String> {
    let unsupported = || format!("sysctl {name}={value}");
    let Some(short) = name.strip_prefix("net.ipv4.") else {
        return if name.starts_with("net.core.") { Ok(tcp.clone()) } else { Err(unsupported()) };
    };
    if !short.starts_with("tcp_") {
        let harmless = short.starts_with("ip_") || short.starts_with("route.") || short.starts_with("conf.");
        return if harmless { Ok(tcp.clone()) } else { Err(unsupported()) };
    }
    change(tcp, &meaning(short, value).ok_or_else(unsupported)?).map_err(|_| unsupported())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernel_parameters_become_ours() {
        let tcp = Tcp::default();
        let changed = sysctl(&tcp, "net.ipv4.tcp_reordering", "5").unwrap();
        assert_eq!(changed.duplicate_acks, units::Packets(5.0));
        assert_eq!(sysctl(&tcp, "net.ipv4.tcp_ecn", "1").unwrap().ecn, tcp::Ecn::Rfc3168);
        assert_eq!(sysctl(&tcp, "net.ipv4.tcp_mtu_probing", "0"), Ok(tcp.clone()));
        assert_eq!(sysctl(&tcp, "net.core.somaxconn", "5"), Ok(tcp));
    }

    #[test]
    fn what_is_not_understood_is_told() {
        let tcp = Tcp::default();
        for (name, value) in [
            ("net.ipv4.tcp_mtu_probing", "2"),
            ("net.ipv4.tcp_new_thing", "1"),
            ("net.ipv4.tcp_congestion_control", "quic"),
            ("kernel.panic", "1"),
            ("net.ipv4.tcp_sack", "yes"),
        ] {
            let e = sysctl(&tcp, name, value).unwrap_err();
            assert_eq!(e, format!("sysctl {name}={value}"));
        }
    }
}
