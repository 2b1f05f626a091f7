//! Result of a run: its tables, its warnings, and its computing time.

use std::collections::HashMap;
use std::sync::Arc;

use units::{Duration, Time};

use crate::computing_time::ComputingTime;

/// Column of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Column of measurements. NaN stands for a missing value.
    Float(Vec<f64>),
    /// Column of counts.
    Count(Vec<u64>),
    /// Column of names. The value of each row is an index into the list of distinct names.
    Name(Vec<u32>, Arc<Vec<String>>),
}

impl Column {
    /// Return the number of rows.
    fn len(&self) -> usize {
        match self {
            Column::Float(values) => values.len(),
            Column::Count(values) => values.len(),
            Column::Name(codes, _) => codes.len(),
        }
    }

    /// Give all missing values the same bits. The sign of a NaN that a division produced depends on
    /// the processor.
    pub(crate) fn canonicalize(&mut self) {
        if let Column::Float(values) = self {
            values.iter_mut().filter(|value| value.is_nan()).for_each(|value| *value = f64::NAN);
        }
    }
}

/// Table of columns with equal length. Each column has a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Name of the table.
    pub name: &'static str,
    /// Columns of the table in order, each with its name.
    pub columns: Vec<(&'static str, Column)>,
}

impl Table {
    /// Return the number of rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |(_, column)| column.len())
    }
}

/// Return a column of names. The column stores each distinct name once.
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

/// Return a column of words, of which there are few different ones.
pub fn words_of(values: impl Iterator<Item = &'static str>) -> Column {
    let mut words: Vec<&'static str> = Vec::new();
    let codes = values
        .map(|word| {
            let known = words.iter().position(|known| *known == word);
            known.unwrap_or_else(|| {
                words.push(word);
                words.len() - 1
            }) as u32
        })
        .collect();
    Column::Name(codes, Arc::new(words.into_iter().map(str::to_string).collect()))
}

/// Warning that the results may mislead the reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Topic of the warning, in one word. Warnings about the same problem have the same topic in
    /// all runs.
    pub about: &'static str,
    /// Description of the problem, and the remedy.
    pub text: String,
}

/// Result of a finished run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Tables of the run.
    pub tables: Vec<Table>,
    /// Names and contents of the captures in memory.
    pub captures: Vec<(String, Vec<u8>)>,
    /// Warnings about the run.
    pub warnings: Vec<Warning>,
    /// Simulated time at which the run ended.
    pub end: Time,
    /// Number of processed events.
    pub events: u64,
    /// Number of events that occur at the same simulated time as the previous event.
    pub ties: u64,
    /// Maximum random offset of the start of a flow.
    pub start_spread: Duration,
    /// Computing time for planning the scenario and building the network.
    pub setup: ComputingTime,
    /// Computing time for the simulation and its checks.
    pub running: ComputingTime,
}

/// Return a time in seconds, or NaN for [`Time::NEVER`].
pub fn seconds(time: Time) -> f64 {
    if time == Time::NEVER { f64::NAN } else { time.seconds() }
}
