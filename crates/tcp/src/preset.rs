//! Sets of parameters under a name.

use units::Read;
use units::param::{Invalid, Json};

use crate::config::Tcp;

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
            "frto": "sack",
            "eifel": true,
            "recovery_exit": "deflate-and-open",
            "nagle": "minshall",
            "quick_ack": "16 packets",
            "delayed_ack_unit": "full-segments",
            "delayed_ack_timeout": "40 ms",
            "rto_estimator": "linux",
            "rto_min": "200 ms",
            "rto_max": "120 s",
            "idle_restart": "rfc2861",
            "cwnd_validation": "limited",
            "flight_unit": "segments",
            "zero_window_probe": "old-sequence",
            "ecn": "passive",
            "syn_retries": 6,
            "syn_losses_forgiven": 1,
            "spurious_response": "restore",
            "msl": "30 s",
        }),
        _ => return None,
    })
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
        for (key, value) in preset {
            map.entry(key).or_insert(value);
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
}
