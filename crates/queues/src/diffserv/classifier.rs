//! Which packets a rule or a class takes.
//!
//! Source: RFC 2475 §2.3.1 (`rfc2475`): a behaviour aggregate classifier looks at the codepoint, a multi-field
//! classifier also at the five-tuple.
//!
//! What a flow's ends, protocol and name decide is decided when the network is built: flows that the same
//! rules may take are a group. A packet then costs two look-ups, that of its group and that of its fields.

use std::collections::HashMap;
use std::fmt;

use net::{Ecn, Packet, Way};
use units::param::{Invalid, Several, did_you_mean, join};
use units::{Range, Read, params, words};

use super::dscp::Dscp;

words! {
    /// A transport protocol.
    pub enum Protocol {
        /// TCP.
        Tcp = "tcp",
        /// UDP.
        Udp = "udp",
    }
}

words! {
    /// The ECN field of a packet.
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
    /// Which packets a rule or a class takes: those for which every key that is given holds; without any,
    /// all. Each key is one value or a list, of which one must fit. In names * stands for any letters.
    /// The first rule or class in its list that takes a packet has it.
    pub struct Match: "match" {
        /// Its codepoint: a name such as "AF11", "EF", "CS1", or a number.
        dscp: Option<Several<Dscp>> = (None), in Range::ANY, from "rfc2475 §2.3.1: the behaviour aggregate classifier";
        /// Its ECN field.
        ecn: Option<Several<EcnField>> = (None), in Range::ANY, from "rfc3168 §5";
        /// Names of flows; data and ACKs alike.
        flows: Option<Several<String>> = (None), in Range::ANY, from "";
        /// Host that sent the packet: the data's, or for an ACK the receiver.
        source: Option<Several<String>> = (None), in Range::ANY, from "rfc2475 §2.3.1: source address, of the five-tuple";
        /// Host that it goes to.
        destination: Option<Several<String>> = (None), in Range::ANY, from "rfc2475 §2.3.1: destination address, of the five-tuple";
        /// Its transport protocol.
        protocol: Option<Several<Protocol>> = (None), in Range::ANY, from "rfc2475 §2.3.1: protocol ID, of the five-tuple";
        /// Kind of its flow's traffic, such as "bulk".
        traffic: Option<Several<String>> = (None), in Range::ANY, from "";
    }
}

/// What a classifier may ask of a flow.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// Its name.
    pub name: String,
    /// Host that sends the data.
    pub from: String,
    /// Host that receives it.
    pub to: String,
    /// Its protocol.
    pub protocol: Protocol,
    /// The kind of its traffic.
    pub traffic: &'static str,
}

/// The flows of a scenario.
pub trait Flows: fmt::Debug {
    /// How many there are.
    fn count(&self) -> usize;
    /// One of them, by its number.
    fn flow(&self, number: usize) -> Flow;
}

/// No flows: where none are told apart.
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

/// Whether `text` is what `pattern` says, in which * stands for any letters.
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
    /// All packets.
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

    /// Whether it takes the packets that go this way of the flow, if their
    /// fields are right.
    fn takes_flow(&self, flow: &Flow, way: Way) -> bool {
        let ends = if way == Way::There { [&flow.from, &flow.to] } else { [&flow.to, &flow.from] };
        let named = |patterns: &Option<Several<String>>, name: &str| {
            patterns.as_ref().is_none_or(|p| p.0.iter().any(|p| fits(p, name)))
        };
        named(&self.flows, &flow.name)
            && named(&self.source, ends[0])
            && named(&self.destination, ends[1])
            && named(&self.traffic, flow.traffic)
            && self.protocol.as_ref().is_none_or(|p| p.0.contains(&flow.protocol))
    }

    /// Whether it takes packets with this codepoint and ECN field, if their flow is right.
    fn takes_fields(&self, dscp: u8, ecn: u8) -> bool {
        self.dscp.as_ref().is_none_or(|d| d.0.contains(&Dscp(dscp)))
            && self.ecn.as_ref().is_none_or(|e| e.0.iter().any(|e| e.field() as u8 == ecn))
    }

    /// Whether it asks for something that flows differ in.
    fn tells_flows_apart(&self) -> bool {
        let Match { flows, source, destination, traffic, .. } = self;
        [flows, source, destination, traffic].iter().any(|key| key.is_some()) || self.protocol.is_some()
    }

    /// Refuses a name that no flow, host or kind of traffic of the scenario has; `path` is where the match
    /// stands.
    pub fn check(&self, flows: &dyn Flows, path: &str) -> Result<(), Invalid> {
        type Names = fn(Flow) -> Vec<String>;
        let keys: [(&str, &Option<Several<String>>, &str, Names); 4] = [
            ("flows", &self.flows, "flow", |f| vec![f.name]),
            ("source", &self.source, "host that a flow begins or ends at", |f| vec![f.from, f.to]),
            ("destination", &self.destination, "host that a flow begins or ends at", |f| vec![f.from, f.to]),
            ("traffic", &self.traffic, "kind of traffic that a flow has", |f| vec![f.traffic.to_string()]),
        ];
        for (key, patterns, what, names) in keys {
            for pattern in patterns.iter().flat_map(|p| &p.0) {
                let all = || (0..flows.count()).flat_map(|f| names(flows.flow(f)));
                if !all().any(|name| fits(pattern, &name)) {
                    let mut known: Vec<String> = all().take(30).collect();
                    known.sort_unstable();
                    known.dedup();
                    let known: Vec<&str> = known.iter().map(String::as_str).collect();
                    return Err(Invalid::new(&join(path, key), &pattern.write(), format!("is no {what}"))
                        .remedy(did_you_mean(pattern, &known)));
                }
            }
        }
        Ok(())
    }
}

