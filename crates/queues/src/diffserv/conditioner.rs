//! Traffic conditioner before the queue of a link: classifier → meter → marker or dropper.
//!
//! Source: RFC 2475 §2.3.3 (`rfc2475`): meters (§2.3.3.1), markers (§2.3.3.2) and droppers
//! (§2.3.3.4), which police a stream. A shaper (§2.3.3.3) delays packets, so in this project a
//! shaper is a queue discipline.

use std::fmt;

use engine::Stream;
use net::{Count, Packet};
use units::param::{Invalid, Json, did_you_mean, join};
use units::{Range, Read, Time, params};

use super::classifier::{Classifier, Flows, Match};
use super::colour::Colour;
use super::dscp::Dscp;
use super::meters::{Meter, Metering};

params! {
    /// Marker that sets the codepoint of packets.
    pub struct Marker: "marker" {
        /// New codepoint of the packets.
        dscp: Dscp = required, in Range::ANY, from "rfc2475 §2.3.3.2";
    }
}

/// Action on the packets of one colour: `"pass"`, `"drop"`, or `{ dscp = "AF12" }`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The packets pass unchanged.
    Pass,
    /// The packets are dropped (policed).
    Drop,
    /// The packets pass, and the conditioner sets their codepoint to this value.
    Mark(Dscp),
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Action::Pass => f.write_str("pass"),
            Action::Drop => f.write_str("drop"),
            Action::Mark(dscp) => dscp.fmt(f),
        }
    }
}

impl Read for Action {
    fn read(value: &Json, path: &str) -> Result<Self, Invalid> {
        match value.as_str() {
            Some("pass") => Ok(Action::Pass),
            Some("drop") => Ok(Action::Drop),
            Some(other) => Err(Invalid::new(path, value, "is not an action of a conditioner")
                .remedy(did_you_mean(other, &["pass", "drop", "{ dscp = \"AF12\" }"]))),
            None => Marker::read(value, path).map(|marker| Action::Mark(marker.dscp)),
        }
    }

    fn write(&self) -> Json {
        match *self {
            Action::Pass => Json::from("pass"),
            Action::Drop => Json::from("drop"),
            Action::Mark(dscp) => Marker { dscp }.write(),
        }
    }

    fn schema() -> Json {
        let words = [("pass", "The packets pass unchanged."), ("drop", "The packets are dropped (policed).")];
        let words = words.map(|(word, meaning)| serde_json::json!({"const": word, "description": meaning}));
        serde_json::json!({"anyOf": [{"oneOf": words}, Marker::schema()]})
    }
}

params! {
    /// Rule of the traffic conditioner before the queue of a link. The rule selects packets, meters
    /// them, and has an action for each colour: "pass", "drop", or a new codepoint such as { dscp =
    /// "AF12" }. The first rule of the list that matches a packet applies to the packet. A packet
    /// that no rule matches passes. Dropped packets have the reason "policed" and never reach the
    /// queue. A shaper, which delays packets, is not a rule but a queue.
    pub struct Rule: "rule", checked by check {
        /// Packets to which the rule applies.
        r#match: Match = (Match::all()), in Range::ANY, from "rfc2475 §2.3.1";
        /// Meter that assigns colours to the packets of the rule. If the rule has no meter, all its
        /// packets are green.
        meter: Option<Meter> = (None), in Range::ANY, from "rfc2475 §2.3.3.1";
        /// Action on green packets.
        green: Action = (Action::Pass), in Range::ANY, from "rfc2475 §2.3.3: in-profile packets may pass without further conditioning";
        /// Action on yellow packets.
        yellow: Action = (Action::Pass), in Range::ANY, from "";
        /// Action on red packets.
        red: Action = (Action::Pass), in Range::ANY, from "";
    }
}

/// Refuse an action for a colour that the meter of the rule never assigns.
fn check(rule: &Rule, path: &str) -> Result<(), Invalid> {
    for (key, action, colour) in [("yellow", rule.yellow, Colour::Yellow), ("red", rule.red, Colour::Red)] {
        if action != Action::Pass && !rule.has(colour) {
            let problem = match &rule.meter {
                None => format!("is an action for {key} packets, but the rule does not have a meter"),
                Some(meter) => {
                    format!("is an action for a colour that {} does not assign", meter.write()["kind"])
                }
            };
            return Err(Invalid::at(&join(path, key), problem).remedy(format!("remove {key}")));
        }
    }
    Ok(())
}

impl Rule {
    /// Return true if the meter of the rule can assign this colour.
    fn has(&self, colour: Colour) -> bool {
        match (colour, &self.meter) {
            (Colour::Green, _) => true,
            (_, None) => false,
            (Colour::Yellow, Some(Meter::TokenBucket(_))) => false,
            _ => true,
        }
    }

