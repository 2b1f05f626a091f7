//! The one definition of a parameter: name, unit, default, range, meaning, source.
//!
//! [`params!`](crate::params) turns one description of a struct into the struct, its reader from a
//! scenario (with errors that name the path, the value and the bound), its JSON Schema and its
//! manual page. [`words!`](crate::words) does the same for a choice among names, and
//! [`choice!`](crate::choice) for a choice among such structs.

use std::fmt;

use serde_json::{Map, Value, json};

/// A refused scenario: which field, what it says, what is wrong and what to do.
#[derive(Clone, Debug, PartialEq)]
pub struct Invalid {
    path: String,
    /// As JSON, shortened.
    value: Option<String>,
    problem: String,
    remedy: Option<String>,
}

impl std::error::Error for Invalid {}

impl Invalid {
    /// A wrong value at `path`; `problem` continues the sentence "value ...".
    pub fn new(path: &str, value: &Value, problem: impl Into<String>) -> Self {
        let mut text = value.to_string();
        if text.chars().count() > 60 {
            text = text.chars().take(57).collect::<String>() + "...";
        }
        Invalid { path: path.into(), value: Some(text), problem: problem.into(), remedy: None }
    }

    /// Something wrong at `path` that is not one value.
    pub fn at(path: &str, problem: impl Into<String>) -> Self {
        Invalid { path: path.into(), value: None, problem: problem.into(), remedy: None }
    }

    /// Adds what the user can do about it.
    #[must_use]
    pub fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        if let Some(value) = &self.value {
            write!(f, "{value} ")?;
        }
        f.write_str(&self.problem)?;
        if let Some(remedy) = &self.remedy {
            write!(f, "; {remedy}")?;
        }
        Ok(())
    }
}

/// `path.key`, or `key` at the root.
pub fn join(path: &str, key: impl fmt::Display) -> String {
    if path.is_empty() { key.to_string() } else { format!("{path}.{key}") }
}

/// A type that a scenario can hold.
pub trait Read: Sized {
    /// The base unit of [`Read::number`], empty if it has none.
    const UNIT: &'static str = "";
    /// An example as a user would write it.
    const EXAMPLE: &'static str = "";
    /// Reads the value found at `path`.
    fn read(value: &Value, path: &str) -> Result<Self, Invalid>;
    /// The value that reads back as `self`.
    fn write(&self) -> Value;
    /// The JSON Schema of this type.
    fn schema() -> Value;
    /// The value in its base unit, for checking its range.
    fn number(&self) -> Option<f64> {
        None
    }
}

/// The values a number may take, in its base unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    low: Option<(f64, bool)>,
    high: Option<(f64, bool)>,
    whole: bool,
}

impl Range {
    /// Every value of the type.
    pub const ANY: Range = Range { low: None, high: None, whole: false };
    /// `x >= low`.
    pub const fn at_least(low: f64) -> Range {
        Range { low: Some((low, true)), ..Range::ANY }
    }
    /// `x > low`.
    pub const fn above(low: f64) -> Range {
        Range { low: Some((low, false)), ..Range::ANY }
    }
    /// `low <= x <= high`.
    pub const fn between(low: f64, high: f64) -> Range {
        Range { low: Some((low, true)), high: Some((high, true)), whole: false }
    }
    /// `low < x <= high`.
    pub const fn above_to(low: f64, high: f64) -> Range {
        Range { low: Some((low, false)), high: Some((high, true)), whole: false }
    }
    /// Whole numbers only.
    pub const fn whole(mut self) -> Range {
        self.whole = true;
        self
    }

    /// Whether `x` lies in the range.
    pub fn contains(&self, x: f64) -> bool {
        self.low.is_none_or(|(l, closed)| x > l || (closed && x == l))
            && self.high.is_none_or(|(h, closed)| x < h || (closed && x == h))
            && (!self.whole || x.fract() == 0.0)
    }

