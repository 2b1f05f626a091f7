//! Pending events in the total order (time, lane).
//!
//! A *lane* is whatever can have one thing to do next: a link, a host's timer, a sampler. Each lane
//! has at most one pending event, so (time, lane) is a total order without a counter, and the heap
//! holds one entry a lane, not one a packet (htsim's `pipe` showed the gain). A lane's event may be
//! moved: the entry that no longer says when its lane is due is skipped when it surfaces, so moving
//! an event costs one push and cancelling it nothing.
//!
//! The heap is 4-ary (LaMarca & Ladner 1996): half the depth of a binary one, and the four children
//! stand side by side. It is ordered by time alone: an entry as early as the root has only such entries above it,
//! so that a tie shows among the children of the root. Then all entries of that time are taken out, and go by lane.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use units::Time;

/// Whose event it is.
pub type Lane = u32;

/// The pending events of a run.
#[derive(Debug, Default)]
pub struct EventQueue {
    /// The pending times as a 4-ary heap, least first, and whose they are.
    times: Vec<u64>,
    lanes: Vec<Lane>,
    /// The root was taken and its place is free for the next entry, which saves a removal and an
    /// insertion: nearly every event of a lane sets its next.
    vacant: bool,
    /// The lanes of entries taken out because their time is the same: `tied_at`.
    tied: BinaryHeap<Reverse<Lane>>,
    tied_at: Time,
    /// When each lane is due; [`Time::NEVER`]: not pending.
    due: Vec<Time>,
    now: Time,
    events: u64,
    ties: u64,
}

impl EventQueue {
    /// A queue for lanes `0..lanes`.
    pub fn new(lanes: usize) -> Self {
        EventQueue { due: vec![Time::NEVER; lanes], ..EventQueue::default() }
    }

    /// Makes room for lanes up to `0..lanes`.
    pub fn grow(&mut self, lanes: usize) {
        self.due.resize(lanes.max(self.due.len()), Time::NEVER);
    }

    /// Sets the next event of `lane`, in place of the one it had. [`Time::NEVER`] cancels it.
    ///
    /// # Panics
    /// If `at` is in the past: time would run backwards.
    #[inline]
    pub fn set(&mut self, lane: Lane, at: Time) {
        let due = &mut self.due[lane as usize];
        if *due != at {
            *due = at;
            if at != Time::NEVER {
                assert!(at >= self.now, "event of lane {lane} at {at}, before now ({})", self.now);
                if std::mem::take(&mut self.vacant) {
                    self.sift_down(at.0, lane);
                } else {
                    self.push(at.0, lane);
                }
            }
        }
    }

    /// When `lane` is due; [`Time::NEVER`] if it is not pending.
    pub fn due(&self, lane: Lane) -> Time {
        self.due[lane as usize]
    }

    /// Takes the next event, advancing the clock to it.
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

    /// The first entry where others have the same time, or may.
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

    /// The time of the event taken last.
    pub fn now(&self) -> Time {
        self.now
    }

    /// How many events were taken.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// How many events were taken at the same instant as the one before: where the order of lanes,
    /// which is arbitrary, decided.
    pub fn ties(&self) -> u64 {
        self.ties
    }

    fn push(&mut self, at: u64, lane: Lane) {
        let mut i = self.times.len();
        if i == self.times.capacity() {
            // By a quarter: among a million lanes doubling would leave much unused.
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

    /// Fills the place of the root with the last entry.
    fn remove_root(&mut self) {
        self.vacant = false;
        if let (Some(last), Some(whose)) = (self.times.pop(), self.lanes.pop())
            && !self.times.is_empty()
        {
            self.sift_down(last, whose);
        }
    }

    /// Puts an entry at the root and lets it sink.
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

/// Which of these times is least, and that time.
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
    fn equal_times_go_by_lane() {
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
    fn the_past_is_refused() {
        let mut q = EventQueue::new(1);
        q.set(0, Time(10));
        q.pop();
        q.set(0, Time(9));
    }

    proptest! {
        /// The queue against a sorted map from lane to time.
        #[test]
        fn same_as_a_sorted_map(ops in prop::collection::vec((0u32..30, prop::option::of(0u64..20)), 1..300)) {
            let mut q = EventQueue::new(30);
            let mut model: BTreeMap<Lane, u64> = BTreeMap::new();
            for (lane, delay) in ops {
                if let Some(d) = delay {
                    let at = Time(q.now().0 + d);
                    q.set(lane, at);
                    model.insert(lane, at.0);
                } else {
                    let expected = model.iter().map(|(&l, &t)| (Time(t), l)).min();
                    if let Some((_, l)) = expected {
                        model.remove(&l);
                    }
                    prop_assert_eq!(q.pop(), expected);
                }
            }
        }
    }
}