    /// Return the action of the rule on packets of a colour.
    fn action(&self, colour: Colour) -> Action {
        match colour {
            Colour::Green => self.green,
            Colour::Yellow => self.yellow,
            Colour::Red => self.red,
        }
    }
}

/// State of a rule.
#[derive(Clone, Debug)]
struct Active {
    meter: Option<Metering>,
    actions: [Action; 3],
    seen: [Count; 3],
}

/// Count of the packets of one colour of one rule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    /// Index of the rule in the list, and the colour. The value is `None` for packets that no rule
    /// matched.
    pub of: Option<(usize, Colour)>,
    /// Action of the rule on the packets of this colour.
    pub action: Action,
    /// Count of the packets of this colour that arrived.
    pub came: Count,
}

impl Seen {
    /// Return the count of the dropped packets of this colour.
    pub fn dropped(&self) -> Count {
        if self.action == Action::Drop { self.came } else { Count::default() }
    }
}

/// State of a conditioner.
#[derive(Clone, Debug)]
pub struct Conditioner {
    classifier: Classifier,
    rules: Vec<Active>,
    /// Count of the packets that no rule matched.
    others: Count,
    /// Count of the packets that passed to the queue.
    passed: Count,
}

impl Conditioner {
    /// Create the conditioner of a list of rules. `random` returns the random stream for the meter
    /// of the rule with the given index.
    pub fn new(rules: &[Rule], flows: &dyn Flows, random: impl Fn(usize) -> Stream) -> Self {
        let active = |(i, rule): (usize, &Rule)| Active {
            meter: rule.meter.as_ref().map(|meter| meter.build(random(i))),
            actions: Colour::ALL.map(|colour| rule.action(colour)),
            seen: [Count::default(); 3],
        };
        Conditioner {
            classifier: Classifier::new(rules.iter().map(|rule| &rule.r#match), flows),
            rules: rules.iter().enumerate().map(active).collect(),
            others: Count::default(),
            passed: Count::default(),
        }
    }

    /// Meter a packet of the flow with the number `source`, and apply the action of its rule.
    /// Return false if the action drops the packet.
    pub fn receive(&mut self, now: Time, source: u32, packet: &mut Packet) -> bool {
        match self.classifier.class_of(source, packet) {
            None => self.others.add(packet),
            Some(position) => {
                let rule = &mut self.rules[position];
                let colour = rule.meter.as_mut().map_or(Colour::Green, |meter| meter.colour(now, packet));
                rule.seen[colour as usize].add(packet);
                match rule.actions[colour as usize] {
                    Action::Pass => {}
                    Action::Drop => return false,
                    Action::Mark(dscp) => packet.label = packet.label.with_dscp(dscp.0),
                }
            }
        }
        self.passed.add(packet);
        true
    }

    /// Return the count of each colour that a rule can assign, for all rules, and then the count of
    /// the packets that no rule matched.
    pub fn seen<'a>(&'a self, rules: &'a [Rule]) -> impl Iterator<Item = Seen> + 'a {
        let of_rule = |(place, (rule, active)): (usize, (&'a Rule, &'a Active))| {
            let colours = Colour::ALL.into_iter().filter(|colour| rule.has(*colour));
            colours.map(move |colour| Seen {
                of: Some((place, colour)),
                action: rule.action(colour),
                came: active.seen[colour as usize],
            })
        };
        let others = Seen { of: None, action: Action::Pass, came: self.others };
        rules.iter().zip(&self.rules).enumerate().flat_map(of_rule).chain([others])
    }

    /// Check that each packet was dropped or reached the queue, and that no packet bypassed the
    /// conditioner. The check is valid at any time. `arrived` is the number of packets that arrived
    /// at the queue.
    pub fn check(&self, arrived: Count) -> Result<(), String> {
        let mut went_on = self.others;
        for rule in &self.rules {
            for (seen, action) in rule.seen.iter().zip(rule.actions) {
                if action != Action::Drop {
                    went_on = went_on + *seen;
                }
            }
        }
        if went_on != self.passed || self.passed != arrived {
            return Err(format!(
                "the rules passed {went_on:?}, the conditioner passed {:?}, and {arrived:?} arrived at the queue",
                self.passed
            ));
        }
        Ok(())
    }
}

/// Maximum number of rules of a conditioner.
const MOST_RULES: usize = 1000;

/// Refuse rules with unknown names, and a list of too many rules. `path` is the path of the list of
/// rules in the scenario.
pub fn check_rules(rules: &[Rule], flows: &dyn Flows, path: &str) -> Result<(), Invalid> {
    if rules.len() > MOST_RULES {
        return Err(Invalid::at(path, format!("has {} rules, more than 1000", rules.len()))
            .remedy("write at most 1000 rules"));
    }
    let all = Match::all();
    if let Some(i) = rules.iter().position(|rule| rule.r#match == all).filter(|i| i + 1 < rules.len()) {
        return Err(Invalid::at(
            &join(path, i + 1),
            format!("never applies, because rule {i} has no match and takes all packets"),
        )
        .remedy("move that rule to the end, or give it a match"));
    }
    let place = |i: usize| join(&join(path, i), "match");
    rules.iter().enumerate().try_for_each(|(i, rule)| rule.r#match.check(flows, &place(i)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diffserv::NoFlows;
    use net::{Direction, Label};
    use serde_json::json;

    fn rules() -> Vec<Rule> {
        let list = json!([
            {"match": {"dscp": "EF"}, "meter": {"kind": "token_bucket", "rate": "8 kbit/s", "burst": "100 B"}, "red": "drop"},
            {"match": {"dscp": ["DF", "CS1"]}, "meter": {"kind": "srtcm", "cir": "8 kbit/s", "cbs": "100 B", "ebs": "50 B"},
             "green": {"dscp": "AF11"}, "yellow": {"dscp": "AF12"}, "red": {"dscp": "AF13"}},
            {"match": {"dscp": "CS7"}, "green": "drop"},
        ]);
        Vec::read(&list, "condition").unwrap()
    }

    fn packet(size: u16, dscp: u8) -> Packet {
        Packet { size, label: Label::new(Direction::Reverse).with_dscp(dscp), ..Packet::default() }
    }

    #[test]
    fn each_colour_has_its_action_and_is_counted() {
        let rules = rules();
        let mut conditioner = Conditioner::new(&rules, &NoFlows, |i| Stream::new(1, &i.to_string()));
        let mut after = |size, dscp| {
            let mut p = packet(size, dscp);
            conditioner.receive(Time::ZERO, 0, &mut p).then_some((p.label.direction(), p.label.dscp()))
        };
        assert_eq!(
            [after(60, 46), after(60, 46), after(40, 46)],
            [Some((Direction::Reverse, 46)), None, Some((Direction::Reverse, 46))]
        );
        assert_eq!(
            [after(60, 0), after(50, 8), after(50, 0)],
            [Some((Direction::Reverse, 10)), Some((Direction::Reverse, 12)), Some((Direction::Reverse, 14))]
        );
        assert_eq!([after(40, 56), after(33, 34)], [None, Some((Direction::Reverse, 34))]);
        let count = |packets, bytes| Count { packets, bytes };
        let seen: Vec<_> = conditioner.seen(&rules).map(|s| (s.of, s.came, s.dropped().packets)).collect();
        let of = |rule, colour| Some((rule, colour));
        assert_eq!(
            seen,
            [
                (of(0, Colour::Green), count(2, 100), 0),
                (of(0, Colour::Red), count(1, 60), 1),
                (of(1, Colour::Green), count(1, 60), 0),
                (of(1, Colour::Yellow), count(1, 50), 0),
                (of(1, Colour::Red), count(1, 50), 0),
                (of(2, Colour::Green), count(1, 40), 1),
                (None, count(1, 33), 0),
            ]
        );
        conditioner.check(count(6, 293)).unwrap();
    }

    #[test]
    fn a_packet_that_bypasses_the_conditioner_or_is_lost_after_it_is_detected() {
        let mut conditioner = Conditioner::new(&rules(), &NoFlows, |_| Stream::new(1, ""));
        conditioner.receive(Time::ZERO, 0, &mut packet(40, 0));
        conditioner.receive(Time::ZERO, 0, &mut packet(40, 56));
        conditioner.check(Count { packets: 1, bytes: 40 }).unwrap();
        for arrived in [Count { packets: 0, bytes: 0 }, Count { packets: 2, bytes: 80 }] {
            assert!(conditioner.check(arrived).unwrap_err().contains("arrived at the queue"));
        }
    }

    #[test]
    fn an_action_for_an_impossible_colour_is_refused() {
        let e = |rule| Rule::read(&rule, "link.condition.0").unwrap_err().to_string();
        assert!(e(json!({"red": "drop"})).contains("link.condition.0.red"));
        let bucket = json!({"kind": "token_bucket", "rate": "1 Mbit/s", "burst": "10 kB"});
        assert!(e(json!({"meter": bucket, "yellow": "drop"})).contains("does not assign"));
        assert!(e(json!({"green": "dropp"})).contains("did you mean drop?"));
        assert!(e(json!({"green": {"dscp": "AF99"}})).contains("link.condition.0.green.dscp"));
    }

    #[test]
    fn rules_are_written_as_they_are_read() {
        assert_eq!(Vec::<Rule>::read(&rules().write(), "condition").unwrap(), rules());
    }
}
