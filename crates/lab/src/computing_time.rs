//! Computing time of a run on the machine. The manifest and the benchmark report the computing
//! time. The results of a run do not depend on the computing time.

use std::time::Instant;

use rustix::time::{ClockId, clock_gettime};

/// Computing time of one part of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ComputingTime {
    /// CPU time of the thread, in seconds.
    pub cpu_s: f64,
    /// Elapsed wall-clock time, in seconds.
    pub wall_s: f64,
}

/// Stopwatch of the current thread.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch {
    wall: Instant,
    cpu: f64,
}

fn cpu() -> f64 {
    let t = clock_gettime(ClockId::ThreadCPUTime);
    t.tv_sec as f64 + t.tv_nsec as f64 * 1e-9
}

impl Stopwatch {
    /// Start a stopwatch.
    pub fn start() -> Self {
        Stopwatch { wall: Instant::now(), cpu: cpu() }
    }

    /// Return the elapsed wall-clock time in seconds since the stopwatch was started or `lap` was
    /// last called.
    pub fn wall_s(&self) -> f64 {
        self.wall.elapsed().as_secs_f64()
    }

    /// Return the computing time since the stopwatch was started or `lap` was last called, and
    /// start again at zero.
    pub fn lap(&mut self) -> ComputingTime {
        let before = std::mem::replace(self, Stopwatch::start());
        ComputingTime { cpu_s: self.cpu - before.cpu, wall_s: (self.wall - before.wall).as_secs_f64() }
    }
}
