//! The door to Python: a scenario in, columns out. No logic of its own.

mod laws;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use lab::{Column, Failure, Format, Limits, Outcome, Scenario, Watch};
use pyo3::create_exception;
use pyo3::exceptions::{PyMemoryError, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};
use serde_json::{Value, json};

use crate::laws::{Fault, PythonLaws};

create_exception!(
    aqmlab,
    ScenarioError,
    PyValueError,
    "Wrong input: names the field, the value and the bound."
);
create_exception!(
    aqmlab,
    InvariantViolation,
    PyRuntimeError,
    "A run broke an invariant: a bug of the simulator."
);

fn parse(text: &str, format: &str, overrides: &[(String, String)]) -> PyResult<Scenario> {
    let format = if format == "toml" { Format::Toml } else { Format::Json };
    lab::read(text, format, overrides).map_err(|e| ScenarioError::new_err(e.to_string()))
}

/// Reads a scenario ("toml" or "json"), applies dotted-path overrides, and returns it as JSON with
/// every default filled in.
#[pyfunction]
fn check(text: &str, format: &str, overrides: Vec<(String, String)>) -> PyResult<String> {
    let scenario = parse(text, format, &overrides)?;
    Ok(lab::write(&scenario).to_string())
}

/// For data there and for data back: for each table of flows of a scenario (JSON) the names of those whose data crosses any of
/// some links.
#[pyfunction]
fn crossing(text: &str, links: Vec<String>) -> PyResult<[Vec<Vec<String>>; 2]> {
    let scenario = parse(text, "json", &[])?;
    lab::crossing(&scenario, &links).map_err(|e| ScenarioError::new_err(e.to_string()))
}

/// Checks a scenario and returns it as JSON as it was said, nothing filled in.
#[pyfunction]
fn said(text: &str, format: &str) -> PyResult<String> {
    parse(text, format, &[])?;
    let format = if format == "toml" { Format::Toml } else { Format::Json };
    let document = lab::read_file_text(text, format).map_err(|e| ScenarioError::new_err(e.to_string()))?;
    Ok(document.to_string())
}

/// Returns the hosts, links, flows and TCP parameters of a scenario (JSON) as JSON: see `lab::expanded`.
#[pyfunction]
fn expanded(text: &str) -> PyResult<String> {
    let expanded = lab::expanded(&parse(text, "json", &[])?);
    expanded.map(|e| e.to_string()).map_err(|e| ScenarioError::new_err(e.to_string()))
}

/// The TCP that flows run with, as JSON: see `lab::resolved::tcp`.
#[pyfunction]
fn tcp(text: &str) -> PyResult<String> {
    let groups = lab::resolved::tcp(&parse(text, "json", &[])?);
    groups.map(|g| g.to_string()).map_err(|e| ScenarioError::new_err(e.to_string()))
}

fn read_limits(text: &str) -> PyResult<Limits> {
    lab::limits(text).map_err(|e| ScenarioError::new_err(e.to_string()))
}

/// Checks what runs may take, as JSON.
#[pyfunction]
fn check_limits(text: &str) -> PyResult<()> {
    read_limits(text).map(|_| ())
}

/// JSON Schema of a scenario.
#[pyfunction]
fn schema() -> String {
    lab::schema().to_string()
}

/// Manual pages of everything a scenario can name, as JSON.
#[pyfunction]
fn pages() -> String {
    lab::pages().to_string()
}

/// The tables that runs leave, by name, as JSON: for each what it is, and its columns with name, unit and meaning.
#[pyfunction]
fn columns() -> String {
    lab::columns().to_string()
}

/// Describes a distribution (JSON) of "size", "times" or "count": its mean, its quantiles at these probabilities, and the shares of the
/// sum that the largest have who are such shares of all.
#[pyfunction]
fn distribution(
    what: &str,
    written: &str,
    probabilities: Vec<f64>,
    largest: Vec<f64>,
) -> PyResult<(f64, Vec<f64>, Vec<f64>)> {
    let written =
        lab::read_file_text(written, Format::Json).map_err(|e| ScenarioError::new_err(e.to_string()))?;
    lab::sample::describe(what, &written, &probabilities, &largest)
        .map(|d| (d.mean, d.quantiles, d.shares))
        .map_err(|e| ScenarioError::new_err(e.to_string()))
}

/// The requests of web traffic where the network takes no time: for each table of flows of a scenario (JSON) that has such its name
/// and the columns, one row a request.
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
        let count = |of: fn(&lab::sample::Sampled) -> u64| Column::Count(requests.iter().map(of).collect());
        let float = |of: fn(&lab::sample::Sampled) -> f64| Column::Float(requests.iter().map(of).collect());
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

