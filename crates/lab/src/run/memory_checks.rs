//! Checks that the available memory suffices for a run, and for the data that grows during the run.

use net::{Flight, Link};
use queues::Discipline;
use tcp::Endpoint;

use crate::build::LinkPlan;
use crate::connections::Connections;
use crate::failure::Failure;
use crate::limits::Limits;
use crate::memory::{SMALL, ensure_available};
use crate::scenario::Scenario;
use crate::slot::Slot;

/// Approximate memory in bytes of the names and routes of one link or one flow. The memory of the
/// structs is not included.
const LINK: usize = 4096;
const FLOW: usize = 512;

/// Fail unless the available memory and the limits of the run suffice for the network, the flows
/// and the samples of a scenario.
pub fn check_size(scenario: &Scenario, limits: &Limits) -> Result<(), Failure> {
    let flows: u64 = scenario.flows.iter().map(|flow| flow.count).fold(0, u64::saturating_add);
    let links = scenario.link_count();
    let flow = 2 * size_of::<Endpoint>() + size_of::<Slot>() + FLOW;
    let link = size_of::<LinkPlan>() + size_of::<Link<Discipline>>() + LINK;
    let all = flows.saturating_mul(flow as u64).saturating_add(links.saturating_mul(link as u64));
    ensure_available(all, &format!("{flows} flows and {links} links"))?;
    let (times, each) = scenario.samples();
    let samples = (times * each) as u64;
    if samples >= SMALL {
        ensure_available(samples, "the samples")?;
    }
    limits.check_memory(all.saturating_add(samples))
}

/// Fail if the samples exceed the maximum size. A run without a duration calls this function after
/// each sample.
pub fn check_samples(bytes: u64) -> Result<(), Failure> {
    if bytes as f64 <= Scenario::MAX_SAMPLED {
        return Ok(());
    }
    Err(Failure::Memory(format!(
        "the samples need more than {:.0} GB of memory; raise record.interval, or name fewer links in record.links",
        Scenario::MAX_SAMPLED / 1e9
    )))
}

/// Return the memory in bytes of the packets and connections, which grow during the run.
pub fn growing_bytes(flight: &Flight, connections: &Connections) -> u64 {
    let slots = size_of_val(&connections.records.slots[..]) + connections.app_states.bytes();
    (flight.bytes() + connections.endpoints.len() * size_of::<Endpoint>() + slots) as u64
}

/// Fail unless the available memory suffices for twice the size of the packets and connections.
pub fn check_growth(bytes: u64) -> Result<(), Failure> {
    ensure_available(2 * bytes, "the packets and connections")
}