/// What no rule takes.
const NONE: u16 = u16::MAX;
/// How many combinations of codepoint and ECN field there are.
const FIELDS: usize = 256;

/// Finds the rule that has a packet.
#[derive(Clone, Debug)]
pub struct Classifier {
    /// The group of what each flow's sender and its receiver send; flows beyond are in group 0.
    groups: Vec<u32>,
    /// For each group and combination of fields the first rule that takes it.
    rules: Vec<u16>,
}

impl Classifier {
    /// Of these rules the first has the packet; 65535 at most are looked at.
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
            for way in Way::BOTH {
                let may: Vec<u16> =
                    (0..rules.len()).filter(|&r| rules[r].takes_flow(&flow, way)).map(|r| r as u16).collect();
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

    /// Adds a group of flows whose packets these rules take if their fields are right.
    fn add_group(&mut self, rules: &[&Match], may: &[u16]) {
        let first = |fields: usize| {
            let (dscp, ecn) = ((fields >> 2) as u8, (fields & 3) as u8);
            may.iter().copied().find(|&r| rules[usize::from(r)].takes_fields(dscp, ecn)).unwrap_or(NONE)
        };
        self.rules.extend((0..FIELDS).map(first));
    }

    /// The place in the list of the rule that has a packet of the flow with the number `source`, if one has it.
    #[inline]
    pub fn class_of(&self, source: u32, packet: &Packet) -> Option<usize> {
        let sent = 2 * source as usize + packet.label.way().index();
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

    /// down-0 and down-1 from "server" to "left-0" and "left-1"; call-0 from "left-0" to "right-0", of UDP.
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

    fn packet(way: Way, dscp: u8, ecn: Ecn) -> Packet {
        Packet { label: Label::new(way).with_dscp(dscp), ecn, ..Packet::default() }
    }

    /// The class of each flow's data and ACKs, with this codepoint and field.
    fn classes(list: Value, dscp: u8, ecn: Ecn) -> Vec<[Option<usize>; 2]> {
        let (rules, flows) = (rules(list), flows());
        let classifier = Classifier::new(&rules, &flows);
        let of = |f| Way::BOTH.map(|way| classifier.class_of(f, &packet(way, dscp, ecn)));
        (0..4).map(of).collect()
    }

    const NO: Option<usize> = None;

    #[test]
    fn the_five_tuple_is_that_of_the_packet() {
        let by_source = classes(json!([{"source": "left-*"}, {"source": "server"}]), 0, Ecn::NotEct);
        // An ACK of down-0 comes from left-0; that of the call from right-0. There is no fourth flow.
        assert_eq!(by_source, [[Some(1), Some(0)], [Some(1), Some(0)], [Some(0), NO], [NO, NO]]);
        let both = classes(json!([{"source": "server", "destination": ["left-1", "x*"]}]), 0, Ecn::NotEct);
        assert_eq!(both, [[NO, NO], [Some(0), NO], [NO, NO], [NO, NO]]);
        let udp = classes(json!([{"protocol": "udp"}, {}]), 0, Ecn::NotEct);
        assert_eq!(udp, [[Some(1); 2], [Some(1); 2], [Some(0); 2], [Some(1); 2]]);
        let kind = classes(json!([{"traffic": "voip"}, {"flows": "*-1"}]), 0, Ecn::NotEct);
        assert_eq!(kind, [[NO; 2], [Some(1); 2], [Some(0); 2], [NO; 2]]);
    }

    #[test]
    fn fields_and_flows_must_both_be_right_and_the_first_rule_wins() {
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

    /// Held against the rules themselves, for every flow, way, codepoint and field.
    #[test]
    fn two_look_ups_are_the_first_match() {
        let list = rules(json!([
            {"flows": "down-1", "dscp": ["AF11", "AF12"]}, {"source": "left-0", "ecn": "ce"}, {"dscp": 7, "protocol": "tcp"},
            {"destination": "right-0"}, {"traffic": ["bulk", "messages"], "ecn": ["ect1", "not-ect"]},
        ]));
        let flows = flows();
        let classifier = Classifier::new(&list, &flows);
        for (f, way) in (0..3).flat_map(|f| Way::BOTH.map(|way| (f, way))) {
            for (dscp, ecn) in
                (0..64).flat_map(|d| [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce].map(|e| (d, e)))
            {
                let first = list
                    .iter()
                    .position(|m| m.takes_flow(&flows.0[f], way) && m.takes_fields(dscp, ecn as u8));
                assert_eq!(classifier.class_of(f as u32, &packet(way, dscp, ecn)), first);
            }
        }
    }

    #[test]
    fn stars_stand_for_any_letters() {
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
    fn a_name_that_nothing_has_is_refused() {
        let refusal =
            |m| rules(json!([m]))[0].check(&flows(), "queue.classes.0.match").unwrap_err().to_string();
        let e = refusal(json!({"flows": ["down-*", "dwn-1"]}));
        assert!(e.contains("queue.classes.0.match.flows: \"dwn-1\" is no flow; did you mean down-1?"), "{e}");
        assert!(refusal(json!({"source": "lft-0"})).contains("did you mean left-0"));
        assert!(refusal(json!({"traffic": "cbr"})).contains("kind of traffic"));
        assert!(rules(json!([{"destination": "server"}]))[0].check(&flows(), "m").is_ok());
        assert!(Match::read(&json!({"dscp": []}), "m").unwrap_err().to_string().contains("m.dscp: is empty"));
    }
}
