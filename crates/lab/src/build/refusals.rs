//! Checks of the names that a scenario uses.

use queues::diffserv::{Rule, check_rules};
use queues::{Custom, CustomAqms, Queue};
use units::Read;
use units::param::{Invalid, did_you_mean, join};

use super::links::LinkPlan;
use super::plan::Plan;
use crate::scenario::{Network, Scenario};

/// Refuse a scenario in which two flows have the same name, or in which a key names an unknown link
/// or flow.
pub(super) fn refuse(scenario: &Scenario, plan: &Plan) -> Result<(), Invalid> {
    equal_names(plan)?;
    unknown_links(&scenario.record.links, plan)?;
    unknown_traced(&scenario.record.traced, plan)?;
    unknown_matches(&scenario.network, plan)
}

/// Refuse two flows with the same name. The check compares hashes of names first, because a
/// scenario may have millions of flows.
fn equal_names(plan: &Plan) -> Result<(), Invalid> {
    let mut hashes: Vec<(u64, u32)> =
        (0..plan.flows()).map(|f| (engine::hash(plan.name(f).as_bytes()), f as u32)).collect();
    hashes.sort_unstable();
    let equal = |pair: &[(u64, u32)]| {
        let [(a, first), (b, second)] = [pair[0], pair[1]].map(|(hash, f)| (hash, f as usize));
        (a == b && plan.name(first) == plan.name(second)).then_some((second, first))
    };
    // The error names the pair of equal names that occurs first in the scenario.
    let Some((second, first)) = hashes.windows(2).filter_map(equal).min() else { return Ok(()) };
    let path = join(&join("flows", plan.table(second)), "name");
    let problem = format!("is also the name of a flow in the table flows.{}", plan.table(first));
    Err(Invalid::new(&path, &plan.name(second).write(), problem)
        .remedy("give each flow a different name, which contains {i} if count is above 1"))
}

/// Refuse unknown names in `record.links`.
fn unknown_links(names: &[String], plan: &Plan) -> Result<(), Invalid> {
    for (i, name) in names.iter().enumerate() {
        let known: Vec<String> = plan.links.iter().map(LinkPlan::name).collect();
        if !known.contains(name) {
            let shown: Vec<&str> = known.iter().map(String::as_str).take(30).collect();
            return Err(Invalid::new(
                &format!("record.links.{i}"),
                &name.write(),
                "is not a link of the network",
            )
            .remedy(did_you_mean(name, &shown)));
        }
    }
    Ok(())
}

/// Refuse unknown names in `record.traced`.
fn unknown_traced(traced: &[String], plan: &Plan) -> Result<(), Invalid> {
    if traced.is_empty() {
        return Ok(());
    }
    let single = (0..plan.flows()).filter(|&f| plan.opener(f).is_none());
    let names: Vec<String> = single.map(|f| plan.name(f)).collect();
    for (i, name) in traced.iter().enumerate() {
        if !names.contains(name) {
            let shown: Vec<&str> = names.iter().map(String::as_str).take(30).collect();
            let problem = "is not the name of a flow with a single connection";
            return Err(Invalid::new(&format!("record.traced.{i}"), &name.write(), problem)
                .remedy(did_you_mean(name, &shown)));
        }
    }
    Ok(())
}

/// Refuse unknown names in the rules of conditioners and in the classes of queues.
fn unknown_matches(network: &Network, plan: &Plan) -> Result<(), Invalid> {
    for (path, rules) in conditions(network) {
        check_rules(rules, plan, &path)?;
    }
    let check = |queue: &Queue, path: &str, key: &str| queue.check_matches(plan, &join(path, key));
    match network {
        Network::Dumbbell(d) => {
            check(&d.queue, "network", "queue")?;
            check(&d.reverse.queue, "network", "reverse.queue")?;
            check(&d.access_queue, "network", "access_queue")
        }
        Network::Graph(g) => g.links.iter().enumerate().try_for_each(|(l, link)| {
            let path = format!("network.links.{l}");
            check(&link.queue, &path, "queue")?;
            check(&link.reverse.queue, &path, "reverse.queue")
        }),
    }
}

/// Return the rules of every conditioner, each list with its path in the scenario.
fn conditions(network: &Network) -> Vec<(String, &[Rule])> {
    let lists: Vec<(String, &[Rule], &[Rule])> = match network {
        Network::Dumbbell(d) => vec![("network".into(), &d.condition, &d.reverse.condition)],
        Network::Graph(g) => {
            let links = g.links.iter().enumerate();
            links
                .map(|(l, x)| (format!("network.links.{l}"), &x.condition[..], &x.reverse.condition[..]))
                .collect()
        }
    };
    let both = |(path, forward, reverse): (String, _, _)| {
        [(join(&path, "condition"), forward), (join(&path, "reverse.condition"), reverse)]
    };
    lists.into_iter().flat_map(both).collect()
}

/// Refuse a custom queue that names an AQM which the run did not receive.
pub fn refuse_unknown_custom_aqms(plan: &Plan, custom_aqms: &dyn CustomAqms) -> Result<(), Invalid> {
    for link in &plan.links {
        let mut unknown = None;
        link.queue.each(&mut |queue| {
            if let Some(custom) = queue.kind.params::<Custom>()
                && !custom_aqms.has(&custom.aqm)
            {
                unknown = Some(custom.aqm.write());
            }
        });
        if let Some(name) = unknown {
            let path = format!("the key aqm in the queue of the link {}", link.name());
            let remedy = format!(
                "run the scenario from Python, and pass queues={{\"{}\": MyQueue()}} to aqmlab.run",
                link.name()
            );
            return Err(Invalid::new(
                &path,
                &name,
                "is an AQM written in Python, but the run received no AQM with this name",
            )
            .remedy(remedy));
        }
    }
    Ok(())
}
