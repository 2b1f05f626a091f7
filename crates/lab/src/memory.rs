//! Checks that memory suffices. If the available memory does not suffice, the run ends with an
//! error. The standard library aborts the process if an allocation fails. The simulator therefore
//! checks the available memory before it allocates much memory.

use std::ops::Deref;

use crate::failure::Failure;

/// Memory in bytes that small allocations may use between two checks.
const RESERVE: u64 = 64 << 20;

/// Size in bytes below which the simulator allocates memory without a check of the available
/// memory. The previous check has reserved memory for small allocations. In a short run, checks
/// before all small allocations would take as long as the rest of the run.
pub const SMALL: u64 = 1 << 20;

/// List that grows during a run. If the available memory does not suffice for a new element, the
/// list stays unchanged and is marked as full.
#[derive(Debug)]
pub struct List<T> {
    items: Vec<T>,
    full: bool,
}

impl<T> Default for List<T> {
    fn default() -> Self {
        List { items: Vec::new(), full: false }
    }
}

impl<T> Deref for List<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.items
    }
}

impl<T> List<T> {
    /// Append an item.
    #[inline]
    pub fn push(&mut self, item: T) {
        if self.items.len() < self.items.capacity() || self.reserve(1) {
            self.items.push(item);
        }
    }

    /// Append `count` items.
    #[inline]
    pub fn extend(&mut self, count: usize, items: impl Iterator<Item = T>) {
        if self.reserve(count) {
            self.items.extend(items);
        }
    }

    /// Return true if the list refused an element because the available memory did not suffice.
    pub fn is_full(&self) -> bool {
        self.full
    }

    fn reserve(&mut self, count: usize) -> bool {
        self.full |= self.items.try_reserve(count).is_err();
        !self.full
    }
}

/// Fail unless the available memory suffices for `bytes` bytes, and for the small allocations until
/// the next check.
pub fn ensure_available(bytes: u64, what: &str) -> Result<(), Failure> {
    let all = usize::try_from(bytes.saturating_add(RESERVE)).unwrap_or(usize::MAX);
    Vec::<u8>::new().try_reserve_exact(all).map_err(|_| {
        let gigabytes = bytes as f64 / 1e9;
        Failure::Memory(format!(
            "there is not enough memory for {what} ({gigabytes:.3} GB); reduce the scenario"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_without_memory_stays_unchanged() {
        let mut list = List::default();
        list.push([0_u8; 1 << 10]);
        list.extend(usize::MAX >> 10, std::iter::repeat([1; 1 << 10]));
        assert!(list.is_full() && list.len() == 1);
    }

    #[test]
    fn an_allocation_beyond_memory_is_an_error() {
        let message = ensure_available(u64::MAX, "the samples").unwrap_err().to_string();
        assert!(message.contains("not enough memory for the samples"), "{message}");
        assert!(ensure_available(1, "a byte").is_ok());
    }
}
