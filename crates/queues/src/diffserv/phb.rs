//! Per-hop behaviours of DiffServ as one ready-made queue.
//!
//! Source: RFC 3246 §2 (`rfc3246`): a router serves EF at its configured rate for any load of other
//! traffic. The queue `phb` serves EF by strict priority. RFC 2597 §2 to §4 (`rfc2597`): each AF
//! class has a share of the link and three drop precedences. In `phb` deficit round robin serves
//! the AF classes. Each AF class has a first-in-first-out queue and one RED curve per drop
//! precedence. RFC 2474 §4.1 and §4.2.2.2 (`rfc2474`): the default behaviour also has a share of
//! the link. CS6 and CS7 are served before the AF classes and the default behaviour. RFC 8622 §4
//! (`rfc8622`): LE gets the bandwidth that all other behaviours leave unused. The queue `phb` is
//! composed of other kinds of queues. The function [`composition`] returns the queues within `phb`
//! in the syntax of a scenario. A scenario can contain the result of the function [`composition`]
//! instead of `phb`.
//!
//! The RFCs define neither RED thresholds nor shares of the link, so aqmlab defines the thresholds
//! and shares of `phb` itself. Packets with the codepoints CS1 to CS5 get the default behaviour.

use serde_json::json;
use units::param::{Invalid, Json, join};
use units::{Depth, Range, Read, params};

use crate::aqm::{DisciplineParams, QueueContext};
use crate::fifo::{Buffer, MOST};
use crate::schedulers::priority::{Priority, PriorityQueue};

params! {
    /// Per-hop behaviours of DiffServ as one queue. EF (and VOICE-ADMIT) is served first, and CS6
    /// and CS7 are served next. AF1 to AF4 and the default behaviour share the remaining bandwidth,
    /// and LE is served last. In each AF class the drop precedences have their own thresholds: AFx3
    /// packets are dropped first, and AFx1 packets are dropped last. `limit` and `ecn` apply to the
    /// queue of each AF class, of CS6 and CS7, of the default behaviour and of LE. If the limit is
    /// given as a time, the queue uses at most 1 GB. EF traffic may starve all other traffic.
    /// Therefore police EF traffic at the edge of the network, by a rule with a token bucket.
    pub struct Phb: "phb", checked by check {
        /// Weights of AF1, AF2, AF3 and AF4. The AF classes and the default behaviour share the
        /// bandwidth that EF, CS6 and CS7 leave, in proportion to af_shares and default_share.
        af_shares: Vec<u64> = (vec![1, 1, 1, 1]), in Range::ANY, from "rfc2597 §2: the operator chooses the shares";
        /// Weight of the default behaviour, compared with the weights in af_shares.
        default_share: u64 = (1), in Range::between(1.0, 1000.0), from "rfc2474 §4.1: the default behaviour should have some bandwidth, so that it is not starved";
        /// Limit of the queue that stores the EF packets.
        ef_limit: Depth = (Depth::Packets(10.0)), in Range::between(1.0, MOST).whole(), from "rfc3246 §2.2: EF packets should usually meet short or empty queues";
    }
}

fn check(phb: &Phb, path: &str) -> Result<(), Invalid> {
    let shares = join(path, "af_shares");
    if phb.af_shares.len() != 4 || phb.af_shares.iter().any(|share| !(1..=1000).contains(share)) {
        let problem = "must be four whole numbers between 1 and 1000";
        return Err(Invalid::new(&shares, &phb.af_shares.write(), problem)
            .remedy("write the shares of AF1, AF2, AF3 and AF4"));
    }
    Ok(())
}