    /// The range in words, with its unit: `above 0 s, at most 60 s`.
    pub fn describe(&self, unit: &str) -> String {
        let mut parts = Vec::new();
        if self.whole {
            parts.push("a whole number".to_string());
        }
        let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
        if let Some((l, closed)) = self.low {
            parts.push(format!("{} {l}{unit}", if closed { "at least" } else { "above" }));
        }
        if let Some((h, closed)) = self.high {
            parts.push(format!("{} {h}{unit}", if closed { "at most" } else { "below" }));
        }
        parts.join(", ")
    }

    /// Refuses `value` at `path` when its number lies outside the range.
    pub fn check<T: Read>(&self, value: &T, path: &str) -> Result<(), Invalid> {
        match value.number() {
            Some(x) if !self.contains(x) => {
                Err(Invalid::new(path, &value.write(), format!("must be {}", self.describe(T::UNIT))))
            }
            _ => Ok(()),
        }
    }
}

/// One parameter as the manual shows it.
#[derive(Clone, Debug)]
pub struct Param {
    /// Its key in a scenario.
    pub name: &'static str,
    /// Its base unit, empty if it has none.
    pub unit: &'static str,
    /// Its default as a scenario would write it; `None`: it must be given.
    pub default: Option<Value>,
    /// Its range in words, empty if every value of the type is allowed.
    pub range: String,
    /// What it means.
    pub meaning: String,
    /// Where meaning and default come from.
    pub source: &'static str,
    /// JSON Schema of its values.
    pub schema: Value,
}

/// A struct of parameters made by [`params!`](crate::params).
pub trait Params: Read {
    /// Its name in a scenario (`kind = "red"`) and in `explain`.
    const KEY: &'static str;
    /// What it is.
    fn about() -> String;
    /// Its parameters in order.
    fn params() -> Vec<Param>;
}

/// JSON form of a manual page: what it is and its parameters.
pub fn page<T: Params>() -> Value {
    let params: Vec<Value> = T::params()
        .iter()
        .map(|p| {
            json!({"name": p.name, "unit": p.unit, "default": p.default, "range": p.range,
                   "meaning": p.meaning, "source": p.source})
        })
        .collect();
    json!({"name": T::KEY, "about": T::about(), "parameters": params})
}

/// The JSON Schema of a struct of parameters.
pub fn struct_schema(about: &str, params: &[Param]) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for p in params {
        let mut schema = p.schema.clone();
        if let Value::Object(map) = &mut schema {
            map.insert("description".into(), json!(p.meaning));
            match &p.default {
                Some(d) => drop(map.insert("default".into(), d.clone())),
                None => required.push(p.name),
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
    json!({"type": "object", "description": about, "properties": properties,
           "required": required, "additionalProperties": false})
}

/// The JSON Schema of a number written with its unit.
pub fn unit_schema(what: &str, units: &[(&str, f64)], example: &str) -> Value {
    let names: Vec<&str> = units.iter().map(|u| u.0).collect();
    let pattern = format!(r"^\s*[-+]?[0-9_]*\.?[0-9_]+([eE][-+]?[0-9]+)?\s*({})\s*$", names.join("|"));
    json!({"type": "string", "pattern": pattern, "x-quantity": what, "examples": [example]})
}

/// The object at `path`, or a refusal.
pub fn object<'a>(value: &'a Value, path: &str) -> Result<&'a Map<String, Value>, Invalid> {
    value.as_object().ok_or_else(|| Invalid::new(path, value, "must be a table of keys and values"))
}

/// Refuses keys that are none of `known`, naming the nearest.
pub fn refuse_unknown(map: &Map<String, Value>, known: &[&str], path: &str) -> Result<(), Invalid> {
    for key in map.keys() {
        if !known.contains(&key.as_str()) {
            return Err(Invalid::at(&join(path, key), "is not a known key").remedy(did_you_mean(key, known)));
        }
    }
    Ok(())
}

