//! TCP parameters of each flow, after the simulator has applied stacks, choices and changes.

use tcp::Tcp;
use units::Read;
use units::param::{Invalid, Json, join};

use crate::scenario::Scenario;

/// Flows with the same TCP parameters of the sender and the same TCP parameters of the receiver.
struct Group {
    flows: Vec<String>,
    sender: Tcp,
    receiver: Tcp,
}

/// Return groups of flows with equal TCP parameters. The groups have the order of their first flows
/// in the scenario. Each group lists the names and numbers of its flows, the TCP parameters of the
/// sender and of the receiver, and the ECN mode that the sender requests.
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
