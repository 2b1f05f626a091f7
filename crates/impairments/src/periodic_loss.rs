//! Every n-th packet is lost: the model behind closed forms such as the square root of p (Mathis, Semke,
//! Mahdavi & Ott 1997, `mathis1997macroscopic`).

use net::Why;
use units::param::{Invalid, join};
use units::{Range, Read, params};

use crate::act::Act;

params! {
    /// Periodic loss: one packet in so many is lost, counting every packet that crosses the link.
    pub struct PeriodicLoss: "periodic_loss", checked by check {
        /// One packet in this many is lost.
        every: u64 = required, in Range::at_least(1.0), from "";
        /// The number of the first that is lost, counted from 1; absent: the last of the first period.
        first: Option<u64> = (None), in Range::at_least(1.0), from "";
        /// How many are lost in all; absent: no end.
        losses: Option<u64> = (None), in Range::at_least(1.0), from "";
    }
}

fn check(p: &PeriodicLoss, path: &str) -> Result<(), Invalid> {
    let (first, losses) = (p.first.unwrap_or(p.every), p.losses.unwrap_or(0));
    match losses.checked_mul(p.every).and_then(|n| n.checked_add(first)) {
        Some(_) => Ok(()),
        None => Err(Invalid::new(&join(path, "every"), &p.every.write(), "gives numbers beyond 2^64")),
    }
}

/// Its working.
#[derive(Clone, Debug)]
pub struct Count {
    /// Packets before the next that is lost.
    left: u64,
    every: u64,
    losses: u64,
}

impl Count {
    /// From the beginning.
    pub fn new(p: &PeriodicLoss) -> Self {
        Count { left: p.first.unwrap_or(p.every) - 1, every: p.every, losses: p.losses.unwrap_or(u64::MAX) }
    }

    /// What becomes of the next packet.
    pub fn act(&mut self) -> Act {
        if self.left > 0 {
            self.left -= 1;
            return Act::Pass;
        }
        self.left = self.every - 1;
        if self.losses == 0 {
            return Act::Pass;
        }
        self.losses -= 1;
        Act::Lose(Why::Loss)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn lost(v: serde_json::Value, n: u64) -> Vec<u64> {
        let mut count = Count::new(&PeriodicLoss::read(&v, "").unwrap());
        (1..=n).filter(|_| count.act() != Act::Pass).collect()
    }

    #[test]
    fn the_right_packets_are_lost() {
        assert_eq!(lost(json!({"every": 3}), 10), [3, 6, 9]);
        assert_eq!(lost(json!({"every": 4, "first": 2}), 10), [2, 6, 10]);
        assert_eq!(lost(json!({"every": 2, "first": 5, "losses": 2}), 20), [5, 7]);
        assert_eq!(lost(json!({"every": 1, "losses": 3}), 9), [1, 2, 3]);
        assert!(PeriodicLoss::read(&json!({"every": u64::MAX, "losses": 2}), "").is_err());
    }
}
