//! COBALT: CoDel and BLUE combined.
//!
//! Source: Høiland-Jørgensen, Täht & Morton 2018, "Piece of CAKE: a comprehensive queue management
//! solution for home gateways" (`hoiland2018cake`), and COBALT in the authors' CAKE of Linux. In
//! sch_cake.c, cobalt_should_drop() processes a packet that leaves, cobalt_queue_full() processes a
//! drop at a full buffer, and cobalt_queue_empty() processes an empty queue.
//!
//! Each decision of COBALT was compared with sch_cake.c. The paper on CAKE was not available. The
//! COBALT of aqmlab differs from sch_cake.c on purpose in three details. In aqmlab COBALT computes
//! exact roots, and Linux computes roots by steps of Newton's iteration in 32 bits. In aqmlab
//! COBALT uses the target and the interval of the scenario unchanged. CAKE increases the target and
//! the interval if the transmission of 1.5 frames takes longer than the target, and assumes frames
//! of size 0 if it has no shaper. In aqmlab BLUE takes a random number only for packets that CoDel
//! passes.

use engine::Stream;
use net::{
    Arrival, Backlog, Declared, Fates, Next, QueueDiscipline, QueuedPacket, Rule, Variables as _, Why, rules,
    variables,
};
use units::{Bytes, Duration, Probability, Range, Time, params, words};

use crate::aqm::{DisciplineParams, QueueContext};
use crate::fifo::{Buffer, Limit, Marking};
use crate::store::Store;

words! {
    /// Packet that CoDel signals first after the delay rises above the target.
    pub enum FirstSignal {
        /// The first signal comes one interval after the first packet whose delay is above the
        /// target, as in the comments of CAKE's code and in ns-3.
        Interval = "interval",
        /// CoDel signals the second packet whose delay is above the target, because the reciprocal
        /// root of a new queue is 0 (Linux, cobalt_should_drop in sch_cake.c).
        NextPacket = "next-packet",
    }
}

params! {
    /// COBALT runs two AQMs at once. CoDel signals (marks, or drops packets that cannot be marked)
    /// with increasing frequency while packets wait longer than the target. CoDel stores the
    /// frequency of its signals as a count. While the delay is below the target, the count falls
    /// step by step at the same rate at which it rose. BLUE acts on traffic that does not respond:
    /// its drop probability rises when the buffer overflows and falls when the queue becomes empty,
    /// and it also drops ECN-capable packets. The last packet of the queue is never dropped.
    pub struct Cobalt: "cobalt" {
        /// Acceptable delay of a standing queue.
        target: Duration = (Duration::from_millis(5)), in Range::above(0.0), from "rfc8289 §4.4, tc-cake(8): 5 ms";
        /// Time from the first packet whose delay is above the target to the first signal. The
        /// later signals follow after interval/√count.
        interval: Duration = (Duration::from_millis(100)), in Range::above(0.0), from "rfc8289 §4.3, tc-cake(8): 100 ms";
        /// Increase of BLUE's drop probability after an overflow of the buffer. After each change
        /// of BLUE's drop probability, the probability remains constant for at least the time
        /// `target`.
        increment: Probability = (Probability(1.0 / 256.0)), in Range::above_to(0.0, 1.0), from "Linux's CAKE: 1/256";
        /// Decrease of BLUE's drop probability when the queue is empty. After each change of BLUE's
        /// drop probability, the probability remains constant for at least the time `target`.
        decrement: Probability = (Probability(1.0 / 4096.0)), in Range::above_to(0.0, 1.0), from "Linux's CAKE: 1/4096";
        /// Packet size that limits the target: CoDel does not signal a packet that waits at most
        /// the transmission time of four packets of this size.
        mtu: Bytes = (Bytes(1514)), in Range::between(1.0, 65535.0), from "Linux's CAKE uses the size of an Ethernet frame";
        /// Packet that CoDel signals first after the delay rises above the target.
        first_signal: FirstSignal = (FirstSignal::Interval), in Range::ANY, from "hoiland2018cake; Linux's CAKE: next-packet";
    }
}

impl DisciplineParams for Cobalt {
    type Discipline = CobaltQueue;
    const DECLARED: &'static [Declared] = &[Declared { rules: RULES, variables: CobaltVariables::LIST }];

    fn discipline(&self, buffer: &Buffer, context: QueueContext) -> CobaltQueue {
        let least = Duration(4 * context.rate.transmission_time(self.mtu).0);
        CobaltQueue {
            limit: Limit::of(buffer, context.limit),
            marks: buffer.ecn == Marking::Mark,
            tolerated: self.target.max(least),
            params: self.clone(),
            store: Store::default(),
            count: 0,
            root_known: self.first_signal == FirstSignal::Interval,
            dropping: false,
            drop_next: Time::ZERO,
            p_drop: 0.0,
            blue_timer: Time::ZERO,
            random: context.random,
        }
    }
}

