//! AQMs written in Python. For each packet, the queue discipline calls a Python object and applies
//! the verdict that the object returns.
//!
//! Each call takes the lock of the Python interpreter. Runs with AQMs written in Python therefore
//! run one after the other. The first exception of a Python AQM is stored, and its run is
//! cancelled. After the exception, the queue discipline calls no Python AQM of the run.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use engine::Stream;
use lab::Watch;
use net::{Aqm, Ecn, Explanation, Why};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use queues::CustomAqms;
use units::{Depth, Time};

use crate::reasons::Reason;

/// Packet, in the form that an AQM written in Python receives.
#[pyclass(frozen, get_all, module = "aqmlab")]
pub struct Packet {
    /// Number of the packet's connection.
    flow: u32,
    /// Size of the packet on the wire in bytes.
    size: u16,
    /// ECN field: "not-ect", "ect0", "ect1" or "ce".
    ecn: &'static str,
    /// DiffServ codepoint of the packet.
    dscp: u8,
}

#[pymethods]
impl Packet {
    fn __repr__(&self) -> String {
        format!("packet of {} B, {}, of connection {}", self.size, self.ecn, self.flow)
    }
}

impl From<&net::Packet> for Packet {
    fn from(p: &net::Packet) -> Self {
        let ecn = match p.ecn {
            Ecn::NotEct => "not-ect",
            Ecn::Ect0 => "ect0",
            Ecn::Ect1 => "ect1",
            Ecn::Ce => "ce",
        };
        Packet { flow: p.connection, size: p.size, ecn, dscp: p.label.dscp() }
    }
}

/// State of the queue at the arrival of a packet.
#[pyclass(frozen, module = "aqmlab")]
pub struct Arrival(net::Arrival);

#[pymethods]
impl Arrival {
    /// Simulated time in seconds.
    #[getter]
    fn now_s(&self) -> f64 {
        self.0.now.seconds()
    }

    /// Number of packets that wait in the queue. The packet in transmission is not included.
    #[getter]
    fn packets(&self) -> u32 {
        self.0.backlog.packets
    }

    /// Size on the wire of the packets that wait in the queue, in bytes.
    #[getter]
    fn bytes(&self) -> u64 {
        self.0.backlog.bytes
    }

    /// Time in seconds since the link became idle, or None while the link transmits a packet.
    #[getter]
    fn idle_s(&self) -> Option<f64> {
        self.0.idle_since().map(|since| self.0.now.since(since).seconds())
    }

    /// Time in seconds that the packet will wait in the queue if the AQM admits the packet. If the
    /// queue belongs to a scheduler, the waiting time is infinity, because the scheduler may serve
    /// another queue first.
    #[getter]
    fn delay_s(&self) -> f64 {
        match self.0.begins() {
            Time::NEVER => f64::INFINITY,
            begins => begins.since(self.0.now).seconds(),
        }
    }
}

/// Decision of an AQM about a packet: to pass, to signal congestion, or to drop.
#[pyclass(frozen, eq, module = "aqmlab")]
#[derive(PartialEq)]
pub struct Verdict {
    verdict: net::Verdict,
    reason: Option<Arc<Reason>>,
}

#[pymethods]
impl Verdict {
    /// Return the verdict itself instead of a copy, because verdicts are immutable.
    fn __deepcopy__(slf: Py<Self>, _memo: Py<PyAny>) -> Py<Self> {
        slf
    }

    fn __repr__(&self) -> String {
        let reason = self.reason.as_ref().map_or(String::new(), |reason| reason.arguments());
        match self.verdict {
            net::Verdict::Pass => "PASS".to_string(),
            net::Verdict::Signal(why) => format!("signal({:?}{reason})", why.name()),
            net::Verdict::Drop(why) => format!("drop({:?}{reason})", why.name()),
        }
    }
}

impl Verdict {
    /// Read the arguments of a verdict that signals or drops a packet.
    fn read(
        verdict: impl FnOnce(Why) -> net::Verdict,
        why: &str,
        rule: Option<&str>,
        source: &str,
        variables: Option<&Bound<PyDict>>,
    ) -> PyResult<Self> {
        let has_reason = rule.is_some() || !source.is_empty() || variables.is_some();
        let reason = has_reason.then(|| Reason::read(rule, source, variables).map(Arc::new)).transpose()?;
        Ok(Verdict { verdict: verdict(self::reason(why)?), reason })
    }
}

/// Return the verdict that lets a packet pass the AQM.
pub fn pass() -> Verdict {
    Verdict { verdict: net::Verdict::Pass, reason: None }
}

/// Return the reason whose name is `why`. An AQM can use only the reasons early and threshold. The
/// queue discipline itself uses other reasons, such as a full buffer.
fn reason(why: &str) -> PyResult<Why> {
    [Why::Early, Why::Threshold]
        .into_iter()
        .find(|w| w.name() == why)
        .ok_or_else(|| PyValueError::new_err(format!("why = {why:?} must be \"early\" or \"threshold\"")))
}

