//! Short lists without heap memory, as a header contains them.

use std::fmt;
use std::ops::Deref;

/// A list of up to `N` values, stored in place. It dereferences to a slice.
#[derive(Clone, Copy)]
pub struct Few<T, const N: usize> {
    items: [T; N],
    len: u8,
}

impl<T: Copy + Default, const N: usize> Few<T, N> {
    /// Return an empty list.
    pub fn new() -> Self {
        const { assert!(N <= u8::MAX as usize) };
        Few { items: [T::default(); N], len: 0 }
    }

    /// Return a list of these values, or `None` if there are more than `N`.
    pub fn of(items: &[T]) -> Option<Self> {
        let mut few = Self::new();
        few.extend(items).then_some(few)
    }

    /// Append these values and return true. If they do not all fit, append none and return false.
    #[must_use]
    pub fn extend(&mut self, items: &[T]) -> bool {
        let len = usize::from(self.len);
        let Some(room) = self.items.get_mut(len..len + items.len()) else { return false };
        room.copy_from_slice(items);
        self.len += items.len() as u8;
        true
    }
}

impl<T: Copy + Default, const N: usize> Default for Few<T, N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T, const N: usize> Deref for Few<T, N> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.items[..usize::from(self.len)]
    }
}

impl<T: PartialEq, const N: usize> PartialEq for Few<T, N> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Eq, const N: usize> Eq for Few<T, N> {}

impl<T: fmt::Debug, const N: usize> fmt::Debug for Few<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_do_not_all_fit_are_refused() {
        let mut few = Few::<u8, 3>::of(&[1, 2]).unwrap();
        assert!(!few.extend(&[3, 4]));
        assert_eq!(&few[..], [1, 2]);
        assert!(few.extend(&[3]) && few[..] == [1, 2, 3] && !few.extend(&[4]));
        assert!(Few::<u8, 3>::of(&[0; 4]).is_none());
    }

    #[test]
    fn lists_are_equal_if_their_values_are() {
        assert_eq!(Few::<u8, 3>::of(&[1]), Few::<u8, 3>::of(&[1]));
        assert_ne!(Few::<u8, 3>::of(&[1]), Few::<u8, 3>::of(&[1, 0]));
    }
}
