//! Packets lost by their number.

use net::Why;
use units::param::{Invalid, join};
use units::{Range, Read, params};

use crate::act::Act;

params! {
    /// Loss of listed packets: exactly those with these numbers are lost.
    pub struct ListedLoss: "listed_loss", checked by check {
        /// Their numbers, in rising order, counted from 1 over every packet that crosses the link.
        packets: Vec<u64> = required, in Range::ANY, from "";
    }
}

fn check(p: &ListedLoss, path: &str) -> Result<(), Invalid> {
    let path = join(path, "packets");
    if let Some(i) =
        (0..p.packets.len()).find(|&i| p.packets[i] <= i.checked_sub(1).map_or(0, |i| p.packets[i]))
    {
        let problem = match i.checked_sub(1) {
            None => "must be at least 1".to_string(),
            Some(before) => format!("must be above the number before it ({})", p.packets[before]),
        };
        return Err(Invalid::new(&join(&path, i), &p.packets[i].write(), problem));
    }
    Ok(())
}

/// Its working.
#[derive(Clone, Debug)]
pub struct List {
    packets: std::vec::IntoIter<u64>,
    next: Option<u64>,
    seen: u64,
}

impl List {
    /// From the beginning.
    pub fn new(p: &ListedLoss) -> Self {
        let mut packets = p.packets.clone().into_iter();
        List { next: packets.next(), packets, seen: 0 }
    }

    /// What becomes of the next packet.
    pub fn act(&mut self) -> Act {
        self.seen += 1;
        if self.next != Some(self.seen) {
            return Act::Pass;
        }
        self.next = self.packets.next();
        Act::Lose(Why::Loss)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_listed_packets_are_lost() {
        let mut list = List::new(&ListedLoss::read(&json!({"packets": [1, 4, 5]}), "").unwrap());
        assert_eq!((1..10).filter(|_| list.act() != Act::Pass).collect::<Vec<_>>(), [1, 4, 5]);
    }

    #[test]
    fn wrong_lists_are_refused() {
        let e = |v| ListedLoss::read(&v, "x").unwrap_err().to_string();
        assert!(e(json!({"packets": [0]})).contains("x.packets.0: 0 must be at least 1"));
        assert!(e(json!({"packets": [3, 3]})).contains("x.packets.1: 3 must be above the number before it"));
        assert!(e(json!({"packets": [-1]})).contains("x.packets.0"));
    }
}
