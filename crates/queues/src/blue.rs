//! BLUE: the signal probability follows loss and idleness, not the length of the queue.
//!
//! Source: Feng, Shin, Kandlur & Saha 2002, "The BLUE active queue management algorithms"
//! (`feng2002blue`), the algorithm of its figure "The BLUE algorithm", with the variant that takes a
//! queue above L for a loss. The event "link idle" lasts as long as the link is idle: pm goes down when the link falls
//! idle, and then once in a freeze time, which the packet that ends the idle time makes up for. Were it the last departure
//! alone, pm = 1 without ECN would shut the link for good, since nothing would depart any more. The
//! default is the last of the paper's settings (B4).
//!
//! The paper was not at hand. Compared with a port of Feng's simulator code to ns-3, which takes d2 off when the
//! queue runs empty and once for each freeze time that it stays so, as is done here; and with ALTQ's BLUE, which says
//! that Feng implemented it: what a loss does, and that more than the freeze time must have passed, agree. ALTQ's steps
//! are 1/8 and 1/1000 and its freeze time 50 ms; it spares a queue of one packet, lets two idle seconds end all
//! congestion (pm = 1/1000) where the port counts freeze times, and has no L.

use engine::Stream;
use net::{Aqm, Arrival, Packet, Verdict, Why};
use units::{Depth, Duration, Probability, Range, Time, params};

use crate::law::{Configures, Place, measure};

params! {
    /// BLUE keeps one probability pm. A packet lost to a full buffer raises it by d1, an idle link lowers it
    /// by d2, each at most once in freeze_time. Every arriving packet is signalled with
    /// probability pm. The right rate of signals is found even by a small buffer.
    pub struct Blue: "blue" {
        /// How much a loss raises the probability (d1).
        increment: Probability = (Probability(0.02)), in Range::above_to(0.0, 1.0), from "feng2002blue, setting B4";
        /// How much an idle link lowers it (d2).
        decrement: Probability = (Probability(0.002)), in Range::above_to(0.0, 1.0), from "feng2002blue, setting B4";
        /// Least time between two changes; 0: an idle link counts once for each packet that finds it so.
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
    /// Upon packet loss (or qlen > L) event.
    fn loss(&mut self, now: Time) {
        if now.since(self.last_update) > self.params.freeze_time {
            self.probability = (self.probability + self.params.increment.0).min(1.0);
            self.last_update = now;
        }
    }

    /// Upon link idle event, which lasts since the link fell idle.
    fn idle(&mut self, since: Time, now: Time) {
        let freeze_time = self.params.freeze_time;
        let first = since.max(self.last_update + freeze_time);
        if first > now {
            return;
        }
        let more = now.since(first).0.checked_div(freeze_time.0).unwrap_or(0);
        let lowered = self.probability - self.params.decrement.0 * (more + 1) as f64;
        self.probability = lowered.max(0.0);
        self.last_update = first + Duration(more * freeze_time.0);
    }
}

impl Aqm for BlueLaw {
    #[inline]
    fn on_arrival(&mut self, _: &Packet, at: &Arrival) -> Verdict {
        if let Some(since) = at.idle_since() {
            self.idle(since, at.now);
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

    fn ms(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    /// BLUE after so many losses, 101 ms apart.
    fn after(losses: u64) -> BlueLaw {
        let place = Place::new(Rate(1_000_000), Depth::Packets(10.0), Stream::new(1, "blue"));
        let mut blue = Blue::read(&json!({}), "blue").unwrap().law(place);
        (1..=losses).for_each(|n| blue.on_overflow(ms(101 * n)));
        blue
    }

    fn finds_idle(blue: &mut BlueLaw, since: Time, now: Time) -> Verdict {
        blue.on_arrival(&Packet::default(), &Arrival { now, backlog: Backlog::default(), free_at: since })
    }

    /// 20 losses have made pm 0.4; d2 = 0.002 comes off every 100 ms of idle time, at once only if it is
    /// 100 ms after the last change.
    #[test]
    fn the_probability_goes_down_as_long_as_the_link_is_idle() {
        let last = 20 * 101;
        for (since, now, changes) in [
            (last + 50, last + 99, 0),
            (last + 50, last + 100, 1),
            (last + 50, last + 1999, 19),
            (last + 150, last + 150, 1),
            (last + 150, last + 20_149, 200),
        ] {
            let mut blue = after(20);
            finds_idle(&mut blue, ms(since), ms(now));
            let expected = 0.4 - 0.002 * f64::from(changes);
            assert!((blue.probability - expected).abs() < 1e-9, "{since} to {now}: {}", blue.probability);
        }
    }

    #[test]
    fn idle_time_counts_once() {
        let (mut one, mut many) = (after(20), after(20));
        let since = ms(20 * 101 + 30);
        finds_idle(&mut one, since, since + Duration::from_millis(5_000));
        (1..=500).for_each(|n| {
            finds_idle(&mut many, since, since + Duration::from_millis(10 * n));
        });
        assert!((one.probability - many.probability).abs() < 1e-9);
    }

    #[test]
    fn a_link_shut_by_drops_opens_again() {
        let mut blue = after(59);
        let idle = ms(101 * 59 + 12);
        let mut passes =
            |n: u64| finds_idle(&mut blue, idle, idle + Duration::from_millis(101 * n)) == Verdict::Pass;
        assert!((1..2000).any(&mut passes), "pm = 1 for ever, though nothing is sent");
    }
}
