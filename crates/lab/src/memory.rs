//! Room in memory. What samples would take is known beforehand and bounded; where there is no room, the run ends with
//! an error. The standard library would abort, so large pieces are asked for before they are needed.

use std::ops::Deref;

use net::{Flight, Link};
use queues::Discipline;
use tcp::Endpoint;
use traffic::Application;
use traffic::application::Side;
use units::param::{Invalid, join};
use units::{Duration, Read};

use crate::build::LinkPlan;
use crate::connections::Connections;
use crate::run::{Failure, Limits};
use crate::scenario::{Network, Scenario, Series};
use crate::slot::Slot;

/// What the tables of sampled series may take, in bytes.
const MOST_SAMPLED: f64 = 4e9;
/// What the small pieces of a run may take until the next look.
const RESERVE: u64 = 64 << 20;

/// A list that grows while the run goes on; where there is no room it stays as it is, and says so.
#[derive(Debug)]
pub struct List<T> {
    items: Vec<T>,
    full: bool,
}

impl<T> Default for List<T> {
    fn default() -> Self {
        List { items: Vec::new(), full: false }
    }
}

impl<T> Deref for List<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.items
    }
}

impl<T> List<T> {
    /// Adds one.
    #[inline]
    pub fn push(&mut self, item: T) {
        if self.items.len() < self.items.capacity() || self.room(1) {
            self.items.push(item);
        }
    }

    /// Adds so many.
    #[inline]
    pub fn extend(&mut self, count: usize, items: impl Iterator<Item = T>) {
        if self.room(count) {
            self.items.extend(items);
        }
    }

    /// Whether something was left away.
    pub fn is_full(&self) -> bool {
        self.full
    }

    fn room(&mut self, count: usize) -> bool {
        self.full |= self.items.try_reserve(count).is_err();
        !self.full
    }
}

/// Fails unless there is room for so many bytes and for small pieces.
pub fn afford(bytes: u64, what: &str) -> Result<(), Failure> {
    let all = usize::try_from(bytes.saturating_add(RESERVE)).unwrap_or(usize::MAX);
    Vec::<u8>::new().try_reserve_exact(all).map_err(|_| {
        let gigabytes = bytes as f64 / 1e9;
        Failure::Memory(format!("there is not enough memory for {what} ({gigabytes:.3} GB); ask for less"))
    })
}

/// What a link and a flow take while names and routes are found, beside their own parts, about.
const LINK: usize = 4096;
const FLOW: usize = 512;

fn links(scenario: &Scenario) -> u64 {
    match &scenario.network {
        Network::Dumbbell(d) => 2 + 2 * (d.left_hosts + d.right_hosts),
        Network::Graph(g) => g.links.iter().map(|link| 2 * link.count).fold(0, u64::saturating_add),
    }
}

/// Fails unless there is room for the network, the flows and the samples of a scenario, and they may take it.
pub fn check_size(scenario: &Scenario, limits: &Limits) -> Result<(), Failure> {
    let flows: u64 = scenario.flows.iter().map(|flow| flow.count).fold(0, u64::saturating_add);
    let links = links(scenario);
    let flow = 2 * size_of::<Endpoint>() + size_of::<Slot>() + FLOW;
    let link = size_of::<LinkPlan>() + size_of::<Link<Discipline>>() + LINK;
    let all = flows.saturating_mul(flow as u64).saturating_add(links.saturating_mul(link as u64));
    afford(all, &format!("{flows} flows and {links} links"))?;
    let (times, each) = samples(scenario);
    afford((times * each) as u64, "the samples")?;
    limits.check_memory(all.saturating_add((times * each) as u64))
}

/// What a scenario has that is sampled.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// Links whose queue is.
    pub links: u64,
    /// Flows that are one connection.
    pub lasting: u64,
    /// Of these, those whose two hosts send data.
    pub conversing: u64,
}

impl Sizes {
    fn of(scenario: &Scenario) -> Sizes {
        let connections = |which: fn(&dyn Application) -> bool| {
            let lasting = scenario.flows.iter().filter(|flow| flow.arrivals.is_none());
            let those = lasting.filter(|flow| flow.traffic.application().is_some_and(which));
            those.map(|flow| flow.count).fold(0, u64::saturating_add)
        };
        let named = scenario.record.links.len() as u64;
        Sizes {
            links: if named == 0 { links(scenario) } else { named },
            lasting: connections(|_| true),
            conversing: connections(|application| application.wants(Side::Client).told),
        }
    }
}

/// How often is sampled in a run that has a duration, and what the samples of a time take in their tables. One without
/// ends when its flows do; it is looked at as it goes on.
fn samples(scenario: &Scenario) -> (f64, f64) {
    let (record, sizes) = (&scenario.record, Sizes::of(scenario));
    let wanted = Series::ALL.iter().filter(|series| record.series.contains(series));
    let each = wanted.map(|series| series.table().row() as f64 * series.rows_a_sample(&sizes) as f64).sum();
    let times = |d: Duration| (d.seconds() / record.interval.seconds()).floor() + 1.0;
    (scenario.duration.map_or(0.0, times), each)
}

/// Refuses samples that would take too much by the end.
pub fn check_samples(scenario: &Scenario, path: &str) -> Result<(), Invalid> {
    let (times, each) = samples(scenario);
    if times * each > MOST_SAMPLED {
        let (record, seconds) = (&scenario.record, times * scenario.record.interval.seconds());
        let least = Duration::from_seconds((seconds * each / MOST_SAMPLED * 1e3).ceil() / 1e3);
        let problem = format!(
            "makes {times:.0} samples of {each:.0} B, {:.1} GB by the end, and at most {:.0} GB are kept",
            times * each / 1e9,
            MOST_SAMPLED / 1e9
        );
        return Err(Invalid::new(&join(path, "record.interval"), &record.interval.write(), problem)
            .remedy(format!("sample every {least} or less often, or fewer links (record.links)")));
    }
    Ok(())
}

/// Fails if what was sampled takes too much, in a run that has no duration.
pub fn check_taken(bytes: u64) -> Result<(), Failure> {
    if bytes as f64 <= MOST_SAMPLED {
        return Ok(());
    }
    Err(Failure::Memory(format!(
        "the samples took more than {:.0} GB; raise record.interval, or name links in record.links",
        MOST_SAMPLED / 1e9
    )))
}

/// What packets and connections take, which grow with a run.
pub fn taken(flight: &Flight, connections: &Connections) -> u64 {
    let slots = size_of_val(&connections.fates.slots[..]) + connections.acting.bytes();
    (flight.bytes() + connections.endpoints.len() * size_of::<Endpoint>() + slots) as u64
}

/// Fails unless what grows with a run can grow to twice its size.
pub fn check_growth(bytes: u64) -> Result<(), Failure> {
    afford(2 * bytes, "the packets and connections")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_without_room_stays_as_it_is() {
        let mut list = List::default();
        list.push([0_u8; 1 << 10]);
        list.extend(usize::MAX >> 10, std::iter::repeat([1; 1 << 10]));
        assert!(list.is_full() && list.len() == 1);
    }

    #[test]
    fn what_there_is_no_room_for_is_told() {
        let told = afford(u64::MAX, "the samples").unwrap_err().to_string();
        assert!(told.contains("not enough memory for the samples"), "{told}");
        assert!(afford(1, "a byte").is_ok());
    }
}
