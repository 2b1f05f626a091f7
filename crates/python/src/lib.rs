//! Python module of the simulator. The module receives a scenario as text and returns columns of
//! results. The crate `lab` simulates the scenario.

mod aqms;
mod reasons;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use lab::{CaptureTarget, Column, Failure, Format, Limits, Outcome, Scenario, Watch};
use pyo3::create_exception;
use pyo3::exceptions::{PyMemoryError, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};
use serde_json::{Value, json};

use crate::aqms::{Fault, PythonAqms};

create_exception!(
    aqmlab,
    ScenarioError,
    PyValueError,
    "Invalid input. The message names the field, its value and the bound."
);
create_exception!(
    aqmlab,
    InvariantViolation,
    PyRuntimeError,
    "An invariant of the simulator is violated, which means that aqmlab has a defect."
);

fn parse(text: &str, format: &str, overrides: &[(String, String)]) -> PyResult<Scenario> {
    let format = if format == "toml" { Format::Toml } else { Format::Json };
    lab::read(text, format, overrides).map_err(|e| ScenarioError::new_err(e.to_string()))
}

/// Serialize a JSON value. This function is faster than `Value::to_string`, which passes each part
/// of the text through a formatter.
fn serialize(value: &Value) -> String {
    serde_json::to_string(value).expect("a JSON value has a JSON text")
}

/// Read a scenario in the format "toml" or "json", and apply overrides, whose keys are dotted
/// paths. Return the scenario as JSON, including the default of every key that is not set.
#[pyfunction]
fn check(text: &str, format: &str, overrides: Vec<(String, String)>) -> PyResult<String> {
    let scenario = parse(text, format, &overrides)?;
    Ok(serialize(&lab::write(&scenario)))
}

/// Return the names of the flows in a scenario (JSON) that send data over at least one of the given
/// links.
///
/// The first part of the result has the flows whose data in the forward direction crosses a given
/// link. The second part of the result lists the flows with data in the reverse direction over a
/// given link. Each of the two parts of the result contains one list of flow names per `[[flows]]`
/// table.
#[pyfunction]
fn crossing(text: &str, links: Vec<String>) -> PyResult<[Vec<Vec<String>>; 2]> {
    let scenario = parse(text, "json", &[])?;
    lab::crossing(&scenario, &links).map_err(|e| ScenarioError::new_err(e.to_string()))
}

/// Check a scenario, and return the scenario as JSON with only the keys that its author wrote.
#[pyfunction]
fn as_written(text: &str, format: &str) -> PyResult<String> {
    parse(text, format, &[])?;
    let format = if format == "toml" { Format::Toml } else { Format::Json };
    let document = lab::read_file_text(text, format).map_err(|e| ScenarioError::new_err(e.to_string()))?;
    Ok(document.to_string())
}

/// Return the hosts, links, flows and TCP parameters of a scenario (JSON) as JSON. The Rust
/// function `lab::expanded` documents the format of the returned JSON.
#[pyfunction]
fn expanded(text: &str) -> PyResult<String> {
    let expanded = lab::expanded(&parse(text, "json", &[])?);
    expanded.map(|e| e.to_string()).map_err(|e| ScenarioError::new_err(e.to_string()))
}

/// Return the TCP parameters of the flows of a scenario (JSON) as JSON. The Rust function
/// `lab::resolved::tcp` documents the format of the returned JSON.
#[pyfunction]
fn tcp(text: &str) -> PyResult<String> {
    let groups = lab::resolved::tcp(&parse(text, "json", &[])?);
    groups.map(|g| g.to_string()).map_err(|e| ScenarioError::new_err(e.to_string()))
}

fn read_limits(text: &str) -> PyResult<Limits> {
    lab::limits(text).map_err(|e| ScenarioError::new_err(e.to_string()))
}

/// Check limits of runs (JSON): the number of events, the wall-clock time and the memory.
#[pyfunction]
fn check_limits(text: &str) -> PyResult<()> {
    read_limits(text).map(|_| ())
}

/// Return the JSON Schema of a scenario.
#[pyfunction]
fn schema() -> String {
    lab::schema().to_string()
}

