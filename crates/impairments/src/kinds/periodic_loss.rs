//! Periodic loss: loss of every n-th packet. Closed forms of TCP's throughput, such as the
//! square-root formula, assume periodic loss (Mathis, Semke, Mahdavi & Ott 1997,
//! `mathis1997macroscopic`).

use engine::Stream;
use net::Why;
use units::param::{Invalid, join};
use units::{Range, Read, params};

use crate::effect::{Effect, Impair, Kind, Passage};

params! {
    /// Periodic loss: every n-th packet that crosses the link is lost.
    pub struct PeriodicLoss: "periodic_loss", checked by check {
        /// Period of the losses, in packets: one packet in `every` is lost.
        every: u64 = required, in Range::at_least(1.0), from "";
        /// Number of the first lost packet, counted from 1. If the number of the first lost packet
        /// is absent, it is equal to `every`.
        first: Option<u64> = (None), in Range::at_least(1.0), from "";
        /// Number of losses. If the number of losses is absent, losses continue until the end of
        /// the run.
        losses: Option<u64> = (None), in Range::at_least(1.0), from "";
    }
}

fn check(p: &PeriodicLoss, path: &str) -> Result<(), Invalid> {
    let (first, losses) = (p.first.unwrap_or(p.every), p.losses.unwrap_or(0));
    match losses.checked_mul(p.every).and_then(|n| n.checked_add(first)) {
        Some(_) => Ok(()),
        None => {
            let problem = "gives the lost packets numbers above the maximum, 2^64";
            let invalid = Invalid::new(&join(path, "every"), &p.every.write(), problem);
            Err(invalid.remedy("lower every or losses"))
        }
    }
}

/// State of periodic loss.
#[derive(Clone, Debug)]
pub struct Countdown {
    /// Number of packets that pass before the next loss.
    left: u64,
    every: u64,
    /// Number of losses that have not yet occurred.
    losses: u64,
}

impl Kind for PeriodicLoss {
    type State = Countdown;

    fn start(&self, _: Stream) -> Countdown {
        let left = self.first.unwrap_or(self.every) - 1;
        Countdown { left, every: self.every, losses: self.losses.unwrap_or(u64::MAX) }
    }
}

impl Impair for Countdown {
    fn act(&mut self, _: &Passage) -> Effect {
        if self.left > 0 {
            self.left -= 1;
            return Effect::Pass;
        }
        self.left = self.every - 1;
        if self.losses == 0 {
            return Effect::Pass;
        }
        self.losses -= 1;
        Effect::Lose(Why::Loss)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effect::lost_packets;
    use serde_json::json;

    fn lost(v: serde_json::Value, n: u64) -> Vec<u64> {
        lost_packets(&PeriodicLoss::read(&v, "").unwrap(), n)
    }

    #[test]
    fn every_nth_packet_is_lost() {
        assert_eq!(lost(json!({"every": 3}), 10), [3, 6, 9]);
        assert_eq!(lost(json!({"every": 4, "first": 2}), 10), [2, 6, 10]);
        assert_eq!(lost(json!({"every": 2, "first": 5, "losses": 2}), 20), [5, 7]);
        assert_eq!(lost(json!({"every": 1, "losses": 3}), 9), [1, 2, 3]);
        assert!(PeriodicLoss::read(&json!({"every": u64::MAX, "losses": 2}), "").is_err());
    }
}
