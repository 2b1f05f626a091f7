//! Result of a run: tables, warnings, and the cost of the run.

use std::collections::HashMap;
use std::sync::Arc;

use units::Time;

use crate::computing_time::ComputingTime;

/// Column of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Column of measurements. NaN stands for a missing value.
    Float(Vec<f64>),
    /// Column of counts.
    Count(Vec<u64>),
    /// Column of names. Column of names: the value of each row is an index into the list of
    /// distinct names.
    Name(Vec<u32>, Arc<Vec<String>>),
}

/// Table: columns of equal length with their names.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Name of the table.
    pub name: &'static str,
    /// Columns of the table in order, with their names.
    pub columns: Vec<(&'static str, Column)>,
}

/// Return a column of names. Each distinct name is stored once.
pub fn names_of(values: impl Iterator<Item = String>) -> Column {
    let mut codes_by_name: HashMap<String, u32> = HashMap::new();
    let mut names = Vec::new();
    let codes = values
        .map(|name| {
            *codes_by_name.entry(name).or_insert_with_key(|name| {
                names.push(name.clone());
                names.len() as u32 - 1
            })
        })
        .collect();
    Column::Name(codes, Arc::new(names))
}

/// Warning that the results may mislead the reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Topic of the warning, one word. The same warning has the same topic in every run.
    pub about: &'static str,
    /// Description of the problem about which the run warns, and the remedy.
    pub text: String,
}

/// Result of a finished run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Tables of the run.
    pub tables: Vec<Table>,
    /// Warnings about the run.
    pub warnings: Vec<Warning>,
    /// Simulated time at the end of the run.
    pub end: Time,
    /// Number of processed events.
    pub events: u64,
    /// Number of events at the same simulated time as the previous event.
    pub ties: u64,
    /// Computing time for the plan and the network.
    pub setup: ComputingTime,
    /// Computing time for the simulation and its checks.
    pub running: ComputingTime,
}

/// Return a time in seconds, or NaN for [`Time::NEVER`].
pub fn seconds(time: Time) -> f64 {
    if time == Time::NEVER { f64::NAN } else { time.seconds() }
}