/// Return the manual pages of all keys and components of scenarios as JSON.
#[pyfunction]
fn pages() -> String {
    lab::pages().to_string()
}

/// Return the definitions of the result tables as JSON, by the name of the table. Each table has a
/// description, and each column of the table has a name, a unit and a description.
#[pyfunction]
fn columns() -> String {
    lab::columns().to_string()
}

/// Return three properties of a distribution (JSON) of "size", "times" or "count": its mean, its
/// quantiles at the given probabilities, and the shares that the largest values contribute to the
/// total. For each share, `largest` has a fraction, such as 0.1 for the largest tenth of all
/// values.
#[pyfunction]
fn distribution(
    quantity: &str,
    written: &str,
    probabilities: Vec<f64>,
    largest: Vec<f64>,
) -> PyResult<(f64, Vec<f64>, Vec<f64>)> {
    let written =
        lab::read_file_text(written, Format::Json).map_err(|e| ScenarioError::new_err(e.to_string()))?;
    lab::sample::describe(quantity, &written, &probabilities, &largest)
        .map(|d| (d.mean, d.quantiles, d.shares))
        .map_err(|e| ScenarioError::new_err(e.to_string()))
}

/// Return the requests of the web traffic of a scenario (JSON) over a network without delay. The
/// result has an entry for each `[[flows]]` table with web traffic: the name of the table, and
/// columns with one row per request.
#[pyfunction]
fn sample<'py>(
    py: Python<'py>,
    text: &str,
    duration_s: f64,
    users: Option<u32>,
) -> PyResult<Vec<(String, Bound<'py, PyDict>)>> {
    let scenario = parse(text, "json", &[])?;
    let until = units::Duration::from_seconds(duration_s);
    let tables = py.detach(|| lab::sample::requests(&scenario, until, users));
    let tables = tables.map_err(|e| ScenarioError::new_err(e.to_string()))?;
    let columns = |requests: Vec<lab::sample::Sampled>| -> PyResult<Bound<'py, PyDict>> {
        let count = |get: fn(&lab::sample::Sampled) -> u64| Column::Count(requests.iter().map(get).collect());
        let float = |get: fn(&lab::sample::Sampled) -> f64| Column::Float(requests.iter().map(get).collect());
        let all = PyDict::new(py);
        for (name, values) in [
            ("user", count(|r| u64::from(r.user))),
            ("page", count(|r| u64::from(r.page))),
            ("connection", count(|r| u64::from(r.connection))),
            ("at_s", float(|r| r.at.seconds())),
            ("answered_s", float(|r| r.answered.seconds())),
            ("request_bytes", count(|r| r.request)),
            ("response_bytes", count(|r| r.response)),
        ] {
            all.set_item(name, column(py, &values)?)?;
        }
        Ok(all)
    };
    tables.into_iter().map(|(name, requests)| Ok((name, columns(requests)?))).collect()
}

/// Run a packet script, and return its report as JSON. `stack` and `changes` (JSON) define the TCP
/// parameters of the script. `preparation` has the names and texts of shell scripts that change
/// kernel settings. Before the packet script runs, the simulator applies the settings that it
/// supports. In the packet script, each name in `defines` is replaced by its text.
#[pyfunction]
#[pyo3(name = "script")]
fn run_script(
    text: &str,
    stack: &str,
    changes: &str,
    tolerance: Option<&str>,
    preparation: Vec<(String, String)>,
    defines: Vec<(String, String)>,
) -> PyResult<String> {
    let wrong = |e: String| ScenarioError::new_err(e);
    let changes = serde_json::from_str(changes).map_err(|e| wrong(e.to_string()))?;
    let mut setup = ::script::Setup::read(stack, &changes, tolerance).map_err(|e| wrong(e.to_string()))?;
    (setup.preparation, setup.defines) = (preparation, defines);
    let report = lab::catch_panic(|| ::script::run_text(text, &setup).json().to_string());
    report.map_err(|panic| InvariantViolation::new_err(format!("the packet script panicked at {panic}")))
}

/// Return the version of the simulator.
#[pyfunction]
fn version() -> &'static str {
    lab::VERSION
}

