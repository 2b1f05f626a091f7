//! Changes of the parameters of [`tcp::Tcp`], by path.

use serde_json::{Value, json};
use tcp::Tcp;
use units::Read;
use units::param::Params;

/// Return `tcp` with changed parameters, given as paths and values, or `Err` if a parameter is
/// invalid.
pub fn change(tcp: &Tcp, changes: &[(&str, Value)]) -> Result<Tcp, String> {
    let mut document = tcp.write();
    for (path, value) in changes {
        put(&mut document, path, value.clone());
    }
    Tcp::expand(&mut document, &Value::Null);
    Tcp::read(&document, "tcp").map_err(|e| e.to_string())
}

/// Return `tcp` with one parameter set by its path, as `tcp.rto.min=1 s`; `Err` if it is invalid.
pub fn set(tcp: &Tcp, setting: &str) -> Result<Tcp, String> {
    let Some((path, value)) = setting.split_once('=') else {
        return Err(format!("{setting:?} is not a setting; write tcp.key=value"));
    };
    let value = serde_json::from_str(value).unwrap_or_else(|_| json!(value));
    change(tcp, &[(path.strip_prefix("tcp.").unwrap_or(path), value)])
}

/// Set the value at a path. If a table of parameters has a shorthand, a text in its place sets the
/// key that the shorthand stands for.
fn put(document: &mut Value, path: &str, value: Value) {
    let shorthand = Tcp::shorthand_of(path).filter(|_| value.is_string());
    let mut at = document;
    for key in path.split('.').chain(shorthand) {
        if !at.is_object() {
            *at = json!({});
        }
        at = &mut at[key];
    }
    *at = value;
}