/// Return the verdict that signals congestion. The queue discipline marks an ECN-capable packet,
/// and drops a packet that is not ECN-capable. The series `why` records the name of the rule, its
/// source and the variables of the verdict.
#[pyfunction]
#[pyo3(signature = (why = "early", *, rule = None, source = "", **variables))]
pub fn signal(
    why: &str,
    rule: Option<&str>,
    source: &str,
    variables: Option<&Bound<PyDict>>,
) -> PyResult<Verdict> {
    Verdict::read(net::Verdict::Signal, why, rule, source, variables)
}

/// Return the verdict that drops a packet, even if the packet is ECN-capable. The series `why`
/// records the name of the rule, its source and the variables of the verdict.
#[pyfunction]
#[pyo3(signature = (why = "early", *, rule = None, source = "", **variables))]
pub fn drop(
    why: &str,
    rule: Option<&str>,
    source: &str,
    variables: Option<&Bound<PyDict>>,
) -> PyResult<Verdict> {
    Verdict::read(net::Verdict::Drop, why, rule, source, variables)
}

/// Position of an AQM in the network: its link, its buffer, and its stream of random numbers.
#[pyclass(module = "aqmlab")]
pub struct Place {
    #[pyo3(get)]
    link: String,
    #[pyo3(get)]
    rate_bps: u64,
    limit: Depth,
    random: Stream,
}

#[pymethods]
impl Place {
    /// Limit of the buffer in packets, or None if the buffer counts bytes.
    #[getter]
    fn limit_packets(&self) -> Option<u64> {
        matches!(self.limit, Depth::Packets(_)).then_some(self.limit.amount() as u64)
    }

    /// Limit of the buffer in bytes, or None if the buffer counts packets.
    #[getter]
    fn limit_bytes(&self) -> Option<u64> {
        matches!(self.limit, Depth::Bytes(_)).then_some(self.limit.amount() as u64)
    }

    /// Return the next random number of the queue, which is uniform between 0 and 1.
    fn uniform(&mut self) -> f64 {
        self.random.uniform()
    }
}

/// First exception that a Python AQM raises in a run, stored with the handle that cancels the run.
pub struct Fault {
    watches: Arc<Vec<Watch>>,
    run: usize,
    failed: AtomicBool,
    error: Mutex<Option<PyErr>>,
}

impl Fault {
    /// Create an empty record for a run. No Python AQM of the run has raised an exception yet.
    pub fn of(watches: Arc<Vec<Watch>>, run: usize) -> Arc<Self> {
        Arc::new(Fault { watches, run, failed: AtomicBool::new(false), error: Mutex::new(None) })
    }

    /// Return the first exception, and remove the exception from the record.
    pub fn take(&self) -> Option<PyErr> {
        self.error.lock().ok()?.take()
    }

    fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// Cancel the run, and store the exception with a note that states its simulated time, link and
    /// packet.
    #[cold]
    fn record(&self, py: Python, error: PyErr, place: &str) {
        let added = error.value(py).call_method1(intern!(py, "add_note"), (place,));
        added.map(std::mem::drop).unwrap_or_default();
        if let Ok(mut first) = self.error.lock() {
            first.get_or_insert(error);
        }
        self.failed.store(true, Ordering::Relaxed);
        self.watches[self.run].cancel();
    }
}

/// Python AQMs of a run, by name.
pub struct PythonAqms<'a> {
    /// Python callables that create the AQM objects, by the name of the AQM.
    pub factories: &'a HashMap<String, Py<PyAny>>,
    /// Record of the first exception that an AQM raises.
    pub fault: Arc<Fault>,
}

impl CustomAqms for PythonAqms<'_> {
    fn has(&self, name: &str) -> bool {
        self.factories.contains_key(name)
    }

    fn aqm(&self, name: &str, link: &str, place: queues::QueueContext) -> Box<dyn Aqm + Send> {
        let mut aqm = PythonAqm {
            methods: None,
            name: name.to_string(),
            link: link.to_string(),
            now: Time::ZERO,
            reason: None,
            fault: self.fault.clone(),
        };
        Python::attach(|py| match self.methods(py, name, link, place) {
            Ok(methods) => aqm.methods = Some(methods),
            Err(e) => aqm.fault.record(py, e, &aqm.location("when it was created", None)),
        });
        Box::new(aqm)
    }
}