fn failure(f: Failure, scenario: &Scenario) -> PyErr {
    match f {
        Failure::Violation(_) | Failure::Panic(_) => {
            InvariantViolation::new_err(format!("{f} ({})", lab::describe(scenario)))
        }
        Failure::Capture(_) => PyOSError::new_err(f.to_string()),
        Failure::Memory(_) => PyMemoryError::new_err(f.to_string()),
        other => ScenarioError::new_err(other.to_string()),
    }
}

fn bytes_of<'py, T: Copy>(
    py: Python<'py>,
    values: &[T],
    to: impl Fn(T) -> [u8; 8],
) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, 8 * values.len(), |bytes| {
        bytes.chunks_exact_mut(8).zip(values).for_each(|(place, &value)| place.copy_from_slice(&to(value)));
        Ok(())
    })
}

/// Numpy type of a column of floating-point numbers.
const FLOAT: &str = "<f8";
/// Numpy type of a column of counts.
const COUNT: &str = "<u8";

fn column<'py>(py: Python<'py>, column: &Column) -> PyResult<Bound<'py, PyAny>> {
    Ok(match column {
        Column::Float(v) => (FLOAT, bytes_of(py, v, f64::to_le_bytes)?).into_pyobject(py)?.into_any(),
        Column::Count(v) => (COUNT, bytes_of(py, v, u64::to_le_bytes)?).into_pyobject(py)?.into_any(),
        Column::Name(codes, names) => {
            let names: Vec<Bound<PyString>> = names.iter().map(|n| PyString::new(py, n)).collect();
            PyList::new(py, codes.iter().map(|&c| &names[c as usize]))?.into_any()
        }
    })
}

/// Append the numbers of a column to `numbers`, and return the description of the column: the names
/// of a column of names, or the numpy type of a column of numbers.
fn append(numbers: &mut Vec<u8>, column: &Column) -> Value {
    match column {
        Column::Float(v) => {
            v.iter().for_each(|x| numbers.extend_from_slice(&x.to_le_bytes()));
            FLOAT.into()
        }
        Column::Count(v) => {
            v.iter().for_each(|n| numbers.extend_from_slice(&n.to_le_bytes()));
            COUNT.into()
        }
        Column::Name(codes, names) => codes.iter().map(|&c| names[c as usize].as_str()).collect(),
    }
}

/// Default of the minimum size in bytes of a large table.
const LARGE_BYTES: usize = 256 << 10;

/// Result of a run in Python: the words, the columns of the small tables, and the large tables. The
/// Python class `Packed` documents the format.
type Packed<'py> = (String, Bound<'py, PyBytes>, Bound<'py, PyDict>);

/// Return the result of a run. The text `text` becomes the scenario in the manifest. A table of at
/// least `large_bytes` is a large table. Each column of a large table is freed after its conversion
/// to Python, so that a large table is in memory only once.
fn result<'py>(
    py: Python<'py>,
    text: &str,
    scenario: &Scenario,
    Finished { outcome, kernel }: Finished,
    large_bytes: usize,
) -> PyResult<Packed<'py>> {
    let mut about = json!({
        "seed": scenario.seed,
        "version": lab::VERSION,
        "build": if cfg!(debug_assertions) { "debug" } else { "release" },
        "setup": {"cpu_s": outcome.setup.cpu_s, "wall_s": outcome.setup.wall_s},
        "running": {"cpu_s": outcome.running.cpu_s, "wall_s": outcome.running.wall_s},
        "simulated_s": outcome.end.seconds(),
        "start_spread_s": outcome.start_spread.seconds(),
        "events": outcome.events,
        "warnings": outcome.warnings.iter().map(|w| json!({"about": w.about, "text": w.text})).collect::<Vec<_>>(),
        "tie_share": if outcome.events > 0 { outcome.ties as f64 / outcome.events as f64 } else { 0.0 },
    });
    if let (Value::Object(about), Some(Value::Object(kernel))) = (&mut about, kernel) {
        about.extend(kernel);
    }
    let mut descriptions = serde_json::Map::new();
    let mut numbers = Vec::new();
    let large = PyDict::new(py);
    for table in outcome.tables {
        let rows = table.rows();
        if size_of::<u64>() * rows * table.columns.len() >= large_bytes {
            let columns = PyDict::new(py);
            for (name, values) in table.columns {
                columns.set_item(name, column(py, &values)?)?;
            }
            large.set_item(table.name, columns)?;
            descriptions.insert(table.name.into(), Value::Null);
        } else {
            let columns = table.columns.iter().map(|(name, values)| (*name, append(&mut numbers, values)));
            let columns: Value = columns.collect();
            descriptions.insert(table.name.into(), json!([rows, columns]));
        }
    }
    // The manifest contains the text of the scenario unchanged, because a new serialization of the
    // scenario would take longer than a short run.
    let words = format!(
        "[{}, {{\"scenario\":{text},{}]",
        serialize(&Value::Object(descriptions)),
        &serialize(&about)[1..]
    );
    Ok((words, PyBytes::new(py, &numbers), large))
}

