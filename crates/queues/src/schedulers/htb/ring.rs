//! Whose turn it is at a place of the tree.

/// The classes that take turns at one place, in the order of the list, and whose turn it is.
#[derive(Clone, Debug, Default)]
pub(super) struct Ring {
    pub(super) members: Vec<u32>,
    pub(super) at: Option<u32>,
    /// Where it stood when that member left.
    pub(super) left_at: Option<u32>,
}

impl Ring {
    pub(super) fn from(&self, node: u32) -> Option<u32> {
        self.members.get(self.members.partition_point(|&m| m < node)).copied()
    }

    pub(super) fn add(&mut self, node: u32) {
        let place = self.members.partition_point(|&m| m < node);
        self.members.insert(place, node);
    }

    pub(super) fn remove(&mut self, node: u32) {
        let place = self.members.partition_point(|&m| m < node);
        if self.members.get(place) == Some(&node) {
            self.members.remove(place);
        }
    }

    /// The turn goes to the next; past the last it is nobody's.
    pub(super) fn advance(&mut self) {
        self.at = self.at.and_then(|at| self.from(at + 1));
    }
}