impl PythonAqms<'_> {
    /// Create the Python object of an AQM, and look up the methods of the object.
    fn methods(&self, py: Python, name: &str, link: &str, place: queues::QueueContext) -> PyResult<Methods> {
        let factory = self.factories.get(name);
        let factory = factory
            .ok_or_else(|| PyValueError::new_err(format!("the run received no AQM with the name {name}")))?;
        let aqm = factory.bind(py).call0()?;
        let place = Place {
            link: link.to_string(),
            rate_bps: place.rate.0,
            limit: place.limit,
            random: place.random,
        };
        aqm.call_method1("begin", (place,))?;
        let optional = |method: &str| aqm.getattr_opt(method).map(|m| m.map(Bound::unbind));
        Ok(Methods {
            on_arrival: aqm.getattr("on_arrival")?.unbind(),
            on_admitted: optional("on_admitted")?,
            on_overflow: optional("on_overflow")?,
            average: optional("average")?,
        })
    }
}

/// Bound methods of an AQM written in Python. The queue discipline does not call methods that the
/// AQM does not define.
struct Methods {
    on_arrival: Py<PyAny>,
    on_admitted: Option<Py<PyAny>>,
    on_overflow: Option<Py<PyAny>>,
    average: Option<Py<PyAny>>,
}

/// AQM written in Python.
struct PythonAqm {
    /// Methods of the Python object, or None if the object could not be created.
    methods: Option<Methods>,
    name: String,
    link: String,
    /// Simulated time of the last call of a method.
    now: Time,
    /// Reason of the last verdict, if the Python object gave one.
    reason: Option<Arc<Reason>>,
    fault: Arc<Fault>,
}

impl PythonAqm {
    /// Describe the call that raised an exception: the method, the simulated time, the link and the
    /// packet.
    fn location(&self, method: &str, packet: Option<&net::Packet>) -> String {
        let packet = packet.map_or(String::new(), |p| format!(", {}", Packet::from(p).__repr__()));
        let PythonAqm { name, link, now, .. } = self;
        format!("in {name} {method}: simulated time {:.9} s, link {link}{packet}", now.seconds())
    }

    /// Call a method, unless an AQM of the run has already raised an exception. If the method
    /// raises an exception, store the exception.
    fn call<R>(
        &self,
        method: &str,
        packet: Option<&net::Packet>,
        call: impl FnOnce(Python, &Methods) -> PyResult<R>,
    ) -> Option<R> {
        let methods = self.methods.as_ref().filter(|_| !self.fault.has_failed())?;
        Python::attach(|py| match call(py, methods) {
            Ok(result) => Some(result),
            Err(e) => {
                self.fault.record(py, e, &self.location(method, packet));
                None
            }
        })
    }
}

impl Aqm for PythonAqm {
    fn on_arrival(&mut self, packet: &net::Packet, at: &net::Arrival) -> net::Verdict {
        self.now = at.now;
        let verdict = self.call("on_arrival", Some(packet), |py, methods| {
            let returned = methods.on_arrival.bind(py).call1((Packet::from(packet), Arrival(*at)))?;
            match returned.cast::<Verdict>() {
                Ok(verdict) => Ok((verdict.get().verdict, verdict.get().reason.clone())),
                Err(_) => Err(PyTypeError::new_err(format!(
                    "on_arrival returned {}; return PASS, signal(why) or drop(why)",
                    returned.repr()?
                ))),
            }
        });
        let (verdict, reason) = verdict.unwrap_or((net::Verdict::Pass, None));
        self.reason = reason;
        verdict
    }

    fn on_admitted(&mut self, packet: &net::Packet, at: &net::Arrival) {
        if self.methods.as_ref().is_some_and(|m| m.on_admitted.is_some()) {
            self.call("on_admitted", Some(packet), |py, methods| {
                let Some(method) = &methods.on_admitted else { return Ok(()) };
                method.bind(py).call1((Packet::from(packet), Arrival(*at))).map(std::mem::drop)
            });
        }
    }

    fn on_overflow(&mut self, now: Time) {
        if self.methods.as_ref().is_some_and(|m| m.on_overflow.is_some()) {
            self.now = now;
            self.call("on_overflow", None, |py, methods| {
                let Some(method) = &methods.on_overflow else { return Ok(()) };
                method.bind(py).call1((now.seconds(),)).map(std::mem::drop)
            });
        }
    }

    fn average(&self) -> Option<Depth> {
        self.call("average", None, |py, methods| {
            let Some(method) = &methods.average else { return Ok(None) };
            let returned = method.bind(py).call0()?;
            match returned.extract::<Option<f64>>() {
                Ok(average) => Ok(average.map(Depth::Packets)),
                Err(_) => Err(PyTypeError::new_err(format!(
                    "average returned {}; return a number of packets, or None before the first packet arrives",
                    returned.repr()?
                ))),
            }
        })?
    }

    /// Explain the last verdict. A packet that was dropped because the buffer was full has only the
    /// variables of the buffer.
    fn explain(&self, why: Why, to: &mut Explanation) {
        if why != Why::Full
            && let Some(reason) = &self.reason
        {
            reason.explain(to);
        }
    }
}
