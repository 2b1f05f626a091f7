//! With what a script is run: parameters of TCP, and how exact times must be.

use serde_json::{Map, Value, json};
use tcp::Tcp;
use units::param::{Invalid, did_you_mean};
use units::{Duration, Read};

/// How a script is run.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Parameters of sockets, before the script changes them.
    pub tcp: Tcp,
    /// How far times may be off, unless the script says; default 4 ms.
    pub tolerance: Option<Duration>,
}

impl Setup {
    /// Parameters of a preset, with changes, and a tolerance such as "4 ms".
    pub fn read(preset: &str, changes: &Value, tolerance: Option<&str>) -> Result<Setup, Invalid> {
        let mut document = Map::new();
        match preset {
            "rfc" => {}
            "linux" => document = linux(),
            other => {
                let known = ["linux", "rfc"];
                return Err(
                    Invalid::new("preset", &json!(other), "is not known").remedy(did_you_mean(other, &known))
                );
            }
        }
        for (key, value) in units::param::object(changes, "changes")? {
            document.insert(key.clone(), value.clone());
        }
        let tolerance = tolerance.map(|t| Duration::read(&json!(t), "tolerance")).transpose()?;
        Ok(Setup { tcp: Tcp::read(&Value::Object(document), "tcp")?, tolerance })
    }
}

/// What hosts with Linux do by default.
fn linux() -> Map<String, Value> {
    let value = json!({
        "delayed_ack_timeout": "40 ms",
        "rto_min": "200 ms",
    });
    value.as_object().cloned().unwrap_or_default()
}
