//! Sets of parameters under a name.

use units::Read;
use units::param::{Invalid, Json};

use crate::config::Tcp;
use crate::congestion::Algorithm;

/// What a preset changes of the defaults.
fn changes(name: &str) -> Option<Json> {
    Some(match name {
        // What the RFCs ask of every host, and no option.
        "rfc" => serde_json::json!({
            "recovery": "newreno",
            "fast_retransmit_timer": "runs-on",
            "window_scaling": "off",
            "nagle": "rfc896",
            "delayed_ack_unit": "full-segments",
            "msl": "120 s",
        }),
        // Linux 6 as it comes.
        "linux" => serde_json::json!({
            "congestion": {"kind": "cubic", "slow_start": {"kind": "standard", "limit": "255 packets"}},
            "recovery": "sack",
            "sack": true,
            "timestamps": true,
            "window_scaling": "on",
            "limited_transmit": true,
            "ssthresh_from": "cwnd",
            "rate_reduction": "prr",
            "rack": true,
            "tail_loss_probe": true,
            "tlp_max_ack_delay": "200 ms",
            "tlp_slack": "2 ms",
            "frto": "original",
            "eifel": true,
            "fast_retransmit_timer": "first-restarts",
            "recovery_exit": "deflate-and-open",
            "nagle": "minshall",
            "quick_ack": "16 packets",
            "delayed_ack_unit": "full-segments",
            "delayed_ack_timeout": "40 ms",
            "rto_estimator": "linux",
            "rto_min": "200 ms",
            "rto_max": "120 s",
            "idle_restart": "rfc2861",
            "cwnd_counts": "delivered",
            "cwnd_validation": "limited",
            "flight_unit": "segments",
            "zero_window_probe": "old-sequence",
            "ecn": "passive",
            "ecn_least_window": "2 packets",
            "ecn_echo": "linux",
            "ece_growth": "as-any-ack",
            "syn_retries": 6,
            "syn_linear_timeouts": 4,
            "synack_retries": 5,
            "syn_losses_forgiven": 1,
            "spurious_response": "restore",
            "least_mss": "48 B",
            "invalid_ack_spacing": "500 ms",
            "user_timeout_from": "first-retransmission",
            "msl": "30 s",
        }),
        _ => return None,
    })
}

/// Parameters of a preset's controller that are not its own: every controller that has them gets them.
const SHARED: [&str; 2] = ["slow_start", "avoidance"];

/// Lays what a preset says of its controller under the controller that is `named` beside it: all of it if it is the same
/// one, otherwise how slow start and avoidance work.
fn keep(named: &mut Json, preset: &Json) {
    if named.is_string() {
        *named = serde_json::json!({"kind": named});
    }
    let (Some(named), Some(preset)) = (named.as_object_mut(), preset.as_object()) else { return };
    let kind = named.get("kind").and_then(Json::as_str).unwrap_or("");
    let params = Algorithm::params_of(kind).unwrap_or_default();
    let same = preset.get("kind").and_then(Json::as_str) == Some(kind);
    for (key, value) in preset {
        let fits = params.iter().any(|p| p.name == key) && (same || SHARED.contains(&key.as_str()));
        if fits && !named.contains_key(key) {
            named.insert(key.clone(), value.clone());
        }
    }
}

impl Tcp {
    /// Names of the presets.
    pub const PRESETS: [&'static str; 2] = ["rfc", "linux"];

    /// The parameters of a preset, with `more` laid over them.
    pub fn preset(name: &str, more: &Json) -> Result<Self, Invalid> {
        if changes(name).is_none() {
            return Err(Invalid::new("preset", &Json::from(name), "is no preset: there are rfc and linux"));
        }
        let mut all = more.clone();
        if let Some(map) = all.as_object_mut() {
            map.insert("preset".into(), name.into());
        }
        Tcp::expand(&mut all);
        Tcp::read(&all, "tcp")
    }

    /// Writes out the preset that a document of parameters names, under what it says itself. What is wrong
    /// with the name is told when the document is read.
    pub fn expand(document: &mut Json) {
        let Some(map) = document.as_object_mut() else { return };
        let Some(Json::Object(preset)) = map.get("preset").and_then(Json::as_str).and_then(changes) else {
            return;
        };
        if let (Some(named), Some(kept)) = (map.get_mut("congestion"), preset.get("congestion")) {
            keep(named, kept);
        }
        for (key, value) in preset {
            map.entry(key).or_insert(value);
        }
    }

    /// The same for a document that changes parameters of this preset, unless it names one itself.
    pub fn expand_change(document: &mut Json, preset: &str) {
        if document.get("preset").is_some() {
            return Tcp::expand(document);
        }
        if let (Some(named), Some(preset)) = (document.get_mut("congestion"), changes(preset))
            && let Some(kept) = preset.get("congestion")
        {
            keep(named, kept);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_is_valid() {
        for name in Tcp::PRESETS {
            Tcp::preset(name, &serde_json::json!({"mss": "1000 B"})).unwrap();
        }
        assert!(Tcp::preset("bsd", &Json::Null).unwrap_err().to_string().contains("rfc and linux"));
    }

    /// Slow start is the preset's, whatever controller is named beside it, unless that says otherwise.
    #[test]
    fn a_controller_beside_a_preset_keeps_its_slow_start() {
        let slow_start =
            |more: Json| Tcp::preset("linux", &more).unwrap().congestion.write()["slow_start"].clone();
        let kept = slow_start(serde_json::json!({}));
        assert_eq!(kept["limit"], "255 packets");
        for named in [
            serde_json::json!("reno"),
            serde_json::json!({"kind": "westwood"}),
            serde_json::json!({"kind": "cubic", "beta": 0.8}),
        ] {
            assert_eq!(slow_start(serde_json::json!({"congestion": named})), kept, "{named}");
        }
        let own = serde_json::json!({"kind": "reno", "slow_start": "standard"});
        assert_eq!(slow_start(serde_json::json!({"congestion": own}))["limit"], "1 packet");
        for none in ["bbr", "vegas", "ledbat"] {
            Tcp::preset("linux", &serde_json::json!({"congestion": none})).unwrap();
        }
        let mut change = serde_json::json!({"congestion": "reno"});
        Tcp::expand_change(&mut change, "linux");
        assert_eq!(change["congestion"]["slow_start"]["limit"], "255 packets");
        let mut change = serde_json::json!({"congestion": "reno", "preset": "rfc"});
        Tcp::expand_change(&mut change, "linux");
        assert_eq!(change["congestion"], "reno");
    }
}
