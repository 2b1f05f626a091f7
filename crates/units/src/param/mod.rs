//! Definition of a parameter: its name, unit, default, range, meaning and source. Each parameter
//! has only one definition.
//!
//! From one description, the macro [`params!`](crate::params) generates a struct, its reader for a
//! scenario, its JSON Schema and its manual page. The errors of the reader contain the path, the
//! value and the bound. The macro [`words!`](crate::words) defines a choice among names in the same
//! way, and [`choice!`](crate::choice) defines a choice among structs.

mod choice;
mod describe;
mod invalid;
mod params;
mod range;
mod renamed;
mod table;
#[cfg(test)]
mod tests;
mod values;
mod words;

use std::borrow::Cow;

use serde_json::{Map, Value};

pub use describe::{choice_schema, doc_text, page, reference, struct_schema, unit_schema, words_schema};
pub use invalid::{Invalid, did_you_mean, join};
pub use range::Range;
pub use renamed::Renamed;
pub use table::{key, longhand, merge, missing, object, refuse_unknown, split_kind, table, with_kind};
pub use values::Several;

/// Type of a JSON value, under the name that the macros use.
pub type Json = Value;
/// Type of a JSON object, under the name that the macros use.
pub type JsonMap = Map<String, Value>;

/// A type for values of a scenario.
pub trait Read: Sized {
    /// Base unit of the number that [`Read::number`] returns, or an empty string without a unit.
    const UNIT: &'static str = "";
    /// Example of a value, as a user would write it in a scenario.
    const EXAMPLE: &'static str = "";
    /// Key that a text in place of the table sets, as a shorthand for a table with this single key.
    /// The value is `None` if the table has no shorthand.
    const SHORTHAND: Option<&'static str> = None;
    /// Read the value that a scenario has at `path`.
    fn read(value: &Value, path: &str) -> Result<Self, Invalid>;
    /// Return the JSON form of the value. Reading the JSON form of a value gives the same value.
    fn write(&self) -> Value;
    /// Return the JSON Schema of this type.
    fn schema() -> Value;
    /// Return the number in the base unit of its quantity, so that the number can be compared with
    /// a range.
    fn number(&self) -> Option<f64> {
        None
    }
}

/// Parameter in the manual.
#[derive(Clone, Debug)]
pub struct Param {
    /// Key in a scenario.
    pub name: &'static str,
    /// Base unit of the parameter, or an empty string without a unit.
    pub unit: &'static str,
    /// Default, written as in a scenario. The field is `None` if the key is required, or if a
    /// preset sets the value of the key.
    pub default: Option<Value>,
    /// True if the key is required even if a preset is given.
    pub required: bool,
    /// Range of the parameter in words, or an empty string if every value of the type is allowed.
    pub range: String,
    /// Meaning of the parameter.
    pub meaning: String,
    /// Source of the parameter's meaning and of its default.
    pub source: &'static str,
    /// JSON Schema of the parameter's values.
    pub schema: Value,
}

/// Struct of parameters that the macro [`params!`](crate::params) defined.
pub trait Params: Read {
    /// Name of the struct in a scenario (`kind = "red"`) and in the command `explain`.
    const KEY: &'static str;
    /// Names of the parameters, in the order of their definition.
    const KEYS: &'static [&'static str];
    /// Former keys, each with the path that its value has now.
    const RENAMED: &'static [Renamed] = &[];
    /// Return the description.
    fn about() -> String;
    /// If the table of a parameter has a shorthand, return the key of the table that the shorthand
    /// sets.
    fn shorthand_of(key: &str) -> Option<&'static str>;
    /// If a text is the shorthand of a table, replace the text by the table.
    fn expand_shorthands(map: &mut JsonMap) {
        for (key, value) in map.iter_mut() {
            if let Cow::Owned(table) = longhand(value, Self::shorthand_of(key)) {
                *value = table;
            }
        }
    }
    /// Return the struct in which every parameter has its default.
    ///
    /// # Panics
    ///
    /// The function panics if a parameter is required, because a required parameter has no default.
    fn defaults() -> Self {
        match Self::read(&Json::Object(JsonMap::new()), Self::KEY) {
            Ok(defaults) => defaults,
            Err(e) => unreachable!("the defaults are valid: {e}"),
        }
    }
    /// Return the parameters in the order of their definition.
    fn params() -> Vec<Param>;
}

/// Return a struct in which every parameter has its default. The caller determines the type of the
/// struct.
pub fn defaults<T: Params>() -> T {
    T::defaults()
}
