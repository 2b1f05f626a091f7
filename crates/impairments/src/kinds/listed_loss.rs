//! Loss of the packets whose numbers are listed.

use engine::Stream;
use net::Why;
use units::param::{Invalid, join};
use units::{Range, Read, params};

use crate::effect::{Effect, Impair, Kind, Passage};

params! {
    /// Listed loss: exactly the packets with the listed numbers are lost.
    pub struct ListedLoss: "listed_loss", checked by check {
        /// Numbers of the packets to be lost, in increasing order. Packet numbers count from 1, in
        /// the order in which packets reach the impairment.
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
            Some(before) => format!("must be above the previous number ({})", p.packets[before]),
        };
        return Err(Invalid::new(&join(&path, i), &p.packets[i].write(), problem));
    }
    Ok(())
}

/// State of listed loss.
#[derive(Clone, Debug)]
pub struct List {
    /// Positions of the packets that will be lost after the packet `next`. The first packet that
    /// reaches the impairment has the position 1.
    packets: std::vec::IntoIter<u64>,
    /// Number of the next packet that will be lost.
    next: Option<u64>,
    /// Number of packets that have reached the impairment so far.
    seen: u64,
}

impl Kind for ListedLoss {
    type State = List;

    fn start(&self, _: Stream) -> List {
        let mut packets = self.packets.clone().into_iter();
        List { next: packets.next(), packets, seen: 0 }
    }
}

impl Impair for List {
    fn act(&mut self, _: &Passage) -> Effect {
        self.seen += 1;
        if self.next != Some(self.seen) {
            return Effect::Pass;
        }
        self.next = self.packets.next();
        Effect::Lose(Why::Loss)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effect::lost_packets;
    use serde_json::json;

    #[test]
    fn exactly_the_listed_packets_are_lost() {
        let listed = ListedLoss::read(&json!({"packets": [1, 4, 5]}), "").unwrap();
        assert_eq!(lost_packets(&listed, 9), [1, 4, 5]);
    }

    #[test]
    fn an_error_in_a_list_names_its_element() {
        let e = |v| ListedLoss::read(&v, "x").unwrap_err().to_string();
        assert!(e(json!({"packets": [0]})).contains("x.packets.0: 0 must be at least 1"));
        assert!(e(json!({"packets": [3, 3]})).contains("x.packets.1: 3 must be above the previous number"));
        assert!(e(json!({"packets": [-1]})).contains("x.packets.0"));
    }
}