/// Runs a packet script with parameters of TCP from a stack and `changes` (JSON), after the shell scripts of
/// `preparation` as far as they are understood, and returns its report as JSON; each word of
/// `defines` stands for the text beside it.
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
    report.map_err(|said| InvariantViolation::new_err(format!("the script panicked at {said}")))
}

/// Version of the simulator.
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

fn column<'py>(py: Python<'py>, column: &Column) -> PyResult<Bound<'py, PyAny>> {
    Ok(match column {
        Column::Float(v) => ("<f8", bytes_of(py, v, f64::to_le_bytes)?).into_pyobject(py)?.into_any(),
        Column::Count(v) => ("<u8", bytes_of(py, v, u64::to_le_bytes)?).into_pyobject(py)?.into_any(),
        Column::Name(codes, names) => {
            let names: Vec<Bound<PyString>> = names.iter().map(|n| PyString::new(py, n)).collect();
            PyList::new(py, codes.iter().map(|&c| &names[c as usize]))?.into_any()
        }
    })
}

/// What a run of a scenario, whose text this is, gives Python. Each column is let go when it is handed over, so that large
/// tables are there but once.
fn result<'py>(
    py: Python<'py>,
    text: &str,
    scenario: &Scenario,
    outcome: Outcome,
) -> PyResult<Bound<'py, PyDict>> {
    let about = json!({
        "seed": scenario.seed,
        "version": lab::VERSION,
        "build": if cfg!(debug_assertions) { "debug" } else { "release" },
        "setup": {"cpu_s": outcome.setup.cpu_s, "wall_s": outcome.setup.wall_s},
        "running": {"cpu_s": outcome.running.cpu_s, "wall_s": outcome.running.wall_s},
        "simulated_s": outcome.end.seconds(),
        "events": outcome.events,
        "warnings": outcome.warnings.iter().map(|w| json!({"about": w.about, "text": w.text})).collect::<Vec<_>>(),
        "tie_share": if outcome.events > 0 { outcome.ties as f64 / outcome.events as f64 } else { 0.0 },
    });
    // Not written anew: that would take longer than a short run.
    let manifest = format!("{{\"scenario\":{text},{}", &Value::to_string(&about)[1..]);
    let tables = PyDict::new(py);
    for table in outcome.tables {
        let columns = PyDict::new(py);
        for (name, values) in table.columns {
            columns.set_item(name, column(py, &values)?)?;
        }
        tables.set_item(table.name, columns)?;
    }
    let all = PyDict::new(py);
    all.set_item("manifest", manifest)?;
    all.set_item("tables", tables)?;
    Ok(all)
}

/// Why a run gave no result.
enum Stop {
    Failed(Failure),
    /// A law written in Python raised this.
    Raised(PyErr),
}

type Done = (usize, Result<Outcome, Stop>);

/// Runs a scenario on this thread.
fn run_one(
    scenario: &Scenario,
    watches: &Arc<Vec<Watch>>,
    i: usize,
    folder: Option<&PathBuf>,
    factories: &HashMap<String, Py<PyAny>>,
) -> Result<Outcome, Stop> {
    let laws = PythonLaws { factories, fault: Fault::of(watches.clone(), i) };
    let outcome = lab::run_catching_panics(scenario, &watches[i], folder.map(PathBuf::as_path), &laws);
    laws.fault.take().map_or(outcome.map_err(Stop::Failed), |raised| Err(Stop::Raised(raised)))
}

/// Many runs at once, on a pool of threads of their own.
#[pyclass]
struct Batch {
    texts: Vec<String>,
    scenarios: Arc<Vec<Scenario>>,
    watches: Arc<Vec<Watch>>,
    finished: Mutex<Receiver<Done>>,
}

