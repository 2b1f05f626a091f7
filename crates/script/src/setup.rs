//! Conditions under which a script runs: TCP parameters, tolerance, shell scripts and definitions.

use serde_json::{Map, Value, json};
use tcp::Tcp;
use units::param::{Invalid, merge};
use units::{Duration, Read};

/// Conditions of a run.
#[derive(Clone, Debug)]
pub struct Setup {
    /// TCP parameters of new sockets, before the script changes the parameters.
    pub tcp: Tcp,
    /// Tolerance of times, if the script does not set a tolerance. The default tolerance is 4 ms.
    pub tolerance: Option<Duration>,
    /// Shell scripts that prepare the host, each with the name that packet scripts use for it.
    /// Unsupported commands of a shell script are ignored and recorded in the timeline.
    pub preparation: Vec<(String, String)>,
    /// Defined words, each with the text that replaces the word in the script, as with
    /// packetdrill's option `-D NAME=value`.
    pub defines: Vec<(String, String)>,
}

impl Setup {
    /// Create the conditions from the name of a stack, changes of its TCP parameters, and a
    /// tolerance such as "4 ms".
    pub fn read(stack: &str, changes: &Value, tolerance: Option<&str>) -> Result<Setup, Invalid> {
        let tolerance = tolerance.map(|t| Duration::read(&json!(t), "tolerance")).transpose()?;
        if !Tcp::STACKS.contains(&stack) {
            return Err(Invalid::new("stack", &json!(stack), "is unknown").remedy("choose rfc or linux"));
        }
        let mut all = Map::new();
        if stack == "linux" {
            // A new Linux socket has a receive window of 65535 B. The window scale option of the
            // socket is sufficient for a buffer of up to 6 MiB. Packets arrive through a TUN
            // device, and a write call returns when its data is in the send buffer.
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
            tcp: Tcp::of_stack(stack, &Value::Object(all))?,
            tolerance,
            preparation: Vec::new(),
            defines: Vec::new(),
        })
    }
}
