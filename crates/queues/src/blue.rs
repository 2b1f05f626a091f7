//! BLUE, whose signal probability follows losses and idle time instead of the queue length.
//!
//! Source: Feng, Shin, Kandlur & Saha 2002, "The BLUE active queue management algorithms"
//! (`feng2002blue`), the algorithm of its figure "The BLUE algorithm", with the variant that counts
//! a queue longer than L as a loss. The event "link idle" lasts as long as the link is idle: pm
//! falls when the link becomes idle, and then once per freeze time. The decreases of pm during idle
//! time are applied when the next packet arrives. If pm did not fall during idle time, a pm of 1
//! without ECN would block the link forever, because BLUE would drop every arriving packet. The
//! default values are setting B4, the last of the settings that the paper lists.
//!
//! The paper on BLUE was not available. In a port of Feng's simulator code to ns-3, d2 is also
//! subtracted when the queue becomes empty, and once for each freeze time during which the queue
//! stays empty. ALTQ's BLUE, which names Feng as its author, responds to a loss as aqmlab does. In
//! ALTQ's BLUE, as in aqmlab, the probability pm changes only if more than the freeze time has
//! passed since the last change of pm. In ALTQ's BLUE d1 is 1/8, d2 is 1/1000 and the freeze time
//! is 50 ms. ALTQ's BLUE does not signal while one packet waits, sets pm to 1/1000 after two idle
//! seconds, and does not have the threshold L.

use engine::Stream;
use net::{Aqm, Arrival, Declared, Explanation, Packet, Variables as _, Verdict, Why, rules, variables};
use units::{Depth, Duration, Probability, Range, Time, params};

use crate::aqm::{AqmParams, QueueContext, measure};

params! {
    /// BLUE signals every arriving packet with the same signal probability pm. A packet that is
    /// lost at a full buffer raises pm by d1, and an idle link lowers pm by d2. After each change
    /// pm stays constant for at least freeze_time. BLUE therefore reaches a suitable signal rate
    /// even with a small buffer.
    pub struct Blue: "blue" {
        /// Increase of the signal probability after a loss (d1).
        increment: Probability = (Probability(0.02)), in Range::above_to(0.0, 1.0), from "feng2002blue, setting B4";
        /// Decrease of the signal probability while the link is idle (d2).
        decrement: Probability = (Probability(0.002)), in Range::above_to(0.0, 1.0), from "feng2002blue, setting B4";
        /// Minimum time between two changes of the signal probability. If freeze_time is 0, each
        /// packet that arrives at an idle link lowers the signal probability once.
        freeze_time: Duration = (Duration::from_millis(100)), in Range::at_least(0.0), from "feng2002blue, setting B4: 100 ms";
        /// Queue length above which an arriving packet counts as a loss although the buffer is not
        /// full (L). By default only losses at a full buffer count.
        early_threshold: Option<Depth> = (None), in Range::at_least(0.0), from "feng2002blue: the condition is packet loss or qlen > L";
    }
}

impl AqmParams for Blue {
    type Aqm = BlueAqm;
    const DECLARED: &'static [Declared] = &[Declared { rules: RULES, variables: BlueVariables::LIST }];

    fn aqm(&self, context: QueueContext) -> BlueAqm {
        BlueAqm {
            params: self.clone(),
            probability: 0.0,
            last_update: Time::ZERO,
            drawn: f64::NAN,
            random: context.random,
        }
    }
}

rules! {
    /// The random number is below the signal probability pm.
    RANDOM = "random", from "feng2002blue";
}

variables! {
    /// Variables of BLUE.
    pub struct BlueVariables {
        /// Signal probability (pm).
        pm in "0..1", from "feng2002blue";
        /// Random number between 0 and 1 that was compared with pm.
        random in "0..1", from "feng2002blue";
        /// Time of the last change of pm.
        last_update_s in "s", from "feng2002blue";
    }
}

/// State of BLUE.
#[derive(Clone, Debug)]
pub struct BlueAqm {
    params: Blue,
    /// Signal probability pm.
    probability: f64,
    last_update: Time,
    /// Random number of the last signal.
    drawn: f64,
    random: Stream,
}

impl BlueAqm {
    /// Process the event "packet loss (or qlen > L)".
    fn loss(&mut self, now: Time) {
        if now.since(self.last_update) > self.params.freeze_time {
            self.probability = (self.probability + self.params.increment.0).min(1.0);
            self.last_update = now;
        }
    }

    /// Process the event "link idle" for a link that has been idle since the time `since`.
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

impl Aqm for BlueAqm {
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
        let drawn = self.random.uniform();
        if drawn < self.probability {
            self.drawn = drawn;
            return Verdict::Signal(Why::Early);
        }
        Verdict::Pass
    }

    fn explain(&self, why: Why, to: &mut Explanation) {
        let random = to.drawn(why, &RANDOM, self.drawn);
        to.with(BlueVariables { pm: self.probability, random, last_update_s: self.last_update.seconds() });
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

    /// Return BLUE after a number of losses, 101 ms apart.
    fn after(losses: u64) -> BlueAqm {
        let context = QueueContext::new(Rate(1_000_000), Depth::Packets(10.0), Stream::new(1, "blue"));
        let mut blue = Blue::read(&json!({}), "blue").unwrap().aqm(context);
        (1..=losses).for_each(|n| blue.on_overflow(ms(101 * n)));
        blue
    }

    fn finds_idle(blue: &mut BlueAqm, since: Time, now: Time) -> Verdict {
        blue.on_arrival(&Packet::default(), &Arrival { now, backlog: Backlog::default(), free_at: since })
    }

    /// 20 losses raise pm to 0.4. During idle time pm falls by d2 = 0.002 every 100 ms. The first
    /// decrease comes when the link becomes idle, or 100 ms after the last change of pm if that is
    /// later.
    #[test]
    fn the_probability_falls_while_the_link_is_idle() {
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
    fn idle_time_lowers_the_probability_once() {
        let (mut one, mut many) = (after(20), after(20));
        let since = ms(20 * 101 + 30);
        finds_idle(&mut one, since, since + Duration::from_millis(5_000));
        (1..=500).for_each(|n| {
            finds_idle(&mut many, since, since + Duration::from_millis(10 * n));
        });
        assert!((one.probability - many.probability).abs() < 1e-9);
    }

    #[test]
    fn a_link_blocked_by_drops_sends_again() {
        let mut blue = after(59);
        let idle = ms(101 * 59 + 12);
        let mut passes =
            |n: u64| finds_idle(&mut blue, idle, idle + Duration::from_millis(101 * n)) == Verdict::Pass;
        assert!((1..2000).any(&mut passes), "pm stays 1 although the link is idle");
    }
}
