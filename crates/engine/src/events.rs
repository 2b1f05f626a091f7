//! Pending events in the total order (time, lane).
//!
//! A *lane* is the number of a component with at most one pending event: a link, an endpoint, or
//! the sampler. The pair (time, lane) therefore orders all events without a counter. The heap of
//! events contains one entry per lane instead of one entry per packet (the object `pipe` of the
//! simulator htsim showed the gain). The event of a lane can be moved to another time. When the
//! event of a lane moves, its old entry stays in the heap, and the queue skips the old entry when
//! it reaches the root. Moving an event therefore costs one insertion, and cancelling an event
//! costs nothing.
//!
//! The heap is 4-ary (LaMarca & Ladner 1996): it has half the depth of a binary heap, and the four
//! children are adjacent. The heap is ordered by time alone. Two events with equal times form a
//! tie. If any heap entry has the same time as the root, then a child of the root has this time
//! too, so the queue compares only the root with its children to detect a tie. At a tie, the event
//! queue removes all heap entries with the earliest time, and returns the events in the order of
//! their lane numbers.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use units::Time;

/// Number of a lane, which identifies the component to which an event belongs.
pub type Lane = u32;

/// Pending events of a run.
#[derive(Debug, Default)]
pub struct EventQueue {
    /// Times of the pending events as a 4-ary heap with the minimum first. The lane of the event at
    /// index i of `times` is at index i of the vector `lanes`.
    times: Vec<u64>,
    lanes: Vec<Lane>,
    /// True if the root of the heap was removed and the next inserted entry can take its place.
    /// Replacing the root saves one removal and one insertion per event, because the handler of
    /// nearly every event sets the next event of the same lane.
    vacant: bool,
    /// Lanes of the heap entries that were removed together because they all have the time
    /// `tied_at`.
    tied: BinaryHeap<Reverse<Lane>>,
    tied_at: Time,
    /// Time of each lane's event, or [`Time::NEVER`] without an event.
    due: Vec<Time>,
    now: Time,
    events: u64,
    ties: u64,
}

impl EventQueue {
    /// Create a queue for the lanes `0..lanes`.
    pub fn new(lanes: usize) -> Self {
        EventQueue { due: vec![Time::NEVER; lanes], ..EventQueue::default() }
    }

    /// Extend the event queue to the lanes `0..lanes`.
    pub fn grow(&mut self, lanes: usize) {
        self.due.resize(lanes.max(self.due.len()), Time::NEVER);
    }

    /// Set the event of `lane` and replace its previous event. [`Time::NEVER`] cancels the event.
    ///
    /// # Panics
    /// If `at` is in the past, because time would run backwards.
    #[inline]
    pub fn set(&mut self, lane: Lane, at: Time) {
        let due = &mut self.due[lane as usize];
        if *due != at {
            *due = at;
            if at != Time::NEVER {
                assert!(
                    at >= self.now,
                    "the event of lane {lane} is set to {at}, which is before now ({})",
                    self.now
                );
                if std::mem::take(&mut self.vacant) {
                    self.sift_down(at.0, lane);
                } else {
                    self.push(at.0, lane);
                }
            }
        }
    }

    /// Return the time of the event of `lane`, or [`Time::NEVER`] without an event.
    pub fn due(&self, lane: Lane) -> Time {
        self.due[lane as usize]
    }

    /// Remove the next event, and advance the clock to the time of this event.
    #[inline]
    pub fn pop(&mut self) -> Option<(Time, Lane)> {
        loop {
            if self.vacant {
                self.remove_root();
            }
            let (at, lane) = match self.times[..] {
                [at, a, b, c, d, ..]
                    if (at != a) & (at != b) & (at != c) & (at != d) && self.tied.is_empty() =>
                {
                    self.vacant = true;
                    (Time(at), self.lanes[0])
                }
                _ => self.pop_tied()?,
            };
            let due = &mut self.due[lane as usize];
            if *due == at {
                *due = Time::NEVER;
                self.ties += u64::from(at == self.now && self.events > 0);
                self.events += 1;
                self.now = at;
                return Some((at, lane));
            }
        }
    }

    /// Return the time of the next event, or [`Time::NEVER`] without an event.
    pub fn next_time(&mut self) -> Time {
        if self.vacant {
            self.remove_root();
        }
        let due = &self.due;
        self.tied.retain(|&Reverse(lane)| due[lane as usize] == self.tied_at);
        while let (Some(&at), Some(&lane)) = (self.times.first(), self.lanes.first())
            && self.due[lane as usize] != Time(at)
        {
            self.remove_root();
        }
        let tied = if self.tied.is_empty() { Time::NEVER } else { self.tied_at };
        self.times.first().map_or(tied, |&at| tied.min(Time(at)))
    }

