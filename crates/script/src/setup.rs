//! With what a script is run: parameters of TCP, and how exact times must be.

use serde_json::{Map, Value, json};
use tcp::Tcp;
use units::param::{Invalid, merge};
use units::{Duration, Read};

/// How a script is run.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Parameters of sockets, before the script changes them.
    pub tcp: Tcp,
    /// How far times may be off, unless the script says; default 4 ms.
    pub tolerance: Option<Duration>,
    /// The shell scripts that prepare the host, as far as they are at hand, by the names that the script has for them:
    /// what is not understood in their texts is told in the timeline, and passed over.
    pub preparation: Vec<(String, String)>,
    /// Words that stand for other texts in the script (packetdrill's `-D NAME=value`).
    pub defines: Vec<(String, String)>,
}

impl Setup {
    /// Parameters of a stack, with changes, and a tolerance such as "4 ms".
    pub fn read(preset: &str, changes: &Value, tolerance: Option<&str>) -> Result<Setup, Invalid> {
        let tolerance = tolerance.map(|t| Duration::read(&json!(t), "tolerance")).transpose()?;
        if !Tcp::STACKS.contains(&preset) {
            return Err(Invalid::new("preset", &json!(preset), "is unknown").remedy("choose rfc or linux"));
        }
        let mut all = Map::new();
        if preset == "linux" {
            // A socket of Linux begins with this window, and with a shift for the 6 MiB that it may grow to. Its packets come
            // from a TUN device, and what a call writes is in the buffer when it returns.
            let socket = json!({
                "receive_window": "65535 B",
                "window": {"shift": 7},
                "memory": {"segment": "linear"},
                "send_buffer": "unlimited",
            });
            all.extend(socket.as_object().cloned().unwrap_or_default());
        }
        merge(&mut all, changes.as_object().unwrap_or(&Map::new()));
        Ok(Setup {
            tcp: Tcp::of_stack(preset, &Value::Object(all))?,
            tolerance,
            preparation: Vec::new(),
            defines: Vec::new(),
        })
    }
}
