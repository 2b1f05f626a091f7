//! Segments in the order in which they were last sent: the doubly linked list that RFC 8985 §6.2
//! (`rfc8985`) mentions. The list accompanies a ring of segments, which adds segments at its back
//! and removes them at its front.

use std::collections::VecDeque;

/// Number that stands for a neighbour that does not exist.
const NONE: u32 = u32::MAX;
/// Number that stands for the neighbours of a segment that is not in the list.
const OUT: u32 = u32::MAX - 1;
/// Bit mask that limits a segment number to 31 bits. The numbers of segments count from the first
/// segment of the connection and wrap around.
const NUMBER: u32 = u32::MAX >> 1;

#[derive(Clone, Copy, Debug)]
struct Link {
    earlier: u32,
    later: u32,
}

/// List of segments in sending order. A segment is identified by its index in the ring.
#[derive(Clone, Debug)]
pub struct SendOrder {
    links: VecDeque<Link>,
    /// Number of the first segment in the ring.
    front: u32,
    first: u32,
    last: u32,
}

impl Default for SendOrder {
    fn default() -> Self {
        SendOrder { links: VecDeque::new(), front: 0, first: NONE, last: NONE }
    }
}

impl SendOrder {
    fn index(&self, number: u32) -> Option<usize> {
        (number != NONE).then(|| (number.wrapping_sub(self.front) & NUMBER) as usize)
    }

    /// Reset the list to `segments` segments, which were sent in the order of the ring.
    pub fn fill(&mut self, segments: usize) {
        self.links.clear();
        (self.front, self.first, self.last) = (0, NONE, NONE);
        (0..segments).for_each(|_| self.push_back());
    }

    /// Append a new segment to the ring and to the list.
    pub fn push_back(&mut self) {
        self.links.push_back(Link { earlier: OUT, later: OUT });
        self.append(self.links.len() - 1);
    }

    /// Remove the first segment of the ring.
    pub fn pop_front(&mut self) {
        if self.first == self.front {
            self.pop_earliest();
        } else {
            self.remove(0);
        }
        self.links.pop_front();
        self.front = self.front.wrapping_add(1) & NUMBER;
    }

    /// Remove the first segment of the ring from the list. The segment must also be the first
    /// segment of the list.
    fn pop_earliest(&mut self) {
        self.first = self.links[0].later;
        match self.index(self.first) {
            Some(first) => self.links[first].earlier = NONE,
            None => self.last = NONE,
        }
    }

    /// Append a segment to the list, because it was sent now. The segment must not be in the list.
    pub fn append(&mut self, i: usize) {
        let number = self.front.wrapping_add(i as u32) & NUMBER;
        self.links[i] = Link { earlier: self.last, later: NONE };
        match self.index(self.last) {
            Some(last) => self.links[last].later = number,
            None => self.first = number,
        }
        self.last = number;
    }

    /// Remove a segment from the list, if it is in the list.
    pub fn remove(&mut self, i: usize) {
        let Link { earlier, later } = self.links[i];
        if earlier == OUT {
            return;
        }
        match self.index(earlier) {
            Some(before) => self.links[before].later = later,
            None => self.first = later,
        }
        match self.index(later) {
            Some(after) => self.links[after].earlier = earlier,
            None => self.last = earlier,
        }
        self.links[i] = Link { earlier: OUT, later: OUT };
    }

    /// Return the segment that was sent first.
    pub fn first(&self) -> Option<usize> {
        self.index(self.first)
    }

    /// Return the segment that was sent after segment `i`, which must be in the list.
    pub fn later(&self, i: usize) -> Option<usize> {
        self.index(self.links[i].later)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The list has the order of a plain vector after any sequence of additions, removals and
        /// retransmissions, even if the numbers of segments wrap around.
        #[test]
        fn the_list_has_the_order_of_sending(
            wraps in any::<bool>(),
            steps in prop::collection::vec((0u8..5, 0usize..8), 1..200),
        ) {
            let mut list = SendOrder { front: if wraps { NUMBER - 20 } else { 0 }, ..SendOrder::default() };
            let (mut order, mut ring): (Vec<usize>, usize) = (Vec::new(), 0);
            for (step, i) in steps {
                match step {
                    0 | 1 => {
                        list.push_back();
                        order.push(ring);
                        ring += 1;
                    }
                    2 if ring > 0 => {
                        list.pop_front();
                        order.retain(|&i| i > 0);
                        order.iter_mut().for_each(|i| *i -= 1);
                        ring -= 1;
                    }
                    3 if i < ring => {
                        list.remove(i);
                        order.retain(|&o| o != i);
                    }
                    4 if i < ring => {
                        list.remove(i);
                        list.append(i);
                        order.retain(|&o| o != i);
                        order.push(i);
                    }
                    _ => {}
                }
                let walked: Vec<usize> = std::iter::successors(list.first(), |&i| list.later(i)).collect();
                prop_assert_eq!(&walked, &order);
            }
        }
    }
}
