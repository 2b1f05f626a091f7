//! Types of values without units: numbers, texts, lists, and values that may be absent.

use serde_json::{Value, json};

use super::{Invalid, Read, join};

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
    f64, "number", "a number", |v| v.as_f64().filter(|x| x.is_finite()), |n| Some(*n);
    bool, "boolean", "true or false", |v| v.as_bool(), |_n| None;
}

impl Read for u64 {
    fn read(value: &Value, path: &str) -> Result<Self, Invalid> {
        // The maximum of an integer is the maximum that TOML can represent. On the command line, a
        // number above the maximum of TOML is read as a text.
        let number = || value.as_f64().or_else(|| value.as_str()?.parse().ok());
        let within = value.as_u64().filter(|&n| n <= i64::MAX as u64);
        within.ok_or_else(|| match number() {
            Some(n) if n >= i64::MAX as f64 => {
                let written = match value {
                    Value::String(text) => text.clone(),
                    Value::Number(number) if number.is_f64() && n < 1e40 => format!("{n:.0}"),
                    _ => value.to_string(),
                };
                Invalid::at(path, format!("{written} must be at most {}", i64::MAX))
            }
            _ => Invalid::new(path, value, "must be a whole number, 0 or more"),
        })
    }
    fn write(&self) -> Value {
        json!(self)
    }
    fn schema() -> Value {
        json!({"type": "integer"})
    }
    fn number(&self) -> Option<f64> {
        Some(*self as f64)
    }
}

/// Maximum length of a text, in bytes. Long texts would not fit into tables and messages.
const LONGEST_TEXT: usize = 4096;

/// Return true if a character controls the terminal or the direction of writing.
fn steers(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Return the error about a value that is not a text. If the value is a number, the remedy is to
/// put the number in quotation marks.
fn not_a_text(value: &Value, path: &str) -> Invalid {
    let refusal = Invalid::new(path, value, "must be a text");
    if value.is_number() || value.is_boolean() { refusal.remedy("put the value in quotes") } else { refusal }
}

/// Return the error about a value that is not a list but should be one. The value may be an element
/// that lacks the brackets of a list. The value may also be one table in place of a list of tables.
fn not_a_list(value: &Value, path: &str) -> Invalid {
    let key = path.rsplit('.').next().unwrap_or(path);
    let refusal = Invalid::new(path, value, "must be a list");
    match value {
        Value::Object(_) => {
            refusal.remedy(format!("put the value in brackets, or write [[{key}]] instead of [{key}]"))
        }
        _ => refusal.remedy("put the value in brackets, [ and ]"),
    }
}

impl Read for String {
    fn read(value: &Value, path: &str) -> Result<Self, Invalid> {
        let Some(text) = value.as_str() else { return Err(not_a_text(value, path)) };
        if text.chars().any(steers) {
            return Err(Invalid::new(path, value, "has control characters in it")
                .remedy("remove the control characters"));
        }
        if text.len() > LONGEST_TEXT {
            return Err(Invalid::new(path, value, format!("must be at most {LONGEST_TEXT} bytes long")));
        }
        Ok(text.into())
    }
    fn write(&self) -> Value {
        json!(self)
    }
    fn schema() -> Value {
        json!({"type": "string"})
    }
}

/// JSON value that is not checked here, because another function reads it later.
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
        let list = value.as_array().ok_or_else(|| not_a_list(value, path))?;
        list.iter().enumerate().map(|(i, v)| T::read(v, &join(path, i))).collect()
    }
    fn write(&self) -> Value {
        Value::Array(self.iter().map(Read::write).collect())
    }
    fn schema() -> Value {
        json!({"type": "array", "items": T::schema()})
    }
}

/// Value of a type that may contain other values of the same type.
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

/// If the key is absent, or `null` in JSON, the value is `None`.
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

/// One value or a list of values, such as `"AF11"` or `["AF11", "AF12"]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Several<T>(pub Vec<T>);

impl<T: Read> Read for Several<T> {
    fn read(value: &Value, path: &str) -> Result<Self, Invalid> {
        match value.as_array() {
            Some(list) if list.is_empty() => Err(Invalid::at(path, "is empty").remedy("remove the key")),
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