rules! {
    /// The sojourn time is above the target, and the time of CoDel's next signal has come.
    CODEL = "codel", from "sch_cake.c of Linux: cobalt_should_drop";
    /// The random number is below BLUE's drop probability.
    BLUE = "blue", from "sch_cake.c of Linux: cobalt_should_drop";
}

variables! {
    /// Variables of COBALT when it decides, before the decision changes them.
    pub struct CobaltVariables {
        /// Sojourn time of the packet.
        sojourn_s in "s", from "sch_cake.c of Linux: cobalt_should_drop";
        /// Number of CoDel's signals (count).
        count in "signals", from "sch_cake.c of Linux: cobalt_should_drop";
        /// Time of CoDel's next signal (drop_next).
        drop_next_s in "s", from "sch_cake.c of Linux: cobalt_should_drop";
        /// Drop probability of BLUE (p_drop).
        p_drop in "0..1", from "sch_cake.c of Linux: cobalt_queue_full";
        /// Random number between 0 and 1 that was compared with p_drop.
        random in "0..1", from "sch_cake.c of Linux: cobalt_should_drop";
    }
}

/// State of COBALT.
#[derive(Debug)]
pub struct CobaltQueue {
    limit: Limit,
    marks: bool,
    /// Maximum waiting time at which CoDel does not signal a packet: the target, or the
    /// transmission time of four packets of the size `mtu` if that is longer.
    tolerated: Duration,
    params: Cobalt,
    store: Store,
    count: u32,
    /// True after the reciprocal root of the count was computed for the first time. Until the first
    /// computation the reciprocal root is 0.
    root_known: bool,
    dropping: bool,
    drop_next: Time,
    /// Drop probability of BLUE. `blue_timer` is the time at which the drop probability changed
    /// last.
    p_drop: f64,
    blue_timer: Time,
    random: Stream,
}

impl CobaltQueue {
    /// Return the time of the next signal after `t` (cobalt_control()).
    fn after(&self, t: Time) -> Time {
        if !self.root_known {
            return t;
        }
        let root = f64::from(self.count.max(1)).sqrt();
        t + Duration((self.params.interval.0 as f64 / root) as u64)
    }

    /// Set the count of signals, and record that its reciprocal root is known.
    fn count(&mut self, count: u32) {
        (self.count, self.root_known) = (count, true);
    }

    /// If more than the time `target` has passed since the last change of BLUE's probability, store
    /// `now` as the time of the new change and return true.
    fn thawed(&mut self, now: Time) -> bool {
        let thawed = now.since(self.blue_timer) > self.params.target;
        if thawed {
            self.blue_timer = now;
        }
        thawed
    }

    /// Record an overflow (cobalt_queue_full()).
    fn queue_full(&mut self, now: Time) {
        if self.thawed(now) {
            self.p_drop = (self.p_drop + self.params.increment.0).min(1.0);
        }
        self.dropping = true;
        self.drop_next = now;
        self.count = self.count.max(1);
    }

    /// Record an empty queue (cobalt_queue_empty()).
    fn queue_empty(&mut self, now: Time) {
        if self.p_drop > 0.0 && self.thawed(now) {
            self.p_drop = (self.p_drop - self.params.decrement.0).max(0.0);
        }
        self.dropping = false;
        if self.count > 0 && now >= self.drop_next {
            self.count(self.count - 1);
            self.drop_next = self.after(self.drop_next);
        }
    }

    /// Run CoDel's part of cobalt_should_drop(). The first value is true if the packet is to be
    /// signalled. The second value is true if the next signal is overdue.
    fn codel(&mut self, sojourn: Duration, now: Time) -> (bool, bool) {
        let mut late = now > self.drop_next;
        let mut next_due = self.count > 0 && now >= self.drop_next;
        if sojourn > self.tolerated {
            if !self.dropping {
                self.dropping = true;
                self.drop_next = self.after(now);
            }
            self.count = self.count.max(1);
        } else {
            self.dropping = false;
        }
        let signals = next_due && self.dropping;
        if signals {
            self.count(self.count.saturating_add(1));
            self.drop_next = self.after(self.drop_next);
            late = now > self.drop_next;
        }
        while next_due && !signals {
            self.count(self.count - 1);
            self.drop_next = self.after(self.drop_next);
            late = now > self.drop_next;
            next_due = self.count > 0 && now >= self.drop_next;
        }
        (signals, late)
    }

