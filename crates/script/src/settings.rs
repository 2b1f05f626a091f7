//! Changes of [`tcp::Tcp`] parameters by key.

use serde_json::{Value, json};
use tcp::Tcp;
use units::Read;

/// Return `tcp` with changed parameters, or an error.
pub fn change(tcp: &Tcp, changes: &[(&'static str, Value)]) -> Result<Tcp, String> {
    let mut document = tcp.write();
    if let Value::Object(map) = &mut document {
        map.extend(changes.iter().map(|(key, value)| ((*key).to_string(), value.clone())));
    }
    Tcp::expand(&mut document, &Value::Null);
    Tcp::read(&document, "tcp").map_err(|e| e.to_string())
}

/// Return `tcp` with one parameter set by its path, such as `tcp.congestion.kind=cubic`, or an
/// error.
pub fn set(tcp: &Tcp, setting: &str) -> Result<Tcp, String> {
    let Some((path, value)) = setting.split_once('=') else {
        return Err(format!("{setting:?} is not a setting; write tcp.key=value"));
    };
    let value = serde_json::from_str(value).unwrap_or_else(|_| json!(value));
    let mut document = tcp.write();
    let mut at = &mut document;
    for key in path.strip_prefix("tcp.").unwrap_or(path).split('.') {
        if !at.is_object() {
            *at = json!({});
        }
        at = &mut at[key];
    }
    *at = value;
    Tcp::expand(&mut document, &Value::Null);
    Tcp::read(&document, "tcp").map_err(|e| e.to_string())
}
