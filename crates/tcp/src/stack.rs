//! Stacks, which are named sets of parameters.

use units::Read;
use units::param::{Invalid, Json, merge};

use crate::config::Tcp;
use crate::congestion::Algorithm;
use crate::implied;

/// Return the parameters of a stack that differ from the defaults.
fn changes(name: &str) -> Option<Json> {
    Some(match name {
        // Parameters of a host that meets the requirements of the RFCs and uses no TCP options.
        "rfc" => serde_json::json!({
            "recovery": {"method": "newreno"},
            "rto": {"fast_retransmit": "runs-on"},
            "ack": {"unit": "full-segments"},
            "window": {"scaling": "off"},
            "connection": {"nagle": "rfc896", "msl": "120 s"},
        }),
        // Linux 6 with its default settings.
        "linux" => serde_json::json!({
            "congestion": "cubic",
            "sack": true,
            "timestamps": true,
            "send_buffer": "linux",
            "ecn": {
                "mode": "passive",
                "fallback": true,
                "repeated_syn": "ignored",
                "min_window": "2 packets",
                "at_one_segment": "go-on",
            },
            "recovery": {
                "method": "sack",
                "limited_transmit": true,
                "rack": true,
                "tail_loss_probe": true,
                "reduction": "prr",
                "frto": "original",
                "eifel": true,
                "spurious_response": "restore",
                "reordering": "linux",
                "exit": "deflate-and-open",
                "max_ack_delay": "200 ms",
                "timer_slack": "2 ms",
            },
            "rto": {
                "estimator": "linux",
                "min": "200 ms",
                "max": "120 s",
                "fast_retransmit": "first-restarts",
            },
            "ack": {
                "unit": "full-segments",
                "timeout": "40 ms",
                "quick": "16 packets",
                "push": true,
                "compressed": "44 packets",
            },
            "cwnd": {
                "ssthresh_from": "cwnd",
                "validation": "limited",
                "idle_restart": "rfc2861",
                "loss_window": "flight-and-segment",
            },
            "window": {
                "scaling": "on",
                "tuning": "linux",
            },
            "memory": {"segment": "fragments"},
            "connection": {
                "min_mss": "48 B",
                "nagle": "minshall",
                "push": "linux",
                "syn_retries": 6,
                "syn_linear_timeouts": 4,
                "synack_retries": 5,
                "syn_losses_forgiven": 1,
                "user_timeout_from": "first-retransmission",
                "msl": "30 s",
            },
            "details": {
                "ack_of_unsent": "dropped",
                "old_acks": "rfc5961",
                "missing_timestamp": "accepted",
                "fin_waits": "no",
                "rack_times": "linux",
                "ecn_echo": "linux",
                "ece_growth": "as-any-ack",
                "ecn_reduction_ends": "above",
                "timeout_in_recovery": "keeps",
                "sack_after_timeout": "kept",
                "sacked_growth": "once-reordered",
                "cwnd_counts": "delivered",
                "without_sack": "delivered",
                "flight_unit": "segments",
                "zero_window_probe": "old-sequence",
                "invalid_ack_spacing": "500 ms",
            },
        }),
        _ => return None,
    })
}

/// Insert the parameters that a stack sets for a congestion control. If this control modifies
/// another control, also insert the parameters that the stack sets for the modified control. The
/// keys of the document take precedence over the parameters of the stack.
fn apply_linux_congestion(control: &mut Json, stack: &str) {
    if control.is_string() {
        *control = serde_json::json!({"kind": control});
    }
    let Some(control) = control.as_object_mut() else { return };
    let kind = control.get("kind").and_then(Json::as_str).unwrap_or("").to_string();
    if let ("linux", Json::Object(changes)) = (stack, Algorithm::linux_defaults(&kind)) {
        for (key, value) in changes {
            control.entry(key).or_insert(value);
        }
    }
    if let Some(over) = control.get_mut("over") {
        apply_linux_congestion(over, stack);
    }
}

