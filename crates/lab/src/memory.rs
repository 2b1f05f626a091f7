//! Room in memory: where there is none, the run ends with an error. The standard library would abort, so large pieces
//! are asked for before they are needed.

use std::ops::Deref;

use crate::failure::Failure;

/// What the small pieces of a run may take until the next look.
const RESERVE: u64 = 64 << 20;

/// A piece below this is small: the last look left room for it. (To ask the system takes as long as a short run.)
pub const SMALL: u64 = 1 << 20;

/// A list that grows while the run goes on; where there is no room it stays as it is, and says so.
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
    /// Adds one.
    #[inline]
    pub fn push(&mut self, item: T) {
        if self.items.len() < self.items.capacity() || self.room(1) {
            self.items.push(item);
        }
    }

    /// Adds so many.
    #[inline]
    pub fn extend(&mut self, count: usize, items: impl Iterator<Item = T>) {
        if self.room(count) {
            self.items.extend(items);
        }
    }

    /// Whether something was left away.
    pub fn is_full(&self) -> bool {
        self.full
    }

    fn room(&mut self, count: usize) -> bool {
        self.full |= self.items.try_reserve(count).is_err();
        !self.full
    }
}

/// Fails unless there is room for so many bytes and for small pieces.
pub fn ensure_available(bytes: u64, what: &str) -> Result<(), Failure> {
    let all = usize::try_from(bytes.saturating_add(RESERVE)).unwrap_or(usize::MAX);
    Vec::<u8>::new().try_reserve_exact(all).map_err(|_| {
        let gigabytes = bytes as f64 / 1e9;
        Failure::Memory(format!("there is not enough memory for {what} ({gigabytes:.3} GB); ask for less"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_without_room_stays_as_it_is() {
        let mut list = List::default();
        list.push([0_u8; 1 << 10]);
        list.extend(usize::MAX >> 10, std::iter::repeat([1; 1 << 10]));
        assert!(list.is_full() && list.len() == 1);
    }

    #[test]
    fn what_there_is_no_room_for_is_told() {
        let message = ensure_available(u64::MAX, "the samples").unwrap_err().to_string();
        assert!(message.contains("not enough memory for the samples"), "{message}");
        assert!(ensure_available(1, "a byte").is_ok());
    }
}