/// Return the priority scheduler that implements the behaviours, in the form in which a scenario
/// writes a scheduler.
pub fn composition(phb: &Phb, buffer: &Buffer, depth: Depth) -> Json {
    let depth = depth.like(depth.amount().min(MOST)); // a limit given as a time may exceed MOST
    let (limit, ecn) = (depth.write(), buffer.ecn.write());
    // RED thresholds of the three drop precedences, as fractions of the limit of the queue.
    let part = |share: f64| depth.like(share * depth.amount()).write();
    let precedence = |dscp: String, [minth, maxth, maxp]: [f64; 3]| json!({"dscp": [dscp], "minth": part(minth), "maxth": part(maxth), "maxp": maxp});
    let class = |(i, share): (usize, &u64)| {
        let name = |precedence| format!("AF{}{precedence}", i + 1);
        let precedences = [
            precedence(name(1), [0.4, 0.8, 0.02]),
            precedence(name(2), [0.2, 0.4, 0.1]),
            precedence(name(3), [0.1, 0.2, 0.2]),
        ];
        let queue = json!({"kind": "wred", "limit": limit, "ecn": ecn, "averaged": "own-and-better", "precedences": precedences});
        json!({"match": {"dscp": [name(1), name(2), name(3)]}, "quantum": format!("{} B", 1500 * share), "queue": queue})
    };
    let mut shared: Vec<Json> = phb.af_shares.iter().enumerate().map(class).collect();
    let plain = json!({"kind": "drop_tail", "limit": limit, "ecn": ecn});
    shared.push(json!({"quantum": format!("{} B", 1500 * phb.default_share), "queue": plain}));
    json!({"classes": [
        {"match": {"dscp": ["EF", "VOICE-ADMIT"]}, "queue": {"kind": "drop_tail", "limit": phb.ef_limit.write()}},
        {"match": {"dscp": ["CS6", "CS7"]}, "queue": plain},
        {"queue": {"kind": "drr", "classes": shared}},
        {"match": {"dscp": "LE"}, "queue": plain},
    ]})
}

impl DisciplineParams for Phb {
    type Discipline = PriorityQueue;
    const DECLARED: &'static [net::Declared] = crate::wred::DECLARED;

    fn discipline(&self, buffer: &Buffer, context: QueueContext) -> PriorityQueue {
        match Priority::read(&composition(self, buffer, context.limit), "") {
            Ok(priority) => priority.discipline(buffer, context),
            Err(e) => unreachable!("the composition of valid queues is not valid: {e}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Queue;
    use units::Rate;

    fn read(queue: Json) -> Result<Queue, String> {
        Queue::read(&queue, "queue").map_err(|e| e.to_string())
    }

    #[test]
    fn every_setting_gives_a_valid_scheduler() {
        for limit in ["1 packets", "7 packets", "100 packets", "1500 B", "1 MB", "1 GB", "20 ms", "1000 s"] {
            for (ecn, rate) in [("drop", 1), ("mark", 10_000_000), ("mark", 10_000_000_000_000)] {
                let buffer = Buffer::read(&json!({"limit": limit, "ecn": ecn}), "").unwrap();
                let depth = buffer.limit.at(Rate(rate));
                for shares in [[1, 1, 1, 1], [1000, 1, 20, 3]] {
                    let phb = Phb::read(&json!({"af_shares": shares, "ef_limit": "2 packets"}), "").unwrap();
                    assert!(Priority::read(&composition(&phb, &buffer, depth), "").is_ok(), "{limit} {ecn}");
                }
            }
        }
    }

    #[test]
    fn the_limit_of_ef_is_checked() {
        for limit in ["1 GiB", "1.5 packets", "0 packets"] {
            let refusal = read(json!({"kind": "phb", "ef_limit": limit})).unwrap_err();
            assert!(refusal.contains("queue.ef_limit") && refusal.contains(limit), "{refusal}");
        }
    }

    #[test]
    fn shares_are_four_whole_numbers() {
        for shares in [json!([1, 1, 1]), json!([1, 0, 1, 1]), json!([1, 1, 1, 1001])] {
            let refusal = read(json!({"kind": "phb", "af_shares": shares})).unwrap_err();
            assert!(
                refusal.contains("queue.af_shares") && refusal.contains("AF1, AF2, AF3 and AF4"),
                "{refusal}"
            );
        }
        assert!(read(json!("phb")).is_ok());
    }
}