impl Tcp {
    /// Names of the stacks that change a default.
    pub const STACKS: [&'static str; 2] = ["rfc", "linux"];

    /// Return the parameters of a stack, changed by the parameters in `more`.
    pub fn of_stack(name: &str, more: &Json) -> Result<Self, Invalid> {
        if changes(name).is_none() {
            return Err(Invalid::new("stack", &Json::from(name), "is unknown").remedy("choose rfc or linux"));
        }
        let mut all = more.clone();
        if let Some(map) = all.as_object_mut() {
            map.insert("stack".into(), name.into());
        }
        Tcp::expand(&mut all, &Json::Null);
        Tcp::read(&all, "tcp")
    }

    /// Return every parameter that a stack sets, by table.
    pub fn implied(name: &str) -> Json {
        let mut all = serde_json::json!({ "stack": name });
        Tcp::expand(&mut all, &Json::Null);
        all
    }

    /// Return the parameters of a table of keys, including the keys that the stack and the other
    /// keys of the table imply. A program without a scenario uses this function instead of
    /// [`Tcp::read`](units::Read::read), which adds no implied keys.
    pub fn from_keys(mut keys: Json) -> Result<Tcp, Invalid> {
        Tcp::expand(&mut keys, &Json::Null);
        Tcp::read(&keys, "tcp")
    }

    /// Insert the parameters of the stack that a document names, and the implied parameters. The
    /// document's own keys take precedence. `base` contains the parameters that the document
    /// changes, as a scenario writes them. If the document names an unknown stack, the parser of
    /// the document returns an error later.
    pub fn expand(document: &mut Json, base: &Json) {
        implied::apply(document, base);
        let Some(map) = document.as_object_mut() else { return };
        let Some(name) = map.get("stack").and_then(Json::as_str).map(String::from) else { return };
        let Some(Json::Object(mut all)) = changes(&name) else { return };
        merge(&mut all, map);
        *map = all;
        if let Some(congestion) = map.get_mut("congestion") {
            apply_linux_congestion(congestion, &name);
        }
        // the document may disable SACK, which the stack's recovery requires
        implied::apply(document, base);
    }

    /// Insert into `document` the parameters that the keys of `document` imply. `document` changes
    /// parameters of the stack with the name `stack`. If the document names a stack, insert the
    /// parameters of the named stack instead of the parameters of `stack`.
    pub fn expand_change(document: &mut Json, base: &Json, stack: &str) {
        if document.get("stack").is_some() {
            return Tcp::expand(document, base);
        }
        implied::apply(document, base);
        if changes(stack).is_some()
            && let Some(congestion) = document.get_mut("congestion")
        {
            apply_linux_congestion(congestion, stack);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_stack_is_valid() {
        for name in Tcp::STACKS {
            Tcp::of_stack(name, &serde_json::json!({"mss": "1000 B"})).unwrap();
        }
        assert!(Tcp::of_stack("bsd", &Json::Null).unwrap_err().to_string().contains("choose rfc or linux"));
    }

    /// The parameters that a stack sets for a congestion control apply wherever a document names
    /// the control, unless the document sets the parameters itself.
    #[test]
    fn stack_sets_parameters_of_its_congestion_controls() {
        let congestion = |control: Json| {
            Tcp::of_stack("linux", &serde_json::json!({"congestion": control})).unwrap().congestion.write()
        };
        let linux = Tcp::of_stack("linux", &serde_json::json!({})).unwrap().congestion.write();
        assert_eq!(linux["slow_start"]["kind"], "hybrid");
        assert_eq!(linux, congestion("cubic".into()));
        assert_eq!(congestion(serde_json::json!({"kind": "cubic", "beta": 0.8}))["arithmetic"], "linux");
        for kind in
            ["reno", "dctcp", "westwood", "illinois", "htcp", "scalable", "highspeed", "vegas", "prague"]
        {
            let control = congestion(kind.into());
            assert_eq!(control["slow_start"]["limit"], "255 packets", "{kind}");
            assert_eq!(control["slow_start"]["at_ssthresh"], "stops", "{kind}");
        }
        assert_eq!(congestion("reno".into())["avoidance"], "per-window");
        assert_eq!(congestion("abe".into())["over"]["avoidance"], "per-window");
        let over = congestion(serde_json::json!({"kind": "abe", "over": "cubic"}));
        assert_eq!(over["over"]["arithmetic"], "linux");
        let own = congestion(serde_json::json!({"kind": "reno", "slow_start": "standard"}));
        assert_eq!(own["slow_start"]["limit"], "1 packet");
        for kind in ["bbr", "bbr3", "ledbat"] {
            congestion(kind.into());
        }
        let mut change = serde_json::json!({"congestion": "reno"});
        Tcp::expand_change(&mut change, &Json::Null, "linux");
        assert_eq!(change["congestion"]["slow_start"]["limit"], "255 packets");
        let mut change = serde_json::json!({"congestion": "reno", "stack": "rfc"});
        Tcp::expand_change(&mut change, &Json::Null, "linux");
        assert_eq!(change["congestion"], serde_json::json!({"kind": "reno"}));
    }
}
