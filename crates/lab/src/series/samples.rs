//! Storage for sampled series. Each sample has one value per sampled link or flow. The links or
//! flows always have the same order, so the names are not stored, and the time is stored once per
//! sample. The samples become columns of a table at the end of the run.

use std::sync::Arc;

use units::Time;

use super::recorder::StoredRows;
use crate::memory::List;
use crate::record::Column;

/// Samples of a run.
#[derive(Debug)]
pub struct Samples<S> {
    times: List<Time>,
    rows: List<S>,
}

impl<S> Default for Samples<S> {
    fn default() -> Self {
        Samples { times: List::default(), rows: List::default() }
    }
}

impl<S> Samples<S> {
    /// Add a sample with `count` values.
    #[inline]
    pub fn take(&mut self, now: Time, count: usize, values: impl Iterator<Item = S>) {
        self.times.push(now);
        self.rows.extend(count, values);
    }

    /// Return the number of stored rows.
    pub fn stored_rows(&self) -> StoredRows {
        StoredRows { rows: self.rows.len(), full: self.times.is_full() || self.rows.is_full() }
    }

    /// Return the column with the time of each row. Each sample has one row per link or flow in
    /// `sampled`.
    pub(super) fn times(&self, sampled: usize) -> Column {
        Column::Float(self.times.iter().flat_map(|t| std::iter::repeat_n(t.seconds(), sampled)).collect())
    }

    /// Return the column with the names of the sampled links or flows.
    pub(super) fn keys(&self, sampled: &[u32], names: &Arc<Vec<String>>) -> Column {
        Column::Name(self.times.iter().flat_map(|_| sampled.iter().copied()).collect(), names.clone())
    }

    /// Return a column with one number per row, which `value` computes from the sample.
    pub(super) fn column(&self, value: impl Fn(&S) -> f64) -> Column {
        Column::Float(self.rows.iter().map(value).collect())
    }
}
