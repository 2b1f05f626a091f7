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
        let Some(mut all) = changes(name) else {
            return Err(Invalid::new("preset", &Json::from(name), "is no preset: there are rfc and linux"));
        };
        if let (Some(all), Some(more)) = (all.as_object_mut(), more.as_object()) {
            all.extend(more.clone());
        }
        Tcp::read(&all, "tcp")
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
