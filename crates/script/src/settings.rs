//! Changes of TCP parameters ([`tcp::Tcp`]), each given as a path and a value.

use serde_json::{Value, json};
use tcp::Tcp;
use units::Read;
use units::param::Params;

/// Return `tcp` with changed parameters, or `Err` if a parameter is invalid. Each change is a path
/// and a value.
pub fn change(tcp: &Tcp, changes: &[(&str, Value)]) -> Result<Tcp, String> {
    let mut document = tcp.write();
    for (path, value) in changes {
        put(&mut document, path, value.clone());
    }
    Tcp::expand(&mut document, &Value::Null);
    Tcp::read(&document, "tcp").map_err(|e| e.to_string())
}

/// Return `tcp` with one changed parameter, given as in `tcp.rto.min=1 s`, or `Err` if the
/// parameter is invalid.
pub fn set(tcp: &Tcp, setting: &str) -> Result<Tcp, String> {
    let Some((path, value)) = setting.split_once('=') else {
        return Err(format!("{setting:?} is not a setting; write tcp.key=value"));
    };
    let value = serde_json::from_str(value).unwrap_or_else(|_| json!(value));
    change(tcp, &[(path.strip_prefix("tcp.").unwrap_or(path), value)])
}

/// Set the value at a path of the document. If a table of parameters has a shorthand, the document
/// may have a text in place of the table. A text in place of a table stands for a table with a
/// single key: the shorthand's key, whose value is the text.
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
