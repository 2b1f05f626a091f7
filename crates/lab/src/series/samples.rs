//! Series that are sampled: at each instant the same things, in the same order, so that neither the
//! time nor the name is kept for each. Samples are kept as they are taken and become columns at the end.

use std::sync::Arc;

use units::Time;

use super::recorder::StoredRows;
use crate::memory::List;
use crate::record::Column;

/// The samples of a run.
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
    /// Takes a sample of each of `n`.
    #[inline]
    pub fn take(&mut self, now: Time, n: usize, of_each: impl Iterator<Item = S>) {
        self.times.push(now);
        self.rows.extend(n, of_each);
    }

    /// The rows of its table so far.
    pub fn stored_rows(&self) -> StoredRows {
        StoredRows { rows: self.rows.len(), full: self.times.is_full() || self.rows.is_full() }
    }

    /// The time of each sample, where so many things are sampled each time.
    pub(super) fn times(&self, sampled: usize) -> Column {
        Column::Float(self.times.iter().flat_map(|t| std::iter::repeat_n(t.seconds(), sampled)).collect())
    }

    /// What each is a sample of.
    pub(super) fn keys(&self, sampled: &[u32], names: &Arc<Vec<String>>) -> Column {
        Column::Name(self.times.iter().flat_map(|_| sampled.iter().copied()).collect(), names.clone())
    }

    pub(super) fn column(&self, value: impl Fn(&S) -> f64) -> Column {
        Column::Float(self.rows.iter().map(value).collect())
    }
}
