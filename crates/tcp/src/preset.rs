//! Sets of parameters under a name.

use units::Read;
use units::param::{Invalid, Json};

use crate::config::Tcp;
use crate::congestion::Algorithm;
use crate::presumed;

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
            "congestion": "cubic",
            "recovery": "sack",
            "sack": true,
            "timestamps": true,
            "window_scaling": "on",
            "window_tuning": "linux",
            "segment_memory": "fragments",
            "ack_of_unsent": "dropped",
            "old_acks": "rfc5961",
            "missing_timestamp": "accepted",
            "fin_waits": "no",
            "limited_transmit": true,
            "ssthresh_from": "cwnd",
            "rate_reduction": "prr",
            "rack": true,
            "rack_times": "linux",
            "reordering": "linux",
            "tail_loss_probe": true,
            "tlp_max_ack_delay": "200 ms",
            "timer_slack": "2 ms",
            "timeout_in_recovery": "keeps",
            "sack_after_timeout": "kept",
            "loss_window": "flight-and-segment",
            "frto": "original",
            "eifel": true,
            "fast_retransmit_timer": "first-restarts",
            "recovery_exit": "deflate-and-open",
            "nagle": "minshall",
            "push": "linux",
            "send_buffer": "linux",
            "quick_ack": "16 packets",
            "push_ack": true,
            "compressed_acks": "44 packets",
            "delayed_ack_unit": "full-segments",
            "delayed_ack_timeout": "40 ms",
            "rto_estimator": "linux",
            "rto_min": "200 ms",
            "rto_max": "120 s",
            "idle_restart": "rfc2861",
            "cwnd_counts": "delivered",
            "without_sack": "delivered",
            "sacked_growth": "once-reordered",
            "cwnd_validation": "limited",
            "flight_unit": "segments",
            "zero_window_probe": "old-sequence",
            "ecn": "passive",
            "ecn_fallback": true,
            "ecn_least_window": "2 packets",
            "ecn_at_one_segment": "go-on",
            "ecn_reduction_ends": "above",
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

/// Lays what a preset says of a congestion control under what was said of it, and of the one that it modifies.
fn keep(said: &mut Json, preset: &str) {
    if said.is_string() {
        *said = serde_json::json!({"kind": said});
    }
    let Some(said) = said.as_object_mut() else { return };
    let kind = said.get("kind").and_then(Json::as_str).unwrap_or("").to_string();
    if let ("linux", Json::Object(changes)) = (preset, Algorithm::in_linux(&kind)) {
        for (key, value) in changes {
            said.entry(key).or_insert(value);
        }
    }
    if let Some(over) = said.get_mut("over") {
        keep(over, preset);
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
        Tcp::expand(&mut all, &Json::Null);
        Tcp::read(&all, "tcp")
    }

    /// Writes out what a document of parameters presumes, and the preset that it names, under what it says itself; `base` has
    /// what it changes, as that was said. What is wrong with the name is told when the document is read.
    pub fn expand(document: &mut Json, base: &Json) {
        presumed::lay(document, base);
        let Some(map) = document.as_object_mut() else { return };
        let Some(name) = map.get("preset").and_then(Json::as_str).map(String::from) else { return };
        let Some(Json::Object(preset)) = changes(&name) else { return };
        for (key, value) in preset {
            map.entry(key).or_insert(value);
        }
        if let Some(congestion) = map.get_mut("congestion") {
            keep(congestion, &name);
        }
        presumed::lay(document, base); // what the preset's own recovery cannot have
    }

    /// The same for a document that changes parameters of this preset, unless it names one itself.
    pub fn expand_change(document: &mut Json, base: &Json, preset: &str) {
        if document.get("preset").is_some() {
            return Tcp::expand(document, base);
        }
        presumed::lay(document, base);
        if changes(preset).is_some()
            && let Some(congestion) = document.get_mut("congestion")
        {
            keep(congestion, preset);
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

    /// What the preset says of a controller holds wherever it is named, unless it is said otherwise.
    #[test]
    fn a_controller_beside_a_preset_is_the_presets() {
        let congestion = |said: Json| {
            Tcp::preset("linux", &serde_json::json!({"congestion": said})).unwrap().congestion.write()
        };
        let linux = Tcp::preset("linux", &serde_json::json!({})).unwrap().congestion.write();
        assert_eq!(linux["slow_start"]["kind"], "hybrid");
        assert_eq!(linux, congestion("cubic".into()));
        assert_eq!(congestion(serde_json::json!({"kind": "cubic", "beta": 0.8}))["arithmetic"], "linux");
        for kind in
            ["reno", "dctcp", "westwood", "illinois", "htcp", "scalable", "highspeed", "vegas", "prague"]
        {
            let said = congestion(kind.into());
            assert_eq!(said["slow_start"]["limit"], "255 packets", "{kind}");
            assert_eq!(said["slow_start"]["at_ssthresh"], "stops", "{kind}");
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
        let mut change = serde_json::json!({"congestion": "reno", "preset": "rfc"});
        Tcp::expand_change(&mut change, &Json::Null, "linux");
        assert_eq!(change["congestion"], serde_json::json!({"kind": "reno"}));
    }
}
