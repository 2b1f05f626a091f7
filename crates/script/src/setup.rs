//! With what a script is run: parameters of TCP, and how exact times must be.

use serde_json::{Value, json};
use tcp::Tcp;
use units::param::Invalid;
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
    /// Parameters of a preset, with changes, and a tolerance such as "4 ms".
    pub fn read(preset: &str, changes: &Value, tolerance: Option<&str>) -> Result<Setup, Invalid> {
        let tolerance = tolerance.map(|t| Duration::read(&json!(t), "tolerance")).transpose()?;
        let mut changes = changes.clone();
        if let ("linux", Some(map)) = (preset, changes.as_object_mut()) {
            // A socket of Linux begins with this window, and with room for the 6 MiB that it may grow to.
            map.entry("receive_window").or_insert_with(|| json!("65535 B"));
            map.entry("window_shift").or_insert_with(|| json!(7));
            // Its packets come from a TUN device, and what a call writes is in the buffer when it returns.
            map.entry("segment_memory").or_insert_with(|| json!("linear"));
            map.entry("send_buffer").or_insert_with(|| json!("unlimited"));
        }
        Ok(Setup {
            tcp: Tcp::preset(preset, &changes)?,
            tolerance,
            preparation: Vec::new(),
            defines: Vec::new(),
        })
    }
}
