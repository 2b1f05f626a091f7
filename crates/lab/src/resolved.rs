//! The parameters of TCP that each flow runs with, whatever stack, choices and changes they came from.

use tcp::Tcp;
use units::Read;
use units::param::{Invalid, Json, join};

use crate::scenario::Scenario;

/// Flows that run with the same parameters at both ends.
struct Group {
    flows: Vec<String>,
    sender: Tcp,
    receiver: Tcp,
}

/// The groups of a scenario's flows by their TCP, in the order of their first flows: names as the scenario has them, how many
/// flows they are, the parameters of the sender of the data and of its receiver, and the ECN that the sender asks for.
pub fn tcp(scenario: &Scenario) -> Result<Json, Invalid> {
    let mut groups: Vec<Group> = Vec::new();
    for (i, flow) in scenario.flows.iter().enumerate().filter(|(_, f)| !f.traffic.is_datagrams()) {
        let path = join("flows", i);
        let sender = flow.tcp.apply(&scenario.tcp, &join(&path, "tcp"))?;
        let receiver = flow.receiver_tcp.apply(&sender, &join(&path, "receiver_tcp"))?;
        let name = match flow.count {
            1 => flow.name.clone(),
            n => format!("{} ({n})", flow.name),
        };
        match groups.iter_mut().find(|g| g.sender == sender && g.receiver == receiver) {
            Some(group) => group.flows.push(name),
            None => groups.push(Group { flows: vec![name], sender, receiver }),
        }
    }
    let described = groups.iter().map(|g| {
        serde_json::json!({
            "flows": g.flows,
            "ecn": g.sender.ecn_in_force().write(),
            "sender": g.sender.write(),
            "receiver": g.receiver.write(),
        })
    });
    Ok(described.collect())
}
