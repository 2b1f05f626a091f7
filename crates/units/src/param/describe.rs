//! Manual pages and JSON Schemas of parameters.

use serde_json::{Map, Value, json};

use super::Params;
use crate::scaled::Unit;

/// Join the lines of a doc comment into one text. Blank lines separate the paragraphs of the text.
pub fn doc_text(lines: &[&str]) -> String {
    let mut text = String::new();
    for line in lines.iter().map(|l| l.trim()) {
        match (line.is_empty(), text.is_empty() || text.ends_with('\n')) {
            (true, _) => text.push_str("\n\n"),
            (false, true) => text.push_str(line),
            (false, false) => {
                text.push(' ');
                text.push_str(line);
            }
        }
    }
    text
}

/// Return the manual page of a struct in JSON form: its description and its parameters.
pub fn page<T: Params>() -> Value {
    let params: Vec<Value> = T::params()
        .iter()
        .map(|p| {
            let of_preset = || (!p.required).then(|| json!("that of the preset"));
            let default = p.default.clone().or_else(of_preset);
            json!({"name": p.name, "unit": p.unit, "default": default, "range": p.range,
                   "meaning": p.meaning, "source": p.source})
        })
        .collect();
    json!({"name": T::KEY, "about": T::about(), "parameters": params, "shorthand": T::SHORTHAND,
           "renamed": renamed::<T>()})
}

/// Return the former keys of a struct of parameters, each with the path that its value has now.
fn renamed<T: Params>() -> Map<String, Value> {
    T::RENAMED.iter().map(|r| (r.old.to_string(), json!(r.new))).collect()
}

/// Return the JSON Schema of a struct of parameters. The schema accepts the table and its
/// shorthand.
pub fn struct_schema<T: Params>() -> Value {
    let (about, params) = (T::about(), T::params());
    let mut properties = Map::new();
    let mut required = Vec::new();
    for p in &params {
        let mut schema = p.schema.clone();
        if let Value::Object(map) = &mut schema {
            map.insert("description".into(), json!(p.meaning));
            match &p.default {
                Some(d) => drop(map.insert("default".into(), d.clone())),
                None if p.required => required.push(p.name),
                None => {}
            }
            if !p.range.is_empty() {
                map.insert("x-range".into(), json!(p.range));
            }
            if !p.source.is_empty() {
                map.insert("x-source".into(), json!(p.source));
            }
        }
        properties.insert(p.name.into(), schema);
    }
    let shorthand = T::SHORTHAND.map(|key| properties[key].clone());
    let mut table = json!({"type": "object", "description": about, "properties": properties,
                           "required": required, "additionalProperties": false});
    if !T::RENAMED.is_empty() {
        table["x-renamed"] = Value::Object(renamed::<T>());
    }
    match shorthand {
        Some(value) => json!({"anyOf": [value, table], "x-shorthand": T::SHORTHAND}),
        None => table,
    }
}

/// Return the JSON Schema of a number that is written with its unit.
pub fn unit_schema(what: &str, units: &[Unit], example: &str) -> Value {
    let names: Vec<&str> = units.iter().map(|u| u.0).collect();
    let digits = "[0-9]+(_[0-9]+)*";
    let number = format!(r"[-+]?({digits}(\.{digits})?|\.{digits})([eE][-+]?{digits})?");
    let pattern = format!(r"^\s*{number}\s*({})\s*$", names.join("|"));
    json!({"type": "string", "pattern": pattern, "x-quantity": what, "examples": [example]})
}

/// Return a reference to a definition in the JSON Schema.
pub fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/$defs/{name}")})
}

/// Return the JSON Schema of a choice among names.
pub fn words_schema(words: &[(&str, String)]) -> Value {
    let options: Vec<Value> =
        words.iter().map(|(w, meaning)| json!({"const": w, "description": meaning})).collect();
    json!({"oneOf": options})
}

/// Return the JSON Schema of a choice among structs, which the key `kind` selects.
pub fn choice_schema(choices: Vec<(&'static str, Value)>) -> Value {
    let options: Vec<Value> = choices
        .into_iter()
        .map(|(key, mut schema)| {
            let needs_nothing = schema["required"].as_array().is_none_or(Vec::is_empty);
            let mut properties = Map::from_iter([("kind".to_string(), json!({"const": key}))]);
            if let Value::Object(more) = schema["properties"].take() {
                properties.extend(more);
            }
            schema["properties"] = Value::Object(properties);
            if let Some(required) = schema["required"].as_array_mut() {
                required.insert(0, json!("kind"));
            }
            if needs_nothing { json!({"anyOf": [schema, {"const": key}]}) } else { schema }
        })
        .collect();
    json!({"anyOf": options})
}
