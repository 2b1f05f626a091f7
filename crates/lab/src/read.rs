//! Reader of scenario documents in TOML or JSON. Keys on the command line override keys of the
//! document.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use units::Read;
use units::param::{Invalid, Json, JsonMap, Params, join, merge};

use tcp::Tcp;

use crate::scenario::{FORMAT, Scenario};

/// Format of a scenario document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// TOML 1.0.
    Toml,
    /// JSON.
    Json,
}

/// Maximum depth of nested tables and lists.
const MAX_DEPTH: usize = 40;

/// Parse a text as TOML or JSON, without checking its keys.
pub fn read_file_text(text: &str, format: Format) -> Result<Json, Invalid> {
    match format {
        Format::Toml => {
            let table: toml::Table = text.parse().map_err(|e: toml::de::Error| {
                syntax("TOML", toml_problem(e.message()), position(text, e.span()))
            })?;
            from_toml(&toml::Value::Table(table), "", 0)
        }
        Format::Json => serde_json::from_str(text).map_err(|e| {
            let problem = e.to_string();
            let problem = problem.split(" at line ").next().unwrap_or_default();
            let problem = problem.replace("EOF while parsing", "the text ends within");
            syntax("JSON", &problem, Some((e.line(), e.column())))
        }),
    }
}

/// Return the error message about a TOML document. If an integer has more than 64 bits, the message
/// states the minimum and the maximum of integers.
fn toml_problem(message: &str) -> &str {
    if message.starts_with("invalid type: integer") || message.contains("value was too large") {
        "an integer must be from -9223372036854775808 to 9223372036854775807"
    } else {
        message
    }
}

/// Return the line and the column at which a span of the text begins, both counted from 1.
fn position(text: &str, span: Option<std::ops::Range<usize>>) -> Option<(usize, usize)> {
    let before = text.get(..span?.start)?;
    let line = before.rsplit('\n').next()?;
    Some((before.matches('\n').count() + 1, line.chars().count() + 1))
}

/// Return the error about a text that is not valid TOML or JSON.
fn syntax(language: &str, problem: &str, position: Option<(usize, usize)>) -> Invalid {
    let position = position.map_or(String::new(), |(line, column)| format!(", line {line}, column {column}"));
    Invalid::at("", format!("not valid {language}{position}: {}", problem.trim().replace('\n', ", ")))
}

/// Convert a TOML value to the equivalent JSON value.
fn from_toml(value: &toml::Value, path: &str, depth: usize) -> Result<Json, Invalid> {
    if depth > MAX_DEPTH {
        return Err(Invalid::at(path, "is nested too deeply"));
    }
    Ok(match value {
        toml::Value::String(s) => Json::from(s.as_str()),
        toml::Value::Integer(i) => Json::from(*i),
        toml::Value::Float(f) => serde_json::Number::from_f64(*f)
            .map(Json::Number)
            .ok_or_else(|| Invalid::at(path, format!("{f} is not a finite number")))?,
        toml::Value::Boolean(b) => Json::from(*b),
        toml::Value::Datetime(d) => {
            return Err(Invalid::at(path, format!("{d} is a date, but no key accepts a date")));
        }
        toml::Value::Array(list) => Json::Array(
            list.iter()
                .enumerate()
                .map(|(i, v)| from_toml(v, &join(path, i), depth + 1))
                .collect::<Result<_, _>>()?,
        ),
        toml::Value::Table(map) => Json::Object(
            map.iter()
                .map(|(k, v)| Ok((k.clone(), from_toml(v, &join(path, k), depth + 1)?)))
                .collect::<Result<JsonMap, Invalid>>()?,
        ),
    })
}

