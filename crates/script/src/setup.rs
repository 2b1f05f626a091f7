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
}

impl Setup {
    /// Parameters of a preset, with changes, and a tolerance such as "4 ms".
    pub fn read(preset: &str, changes: &Value, tolerance: Option<&str>) -> Result<Setup, Invalid> {
        let tolerance = tolerance.map(|t| Duration::read(&json!(t), "tolerance")).transpose()?;
        Ok(Setup { tcp: Tcp::preset(preset, changes)?, tolerance })
    }
}