    /// Return the earliest event. If several events have the earliest time, return the event whose
    /// component has the lowest number.
    #[cold]
    fn pop_tied(&mut self) -> Option<(Time, Lane)> {
        if self.tied.is_empty() {
            self.tied_at = Time(*self.times.first()?);
        }
        while self.times.first() == Some(&self.tied_at.0) {
            self.tied.push(Reverse(self.lanes[0]));
            self.remove_root();
        }
        self.tied.pop().map(|Reverse(lane)| (self.tied_at, lane))
    }

    /// Return the time of the event that was removed last.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Return the number of events that were removed from the queue so far.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Return the number of events that had the same time as the previous event. The order of two
    /// events at the same time is arbitrary.
    pub fn ties(&self) -> u64 {
        self.ties
    }

    fn push(&mut self, at: u64, lane: Lane) {
        let mut i = self.times.len();
        if i == self.times.capacity() {
            // Increase the capacity of the heap by a quarter, because doubling would waste much
            // memory with a million lanes.
            self.times.reserve_exact(i / 4 + 64);
            self.lanes.reserve_exact(i / 4 + 64);
        }
        self.times.push(at);
        self.lanes.push(lane);
        while i > 0 {
            let parent = (i - 1) / 4;
            if self.times[parent] <= at {
                break;
            }
            (self.times[i], self.lanes[i]) = (self.times[parent], self.lanes[parent]);
            i = parent;
        }
        (self.times[i], self.lanes[i]) = (at, lane);
    }

    /// Replace the root of the heap by the last entry.
    fn remove_root(&mut self) {
        self.vacant = false;
        if let (Some(last), Some(whose)) = (self.times.pop(), self.lanes.pop())
            && !self.times.is_empty()
        {
            self.sift_down(last, whose);
        }
    }

    /// Insert an entry at the root of the heap and move the entry down to its position.
    fn sift_down(&mut self, at: u64, lane: Lane) {
        let n = self.times.len();
        let (times, lanes) = (&mut self.times[..n], &mut self.lanes[..n]);
        let mut i = 0;
        loop {
            let first = 4 * i + 1;
            let (least, time) = match times.get(first..first + 4) {
                Some(&[a, b, c, d]) => {
                    let (x, u) = if b < a { (1, b) } else { (0, a) };
                    let (y, v) = if d < c { (3, d) } else { (2, c) };
                    if v < u { (y, v) } else { (x, u) }
                }
                _ if first < n => least_of(&times[first..]),
                _ => break,
            };
            if time >= at {
                break;
            }
            (times[i], lanes[i]) = (time, lanes[first + least]);
            i = first + least;
        }
        (times[i], lanes[i]) = (at, lane);
    }
}

/// Return the index of the minimum time in a list of times, and the minimum time.
#[cold]
fn least_of(times: &[u64]) -> (usize, u64) {
    let least = (0..times.len()).min_by_key(|&i| times[i]).unwrap_or(0);
    (least, times[least])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn events_at_equal_times_are_ordered_by_lane() {
        let mut q = EventQueue::new(3);
        for lane in [2, 0, 1] {
            q.set(lane, Time(5));
        }
        assert_eq!(
            [q.pop(), q.pop(), q.pop(), q.pop()],
            [Some((Time(5), 0)), Some((Time(5), 1)), Some((Time(5), 2)), None]
        );
        assert_eq!((q.events(), q.ties()), (3, 2));
    }

    #[test]
    fn a_moved_event_fires_once_at_its_new_time() {
        let mut q = EventQueue::new(1);
        q.set(0, Time(10));
        q.set(0, Time(3));
        assert_eq!(q.pop(), Some((Time(3), 0)));
        q.set(0, Time(10));
        assert_eq!(q.pop(), Some((Time(10), 0)));
        assert_eq!(q.pop(), None);
        q.set(0, Time(12));
        q.set(0, Time::NEVER);
        assert_eq!(q.pop(), None);
    }

    #[test]
    #[should_panic(expected = "before now")]
    fn an_event_in_the_past_panics() {
        let mut q = EventQueue::new(1);
        q.set(0, Time(10));
        q.pop();
        q.set(0, Time(9));
    }

    proptest! {
        /// The event queue is compared with a reference model, a sorted map from lanes to times.
        #[test]
        fn the_queue_behaves_like_a_sorted_map(ops in prop::collection::vec((0u32..30, prop::option::of(0u64..20)), 1..300)) {
            let mut q = EventQueue::new(30);
            let mut model: BTreeMap<Lane, u64> = BTreeMap::new();
            for (lane, delay) in ops {
                if let Some(d) = delay {
                    let at = Time(q.now().0 + d);
                    q.set(lane, at);
                    model.insert(lane, at.0);
                } else {
                    let expected = model.iter().map(|(&l, &t)| (Time(t), l)).min();
                    prop_assert_eq!(q.next_time(), expected.map_or(Time::NEVER, |(at, _)| at));
                    if let Some((_, l)) = expected {
                        model.remove(&l);
                    }
                    prop_assert_eq!(q.pop(), expected);
                }
            }
        }
    }
}
