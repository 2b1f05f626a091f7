//! Segments in the order in which they were last sent: the doubly linked list that RFC 8985 §6.2 (`rfc8985`) names,
//! beside a ring of segments that come at the back and go at the front.

use std::collections::VecDeque;

/// No segment.
const NONE: u32 = u32::MAX;
/// In place of a neighbour: the segment is not in the list.
const OUT: u32 = u32::MAX - 1;
/// Segments are numbered from the first ever, as far as these bits go.
const NUMBER: u32 = u32::MAX >> 1;

#[derive(Clone, Copy, Debug)]
struct Link {
    earlier: u32,
    later: u32,
}

/// The list. Segments are named by their index in the ring.
#[derive(Clone, Debug)]
pub struct SendOrder {
    links: VecDeque<Link>,
    /// Number of the ring's first segment.
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

    /// The ring has so many segments, which were sent in its order.
    pub fn fill(&mut self, segments: usize) {
        self.links.clear();
        (self.front, self.first, self.last) = (0, NONE, NONE);
        (0..segments).for_each(|_| self.push_back());
    }

    /// A segment joins the ring, and the list as its last.
    pub fn push_back(&mut self) {
        self.links.push_back(Link { earlier: OUT, later: OUT });
        self.append(self.links.len() - 1);
    }

    /// The ring's first segment leaves it.
    pub fn pop_front(&mut self) {
        if self.first == self.front {
            self.pop_earliest();
        } else {
            self.remove(0);
        }
        self.links.pop_front();
        self.front = self.front.wrapping_add(1) & NUMBER;
    }

    /// The ring's first segment, which is the list's too, leaves the list.
    fn pop_earliest(&mut self) {
        self.first = self.links[0].later;
        match self.index(self.first) {
            Some(first) => self.links[first].earlier = NONE,
            None => self.last = NONE,
        }
    }

    /// A segment that is not in the list is sent now.
    pub fn append(&mut self, i: usize) {
        let number = self.front.wrapping_add(i as u32) & NUMBER;
        self.links[i] = Link { earlier: self.last, later: NONE };
        match self.index(self.last) {
            Some(last) => self.links[last].later = number,
            None => self.first = number,
        }
        self.last = number;
    }

    /// A segment leaves the list, if it is there.
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

    /// The segment that was sent first.
    pub fn first(&self) -> Option<usize> {
        self.index(self.first)
    }

    /// The next after one that is in the list.
    pub fn later(&self, i: usize) -> Option<usize> {
        self.index(self.links[i].later)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whatever joins, leaves and is sent again, the order is that of a plain vector; also where numbers wrap.
        #[test]
        fn the_order_is_that_of_sending(
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
