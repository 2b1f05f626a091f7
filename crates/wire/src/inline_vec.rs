//! Short lists that need no heap memory, such as the lists in a header.

use std::fmt;
use std::ops::Deref;

/// A list of up to `N` values, which the struct itself contains. The list can be used as a slice,
/// because it implements `Deref`.
#[derive(Clone, Copy)]
pub struct InlineVec<T, const N: usize> {
    items: [T; N],
    len: u8,
}

impl<T: Copy + Default, const N: usize> InlineVec<T, N> {
    /// Return an empty list.
    pub fn new() -> Self {
        const { assert!(N <= u8::MAX as usize) };
        InlineVec { items: [T::default(); N], len: 0 }
    }

    /// Return a list of the given values, or `None` if their number exceeds `N`.
    pub fn of(items: &[T]) -> Option<Self> {
        let mut list = Self::new();
        list.extend(items).then_some(list)
    }

    /// Append the given values to the list and return true. If the list does not have enough space
    /// for all values, append none of them and return false.
    #[must_use]
    pub fn extend(&mut self, items: &[T]) -> bool {
        let len = usize::from(self.len);
        let Some(room) = self.items.get_mut(len..len + items.len()) else { return false };
        room.copy_from_slice(items);
        self.len += items.len() as u8;
        true
    }
}

impl<T: Copy + Default, const N: usize> Default for InlineVec<T, N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T, const N: usize> Deref for InlineVec<T, N> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.items[..usize::from(self.len)]
    }
}

impl<T: PartialEq, const N: usize> PartialEq for InlineVec<T, N> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Eq, const N: usize> Eq for InlineVec<T, N> {}

impl<T: fmt::Debug, const N: usize> fmt::Debug for InlineVec<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_do_not_all_fit_are_refused() {
        let mut list = InlineVec::<u8, 3>::of(&[1, 2]).unwrap();
        assert!(!list.extend(&[3, 4]));
        assert_eq!(&list[..], [1, 2]);
        assert!(list.extend(&[3]) && list[..] == [1, 2, 3] && !list.extend(&[4]));
        assert!(InlineVec::<u8, 3>::of(&[0; 4]).is_none());
    }

    #[test]
    fn lists_are_equal_if_their_values_are() {
        assert_eq!(InlineVec::<u8, 3>::of(&[1]), InlineVec::<u8, 3>::of(&[1]));
        assert_ne!(InlineVec::<u8, 3>::of(&[1]), InlineVec::<u8, 3>::of(&[1, 0]));
    }
}
