//! BLUE: the signal probability follows loss and idleness, not the length of the queue.
//!
//! Source: Feng, Shin, Kandlur & Saha 2002, "The BLUE active queue management algorithms"
//! (`feng2002blue`), the algorithm of its figure "The BLUE algorithm", with the variant that takes a
//! queue above L for a loss. The link is seen to be idle by the packet that finds it so, as in ALTQ's
//! BLUE (`altq_blue.c` of KAME): were it the last departure, pm = 1 without ECN would shut the link for
//! good, since nothing would depart any more. The default is the last of the paper's settings (B4).
//!
//! The paper was not at hand. Compared with ALTQ's BLUE, which says that Feng implemented it: what a loss
//! and an idle link do, and that more than the freeze time must have passed, agree. Its steps are 1/8 and
//! 1/1000 and its freeze time 50 ms; it spares a queue of one packet, lets two idle seconds end all
//! congestion (pm = 1/1000), and has no L.

use engine::Stream;
use net::{Aqm, Arrival, Packet, Verdict, Why};
use units::{Depth, Duration, Probability, Range, Time, params};

use crate::law::{Configures, Place, measure};

params! {
    /// BLUE keeps one probability pm. A packet lost to a full buffer raises it by d1, the link falling
    /// idle lowers it by d2, at most once in freeze_time. Every arriving packet is signalled with
    /// probability pm. The right rate of signals is found even by a small buffer.
    pub struct Blue: "blue" {
        /// How much a loss raises the probability (d1).
        increment: Probability = (Probability(0.02)), in Range::above_to(0.0, 1.0), from "feng2002blue, setting B4";
        /// How much an idle link lowers it (d2).
        decrement: Probability = (Probability(0.002)), in Range::above_to(0.0, 1.0), from "feng2002blue, setting B4";
        /// Least time between two changes.
        freeze_time: Duration = (Duration::from_millis(100)), in Range::at_least(0.0), from "feng2002blue, setting B4: 100 ms";
        /// A queue above this counts as a loss, before the buffer is full (L); absent: only losses count.
        early_threshold: Option<Depth> = (None), in Range::at_least(0.0), from "feng2002blue: packet loss or qlen > L";
    }
}

impl Configures for Blue {
    type Law = BlueLaw;

    fn law(&self, place: Place) -> BlueLaw {
        BlueLaw { params: self.clone(), probability: 0.0, last_update: Time::ZERO, random: place.random }
    }
}

/// The state of BLUE.
#[derive(Clone, Debug)]
pub struct BlueLaw {
    params: Blue,
    /// pm.
    probability: f64,
    last_update: Time,
    random: Stream,
}

impl BlueLaw {
    fn thawed(&mut self, now: Time) -> bool {
        let thawed = now.since(self.last_update) > self.params.freeze_time;
        if thawed {
            self.last_update = now;
        }
        thawed
    }

    /// Upon packet loss (or qlen > L) event.
    fn loss(&mut self, now: Time) {
        if self.thawed(now) {
            self.probability = (self.probability + self.params.increment.0).min(1.0);
        }
    }

    /// Upon link idle event.
    fn idle(&mut self, now: Time) {
        if self.thawed(now) {
            self.probability = (self.probability - self.params.decrement.0).max(0.0);
        }
    }
}

impl Aqm for BlueLaw {
    #[inline]
    fn on_arrival(&mut self, _: &Packet, at: &Arrival) -> Verdict {
        if at.idle_since().is_some() {
            self.idle(at.now);
        }
        if let Some(most) = self.params.early_threshold
            && measure(at.backlog, most) > most.amount()
        {
            self.loss(at.now);
        }
        if self.random.uniform() < self.probability { Verdict::Signal(Why::Early) } else { Verdict::Pass }
    }

    fn on_overflow(&mut self, now: Time) {
        self.loss(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use net::Backlog;
    use serde_json::json;
    use units::{Rate, Read};

    #[test]
    fn a_link_shut_by_drops_opens_again() {
        let place = Place::new(Rate(1_000_000), Depth::Packets(10.0), Stream::new(1, "blue"));
        let mut blue = Blue::read(&json!({}), "blue").unwrap().law(place);
        for losses in 1..60_u64 {
            blue.on_overflow(Time::ZERO + Duration::from_millis(101 * losses));
        }
        let idle = Time::ZERO + Duration::from_millis(101 * 59 + 12);
        let passes = |tenths: u64| {
            let at = Arrival {
                now: idle + Duration::from_millis(101 * tenths),
                backlog: Backlog::default(),
                free_at: idle,
            };
            blue.on_arrival(&Packet::default(), &at) == Verdict::Pass
        };
        assert!((1..2000).any(passes), "pm = 1 for ever, though nothing is sent");
    }
}