/// Result of a run.
struct Finished {
    outcome: Outcome,
    /// Entries of the manifest about the hosts, if they were those of a kernel.
    kernel: Option<Value>,
}

/// Reason for which a run has no result.
enum Stop {
    Failed(Failure),
    /// The kernel refused an operation.
    Refused(String),
    /// Exception that an AQM written in Python raised.
    Raised(PyErr),
}

/// Hosts of a run: those of the simulator, or those of this machine's kernel.
#[derive(Clone, Copy)]
enum Hosts {
    Simulated,
    RealTime,
    VirtualTime,
}

type Done = (usize, Result<Finished, Stop>);

/// Run a scenario over the TCP of this machine's kernel.
#[cfg(target_os = "linux")]
fn run_over_kernel(
    scenario: &Scenario,
    watch: &Watch,
    aqms: &PythonAqms,
    virtual_time: bool,
    qdiscs: &[(String, String)],
    folder: Option<&PathBuf>,
) -> Result<Finished, Stop> {
    let pace = if virtual_time { testbed::Pace::Virtual } else { testbed::Pace::Real };
    let plan = testbed::Plan { pace, qdiscs: qdiscs.to_vec(), captures: folder.cloned() };
    let (outcome, mut report) = testbed::run(scenario, watch, aqms, &plan).map_err(|error| match error {
        testbed::Error::Failure(failure) => Stop::Failed(failure),
        refused => Stop::Refused(refused.to_string()),
    })?;
    let (packets, [p50_s, p99_s, longest_s]) = report.lateness.quantiles_s([0.5, 0.99, 1.0]);
    let counters = report.counters.iter().map(|of| {
        let values: serde_json::Map<_, _> =
            of.values.iter().map(|(name, value)| (name.clone(), Value::from(*value))).collect();
        json!({"flows": of.flows, "hosts": if of.servers { "servers" } else { "clients" }, "counters": values})
    });
    let qdiscs = report.qdiscs.iter().map(|(link, text)| {
        let statistics: Value = serde_json::from_str(text).unwrap_or_else(|_| text.clone().into());
        json!({"link": link, "tc": statistics})
    });
    let kernel = json!({
        "lateness": {
            "packets": packets, "p50_s": p50_s, "p99_s": p99_s, "longest_s": longest_s,
            "real_time": report.real_time,
        },
        "nstat": counters.collect::<Vec<_>>(),
        "qdiscs": qdiscs.collect::<Vec<_>>(),
    });
    Ok(Finished { outcome, kernel: Some(kernel) })
}

/// Refuse a run over the kernel on a system without namespaces.
#[cfg(not(target_os = "linux"))]
fn run_over_kernel(
    _: &Scenario,
    _: &Watch,
    _: &PythonAqms,
    _: bool,
    _: &[(String, String)],
    _: Option<&PathBuf>,
) -> Result<Finished, Stop> {
    Err(Stop::Refused("the testbed needs Linux".into()))
}

