//! The shell command `ip` (ip(8)): routes and their metrics, the MTU of the link, and the cache of
//! TCP metrics.

use super::Effect;

/// Metrics of a route (ip-route(8)). The metric `features` may have several values. Each of the
/// remaining metrics has exactly one value.
const METRICS: [&str; 17] = [
    "advmss",
    "congctl",
    "cwnd",
    "fastopen_no_cookie",
    "features",
    "hoplimit",
    "initcwnd",
    "initrwnd",
    "mtu",
    "quickack",
    "reordering",
    "rto_min",
    "rtt",
    "rttvar",
    "ssthresh",
    "window",
    "realm",
];

/// Types of routes whose packets are discarded.
const CLOSED: [&str; 4] = ["unreachable", "blackhole", "prohibit", "throw"];

pub(super) fn read(words: &[String]) -> Option<Vec<Effect>> {
    let words: Vec<&str> = words.iter().map(String::as_str).filter(|w| !w.starts_with('-')).collect();
    let (object, rest) = words.split_first()?;
    match *object {
        "tcp_metrics" | "tcpmetrics" => Some(metrics(rest)),
        o if "route".starts_with(o) => route(rest),
        o if "link".starts_with(o) => link(rest),
        _ => None,
    }
}

fn metrics(rest: &[&str]) -> Vec<Effect> {
    let forgets = rest.first().is_some_and(|w| "flush".starts_with(w) || "delete".starts_with(w));
    if forgets { vec![Effect::FlushMetrics] } else { vec![] }
}

fn route(rest: &[&str]) -> Option<Vec<Effect>> {
    let (verb, rest) = rest.split_first()?;
    if "flush".starts_with(verb) {
        return rest.first().is_some_and(|w| "cache".starts_with(w)).then_some(vec![]);
    }
    let changes = ["add", "append", "change", "replace"].iter().any(|v| v.starts_with(verb));
    if !changes || rest.iter().any(|w| CLOSED.contains(w)) {
        return None;
    }
    let mut effects = Vec::new();
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        if METRICS.contains(word) {
            let value = words.next().filter(|v| **v != "lock").or_else(|| words.next())?;
            effects.push(Effect::Route((*word).to_string(), (*value).to_string()));
        }
    }
    Some(effects)
}

/// Parse the arguments of `ip link`, such as `set dev tun0 mtu 1500`.
fn link(rest: &[&str]) -> Option<Vec<Effect>> {
    let (verb, rest) = rest.split_first()?;
    let rest = if rest.first() == Some(&"dev") { &rest[1..] } else { rest };
    match rest.get(1..)? {
        ["mtu", mtu] if "set".starts_with(verb) => {
            Some(vec![Effect::Route("mtu".into(), (*mtu).to_string())])
        }
        ["up"] | ["txqueuelen" | "qlen", _] if "set".starts_with(verb) => Some(vec![]),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effects(text: &str) -> Option<Vec<Effect>> {
        read(&text.split_whitespace().map(String::from).collect::<Vec<_>>())
    }

    fn metric(name: &str, value: &str) -> Effect {
        Effect::Route(name.into(), value.into())
    }

    #[test]
    fn metrics_of_routes_and_links_are_read() {
        assert_eq!(
            effects("ro change default via 192.0.2.1 dev tun0 initcwnd 3 rto_min lock 5ms"),
            Some(vec![metric("initcwnd", "3"), metric("rto_min", "5ms")])
        );
        assert_eq!(effects("-4 route add 192.0.2.0/24 dev tun0"), Some(vec![]));
        assert_eq!(effects("link set dev tun0 mtu 1200"), Some(vec![metric("mtu", "1200")]));
        assert_eq!(effects("l s tun0 up"), Some(vec![]));
        assert_eq!(effects("tcp_metrics flush all"), Some(vec![Effect::FlushMetrics]));
        assert_eq!(effects("tcp_metrics show"), Some(vec![]));
        assert_eq!(effects("route flush cache"), Some(vec![]));
    }

    #[test]
    fn unsupported_commands_are_refused() {
        for text in
            ["route add unreachable 192.0.2.0/24", "route del default", "link set tun0 down", "addr show", ""]
        {
            assert_eq!(effects(text), None, "{text}");
        }
    }
}