#[pymethods]
impl Batch {
    /// Starts running the scenarios `texts`, as [`check`] writes them, on `jobs` threads. `captures`: the folder for what each captures;
    /// where there is none, nothing is. `laws`: what makes the laws that scenarios name; runs with such
    /// laws come one after the other. `limits` (JSON): what each run may take.
    #[new]
    #[pyo3(signature = (texts, jobs, captures = Vec::new(), laws = HashMap::new(), limits = "{}"))]
    fn new(
        texts: Vec<String>,
        jobs: usize,
        captures: Vec<PathBuf>,
        laws: HashMap<String, Py<PyAny>>,
        limits: &str,
    ) -> PyResult<Self> {
        let limits = read_limits(limits)?;
        let scenarios = lab::read_all(&texts).map_err(|e| ScenarioError::new_err(e.to_string()))?;
        let jobs = if laws.is_empty() { jobs } else { 1 };
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(jobs.max(1))
            .build()
            .map_err(|e| PyRuntimeError::new_err(format!("cannot start {jobs} threads: {e}")))?;
        let watches: Arc<Vec<Watch>> =
            Arc::new(scenarios.iter().map(|_| Watch::with_limits(limits.clone())).collect());
        let scenarios = Arc::new(scenarios);
        let (sender, finished) = channel();
        let (shared, watched) = (scenarios.clone(), watches.clone());
        // The pool lives in a thread of its own: dropping it waits for its runs.
        std::thread::spawn(move || {
            pool.scope_fifo(|scope| {
                for i in 0..shared.len() {
                    let (sender, shared, watched) = (sender.clone(), &shared, &watched);
                    let (folder, laws) = (captures.get(i), &laws);
                    scope.spawn_fifo(move |_| {
                        let run = || run_one(&shared[i], watched, i, folder, laws);
                        // With the thread known to the interpreter, a call of it costs less.
                        let done = if laws.is_empty() { run() } else { Python::attach(|py| py.detach(run)) };
                        let _ = sender.send((i, done));
                    });
                }
            });
        });
        Ok(Batch { texts, scenarios, watches, finished: Mutex::new(finished) })
    }

    /// The next finished run as (index, result); `None` if none finishes within `timeout_s`. An error is that of one
    /// run, and has its index as `run`; the others go on.
    fn next<'py>(&self, py: Python<'py>, timeout_s: f64) -> PyResult<Option<(usize, Bound<'py, PyDict>)>> {
        let timeout = Duration::from_secs_f64(timeout_s.clamp(0.0, 3600.0));
        let received = py.detach(|| match self.finished.lock() {
            Ok(finished) => finished.recv_timeout(timeout),
            Err(_) => Err(RecvTimeoutError::Disconnected),
        });
        match received {
            Ok((i, Ok(outcome))) => Ok(Some((i, result(py, &self.texts[i], &self.scenarios[i], outcome)?))),
            Ok((i, Err(Stop::Failed(f)))) => {
                let error = failure(f, &self.scenarios[i]);
                error.value(py).setattr("run", i)?;
                Err(error)
            }
            Ok((_, Err(Stop::Raised(e)))) => Err(e),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(PyRuntimeError::new_err("every run has finished")),
        }
    }

    /// Share of each run that is done.
    fn progress(&self) -> Vec<f64> {
        self.watches.iter().map(Watch::done).collect()
    }

    /// Waits for the runs that are under way, and forgets them: whether all are over within `timeout_s`.
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

    /// Ends all runs soon.
    fn cancel(&self) {
        self.watches.iter().for_each(Watch::cancel);
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        self.cancel();
    }
}

/// The simulator.
#[pymodule]
fn _core(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("ScenarioError", m.py().get_type::<ScenarioError>())?;
    m.add("InvariantViolation", m.py().get_type::<InvariantViolation>())?;
    m.add_class::<Batch>()?;
    m.add_class::<laws::Packet>()?;
    m.add_class::<laws::Arrival>()?;
    m.add_class::<laws::Place>()?;
    m.add_class::<laws::Verdict>()?;
    m.add("PASS", laws::pass())?;
    m.add_function(wrap_pyfunction!(laws::signal, m)?)?;
    m.add_function(wrap_pyfunction!(laws::drop, m)?)?;
    m.add_function(wrap_pyfunction!(check, m)?)?;
    m.add_function(wrap_pyfunction!(check_limits, m)?)?;
    m.add_function(wrap_pyfunction!(crossing, m)?)?;
    m.add_function(wrap_pyfunction!(said, m)?)?;
    m.add_function(wrap_pyfunction!(expanded, m)?)?;
    m.add_function(wrap_pyfunction!(tcp, m)?)?;
    m.add_function(wrap_pyfunction!(schema, m)?)?;
    m.add_function(wrap_pyfunction!(pages, m)?)?;
    m.add_function(wrap_pyfunction!(columns, m)?)?;
    m.add_function(wrap_pyfunction!(distribution, m)?)?;
    m.add_function(wrap_pyfunction!(sample, m)?)?;
    m.add_function(wrap_pyfunction!(version, m)?)?;
    m.add_function(wrap_pyfunction!(run_script, m)?)?;
    Ok(())
}
