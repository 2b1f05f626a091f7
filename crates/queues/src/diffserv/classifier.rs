//! Classification of packets by rules and classes.
//!
//! Source: RFC 2475 §2.3.1 (`rfc2475`): a behaviour aggregate classifier uses the codepoint, a
//! multi-field classifier also the five-tuple.
//!
//! The classifier evaluates conditions on the hosts, protocol and name of a flow when the network
//! is built. Flows to which the same rules may apply form a group. The classifier needs two table
//! look-ups per packet: the first finds the group of the packet's flow, and the second finds the
//! rule for the group, the codepoint and the ECN field.

use std::collections::HashMap;
use std::fmt;

use net::{Direction, Ecn, Packet};
use units::param::{Invalid, Several, did_you_mean, join};
use units::{Range, Read, params, words};

use super::dscp::Dscp;

words! {
    /// Transport protocol.
    pub enum Protocol {
        /// TCP.
        Tcp = "tcp",
        /// UDP.
        Udp = "udp",
    }
}

words! {
    /// ECN field of a packet.
    pub enum EcnField {
        /// Not ECN-capable.
        NotEct = "not-ect",
        /// ECN-capable, ECT(0).
        Ect0 = "ect0",
        /// ECN-capable, ECT(1).
        Ect1 = "ect1",
        /// Congestion experienced.
        Ce = "ce",
    }
}

impl EcnField {
    fn field(self) -> Ecn {
        match self {
            EcnField::NotEct => Ecn::NotEct,
            EcnField::Ect0 => Ecn::Ect0,
            EcnField::Ect1 => Ecn::Ect1,
            EcnField::Ce => Ecn::Ce,
        }
    }
}

params! {
    /// Condition that selects packets for a rule or a class. A packet matches the condition if it
    /// fulfils every given key. A condition without keys matches all packets. Each key is one value
    /// or a list of alternatives. In the names of flows and hosts, * stands for any sequence of
    /// characters. A packet that matches several rules or classes belongs to the first of these
    /// rules or classes.
    pub struct Match: "match" {
        /// Codepoint of the packet: a name such as "AF11", "EF", "CS1", or a number.
        dscp: Option<Several<Dscp>> = (None), in Range::ANY, from "rfc2475 §2.3.1: a behaviour aggregate classifier uses the codepoint";
        /// ECN field of the packet.
        ecn: Option<Several<EcnField>> = (None), in Range::ANY, from "rfc3168 §5";
        /// Names of flows. Both the data packets and the ACKs of these flows match.
        flows: Option<Several<String>> = (None), in Range::ANY, from "";
        /// Host that sends the packet: the sender of the flow for a data packet, and the receiver
        /// of the flow for an ACK.
        source: Option<Several<String>> = (None), in Range::ANY, from "rfc2475 §2.3.1: the source address is part of the five-tuple";
        /// Host that receives the packet.
        destination: Option<Several<String>> = (None), in Range::ANY, from "rfc2475 §2.3.1: the destination address is part of the five-tuple";
        /// Transport protocol of the packet.
        protocol: Option<Several<Protocol>> = (None), in Range::ANY, from "rfc2475 §2.3.1: the protocol ID is part of the five-tuple";
        /// Kind of traffic of the packet's flow, such as "bulk".
        traffic: Option<Several<String>> = (None), in Range::ANY, from "";
    }
}

/// Properties of a flow that a condition of the classifier can use.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// Name of the flow.
    pub name: String,
    /// Host that sends the data.
    pub from: String,
    /// Host that receives the data.
    pub to: String,
    /// Transport protocol.
    pub protocol: Protocol,
    /// Kind of traffic.
    pub traffic: &'static str,
}

/// Flows of a scenario.
pub trait Flows: fmt::Debug {
    /// Return the number of flows.
    fn count(&self) -> usize;
    /// Return the flow with this number.
    fn flow(&self, number: usize) -> Flow;
}

/// Empty set of flows, for queues that do not classify by flow.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFlows;

impl Flows for NoFlows {
    fn count(&self) -> usize {
        0
    }
    fn flow(&self, _: usize) -> Flow {
        let none = String::new;
        Flow { name: none(), from: none(), to: none(), protocol: Protocol::Tcp, traffic: "" }
    }
}

