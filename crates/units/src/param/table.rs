//! Functions that read and write tables of keys and values.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use super::{Invalid, Params, Read, Renamed, did_you_mean, join};

/// Return the table at `path`, or an error if the value has another type.
pub fn object<'a>(value: &'a Value, path: &str) -> Result<&'a Map<String, Value>, Invalid> {
    value.as_object().ok_or_else(|| Invalid::new(path, value, "must be a table of keys and values"))
}

/// Return `value` as a table of parameters, or an error if `value` is not a table. The error lists
/// keys of the struct.
pub fn table<'a, T: Params>(value: &'a Value, path: &str) -> Result<&'a Map<String, Value>, Invalid> {
    let map = object(value, path).map_err(|refusal| match T::KEYS {
        [] => refusal,
        known => refusal.remedy(format!("its keys are {}", some(known))),
    })?;
    refuse_unknown(map, T::KEYS, path).map_err(|refusal| match Renamed::refuse(T::RENAMED, map, path) {
        Err(renamed) => renamed,
        Ok(()) => refusal.explained(T::KEYS, T::KEY),
    })?;
    Ok(map)
}

/// If `value` is a text that stands for a table with one key, return this table. If `value` does
/// not stand for a table with one key, return `value` unchanged.
pub fn longhand<'a>(value: &'a Value, shorthand: Option<&str>) -> Cow<'a, Value> {
    match shorthand.filter(|_| value.is_string()) {
        Some(key) => Cow::Owned(json!({ key: value })),
        None => Cow::Borrowed(value),
    }
}

/// Set the given keys in a table, and in tables inside it. If a table has the key `kind`, the table
/// is replaced as a whole.
pub fn merge(base: &mut Map<String, Value>, over: &Map<String, Value>) {
    for (key, value) in over {
        match (base.get_mut(key), value) {
            (Some(Value::Object(below)), Value::Object(above))
                if !below.contains_key("kind") && !above.contains_key("kind") =>
            {
                merge(below, above);
            }
            _ => drop(base.insert(key.clone(), value.clone())),
        }
    }
}

/// Return the first few of `names`, and the number of names that are left out.
fn some(names: &[&str]) -> String {
    match names.len().saturating_sub(4) {
        0 => names.join(", "),
        more => format!("{} and {more} more", names[..4].join(", ")),
    }
}

/// Return a key as TOML writes it: in quotation marks, unless it is a bare word.
fn quoted(key: &str) -> String {
    let bare = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    if !key.is_empty() && key.chars().all(bare) { key.into() } else { Value::from(key).to_string() }
}

/// Refuse a key that is not in `known`, and suggest the most similar known key.
pub fn refuse_unknown(map: &Map<String, Value>, known: &[&str], path: &str) -> Result<(), Invalid> {
    for key in map.keys() {
        if !known.contains(&key.as_str()) {
            let path = join(path, quoted(key));
            return Err(Invalid::at(&path, "is not a known key").remedy(did_you_mean(key, known)));
        }
    }
    Ok(())
}

/// Return the key of a field of a struct. For example, the key of `r#match` is `match`.
pub const fn key(field: &'static str) -> &'static str {
    match field.as_bytes() {
        [b'r', b'#', ..] => field.split_at(2).1,
        _ => field,
    }
}

/// Return the error about a missing key, with the first sentence of the key's meaning.
pub fn missing<T: Read>(path: &str, meaning: &str) -> Invalid {
    let first = meaning.split(". ").next().unwrap_or(meaning);
    let has_article = ["A ", "An ", "The "].iter().any(|article| first.starts_with(article));
    let article = if has_article { "" } else { "the " };
    let holds = format!("is missing; this required key gives {article}{}", continued(first));
    let invalid = Invalid::at(path, holds);
    if T::EXAMPLE.is_empty() {
        invalid
    } else {
        invalid.remedy(format!("write for example \"{}\"", T::EXAMPLE))
    }
}

/// Change a sentence so that it can continue another sentence. The full stop of the sentence is
/// removed, and its first letter loses its capital, except in names and acronyms.
fn continued(sentence: &str) -> String {
    let sentence = sentence.strip_suffix('.').unwrap_or(sentence);
    let mut letters = sentence.chars();
    match (letters.next(), letters.clone().next()) {
        (Some(first), Some(second)) if second.is_lowercase() || second == ' ' => {
            first.to_lowercase().chain(letters).collect()
        }
        _ => sentence.into(),
    }
}

/// Remove the key `kind` from a table, and return the kind and the rest of the table. If `value` is
/// a text instead of a table, the text is the kind, and the rest is empty.
pub fn split_kind(value: &Value, path: &str, known: &[&str]) -> Result<(String, Value), Invalid> {
    let (kind, rest) = match value {
        Value::String(kind) => (Value::String(kind.clone()), Map::new()),
        Value::Object(map) => {
            let mut rest = map.clone();
            let Some(kind) = rest.shift_remove("kind") else {
                return Err(Invalid::at(&join(path, "kind"), "is missing")
                    .remedy(format!("choose one of {}", known.join(", "))));
            };
            (kind, rest)
        }
        _ => {
            return Err(Invalid::new(path, value, "must be a table with the key kind")
                .remedy(format!("choose one of {}", known.join(", "))));
        }
    };
    match kind.as_str() {
        Some(k) if known.contains(&k) => Ok((k.to_string(), Value::Object(rest))),
        k => Err(Invalid::new(&join(path, "kind"), &kind, "is not known")
            .remedy(did_you_mean(k.unwrap_or(""), known))),
    }
}

/// Return the parameters as a table with the additional key `kind`.
pub fn with_kind<T: Params>(x: &T) -> Value {
    let mut map = Map::from_iter([("kind".to_string(), json!(T::KEY))]);
    if let Value::Object(rest) = x.write() {
        map.extend(rest);
    }
    Value::Object(map)
}
