//! Conditions of a run: TCP parameters, tolerance, shell scripts and definitions.

use serde_json::{Value, json};
use tcp::Tcp;
use units::param::Invalid;
use units::{Duration, Read};

/// Conditions of a run.
#[derive(Clone, Debug)]
pub struct Setup {
    /// TCP parameters of sockets, before the script changes them.
    pub tcp: Tcp,
    /// Tolerance of times, unless the script sets it. The default is 4 ms.
    pub tolerance: Option<Duration>,
    /// Available shell scripts that prepare the host, by the name that the script uses. Unsupported
    /// commands in them are ignored and recorded in the timeline.
    pub preparation: Vec<(String, String)>,
    /// Words that are defined as other texts (packetdrill's `-D NAME=value`).
    pub defines: Vec<(String, String)>,
}

impl Setup {
    /// Create the conditions from a stack, changes of its parameters, and a tolerance such as "4
    /// ms".
    pub fn read(preset: &str, changes: &Value, tolerance: Option<&str>) -> Result<Setup, Invalid> {
        let tolerance = tolerance.map(|t| Duration::read(&json!(t), "tolerance")).transpose()?;
        let mut changes = changes.clone();
        if let ("linux", Some(map)) = (preset, changes.as_object_mut()) {
            // A Linux socket begins with this window, and with a shift for the 6 MiB that it may
            // grow to.
            map.entry("receive_window").or_insert_with(|| json!("65535 B"));
            map.entry("window_shift").or_insert_with(|| json!(7));
            // Packets arrive through a TUN device, and a write returns when its data is in the
            // buffer.
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