    /// Return the variables for a packet with this sojourn time. `before` has the count and the
    /// time of the next signal before the decision, and `random` is the random number.
    fn variables(&self, sojourn: Duration, before: (u32, Time), random: f64) -> CobaltVariables {
        CobaltVariables {
            sojourn_s: sojourn.seconds(),
            count: f64::from(before.0),
            drop_next_s: before.1.seconds(),
            p_drop: self.p_drop,
            random,
        }
    }

    /// Return the rule and the variables of a drop if the packet is to be dropped. If CoDel signals
    /// the packet and the packet can be marked, mark it instead (cobalt_should_drop()).
    fn should_drop(
        &mut self,
        held: &mut QueuedPacket,
        now: Time,
        fates: &mut Fates,
    ) -> Option<(&'static Rule, CobaltVariables)> {
        let (sojourn, before) = (now.since(held.entered), (self.count, self.drop_next));
        let (signals, late) = self.codel(sojourn, now);
        let markable = self.marks && held.packet.ecn.is_capable();
        if signals && markable {
            fates.mark(&mut held.packet, Why::Early, |to| {
                self.limit.explain(self.store.backlog(), to);
                to.by(&CODEL).with(self.variables(sojourn, before, f64::NAN));
            });
        }
        let mut drop = (signals && !markable).then(|| (&CODEL, self.variables(sojourn, before, f64::NAN)));
        // BLUE drops ECN-capable packets too; "lack of ECN is deliberate".
        if self.p_drop > 0.0 && drop.is_none() {
            let drawn = self.random.uniform();
            drop = (drawn < self.p_drop).then(|| (&BLUE, self.variables(sojourn, before, drawn)));
        }
        if self.count == 0 {
            self.drop_next = now + self.params.interval;
        } else if late && drop.is_none() {
            self.drop_next = now;
        }
        drop
    }
}

impl QueueDiscipline for CobaltQueue {
    fn enqueue(&mut self, held: QueuedPacket, at: &Arrival, fates: &mut Fates) {
        let mut here = *at;
        while self.limit.is_full(&held.packet, &here) {
            let backlog = here.backlog;
            let Some(head) = self.store.pop() else {
                return fates.drop(held.packet, Why::Full, |to| self.limit.explain(backlog, to));
            };
            fates.drop(head.packet, Why::Full, |to| {
                self.limit.explain(backlog, to);
                let before = (self.count, self.drop_next);
                to.with(self.variables(at.now.since(head.entered), before, f64::NAN));
            });
            self.queue_full(at.now);
            here.backlog = self.store.backlog();
        }
        self.store.push(held);
    }

    fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Next {
        loop {
            let Some(mut held) = self.store.pop() else {
                self.queue_empty(now);
                return Next::Empty;
            };
            let drop = self.should_drop(&mut held, now, fates);
            let Some((rule, variables)) = drop.filter(|_| !self.store.is_empty()) else {
                return Next::Packet(held);
            };
            fates.drop(held.packet, Why::Early, |to| {
                self.limit.explain(self.store.backlog(), to);
                to.by(rule).with(variables);
            });
        }
    }

    fn backlog(&self) -> Backlog {
        self.store.backlog()
    }

    fn each(&self, see: &mut dyn FnMut(&QueuedPacket)) {
        self.store.iter().for_each(see);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Read;

    /// Every 10 ms a packet arrives whose delay is above the target. With `FirstSignal::Interval`,
    /// CoDel first signals a packet that arrives one interval after the first packet. With
    /// `FirstSignal::NextPacket`, CoDel signals the second packet. With both values of
    /// `first_signal`, the later signals follow after interval/√count.
    #[test]
    fn the_first_signal_follows_after_an_interval_or_with_the_next_packet() {
        let first = |first_signal| {
            let none = serde_json::json!({});
            let params = Cobalt { first_signal, ..Cobalt::read(&none, "").unwrap() };
            let buffer = Buffer::read(&none, "").unwrap();
            let context =
                QueueContext::new(units::Rate(10_000_000), units::Depth::Packets(1e3), Stream::new(1, "q"));
            let mut queue = params.discipline(&buffer, context);
            let late = Duration::from_millis(50);
            let signals = |i: &u64| queue.codel(late, Time::ZERO + Duration::from_millis(1000 + 10 * i)).0;
            (0..20).filter(signals).take(2).collect::<Vec<_>>()
        };
        assert_eq!(first(FirstSignal::Interval), [10, 18]);
        assert_eq!(first(FirstSignal::NextPacket), [1, 8]);
    }
}
