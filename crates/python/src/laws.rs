//! Laws of queues written in Python: each packet is shown to an object, whose verdict the shell carries out.
//!
//! The interpreter's lock is taken for each call, so runs with such laws take turns. An error in one is
//! kept, and the run is cancelled: until it notices, every packet passes.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use engine::Stream;
use lab::Watch;
use net::{Aqm, Ecn, Why};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use queues::CustomAqms;
use units::{Depth, Time};

/// A packet, as the law of a queue sees it.
#[pyclass(frozen, get_all, module = "aqmlab")]
pub struct Packet {
    /// Number of its connection.
    flow: u32,
    /// Size on the wire in bytes.
    size: u16,
    /// ECN field: "not-ect", "ect0", "ect1" or "ce".
    ecn: &'static str,
    /// DiffServ codepoint.
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

/// The queue as an arriving packet finds it.
#[pyclass(frozen, module = "aqmlab")]
pub struct Arrival(net::Arrival);

#[pymethods]
impl Arrival {
    /// Simulated time in s.
    #[getter]
    fn now_s(&self) -> f64 {
        self.0.now.seconds()
    }

    /// Waiting packets, the one in service not included.
    #[getter]
    fn packets(&self) -> u32 {
        self.0.backlog.packets
    }

    /// Their size on the wire.
    #[getter]
    fn bytes(&self) -> u64 {
        self.0.backlog.bytes
    }

    /// How long the transmitter has been idle, in s; None: it is sending.
    #[getter]
    fn idle_s(&self) -> Option<f64> {
        self.0.idle_since().map(|since| self.0.now.since(since).seconds())
    }

    /// How long the packet will wait if it is admitted, in s; infinite where another queue says who is next.
    #[getter]
    fn delay_s(&self) -> f64 {
        match self.0.begins() {
            Time::NEVER => f64::INFINITY,
            begins => begins.since(self.0.now).seconds(),
        }
    }
}

/// What a law says of a packet.
#[pyclass(frozen, eq, module = "aqmlab")]
#[derive(PartialEq)]
pub struct Verdict(net::Verdict);

#[pymethods]
impl Verdict {
    /// It never changes, so a copy of a law may share it.
    fn __deepcopy__(slf: Py<Self>, _memo: Py<PyAny>) -> Py<Self> {
        slf
    }

    fn __repr__(&self) -> String {
        match self.0 {
            net::Verdict::Pass => "PASS".to_string(),
            net::Verdict::Signal(why) => format!("signal({:?})", why.name()),
            net::Verdict::Drop(why) => format!("drop({:?})", why.name()),
        }
    }
}

/// The verdict to let a packet pass.
pub fn pass() -> Verdict {
    Verdict(net::Verdict::Pass)
}

/// The reasons that a law may give; a full buffer is the shell's.
fn reason(why: &str) -> PyResult<Why> {
    [Why::Early, Why::Threshold]
        .into_iter()
        .find(|w| w.name() == why)
        .ok_or_else(|| PyValueError::new_err(format!("why = {why:?} must be \"early\" or \"threshold\"")))
}

/// The verdict to signal congestion by a packet: the shell marks it if it is ECN-capable, else drops it.
#[pyfunction]
#[pyo3(signature = (why = "early"))]
pub fn signal(why: &str) -> PyResult<Verdict> {
    reason(why).map(|why| Verdict(net::Verdict::Signal(why)))
}

/// The verdict to drop a packet, ECN-capable or not.
#[pyfunction]
#[pyo3(signature = (why = "early"))]
pub fn drop(why: &str) -> PyResult<Verdict> {
    reason(why).map(|why| Verdict(net::Verdict::Drop(why)))
}

/// Where a law is set up: its link, and its randomness.
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
    /// Limit of the buffer in packets; None: it counts bytes.
    #[getter]
    fn limit_packets(&self) -> Option<u64> {
        matches!(self.limit, Depth::Packets(_)).then_some(self.limit.amount() as u64)
    }

    /// Limit of the buffer in bytes; None: it counts packets.
    #[getter]
    fn limit_bytes(&self) -> Option<u64> {
        matches!(self.limit, Depth::Bytes(_)).then_some(self.limit.amount() as u64)
    }

    /// The next number of the queue's random stream, uniform in 0..1.
    fn uniform(&mut self) -> f64 {
        self.random.uniform()
    }
}

/// What went wrong in the laws of a run, and how to end it.
pub struct Fault {
    watches: Arc<Vec<Watch>>,
    run: usize,
    failed: AtomicBool,
    error: Mutex<Option<PyErr>>,
}

impl Fault {
    /// None yet in this run.
    pub fn of(watches: Arc<Vec<Watch>>, run: usize) -> Arc<Self> {
        Arc::new(Fault { watches, run, failed: AtomicBool::new(false), error: Mutex::new(None) })
    }

