//! The kernel's monotonic clock as the time of a run.

use rustix::time::{ClockId, Timespec, clock_gettime};
use units::{Duration, Time};

/// Picoseconds per nanosecond.
const PS_PER_NS: u64 = 1000;
const NS_PER_S: u64 = 1_000_000_000;

/// Kind of time in which a run takes place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Real time: the machine's other work delays packets.
    Real,
    /// Virtual time of a kernel that stands still while its processes compute.
    Virtual,
}

/// Clock that shows the time since the start of a run.
///
/// In virtual time the clock stands still until its owner has waited, so the clock is read once
/// after each wait. There a reading is a system call, and it takes virtual time.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    pace: Pace,
    origin: u64,
    /// Last reading.
    read: u64,
}

fn nanoseconds() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * NS_PER_S + now.tv_nsec as u64
}

impl Clock {
    /// Start a clock.
    pub fn start(pace: Pace) -> Self {
        let origin = nanoseconds();
        Clock { pace, origin, read: origin }
    }

    /// Return the time since the start.
    pub fn now(self) -> Time {
        let now = if self.pace == Pace::Virtual { self.read } else { nanoseconds() };
        Time((now - self.origin) * PS_PER_NS)
    }

    /// Read the time after a wait.
    pub fn waited(&mut self) {
        self.read = nanoseconds();
    }
}

/// Return a span in the form that system calls use, rounded up, so that a call does not return
/// before the time.
pub fn timespec(span: Duration) -> Timespec {
    let ns = span.0.div_ceil(PS_PER_NS);
    Timespec { tv_sec: (ns / NS_PER_S) as i64, tv_nsec: (ns % NS_PER_S) as _ }
}
