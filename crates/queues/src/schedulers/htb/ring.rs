//! Ring of classes that take turns at one place in the tree.

/// Classes that take turns at one place in the tree, in the order of the list of classes, and the
/// class that has the turn.
#[derive(Clone, Debug, Default)]
pub(super) struct Ring {
    pub(super) members: Vec<u32>,
    pub(super) at: Option<u32>,
    /// Class that left the ring while it had the turn.
    pub(super) left_at: Option<u32>,
}

impl Ring {
    pub(super) fn from(&self, node: u32) -> Option<u32> {
        self.members.get(self.members.partition_point(|&m| m < node)).copied()
    }

    pub(super) fn add(&mut self, node: u32) {
        let position = self.members.partition_point(|&m| m < node);
        self.members.insert(position, node);
    }

    pub(super) fn remove(&mut self, node: u32) {
        let position = self.members.partition_point(|&m| m < node);
        if self.members.get(position) == Some(&node) {
            self.members.remove(position);
        }
    }

    /// Pass the turn to the next class of the ring. If the last class had the turn, afterwards no
    /// class has the turn.
    pub(super) fn advance(&mut self) {
        self.at = self.at.and_then(|at| self.from(at + 1));
    }
}