/// Suggests the nearest of `known`, and lists them.
pub fn did_you_mean(word: &str, known: &[&str]) -> String {
    let nearest = known.iter().map(|k| (distance(word, k), k)).min();
    let list = known.join(", ");
    match nearest {
        Some((d, k)) if d <= 2.max(word.chars().count() / 3) => format!("did you mean {k}? Known: {list}"),
        _ => format!("known: {list}"),
    }
}

/// Edit distance in which two letters that changed places count once (optimal string alignment).
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![(0..=b.len()).collect::<Vec<usize>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

macro_rules! read_json {
    ($($ty:ty, $type_name:literal, $what:literal, |$v:ident| $get:expr, |$n:ident| $number:expr;)+) => {$(
        impl Read for $ty {
            fn read(value: &Value, path: &str) -> Result<Self, Invalid> {
                let $v = value;
                $get.ok_or_else(|| Invalid::new(path, value, concat!("must be ", $what)))
            }
            fn write(&self) -> Value {
                json!(self)
            }
            fn schema() -> Value {
                json!({"type": $type_name})
            }
            fn number(&self) -> Option<f64> {
                let $n = self;
                $number
            }
        }
    )+};
}

read_json! {
    String, "string", "a text", |v| v.as_str().map(String::from), |_n| None;
    u64, "integer", "a whole number, 0 or more", |v| v.as_u64(), |n| Some(*n as f64);
    f64, "number", "a number", |v| v.as_f64().filter(|x| x.is_finite()), |n| Some(*n);
    bool, "boolean", "true or false", |v| v.as_bool(), |_n| None;
}

/// The raw value, read later by someone who knows it.
impl Read for Value {
    fn read(value: &Value, _: &str) -> Result<Self, Invalid> {
        Ok(value.clone())
    }
    fn write(&self) -> Value {
        self.clone()
    }
    fn schema() -> Value {
        json!({})
    }
}

impl<T: Read> Read for Vec<T> {
    fn read(value: &Value, path: &str) -> Result<Self, Invalid> {
        let list = value.as_array().ok_or_else(|| Invalid::new(path, value, "must be a list"))?;
        list.iter().enumerate().map(|(i, v)| T::read(v, &join(path, i))).collect()
    }
    fn write(&self) -> Value {
        Value::Array(self.iter().map(Read::write).collect())
    }
    fn schema() -> Value {
        json!({"type": "array", "items": T::schema()})
    }
}

/// What may hold another of its kind.
impl<T: Read> Read for Box<T> {
    const UNIT: &'static str = T::UNIT;
    const EXAMPLE: &'static str = T::EXAMPLE;
    fn read(value: &Value, path: &str) -> Result<Self, Invalid> {
        T::read(value, path).map(Box::new)
    }
    fn write(&self) -> Value {
        self.as_ref().write()
    }
    fn schema() -> Value {
        T::schema()
    }
}

/// `None` is an absent key (`null` in JSON).
impl<T: Read> Read for Option<T> {
    const UNIT: &'static str = T::UNIT;
    fn read(value: &Value, path: &str) -> Result<Self, Invalid> {
        if value.is_null() { Ok(None) } else { T::read(value, path).map(Some) }
    }
    fn write(&self) -> Value {
        self.as_ref().map_or(Value::Null, Read::write)
    }
    fn schema() -> Value {
        json!({"anyOf": [T::schema(), {"type": "null"}]})
    }
    fn number(&self) -> Option<f64> {
        self.as_ref().and_then(Read::number)
    }
}

/// One value or several: `"AF11"`, or `["AF11", "AF12"]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Several<T>(pub Vec<T>);

impl<T: Read> Read for Several<T> {
    fn read(value: &Value, path: &str) -> Result<Self, Invalid> {
        match value.as_array() {
            Some(list) if list.is_empty() => Err(Invalid::at(path, "is empty").remedy("leave the key away")),
            Some(_) => Vec::read(value, path).map(Several),
            None => T::read(value, path).map(|one| Several(vec![one])),
        }
    }
    fn write(&self) -> Value {
        if let [one] = &self.0[..] { one.write() } else { self.0.write() }
    }
    fn schema() -> Value {
        json!({"anyOf": [T::schema(), {"type": "array", "items": T::schema(), "minItems": 1}]})
    }
}

/// The key of a field: `r#match` is written `match`.
pub fn key(field: &'static str) -> &'static str {
    field.strip_prefix("r#").unwrap_or(field)
}

/// Defines a struct of parameters: see the module. A field is
/// `name: Type = (default) | required, in RANGE, from "source";`.
#[macro_export]
macro_rules! params {
    (
        $(#[doc = $doc:literal])+
        pub struct $Name:ident: $key:literal $(, checked by $check:path)? {
            $( $(#[doc = $fdoc:literal])+
               $field:ident: $ty:ty = $default:tt, in $range:expr, from $source:literal; )*
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, Debug, PartialEq)]
        pub struct $Name { $( $(#[doc = $fdoc])+ pub $field: $ty, )* }

        impl $crate::param::Params for $Name {
            const KEY: &'static str = $key;
            fn about() -> String {
                $crate::param::doc_text(&[$($doc),+])
            }
            fn params() -> Vec<$crate::param::Param> {
                vec![$( $crate::param::Param {
                    name: $crate::param::key(stringify!($field)),
                    unit: <$ty as $crate::param::Read>::UNIT,
                    default: $crate::params!(@default $default, $ty)
                        .map(|d| $crate::param::Read::write(&d)),
                    range: { let range: $crate::param::Range = $range;
                             range.describe(<$ty as $crate::param::Read>::UNIT) },
                    meaning: $crate::param::doc_text(&[$($fdoc),+]),
                    source: $source,
                    schema: <$ty as $crate::param::Read>::schema(),
                }, )*]
            }
        }

        impl $crate::param::Read for $Name {
            #[allow(unused_variables)]
            fn read(value: &$crate::param::Json, path: &str) -> Result<Self, $crate::param::Invalid> {
                let map = $crate::param::object(value, path)?;
                $crate::param::refuse_unknown(map, &[$($crate::param::key(stringify!($field))),*], path)?;
                $( let $field = {
                    let key = $crate::param::key(stringify!($field));
                    let path = $crate::param::join(path, key);
                    let field: $ty = match map.get(key) {
                        Some(v) => $crate::param::Read::read(v, &path)?,
                        None => $crate::params!(@default $default, $ty).ok_or_else(|| {
                            $crate::param::missing::<$ty>(&path, &$crate::param::doc_text(&[$($fdoc),+]))
                        })?,
                    };
                    let range: $crate::param::Range = $range;
                    range.check(&field, &path)?;
                    field
                }; )*
                let this = $Name { $($field),* };
                $( $check(&this, path)?; )?
                Ok(this)
            }
            fn write(&self) -> $crate::param::Json {
                #[allow(unused_mut)]
                let mut map = $crate::param::JsonMap::new();
                $( map.insert($crate::param::key(stringify!($field)).into(), $crate::param::Read::write(&self.$field)); )*
                $crate::param::Json::Object(map)
            }
            fn schema() -> $crate::param::Json {
                use $crate::param::Params;
                $crate::param::struct_schema(&Self::about(), &Self::params())
            }
        }
    };
    (@default required, $ty:ty) => { None::<$ty> };
    (@default ($default:expr), $ty:ty) => { Some::<$ty>($default) };
}

/// Defines a choice among names: `words! { /// doc  pub enum E { /// doc  A = "a", } }`.
#[macro_export]
macro_rules! words {
    ( $(#[doc = $doc:literal])+ pub enum $Name:ident {
        $( $(#[doc = $vdoc:literal])+ $Variant:ident = $word:literal, )+
    } ) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $Name { $( $(#[doc = $vdoc])+ $Variant, )+ }

        impl $crate::param::Read for $Name {
            fn read(value: &$crate::param::Json, path: &str) -> Result<Self, $crate::param::Invalid> {
                match value.as_str() {
                    $( Some($word) => Ok($Name::$Variant), )+
                    other => Err($crate::param::Invalid::new(path, value, "is none of the choices here")
                        .remedy($crate::param::did_you_mean(other.unwrap_or(""), &[$($word),+]))),
                }
            }
            fn write(&self) -> $crate::param::Json {
                match self { $( $Name::$Variant => $crate::param::Json::from($word), )+ }
            }
            fn schema() -> $crate::param::Json {
                $crate::param::words_schema(&[$( ($word, $crate::param::doc_text(&[$($vdoc),+])), )+])
            }
        }
    };
}

/// Defines a choice among [`Params`] structs by the key `kind`; a bare name stands for all defaults.
#[macro_export]
macro_rules! choice {
    ( $(#[doc = $doc:literal])+ pub enum $Name:ident { $( $Variant:ident($Ty:ty), )+ } ) => {
        $(#[doc = $doc])+
        #[derive(Clone, Debug, PartialEq)]
        pub enum $Name { $(
            #[doc = concat!("See [`", stringify!($Ty), "`].")]
            $Variant($Ty),
        )+ }

        impl $Name {
            /// The manual page of each choice.
            pub fn pages() -> Vec<$crate::param::Json> {
                vec![$( $crate::param::page::<$Ty>() ),+]
            }
        }

        impl $crate::param::Read for $Name {
            fn read(value: &$crate::param::Json, path: &str) -> Result<Self, $crate::param::Invalid> {
                let (kind, rest) = $crate::param::split_kind(
                    value, path, &[$(<$Ty as $crate::param::Params>::KEY),+])?;
                $( if kind == <$Ty as $crate::param::Params>::KEY {
                    return <$Ty as $crate::param::Read>::read(&rest, path).map($Name::$Variant);
                } )+
                unreachable!("split_kind returns a known kind")
            }
            fn write(&self) -> $crate::param::Json {
                match self { $( $Name::$Variant(x) => $crate::param::with_kind(x), )+ }
            }
            fn schema() -> $crate::param::Json {
                $crate::param::choice_schema(vec![
                    $( (<$Ty as $crate::param::Params>::KEY, <$Ty as $crate::param::Read>::schema()) ),+
                ])
            }
        }
    };
}

/// JSON value, as the macros name it.
pub type Json = Value;
/// JSON object, as the macros name it.
pub type JsonMap = Map<String, Value>;

/// A doc comment as one text: lines joined, blank lines kept as paragraphs.
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

/// The refusal of an absent key.
pub fn missing<T: Read>(path: &str, meaning: &str) -> Invalid {
    let invalid = Invalid::at(path, format!("is missing: {meaning}"));
    if T::EXAMPLE.is_empty() {
        invalid
    } else {
        invalid.remedy(format!("write for example \"{}\"", T::EXAMPLE))
    }
}

/// Takes the key `kind` off a table; a bare name is a table with nothing else.
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
        _ => return Err(Invalid::new(path, value, "must be a table with a key kind")),
    };
    match kind.as_str() {
        Some(k) if known.contains(&k) => Ok((k.to_string(), Value::Object(rest))),
        k => Err(Invalid::new(&join(path, "kind"), &kind, "is not known")
            .remedy(did_you_mean(k.unwrap_or(""), known))),
    }
}

/// The written form of a choice: its parameters after its `kind`.
pub fn with_kind<T: Params>(x: &T) -> Value {
    let mut map = Map::from_iter([("kind".to_string(), json!(T::KEY))]);
    if let Value::Object(rest) = x.write() {
        map.extend(rest);
    }
    Value::Object(map)
}

/// A reference to one of the definitions beside a schema.
pub fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/$defs/{name}")})
}

/// Schema of a choice among names.
pub fn words_schema(words: &[(&str, String)]) -> Value {
    let options: Vec<Value> =
        words.iter().map(|(w, meaning)| json!({"const": w, "description": meaning})).collect();
    json!({"oneOf": options})
}

/// Schema of a choice among structs by the key `kind`.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Duration, Packets};

    words! {
        /// A colour.
        pub enum Colour {
            /// Like blood.
            Red = "red",
            /// Like the sky.
            Blue = "blue",
        }
    }

    params! {
        /// A toy: one of everything.
        pub struct Toy: "toy", checked by check_toy {
            /// How many.
            count: Packets = (Packets(5.0)), in Range::at_least(1.0), from "me 2026";
            /// How long.
            wait: Duration = required, in Range::above(0.0), from "";
            /// Its colour.
            colour: Colour = (Colour::Blue), in Range::ANY, from "";
        }
    }

    fn check_toy(t: &Toy, path: &str) -> Result<(), Invalid> {
        if t.colour == Colour::Red && t.count.0 > 10.0 {
            return Err(Invalid::new(&join(path, "count"), &t.count.write(), "is too many for red"));
        }
        Ok(())
    }

    params! {
        /// Nothing to set.
        pub struct Plain: "plain" {}
    }

    choice! {
        /// One or the other.
        pub enum Either { Toy(Toy), Plain(Plain), }
    }

    fn refusal(v: Value) -> String {
        Toy::read(&v, "a.b").unwrap_err().to_string()
    }

    #[test]
    fn defaults_fill_what_is_absent() {
        let toy = Toy::read(&json!({"wait": "1 s"}), "").unwrap();
        assert_eq!((toy.count, toy.colour), (Packets(5.0), Colour::Blue));
        assert_eq!(Toy::read(&toy.write(), "").unwrap(), toy);
    }

    #[test]
    fn refusals_name_path_value_and_bound() {
        assert!(refusal(json!({})).contains("a.b.wait: is missing: How long."));
        assert!(
            refusal(json!({"wait": "1 s", "cuont": 1}))
                .contains("a.b.cuont: is not a known key; did you mean count?")
        );
        assert!(refusal(json!({"wait": "0 s"})).contains("a.b.wait: \"0 s\" must be above 0 s"));
        assert!(refusal(json!({"wait": "1 s", "colour": "green"})).contains("known: red, blue"));
        assert!(refusal(json!({"wait": "1 s", "colour": "red", "count": "11 packets"})).contains("too many"));
        assert!(refusal(json!(3)).contains("must be a table"));
    }

    #[test]
    fn a_choice_is_made_by_kind() {
        assert_eq!(Either::read(&json!("plain"), "").unwrap(), Either::Plain(Plain {}));
        let toy = Either::read(&json!({"kind": "toy", "wait": "1 s"}), "").unwrap();
        assert_eq!(Either::read(&toy.write(), "").unwrap(), toy);
        let e = Either::read(&json!({"kind": "tyo"}), "x").unwrap_err().to_string();
        assert!(e.contains("x.kind: \"tyo\" is not known; did you mean toy?"), "{e}");
        assert!(Either::read(&json!({}), "x").unwrap_err().to_string().contains("x.kind: is missing"));
    }

    #[test]
    fn every_choice_has_a_page() {
        assert_eq!(Either::pages().len(), 2);
    }

    #[test]
    fn pages_carry_source_and_range() {
        let page = page::<Toy>();
        assert_eq!(page["parameters"][0]["source"], "me 2026");
        assert_eq!(page["parameters"][0]["range"], "at least 1 packets");
        assert_eq!(page["parameters"][1]["default"], Value::Null);
    }

    #[test]
    fn edit_distance() {
        assert_eq!(distance("minth", "maxth"), 2);
        assert_eq!((distance("", "abc"), distance("rde", "red")), (3, 1));
    }
}
