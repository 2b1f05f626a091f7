//! The shell command `tc` (tc(8)): the queue discipline between the endpoint and the network
//! interface.
//!
//! The simulated interface accepts every segment at once, so the queue is always empty unless the
//! queue discipline `fq` paces segments.

use super::Effect;

/// Queue disciplines that only store packets, and neither pace nor drop them.
const STORES: [&str; 4] = ["pfifo", "bfifo", "pfifo_fast", "noqueue"];
/// Options of the queue discipline `fq` that have no effect on a single flow (tc-fq(8)).
const OF_FLOWS: [&str; 10] = [
    "buckets",
    "ce_threshold",
    "flow_limit",
    "horizon",
    "initial_quantum",
    "limit",
    "low_rate_threshold",
    "orphan_mask",
    "quantum",
    "refill_delay",
];

pub(super) fn read(words: &[String]) -> Option<Vec<Effect>> {
    let words: Vec<&str> = words.iter().map(String::as_str).filter(|w| !w.starts_with('-')).collect();
    let (object, rest) = words.split_first()?;
    if !"qdisc".starts_with(object) {
        return None;
    }
    let Some((verb, rest)) = rest.split_first() else { return Some(vec![]) }; // prints only
    let is = |names: &[&str]| names.iter().any(|n| n.starts_with(verb));
    if is(&["show", "list"]) {
        return Some(vec![]);
    }
    if is(&["delete"]) {
        return Some(vec![Effect::Qdisc { paces: false }]);
    }
    if !is(&["add", "change", "replace"]) {
        return None;
    }
    // Skip the words that give the place of the queue discipline, such as `dev tun0 root handle
    // 1:`.
    let mut rest = rest.iter();
    let kind = loop {
        match *rest.next()? {
            "dev" | "handle" => drop(rest.next()?),
            "root" => {}
            kind => break kind,
        }
    };
    let options: Vec<&str> = rest.copied().collect();
    if kind == "fq" {
        return fq(&options);
    }
    if !STORES.contains(&kind) {
        return None;
    }
    match options[..] {
        [] => Some(vec![Effect::Qdisc { paces: false }]),
        ["limit", limit] => Some(vec![store(kind, limit)?]),
        _ => None,
    }
}

/// Return the effect of a `tc` command that installs a queue discipline without pacing and without
/// AQM. The limit of the queue discipline `bfifo` is in bytes, and the limit of all other queue
/// disciplines in packets.
fn store(kind: &str, limit: &str) -> Option<Effect> {
    let digits = limit.trim_end_matches(['b', 'p']);
    let limit: u64 = digits.parse().ok()?;
    let min = if kind == "bfifo" { 65_536 } else { 1 };
    Some(if limit < min {
        Effect::Refused(format!("{kind} with limit {limit}: an interface that drops packets of TCP"))
    } else {
        Effect::Qdisc { paces: false }
    })
}

fn fq(options: &[&str]) -> Option<Vec<Effect>> {
    let mut paces = true;
    let mut options = options.iter();
    while let Some(option) = options.next() {
        match *option {
            "pacing" => paces = true,
            "nopacing" => paces = false,
            "maxrate" => {
                let rate = options.next()?;
                return Some(vec![Effect::Refused(format!("fq with maxrate {rate}"))]);
            }
            other if OF_FLOWS.contains(&other) => drop(options.next()?),
            _ => return None,
        }
    }
    Some(vec![Effect::Qdisc { paces }])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effects(text: &str) -> Option<Vec<Effect>> {
        read(&text.split_whitespace().map(String::from).collect::<Vec<_>>())
    }

    #[test]
    fn disciplines_store_or_pace() {
        let qdisc = |paces| Some(vec![Effect::Qdisc { paces }]);
        for text in [
            "qdisc add dev tun0 root pfifo",
            "qdisc replace dev tun0 root handle 1: pfifo limit 1000",
            "qdisc change dev tun0 root bfifo limit 100000b",
            "q a dev tun0 root pfifo_fast",
            "qdisc del dev tun0 root",
            "qdisc replace dev tun0 root fq nopacing",
        ] {
            assert_eq!(effects(text), qdisc(false), "{text}");
        }
        for text in ["qdisc add dev tun0 root fq", "qdisc add dev tun0 root fq flow_limit 100 pacing"] {
            assert_eq!(effects(text), qdisc(true), "{text}");
        }
        for text in ["qdisc show dev tun0", "-s qdisc", "qdisc"] {
            assert_eq!(effects(text), Some(vec![]), "{text}");
        }
    }

    #[test]
    fn unsupported_disciplines_are_refused() {
        for (text, problem) in [
            (
                "qdisc replace dev tun0 root pfifo limit 0",
                "pfifo with limit 0: an interface that drops packets of TCP",
            ),
            (
                "qdisc add dev tun0 root bfifo limit 100",
                "bfifo with limit 100: an interface that drops packets of TCP",
            ),
            ("qdisc add dev tun0 root fq maxrate 1mbit", "fq with maxrate 1mbit"),
        ] {
            assert_eq!(effects(text), Some(vec![Effect::Refused(problem.into())]), "{text}");
        }
        for text in [
            "qdisc add dev tun0 root netem delay 10ms",
            "qdisc add dev tun0 parent 1:1 pfifo",
            "qdisc add dev tun0 root fq magic 1",
            "qdisc add dev tun0 root pfifo limit",
            "qdisc add dev tun0",
            "filter add dev tun0",
            "",
        ] {
            assert_eq!(effects(text), None, "{text}");
        }
    }
}