    /// The first error.
    pub fn take(&self) -> Option<PyErr> {
        self.error.lock().ok()?.take()
    }

    fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// Keeps an error with a note of where it happened, and ends the run.
    #[cold]
    fn keep(&self, py: Python, error: PyErr, place: &str) {
        let noted = error.value(py).call_method1(intern!(py, "add_note"), (place,));
        noted.map(std::mem::drop).unwrap_or_default();
        if let Ok(mut kept) = self.error.lock() {
            kept.get_or_insert(error);
        }
        self.failed.store(true, Ordering::Relaxed);
        self.watches[self.run].cancel();
    }
}

/// The laws that Python gives to a run: objects that make one when they are called, by name.
pub struct PythonLaws<'a> {
    /// The objects.
    pub factories: &'a HashMap<String, Py<PyAny>>,
    /// Where errors go.
    pub fault: Arc<Fault>,
}

impl CustomAqms for PythonLaws<'_> {
    fn has(&self, name: &str) -> bool {
        self.factories.contains_key(name)
    }

    fn aqm(&self, name: &str, link: &str, place: queues::QueueContext) -> Box<dyn Aqm + Send> {
        let mut law = PythonLaw {
            methods: None,
            name: name.to_string(),
            link: link.to_string(),
            now: Time::ZERO,
            fault: self.fault.clone(),
        };
        Python::attach(|py| match self.methods(py, name, link, place) {
            Ok(methods) => law.methods = Some(methods),
            Err(e) => law.fault.keep(py, e, &law.whereabouts("when it was made", None)),
        });
        Box::new(law)
    }
}

impl PythonLaws<'_> {
    /// Makes an object and looks up its methods.
    fn methods(&self, py: Python, name: &str, link: &str, place: queues::QueueContext) -> PyResult<Methods> {
        let factory = self.factories.get(name);
        let factory = factory.ok_or_else(|| PyValueError::new_err(format!("nobody gave the law {name}")))?;
        let law = factory.bind(py).call0()?;
        let place = Place {
            link: link.to_string(),
            rate_bps: place.rate.0,
            limit: place.limit,
            random: place.random,
        };
        law.call_method1("begin", (place,))?;
        let optional = |method: &str| law.getattr_opt(method).map(|m| m.map(Bound::unbind));
        Ok(Methods {
            on_arrival: law.getattr("on_arrival")?.unbind(),
            on_admitted: optional("on_admitted")?,
            on_overflow: optional("on_overflow")?,
            average: optional("average")?,
        })
    }
}

/// The methods of a law, bound to it; those that it does not have cost nothing.
struct Methods {
    on_arrival: Py<PyAny>,
    on_admitted: Option<Py<PyAny>>,
    on_overflow: Option<Py<PyAny>>,
    average: Option<Py<PyAny>>,
}

/// A law written in Python.
struct PythonLaw {
    /// None if it could not be made.
    methods: Option<Methods>,
    name: String,
    link: String,
    /// When it was called last.
    now: Time,
    fault: Arc<Fault>,
}

impl PythonLaw {
    fn whereabouts(&self, method: &str, packet: Option<&net::Packet>) -> String {
        let of = packet.map_or(String::new(), |p| format!(", at a {}", Packet::from(p).__repr__()));
        let PythonLaw { name, link, now, .. } = self;
        format!("{name} {method}: {:.9} s simulated, link {link}{of}", now.seconds())
    }

    /// Calls a method unless something has failed; what fails is kept.
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
                self.fault.keep(py, e, &self.whereabouts(method, packet));
                None
            }
        })
    }
}

impl Aqm for PythonLaw {
    fn on_arrival(&mut self, packet: &net::Packet, at: &net::Arrival) -> net::Verdict {
        self.now = at.now;
        let verdict = self.call("on_arrival", Some(packet), |py, methods| {
            let said = methods.on_arrival.bind(py).call1((Packet::from(packet), Arrival(*at)))?;
            match said.cast::<Verdict>() {
                Ok(verdict) => Ok(verdict.get().0),
                Err(_) => Err(PyTypeError::new_err(format!(
                    "on_arrival returned {}; return PASS, signal(why) or drop(why)",
                    said.repr()?
                ))),
            }
        });
        verdict.unwrap_or(net::Verdict::Pass)
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
            let said = method.bind(py).call0()?;
            match said.extract::<Option<f64>>() {
                Ok(average) => Ok(average.map(Depth::Packets)),
                Err(_) => Err(PyTypeError::new_err(format!(
                    "average returned {}; return a number, or None if there is none yet",
                    said.repr()?
                ))),
            }
        })?
    }
}
