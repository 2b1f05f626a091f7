//! Expansion of a scenario for engines other than the simulator. The expansion names all links and
//! flows, and replaces texts such as `"20 ms"` by numbers.

use net::Direction;
use traffic::DrawStreams;
use units::param::{Invalid, Json};
use units::{Depth, Read, Time};

use super::links::LinkPlan;
use super::offset::{offset, starts};
use super::plan::Plan;
use crate::scenario::Scenario;

/// Return the hosts, links, flows and TCP parameters of a scenario as JSON. All numbers are equal
/// to the numbers that the simulator uses. For example, delays and start times include the random
/// offsets of the scenario's seed. The description of a flow lists its links in both directions.
/// The entry `tcp` of a flow is the index of the flow's TCP parameters.
pub fn expanded(scenario: &Scenario) -> Result<Json, Invalid> {
    let plan = super::plan(scenario)?;
    let names = plan.link_names();
    let links: Vec<Json> =
        plan.links.iter().zip(&names).map(|(link, name)| link_table(scenario, link, name)).collect();
    let mut hosts: Vec<String> = Vec::new();
    let mut known = std::collections::HashSet::new();
    let mut flows = Vec::with_capacity(plan.flows());
    for f in 0..plan.flows() {
        for host in [plan.from(f), plan.to(f)] {
            if known.insert(host.clone()) {
                hosts.push(host);
            }
        }
        flows.push(flow_table(scenario, &plan, f, &names));
    }
    let tcp: Vec<Json> = plan
        .tables
        .iter()
        .map(
            |table| {
                let ecn = table.sender.ecn_in_force().write();
                serde_json::json!({ "sender": table.sender.write(), "receiver": table.receiver.write(), "ecn": ecn })
            },
        )
        .collect();
    Ok(serde_json::json!({ "hosts": hosts, "links": links, "flows": flows, "tcp": tcp }))
}

/// Return the description of a link for other engines.
fn link_table(scenario: &Scenario, link: &LinkPlan, name: &str) -> Json {
    let delay =
        link.delay + offset(scenario.seed, &format!("link/{name}/phase"), scenario.phase_breaking.delay);
    let (packets, bytes) = match link.queue.buffer.limit.at(link.rate) {
        Depth::Packets(n) => (Some(n as u64), None),
        Depth::Bytes(n) => (None, Some(n as u64)),
    };
    serde_json::json!({
        "name": name,
        "from": link.from,
        "to": link.to,
        "rate_bps": link.rate.0,
        "delay_s": delay.seconds(),
        "queue": link.queue.write(),
        "limit_packets": packets,
        "limit_bytes": bytes,
        "condition": link.condition.write(),
        "rate_changes": link.rate_changes.write(),
        "impairments": link.impairments.write(),
    })
}

/// Return the description of a flow for other engines.
fn flow_table(scenario: &Scenario, plan: &Plan, f: usize, links: &[String]) -> Json {
    let (name, table) = (plan.name(f), &plan.tables[plan.table(f)]);
    let datagrams = table.traffic.is_datagrams();
    let draws = DrawStreams::new(scenario.seed, &plan.name(table.first));
    let route = |direction: Direction| -> Vec<&str> {
        let route = &plan.routes[plan.flows[f][direction.index()] as usize];
        route.iter().map(|&l| links[l].as_str()).collect()
    };
    let reverse = if datagrams { Vec::new() } else { route(Direction::Reverse) };
    let one_connection = plan.opener(f).is_none();
    let size_bytes = one_connection.then(|| table.traffic.bulk_bytes(draws.of(plan.number(f), 0))).flatten();
    let start = Time::ZERO + starts(scenario.seed, plan.start_spread, table.start, &name);
    serde_json::json!({
        "name": name,
        "table": plan.table(f),
        "from": plan.from(f),
        "to": plan.to(f),
        "start_s": start.seconds(),
        "protocol": if datagrams { "udp" } else { "tcp" },
        "dscp": table.dscp.0,
        "traffic": table.traffic.write(),
        "arrivals": table.arrivals.write(),
        "size_bytes": size_bytes,
        "forward": route(Direction::Forward),
        "reverse": reverse,
        "tcp": plan.table(f),
    })
}