/// Set the value at a dotted path such as `network.queue.limit` or `flows.0.tcp.ecn`. The value has
/// the syntax of TOML. A text that is not valid TOML is used as a string.
fn set(document: &mut Json, key: &str, value: &str) -> Result<(), Invalid> {
    let value = format!("x = {value}")
        .parse::<toml::Table>()
        .ok()
        .filter(|t| t.len() == 1)
        .and_then(|mut t| t.remove("x"))
        .map_or_else(|| Ok(Json::from(value)), |v| from_toml(&v, key, 0))?;
    let mut node = document;
    let mut path = String::new();
    for part in key.split('.') {
        if part.is_empty() || path.matches('.').count() > MAX_DEPTH {
            return Err(Invalid::at(key, "is not a valid path of keys")
                .remedy("write for example network.queue.limit"));
        }
        // If a string stands where a table is expected, the string is a shorthand for a table with
        // one key.
        if let Json::String(text) = node {
            *node = serde_json::json!({ shorthand(&path).unwrap_or("kind"): text });
        }
        path = join(&path, part);
        node = match node {
            Json::Array(list) => {
                let n = list.len();
                part.parse::<usize>().ok().and_then(|i| list.get_mut(i)).ok_or_else(|| {
                    let list = if n == 1 { "1 element".into() } else { format!("{n} elements") };
                    Invalid::at(&path, format!("does not exist: the list has {list}")).remedy("count from 0")
                })?
            }
            Json::Object(map) => map.entry(part).or_insert(Json::Null),
            Json::Null => {
                *node = Json::Object(JsonMap::new());
                match node {
                    Json::Object(map) => map.entry(part).or_insert(Json::Null),
                    _ => unreachable!("the statement above has set the node to an object"),
                }
            }
            other => {
                return Err(Invalid::at(&path, format!("cannot be set, because {other} is not a table")));
            }
        };
    }
    if let (Json::Object(table), Json::String(_), Some(key)) = (&mut *node, &value, shorthand(&path)) {
        table.insert(key.into(), value);
    } else {
        *node = value;
    }
    Ok(())
}

/// Return the key that a string at the path `path` sets, if the string is a shorthand for a table
/// of TCP parameters.
fn shorthand(path: &str) -> Option<&'static str> {
    let (table, key) = path.rsplit_once('.')?;
    let of_tcp = matches!(table.rsplit('.').next(), Some("tcp" | "receiver_tcp"));
    of_tcp.then(|| Tcp::shorthand_of(key)).flatten()
}

/// Parse a scenario and apply `overrides`, without checking its keys. Each override is a dotted
/// path and a value in the syntax of TOML.
pub fn document(text: &str, format: Format, overrides: &[(String, String)]) -> Result<Json, Invalid> {
    let mut document = read_file_text(text, format)?;
    if !document.is_object() {
        return Err(Invalid::new("", &document, "must be a table of keys and values"));
    }
    for (key, value) in overrides {
        set(&mut document, key, value)?;
    }
    Ok(document)
}

/// Read a scenario and apply `overrides`, as [`document`] does.
pub fn read(text: &str, format: Format, overrides: &[(String, String)]) -> Result<Scenario, Invalid> {
    let mut document = document(text, format, overrides)?;
    refuse_later_format(&document)?;
    refuse_old_keys(&document)?;
    expand_presets(&mut document);
    read_expanded(&document)
}

/// Read a document in which the presets have been expanded.
fn read_expanded(document: &Json) -> Result<Scenario, Invalid> {
    let scenario = Scenario::read(document, "")?;
    crate::build::plan(&scenario)?;
    Ok(scenario)
}

/// Refuse a scenario of a later format. Without the check of the format, keys of a later format
/// would be reported as unknown keys.
fn refuse_later_format(document: &Json) -> Result<(), Invalid> {
    match document.get("format") {
        Some(format) if format.as_u64().is_some_and(|version| version > FORMAT) => {
            let problem = format!("must be at most {FORMAT}, the format of this version of aqmlab");
            Err(Invalid::new("format", format, problem).remedy("install a later version of aqmlab"))
        }
        _ => Ok(()),
    }
}