/// Return true if `text` matches `pattern`, in which * stands for any sequence of characters.
fn fits(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

impl Match {
    /// Return the condition that matches all packets.
    pub fn all() -> Self {
        Match {
            dscp: None,
            ecn: None,
            flows: None,
            source: None,
            destination: None,
            protocol: None,
            traffic: None,
        }
    }

    /// Return true if the given flow and direction match the keys of the rule that select flows,
    /// such as `source`.
    fn takes_flow(&self, flow: &Flow, direction: Direction) -> bool {
        let ends =
            if direction == Direction::Forward { [&flow.from, &flow.to] } else { [&flow.to, &flow.from] };
        let named = |patterns: &Option<Several<String>>, name: &str| {
            patterns.as_ref().is_none_or(|p| p.0.iter().any(|p| fits(p, name)))
        };
        named(&self.flows, &flow.name)
            && named(&self.source, ends[0])
            && named(&self.destination, ends[1])
            && named(&self.traffic, flow.traffic)
            && self.protocol.as_ref().is_none_or(|p| p.0.contains(&flow.protocol))
    }

    /// Return true if the given codepoint and ECN field match the keys `dscp` and `ecn` of the
    /// rule.
    fn takes_fields(&self, dscp: u8, ecn: u8) -> bool {
        self.dscp.as_ref().is_none_or(|d| d.0.contains(&Dscp(dscp)))
            && self.ecn.as_ref().is_none_or(|e| e.0.iter().any(|e| e.field() as u8 == ecn))
    }

    /// Return true if the condition has a key that concerns flows.
    fn tells_flows_apart(&self) -> bool {
        let Match { flows, source, destination, traffic, .. } = self;
        [flows, source, destination, traffic].iter().any(|key| key.is_some()) || self.protocol.is_some()
    }

    /// Refuse a name in the condition if no flow, host or kind of traffic of the scenario has this
    /// name. `path` is the path of the condition in the scenario.
    pub fn check(&self, flows: &dyn Flows, path: &str) -> Result<(), Invalid> {
        type Names = fn(Flow) -> Vec<String>;
        let keys: [(&str, &Option<Several<String>>, &str, Names); 4] = [
            ("flows", &self.flows, "the name of a flow", |f| vec![f.name]),
            ("source", &self.source, "the name of a host at which a flow begins or ends", |f| {
                vec![f.from, f.to]
            }),
            ("destination", &self.destination, "the name of a host at which a flow begins or ends", |f| {
                vec![f.from, f.to]
            }),
            ("traffic", &self.traffic, "the kind of traffic of a flow", |f| vec![f.traffic.to_string()]),
        ];
        for (key, patterns, what, names) in keys {
            for pattern in patterns.iter().flat_map(|p| &p.0) {
                let all = || (0..flows.count()).flat_map(|f| names(flows.flow(f)));
                if !all().any(|name| fits(pattern, &name)) {
                    let mut known: Vec<String> = all().take(30).collect();
                    known.sort_unstable();
                    known.dedup();
                    let known: Vec<&str> = known.iter().map(String::as_str).collect();
                    return Err(Invalid::new(&join(path, key), &pattern.write(), format!("is not {what}"))
                        .remedy(did_you_mean(pattern, &known)));
                }
            }
        }
        Ok(())
    }
}

/// Rule number that the table stores for packets that match no rule.
const NONE: u16 = u16::MAX;
/// Number of combinations of a codepoint and an ECN field.
const FIELDS: usize = 256;

/// Table with the first matching rule for each kind of packet.
#[derive(Clone, Debug)]
pub struct Classifier {
    /// Group of each flow and direction: first the forward packets of a flow, then its reverse
    /// packets. A flow whose number is beyond the end of the list is in group 0.
    groups: Vec<u32>,
    /// First matching rule for each group, codepoint and ECN field.
    rules: Vec<u16>,
}

impl Classifier {
    /// Build the table of the classifier from the first 65535 rules. The first rule that matches a
    /// packet applies.
    pub fn new<'a>(rules: impl IntoIterator<Item = &'a Match>, flows: &dyn Flows) -> Self {
        let rules: Vec<&Match> = rules.into_iter().take(usize::from(NONE)).collect();
        let everywhere: Vec<u16> =
            (0..rules.len()).filter(|&r| !rules[r].tells_flows_apart()).map(|r| r as u16).collect();
        let mut classifier = Classifier { groups: Vec::new(), rules: Vec::new() };
        classifier.add_group(&rules, &everywhere);
        if everywhere.len() == rules.len() {
            return classifier;
        }
        let mut known = HashMap::from([(everywhere, 0)]);
        for flow in (0..flows.count()).map(|f| flows.flow(f)) {
            for direction in Direction::BOTH {
                let may: Vec<u16> = (0..rules.len())
                    .filter(|&r| rules[r].takes_flow(&flow, direction))
                    .map(|r| r as u16)
                    .collect();
                let next = known.len() as u32;
                let group = *known.entry(may).or_insert_with_key(|may| {
                    classifier.add_group(&rules, may);
                    next
                });
                classifier.groups.push(group);
            }
        }
        classifier
    }

    /// Add a group of flows to the table. All flows of the group match the same rules, whose
    /// indices are given in `may`.
    fn add_group(&mut self, rules: &[&Match], may: &[u16]) {
        let first = |fields: usize| {
            let (dscp, ecn) = ((fields >> 2) as u8, (fields & 3) as u8);
            may.iter().copied().find(|&r| rules[usize::from(r)].takes_fields(dscp, ecn)).unwrap_or(NONE)
        };
        self.rules.extend((0..FIELDS).map(first));
    }

    /// Return the index of the first rule that matches a packet of the flow with the number
    /// `source`.
    #[inline]
    pub fn class_of(&self, source: u32, packet: &Packet) -> Option<usize> {
        let sent = 2 * source as usize + packet.label.direction().index();
        let group = self.groups.get(sent).copied().unwrap_or(0) as usize;
        let fields = usize::from(packet.label.dscp()) << 2 | packet.ecn as usize;
        let rule = self.rules[group * FIELDS + fields];
        (rule != NONE).then_some(usize::from(rule))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use net::Label;
    use serde_json::{Value, json};

    #[derive(Debug)]
    struct Five(Vec<Flow>);

    impl Flows for Five {
        fn count(&self) -> usize {
            self.0.len()
        }
        fn flow(&self, number: usize) -> Flow {
            self.0[number].clone()
        }
    }

    /// Return the TCP flow down-0 from "server" to "left-0", the TCP flow down-1 from "server" to
    /// "left-1", and the UDP flow call-0 from "left-0" to "right-0".
    fn flows() -> Five {
        let flow = |name: &str, from: &str, to: &str, protocol, traffic| Flow {
            name: name.into(),
            from: from.into(),
            to: to.into(),
            protocol,
            traffic,
        };
        Five(vec![
            flow("down-0", "server", "left-0", Protocol::Tcp, "bulk"),
            flow("down-1", "server", "left-1", Protocol::Tcp, "messages"),
            flow("call-0", "left-0", "right-0", Protocol::Udp, "voip"),
        ])
    }

    fn rules(list: Value) -> Vec<Match> {
        list.as_array().unwrap().iter().map(|m| Match::read(m, "m").unwrap()).collect()
    }

    fn packet(direction: Direction, dscp: u8, ecn: Ecn) -> Packet {
        Packet { label: Label::new(direction).with_dscp(dscp), ecn, ..Packet::default() }
    }

    /// Return the class of the data packets and of the ACKs of each flow, for this codepoint and
    /// ECN field.
    fn classes(list: Value, dscp: u8, ecn: Ecn) -> Vec<[Option<usize>; 2]> {
        let (rules, flows) = (rules(list), flows());
        let classifier = Classifier::new(&rules, &flows);
        let of = |f| Direction::BOTH.map(|direction| classifier.class_of(f, &packet(direction, dscp, ecn)));
        (0..4).map(of).collect()
    }

    const NO: Option<usize> = None;

    #[test]
    fn conditions_use_the_five_tuple_of_the_packet() {
        let by_source = classes(json!([{"source": "left-*"}, {"source": "server"}]), 0, Ecn::NotEct);
        // In this test the host left-0 sends the reverse packets of the flow down-0, and the host
        // right-0 sends the reverse packets of the flow call-0. The test also classifies a fourth
        // flow, which does not exist.
        assert_eq!(by_source, [[Some(1), Some(0)], [Some(1), Some(0)], [Some(0), NO], [NO, NO]]);
        let both = classes(json!([{"source": "server", "destination": ["left-1", "x*"]}]), 0, Ecn::NotEct);
        assert_eq!(both, [[NO, NO], [Some(0), NO], [NO, NO], [NO, NO]]);
        let udp = classes(json!([{"protocol": "udp"}, {}]), 0, Ecn::NotEct);
        assert_eq!(udp, [[Some(1); 2], [Some(1); 2], [Some(0); 2], [Some(1); 2]]);
        let kind = classes(json!([{"traffic": "voip"}, {"flows": "*-1"}]), 0, Ecn::NotEct);
        assert_eq!(kind, [[NO; 2], [Some(1); 2], [Some(0); 2], [NO; 2]]);
    }

    #[test]
    fn fields_and_flows_must_both_match_and_the_first_rule_wins() {
        let list = json!([
            {"dscp": "EF", "flows": "call-*"}, {"dscp": ["AF11", 12], "ecn": ["ect0", "ce"]}, {"flows": "down-0"}, {"dscp": "EF"}
        ]);
        let ef = classes(list.clone(), 46, Ecn::NotEct);
        assert_eq!(ef, [[Some(2); 2], [Some(3); 2], [Some(0); 2], [Some(3); 2]]);
        let af12 = classes(list.clone(), 12, Ecn::Ce);
        assert_eq!(af12, [[Some(1); 2]; 4]);
        let not_ect = classes(list, 10, Ecn::NotEct);
        assert_eq!(not_ect, [[Some(2); 2], [NO; 2], [NO; 2], [NO; 2]]);
    }

    /// The table must return the first rule that matches, for every flow, direction, codepoint and
    /// ECN field.
    #[test]
    fn the_table_returns_the_first_match() {
        let list = rules(json!([
            {"flows": "down-1", "dscp": ["AF11", "AF12"]}, {"source": "left-0", "ecn": "ce"}, {"dscp": 7, "protocol": "tcp"},
            {"destination": "right-0"}, {"traffic": ["bulk", "messages"], "ecn": ["ect1", "not-ect"]},
        ]));
        let flows = flows();
        let classifier = Classifier::new(&list, &flows);
        for (f, direction) in (0..3).flat_map(|f| Direction::BOTH.map(|direction| (f, direction))) {
            for (dscp, ecn) in
                (0..64).flat_map(|d| [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce].map(|e| (d, e)))
            {
                let first = list
                    .iter()
                    .position(|m| m.takes_flow(&flows.0[f], direction) && m.takes_fields(dscp, ecn as u8));
                assert_eq!(classifier.class_of(f as u32, &packet(direction, dscp, ecn)), first);
            }
        }
    }

    #[test]
    fn stars_stand_for_any_characters() {
        for (pattern, text, says) in [
            ("a", "a", true),
            ("a", "ab", false),
            ("a*", "a", true),
            ("a*", "abc", true),
            ("*c", "abc", true),
            ("*", "", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c-b", false),
            ("ab*ba", "aba", false),
            ("", "", true),
            ("", "a", false),
            ("*x*", "axb", true),
            ("**", "q", true),
        ] {
            assert_eq!(fits(pattern, text), says, "{pattern} {text}");
        }
    }

    #[test]
    fn an_unknown_name_is_refused() {
        let refusal =
            |m| rules(json!([m]))[0].check(&flows(), "queue.classes.0.match").unwrap_err().to_string();
        let e = refusal(json!({"flows": ["down-*", "dwn-1"]}));
        assert!(
            e.contains(
                "queue.classes.0.match.flows: \"dwn-1\" is not the name of a flow; did you mean down-1?"
            ),
            "{e}"
        );
        assert!(refusal(json!({"source": "lft-0"})).contains("did you mean left-0"));
        assert!(refusal(json!({"traffic": "cbr"})).contains("kind of traffic"));
        assert!(rules(json!([{"destination": "server"}]))[0].check(&flows(), "m").is_ok());
        assert!(Match::read(&json!({"dscp": []}), "m").unwrap_err().to_string().contains("m.dscp: is empty"));
    }
}
