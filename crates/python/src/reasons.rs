//! Reasons that an AQM written in Python gives for its verdicts: a rule and variables.
//!
//! Rules and variables of the simulator are constants. The names that a Python program gives are
//! therefore stored until the process ends, each once. A name is part of the program, so a process
//! has few of them, and more than [`MAX_NAMES`] are refused.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{LazyLock, Mutex, PoisonError};

use net::{Explanation, Rule, Variable};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Maximum number of rules, and of variables, that the Python AQMs of a process can have.
const MAX_NAMES: usize = 1000;

/// Constants that the Python program has named.
type Named<K, V> = LazyLock<Mutex<HashMap<K, &'static V>>>;

/// Rules by name and source.
static RULES: Named<(String, String), Rule> = LazyLock::new(Mutex::default);
/// Variables by name.
static VARIABLES: Named<String, Variable> = LazyLock::new(Mutex::default);

/// Reason for a verdict.
#[derive(Debug, PartialEq)]
pub struct Reason {
    rule: Option<&'static Rule>,
    values: Vec<(&'static Variable, f64)>,
}

impl Reason {
    /// Read the arguments `rule`, `source` and `variables` of a verdict.
    pub fn read(rule: Option<&str>, source: &str, variables: Option<&Bound<PyDict>>) -> PyResult<Self> {
        let rule = match rule {
            Some(name) => Some(rule_named(name, source)?),
            None if source.is_empty() => None,
            None => {
                return Err(PyValueError::new_err(format!("source = {source:?} requires a rule; set rule")));
            }
        };
        let mut values = Vec::new();
        for (name, value) in variables.into_iter().flat_map(|variables| variables.iter()) {
            let name: String = name.extract()?;
            let variable = variable_named(&name)?;
            let Ok(number) = value.extract::<f64>() else {
                return Err(PyTypeError::new_err(format!("{name} = {} must be a number", value.repr()?)));
            };
            values.push((variable, number));
        }
        Ok(Reason { rule, values })
    }

    /// Set the rule and add the variables of an explanation.
    pub fn explain(&self, to: &mut Explanation) {
        if let Some(rule) = self.rule {
            to.by(rule);
        }
        self.values.iter().for_each(|(variable, value)| to.add(variable, *value));
    }

    /// Return the reason as further arguments of a function, such as `, rule="random", avg=5.5`.
    pub fn arguments(&self) -> String {
        let mut text = String::new();
        if let Some(rule) = self.rule {
            text += &format!(", rule={:?}", rule.name);
            if !rule.source.is_empty() {
                text += &format!(", source={:?}", rule.source);
            }
        }
        self.values.iter().for_each(|(variable, value)| text += &format!(", {}={value:?}", variable.name));
        text
    }
}

/// Return the constant for `key`. If there is none yet, create it with the function `create`.
fn constant<K: Hash + Eq, V>(
    named: &Named<K, V>,
    key: K,
    kind: &str,
    create: impl FnOnce() -> V,
) -> PyResult<&'static V> {
    let mut named = named.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = named.get(&key) {
        return Ok(known);
    }
    if named.len() == MAX_NAMES {
        return Err(PyValueError::new_err(format!(
            "the AQMs have more than {MAX_NAMES} {kind}; use fixed names, and record what changes as the \
             value of a variable"
        )));
    }
    let new: &'static V = Box::leak(Box::new(create()));
    named.insert(key, new);
    Ok(new)
}

/// Return a text that remains valid until the process ends.
fn forever(text: &str) -> &'static str {
    text.to_string().leak()
}

/// Return true if `name` begins with a lowercase letter, and has only lowercase letters, digits and
/// the character `joint`.
fn is_name(name: &str, joint: char) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == joint)
}

fn rule_named(name: &str, source: &str) -> PyResult<&'static Rule> {
    if !is_name(name, '-') {
        return Err(PyValueError::new_err(format!(
            "rule = {name:?} must have only lowercase letters, digits and hyphens, as in \"above-maxth\""
        )));
    }
    if source.contains(char::is_control) {
        return Err(PyValueError::new_err(format!("source = {source:?} must be one line of text")));
    }
    constant(&RULES, (name.to_string(), source.to_string()), "rules", || Rule {
        name: forever(name),
        about: &[],
        source: forever(source),
    })
}

fn variable_named(name: &str) -> PyResult<&'static Variable> {
    if !is_name(name, '_') {
        return Err(PyValueError::new_err(format!(
            "the variable {name:?} must have only lowercase letters, digits and underscores, as in \"avg_packets\""
        )));
    }
    if lab::is_column_of_why(name) {
        return Err(PyValueError::new_err(format!(
            "the variable {name:?} is already a column of the series why; choose another name"
        )));
    }
    constant(&VARIABLES, name.to_string(), "variables", || Variable {
        name: forever(name),
        unit: "",
        about: &[],
        source: "",
    })
}