/// Run a scenario on the current thread.
fn run_one(
    scenario: &Scenario,
    watches: &Arc<Vec<Watch>>,
    i: usize,
    folder: Option<&PathBuf>,
    factories: &HashMap<String, Py<PyAny>>,
    hosts: Hosts,
    qdiscs: &[(String, String)],
) -> Result<Finished, Stop> {
    let aqms = PythonAqms { factories, fault: Fault::of(watches.clone(), i) };
    let watch = &watches[i];
    let finished = match hosts {
        Hosts::Simulated => {
            lab::run_catching_panics(scenario, watch, folder.map(|f| CaptureTarget::Folder(f)), &aqms)
                .map(|outcome| Finished { outcome, kernel: None })
                .map_err(Stop::Failed)
        }
        Hosts::RealTime => run_over_kernel(scenario, watch, &aqms, false, qdiscs, folder),
        Hosts::VirtualTime => run_over_kernel(scenario, watch, &aqms, true, qdiscs, folder),
    };
    aqms.fault.take().map_or(finished, |raised| Err(Stop::Raised(raised)))
}

/// Batch of runs on its own pool of threads.
#[pyclass]
struct Batch {
    texts: Vec<String>,
    scenarios: Arc<Vec<Scenario>>,
    watches: Arc<Vec<Watch>>,
    finished: Mutex<Receiver<Done>>,
}

#[pymethods]
impl Batch {
    /// Start runs of the scenarios `texts`, in the format that [`check`] returns, on `jobs`
    /// threads.
    ///
    /// `captures` has one folder per run for packet captures. A run for which `captures` has no
    /// folder records no packet captures. `aqms` has the callables that create the Python AQMs of
    /// the scenarios. If `aqms` is not empty, the runs run one after the other. `limits` (JSON) has
    /// the limits of each run. `hosts` is "simulated", or "real-time" or "virtual-time" for the TCP
    /// of this machine's kernel. `qdiscs` has the links whose queue is a queue discipline of the
    /// kernel, each with its commands of tc.
    #[new]
    #[pyo3(signature = (texts, jobs, captures = Vec::new(), aqms = HashMap::new(), limits = "{}", hosts = "simulated", qdiscs = Vec::new()))]
    fn new(
        texts: Vec<String>,
        jobs: usize,
        captures: Vec<PathBuf>,
        aqms: HashMap<String, Py<PyAny>>,
        limits: &str,
        hosts: &str,
        qdiscs: Vec<(String, String)>,
    ) -> PyResult<Self> {
        let hosts = match hosts {
            "simulated" => Hosts::Simulated,
            "real-time" => Hosts::RealTime,
            "virtual-time" => Hosts::VirtualTime,
            other => return Err(PyValueError::new_err(format!("hosts is {other:?}"))),
        };
        let limits = read_limits(limits)?;
        let scenarios = lab::read_all(&texts).map_err(|e| ScenarioError::new_err(e.to_string()))?;
        let jobs = if aqms.is_empty() { jobs } else { 1 };
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(jobs.max(1))
            .build()
            .map_err(|e| PyRuntimeError::new_err(format!("cannot start {jobs} threads: {e}")))?;
        let watches: Arc<Vec<Watch>> =
            Arc::new(scenarios.iter().map(|_| Watch::with_limits(limits.clone())).collect());
        let scenarios = Arc::new(scenarios);
        let (sender, finished) = channel();
        let (shared, watched) = (scenarios.clone(), watches.clone());
        // A separate thread owns the pool, because dropping the pool waits for all runs.
        std::thread::spawn(move || {
            pool.scope_fifo(|scope| {
                for i in 0..shared.len() {
                    let (sender, shared, watched) = (sender.clone(), &shared, &watched);
                    let (folder, aqms, qdiscs) = (captures.get(i), &aqms, &qdiscs);
                    scope.spawn_fifo(move |_| {
                        let run = || run_one(&shared[i], watched, i, folder, aqms, hosts, qdiscs);
                        // If the scenarios have Python AQMs, the thread is attached to the Python
                        // interpreter before the run. A thread that is attached to the Python
                        // interpreter calls Python functions faster.
                        let done = if aqms.is_empty() { run() } else { Python::attach(|py| py.detach(run)) };
                        let _ = sender.send((i, done));
                    });
                }
            });
        });
        Ok(Batch { texts, scenarios, watches, finished: Mutex::new(finished) })
    }

