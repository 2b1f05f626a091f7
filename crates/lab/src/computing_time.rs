//! What a run cost the machine: for the manifest and the benchmark, never for a result.

use std::time::Instant;

use rustix::time::{ClockId, clock_gettime};

/// Time taken by a part of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ComputingTime {
    /// CPU time of the thread, in seconds.
    pub cpu_s: f64,
    /// Time by the wall, in seconds.
    pub wall_s: f64,
}

/// A running stopwatch of this thread.
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
    /// Starts it.
    pub fn start() -> Self {
        Stopwatch { wall: Instant::now(), cpu: cpu() }
    }

    /// Seconds by the wall since it was started or read last.
    pub fn wall_s(&self) -> f64 {
        self.wall.elapsed().as_secs_f64()
    }

    /// The effort since it was started or read last.
    pub fn lap(&mut self) -> ComputingTime {
        let before = std::mem::replace(self, Stopwatch::start());
        ComputingTime { cpu_s: self.cpu - before.cpu, wall_s: (self.wall - before.wall).as_secs_f64() }
    }
}