/// Refuse the former keys of a link's reverse direction, such as `reverse_queue`. The table
/// `reverse` has replaced the keys with the prefix `reverse_`.
fn refuse_old_keys(document: &Json) -> Result<(), Invalid> {
    let network = document.get("network").unwrap_or(&Json::Null);
    let links = network.get("links").and_then(Json::as_array).into_iter().flatten().enumerate();
    let links = links.map(|(l, link)| (format!("network.links.{l}"), link));
    for (path, link) in [("network".to_string(), network)].into_iter().chain(links) {
        for key in ["queue", "condition", "rate_changes", "impairments"] {
            let old = format!("reverse_{key}");
            if link.get(&old).is_some() {
                let problem = format!("is now reverse.{key}");
                return Err(Invalid::at(&join(&path, &old), problem)
                    .remedy(format!("write reverse = {{ {key} = … }}")));
            }
        }
    }
    Ok(())
}

/// Split the JSON text of a scenario at its seed. Return the text before and after the seed, and
/// the seed. The result is `None` if the seed is not at the place at which [`write`](crate::write)
/// writes the seed.
fn around_seed(text: &str) -> Option<([&str; 2], u64)> {
    const KEY: &str = ",\"seed\":";
    let begins = text.find(KEY)? + KEY.len();
    let length = text[begins..].find(|c: char| !c.is_ascii_digit())?;
    let seed = text[begins..begins + length].parse().ok()?;
    let in_the_table = !text[1..begins].contains(['{', '[']);
    in_the_table.then_some(([&text[..begins], &text[begins + length..]], seed))
}

/// Read a scenario from a JSON text that [`write`](crate::write) returned. Such a text contains
/// every key, so its presets are already expanded.
fn read_written(text: &str) -> Result<Scenario, Invalid> {
    let document = read_file_text(text, Format::Json)?;
    refuse_later_format(&document)?;
    read_expanded(&document)
}

/// Read scenarios from JSON texts that [`write`](crate::write) returned. If several scenarios
/// differ only in their seed, the function parses their common text once.
pub fn read_all(texts: &[String]) -> Result<Vec<Scenario>, Invalid> {
    let mut scenarios: Vec<Scenario> = Vec::with_capacity(texts.len());
    let mut known: HashMap<[&str; 2], usize> = HashMap::new();
    for (i, text) in texts.iter().enumerate() {
        scenarios.push(match around_seed(text) {
            None => read(text, Format::Json, &[])?,
            Some((around, seed)) => match known.entry(around) {
                Entry::Occupied(same) => Scenario { seed, ..scenarios[*same.get()].clone() },
                Entry::Vacant(entry) => {
                    entry.insert(i);
                    read_written(text)?
                }
            },
        });
    }
    Ok(scenarios)
}

/// In a document, replace the presets of traffic and the stacks of TCP by the keys that they stand
/// for.
fn expand_presets(document: &mut Json) {
    let stack = stack_of(document, "");
    let base = document.get("tcp").cloned().unwrap_or_default();
    if let Some(tcp) = document.get_mut("tcp") {
        Tcp::expand(tcp, &Json::Null);
    }
    for flow in document.get_mut("flows").and_then(Json::as_array_mut).into_iter().flatten() {
        if let Some(traffic) = flow.get_mut("traffic") {
            traffic::expand(traffic);
        }
        let both = merged(&base, flow.get("tcp"));
        if let Some(tcp) = flow.get_mut("tcp") {
            Tcp::expand_change(tcp, &base, &stack);
        }
        let stack = stack_of(flow, &stack);
        if let Some(tcp) = flow.get_mut("receiver_tcp") {
            Tcp::expand_change(tcp, &both, &stack);
        }
    }
}

/// Return the keys of the table `base`, in which the keys of `changes` replace equal keys, also in
/// nested tables.
fn merged(base: &Json, changes: Option<&Json>) -> Json {
    let mut all = base.as_object().cloned().unwrap_or_default();
    let mut changes = changes.and_then(Json::as_object).cloned().unwrap_or_default();
    Tcp::expand_shorthands(&mut all);
    Tcp::expand_shorthands(&mut changes);
    merge(&mut all, &changes);
    Json::Object(all)
}

/// Return the name of the stack in the TCP parameters of a table, or `otherwise` if the parameters
/// name no stack.
fn stack_of(table: &Json, otherwise: &str) -> String {
    table.pointer("/tcp/stack").and_then(Json::as_str).unwrap_or(otherwise).to_string()
}
