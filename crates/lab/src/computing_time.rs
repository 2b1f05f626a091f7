//! Computing time of a run on the machine. The manifest and the benchmark report the computing
//! time. The results of a run do not depend on the computing time.

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
    started: ComputingTime,
}

/// Read the clocks of the machine.
#[cfg(not(target_family = "wasm"))]
fn now() -> ComputingTime {
    use rustix::time::{ClockId, clock_gettime};
    let seconds = |clock| {
        let time = clock_gettime(clock);
        time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
    };
    ComputingTime { cpu_s: seconds(ClockId::ThreadCPUTime), wall_s: seconds(ClockId::Monotonic) }
}

/// Return 0, because WebAssembly has no clock. The computing time of a run is therefore 0, and the
/// limit on wall-clock time has no effect.
#[cfg(target_family = "wasm")]
fn now() -> ComputingTime {
    ComputingTime::default()
}

impl Stopwatch {
    /// Start a stopwatch.
    pub fn start() -> Self {
        Stopwatch { started: now() }
    }

    /// Return the elapsed wall-clock time in seconds since the stopwatch was started or `lap` was
    /// last called.
    pub fn wall_s(&self) -> f64 {
        now().wall_s - self.started.wall_s
    }

    /// Return the computing time since the stopwatch was started or `lap` was last called, and
    /// start again at zero.
    pub fn lap(&mut self) -> ComputingTime {
        let before = std::mem::replace(self, Stopwatch::start()).started;
        ComputingTime {
            cpu_s: self.started.cpu_s - before.cpu_s,
            wall_s: self.started.wall_s - before.wall_s,
        }
    }
}