    /// Return the next finished run as (index, result), or `None` if no run finishes within
    /// `timeout_s` seconds. If the run failed, raise its error, and set the attribute `run` of the
    /// error to the index of the run. The other runs continue. An exception that a Python AQM
    /// raised has no attribute `run`. `large_bytes` is the minimum size of a large table.
    #[pyo3(signature = (timeout_s, large_bytes = LARGE_BYTES))]
    fn next<'py>(
        &self,
        py: Python<'py>,
        timeout_s: f64,
        large_bytes: usize,
    ) -> PyResult<Option<(usize, Packed<'py>)>> {
        let timeout = Duration::from_secs_f64(timeout_s.clamp(0.0, 3600.0));
        let received = py.detach(|| match self.finished.lock() {
            Ok(finished) => finished.recv_timeout(timeout),
            Err(_) => Err(RecvTimeoutError::Disconnected),
        });
        match received {
            Ok((i, Ok(finished))) => {
                Ok(Some((i, result(py, &self.texts[i], &self.scenarios[i], finished, large_bytes)?)))
            }
            Ok((i, Err(Stop::Refused(text)))) => {
                let error = PyOSError::new_err(text);
                error.value(py).setattr("run", i)?;
                Err(error)
            }
            Ok((i, Err(Stop::Failed(f)))) => {
                let error = failure(f, &self.scenarios[i]);
                error.value(py).setattr("run", i)?;
                Err(error)
            }
            Ok((_, Err(Stop::Raised(e)))) => Err(e),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => {
                Err(PyRuntimeError::new_err("every run of the batch has already been returned"))
            }
        }
    }

    /// Return the completed fraction of each run, between 0 and 1.
    fn progress(&self) -> Vec<f64> {
        self.watches.iter().map(Watch::done).collect()
    }

    /// Wait for the unfinished runs, and discard their results. Return true if all runs end within
    /// `timeout_s` seconds.
    fn wait(&self, py: Python, timeout_s: f64) -> bool {
        let until = Instant::now() + Duration::from_secs_f64(timeout_s.clamp(0.0, 3600.0));
        py.detach(|| {
            let Ok(finished) = self.finished.lock() else { return true };
            loop {
                match finished.recv_timeout(until.saturating_duration_since(Instant::now())) {
                    Ok(_) => {}
                    Err(RecvTimeoutError::Timeout) => return false,
                    Err(RecvTimeoutError::Disconnected) => return true,
                }
            }
        })
    }

    /// Cancel all runs. Each run ends at its next check for a cancellation.
    fn cancel(&self) {
        self.watches.iter().for_each(Watch::cancel);
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        self.cancel();
    }
}

/// Packet-level simulator.
#[pymodule]
fn _core(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("ScenarioError", m.py().get_type::<ScenarioError>())?;
    m.add("InvariantViolation", m.py().get_type::<InvariantViolation>())?;
    m.add_class::<Batch>()?;
    m.add_class::<aqms::Packet>()?;
    m.add_class::<aqms::Arrival>()?;
    m.add_class::<aqms::Place>()?;
    m.add_class::<aqms::Verdict>()?;
    m.add("PASS", aqms::pass())?;
    m.add_function(wrap_pyfunction!(aqms::signal, m)?)?;
    m.add_function(wrap_pyfunction!(aqms::drop, m)?)?;
    m.add_function(wrap_pyfunction!(check, m)?)?;
    m.add_function(wrap_pyfunction!(check_limits, m)?)?;
    m.add_function(wrap_pyfunction!(crossing, m)?)?;
    m.add_function(wrap_pyfunction!(as_written, m)?)?;
    m.add_function(wrap_pyfunction!(expanded, m)?)?;
    m.add_function(wrap_pyfunction!(tcp, m)?)?;
    m.add_function(wrap_pyfunction!(schema, m)?)?;
    m.add_function(wrap_pyfunction!(pages, m)?)?;
    m.add_function(wrap_pyfunction!(columns, m)?)?;
    m.add_function(wrap_pyfunction!(distribution, m)?)?;
    m.add_function(wrap_pyfunction!(sample, m)?)?;
    m.add("FORMAT", lab::FORMAT)?;
    m.add("LARGE_BYTES", LARGE_BYTES)?;
    m.add_function(wrap_pyfunction!(version, m)?)?;
    m.add_function(wrap_pyfunction!(run_script, m)?)?;
    Ok(())
}
