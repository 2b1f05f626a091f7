//! The per-hop behaviours of DiffServ as one ready-made queue.
//!
//! Source: RFC 3246 §2 (`rfc3246`): EF is served at its rate whatever the load of the others, here by strict
//! priority. RFC 2597 §2 to §4 (`rfc2597`): each AF class has its share of the link, here by deficit round robin, and three drop
//! precedences in one queue first in, first out, each with a RED of its own. RFC 2474 §4.1 and §4.2.2.2 (`rfc2474`): the default behaviour has
//! the fifth share; CS6 and CS7 go before it. RFC 8622 §4 (`rfc8622`): LE has what all others leave.
//! It is a composition and no new mechanism: what [`composition`] says could be written in a scenario.
//!
//! The documents give no thresholds and no shares; those here are ours. CS1 to CS5 are default traffic here.

use serde_json::json;
use units::param::{Invalid, Json, join};
use units::{Depth, Range, Read, params};

use crate::fifo::{Buffer, MOST};
use crate::law::{Keeps, Place};
use crate::schedulers::priority::{Priority, PriorityQueue};

params! {
    /// The per-hop behaviours of DiffServ, ready made: EF (and VOICE-ADMIT) before everything; CS6 and CS7 next; then AF1 to AF4 and
    /// the default behaviour, which share what is left; LE last. In each AF class the drop precedences have
    /// thresholds of their own: AFx3 is dropped first, AFx1 hardly ever. `limit` and `ecn` are those of each class of AF
    /// and of the default; a limit that is a time counts up to 1 GB. EF may starve the others: police it where it enters, by a
    /// rule with a token bucket.
    pub struct Phb: "phb", checked by check {
        /// Shares of AF1, AF2, AF3 and AF4 in what EF and CS6 and CS7 leave, to that of the default behaviour.
        af_shares: Vec<u64> = (vec![1, 1, 1, 1]), in Range::ANY, from "rfc2597 §2 leaves them to the operator";
        /// Share of the default behaviour.
        default_share: u64 = (1), in Range::between(1.0, 1000.0), from "rfc2474 §4.1: some, so that it is not starved";
        /// Limit of the queue of EF.
        ef_limit: Depth = (Depth::Packets(10.0)), in Range::between(1.0, MOST).whole(), from "rfc3246 §2.2: EF packets meet short or empty queues";
    }
}

fn check(phb: &Phb, path: &str) -> Result<(), Invalid> {
    let shares = join(path, "af_shares");
    if phb.af_shares.len() != 4 || phb.af_shares.iter().any(|share| !(1..=1000).contains(share)) {
        let problem = "must be four whole numbers between 1 and 1000";
        return Err(Invalid::new(&shares, &phb.af_shares.write(), problem)
            .remedy("give those of AF1, AF2, AF3 and AF4"));
    }
    Ok(())
}

/// What stands for the behaviours, as a scenario would write it.
pub fn composition(phb: &Phb, buffer: &Buffer, depth: Depth) -> Json {
    let depth = depth.like(depth.amount().min(MOST)); // a time may be more
    let (limit, ecn) = (depth.write(), buffer.ecn.write());
    // In shares of the limit: where the three precedences begin and where they end.
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

impl Keeps for Phb {
    type Discipline = PriorityQueue;

    fn discipline(&self, buffer: &Buffer, place: Place) -> PriorityQueue {
        match Priority::read(&composition(self, buffer, place.limit), "") {
            Ok(priority) => priority.discipline(buffer, place),
            Err(e) => unreachable!("a composition of valid parts: {e}"),
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
    fn every_setting_composes() {
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
    fn the_limit_of_ef_is_a_limit() {
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
