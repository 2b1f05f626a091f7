//! What a run leaves: tables of columns.

use std::collections::HashMap;
use std::sync::Arc;

use units::Time;

use crate::computing_time::ComputingTime;

/// One column.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Measurements; NaN: not there.
    Float(Vec<f64>),
    /// Counts.
    Count(Vec<u64>),
    /// Names, each an index into the list.
    Name(Vec<u32>, Arc<Vec<String>>),
}

/// A table: columns of equal length with their names.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// Its columns in order.
    pub columns: Vec<(&'static str, Column)>,
}

/// A column of names, each kept once.
pub fn names_of(values: impl Iterator<Item = String>) -> Column {
    let mut known: HashMap<String, u32> = HashMap::new();
    let mut names = Vec::new();
    let codes = values
        .map(|name| {
            *known.entry(name).or_insert_with_key(|name| {
                names.push(name.clone());
                names.len() as u32 - 1
            })
        })
        .collect();
    Column::Name(codes, Arc::new(names))
}

/// Something that may mislead who reads the results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// What it is about, in one word; the same in every run.
    pub about: &'static str,
    /// What was seen, and what to do.
    pub text: String,
}

/// A finished run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The tables.
    pub tables: Vec<Table>,
    /// What may mislead.
    pub warnings: Vec<Warning>,
    /// Simulated time at the end.
    pub end: Time,
    /// Events taken.
    pub events: u64,
    /// Events that shared their instant with the one before.
    pub ties: u64,
    /// Cost of planning and building.
    pub setup: ComputingTime,
    /// Cost of running and checking.
    pub running: ComputingTime,
}

/// A time that may never have come, in seconds: then NaN.
pub fn seconds(time: Time) -> f64 {
    if time == Time::NEVER { f64::NAN } else { time.seconds() }
}
