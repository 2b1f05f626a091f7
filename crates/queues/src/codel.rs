//! CoDel: controlled delay.
//!
//! Source: RFC 8289 §5 (`rfc8289`), the annotated pseudo-code, which CoDel follows line by line. An
//! ECN-capable packet that the pseudo-code drops is marked and sent instead (§3.1 of RFC 8289, and
//! RFC 3168). In the loop of dequeue() a mark advances the control law as a drop does, but the
//! marked packet is sent. If several queues share a link, CoDel compares the backlog of all these
//! queues with the MTU (§4.4).
//!
//! The RFC's 1/√count "can be computed efficiently using only integer multiplication" (§5.6).
//! Linux, ns-3 and others compute one step of Newton's iteration per signal (codel_impl.h). By
//! default CoDel in aqmlab also computes one step of Newton's iteration per signal. If the
//! parameter `root` is `exact`, CoDel computes the exact root instead.

use net::{
    Arrival, Backlog, Declared, Explanation, Fates, Next, QueueDiscipline, QueuedPacket, Rule,
    Variables as _, Why, rules, variables,
};
use units::{Bytes, Duration, Range, Time, params, words};

use crate::aqm::{DisciplineParams, QueueContext};
use crate::fifo::{Buffer, Limit, Marking};
use crate::flow_queues::Takes;
use crate::store::Store;

words! {
    /// Backlog that CoDel compares with the MTU, if each of several queues has its own CoDel.
    pub enum Occupancy {
        /// Total backlog of all queues of the link. CoDel exempts a packet from signals only if the
        /// link would have almost nothing to send after a drop of the packet.
        AllQueues = "all-queues",
        /// Backlog of the queue that stores the packet. CoDel never signals a flow that has at most
        /// one packet in its queue.
        OwnQueue = "own-queue",
    }
}

words! {
    /// Computation of 1/√count, which determines the time of the next signal.
    pub enum Root {
        /// One step of Newton's iteration per signal, in 16 bits (Linux, ns-3). The results for the
        /// first counts are 1, 0.5, 0.56 and 0.49, and the exact values are 1, 0.71, 0.58 and 0.5.
        Newton = "newton",
        /// Exact value of 1/√count.
        Exact = "exact",
    }
}

params! {
    /// CoDel measures how long packets wait. If even the minimum delay within an interval is above
    /// the target, CoDel signals packets at the head of the queue. CoDel marks a signalled packet
    /// if it is ECN-capable, and drops it otherwise. The next signal follows after interval/√count,
    /// so that signals become more frequent until the delay falls below the target. CoDel adapts to
    /// a varying link rate.
    pub struct Codel: "codel" {
        /// Acceptable delay of a standing queue (TARGET).
        target: Duration = (Duration::from_millis(5)), in Range::above(0.0), from "rfc8289 §4.4: 5 ms";
        /// Time within which the delay of a good queue falls below the target at least once
        /// (INTERVAL). The interval should be about the maximum round-trip time.
        interval: Duration = (Duration::from_millis(100)), in Range::above(0.0), from "rfc8289 §4.3: 100 ms";
        /// Maximum number of waiting bytes at which CoDel does not signal any packet (maxpacket).
        mtu: Bytes = (Bytes(1500)), in Range::between(1.0, 65535.0), from "rfc8289 §5.3 recommends the MTU of the interface";
        /// Computation of 1/√count.
        root: Root = (Root::Newton), in Range::ANY, from "rfc8289 §5.6 allows integer multiplication; Linux has codel_Newton_step";
        /// Waiting time above which an ECN-capable packet is marked when it is sent, even if CoDel
        /// does not signal the packet. By default CoDel does not mark packets because of their
        /// waiting time alone.
        ce_threshold: Option<Duration> = (None), in Range::at_least(0.0), from "rfc8290 §5.2.7: absent";
    }
}

impl DisciplineParams for Codel {
    type Discipline = CodelQueue;
    const DECLARED: &'static [Declared] = &[DECLARED];

    fn discipline(&self, buffer: &Buffer, context: QueueContext) -> CodelQueue {
        let marks = buffer.ecn == Marking::Mark;
        let control = Control::new(self, Occupancy::OwnQueue, marks);
        CodelQueue { limit: Limit::of(buffer, context.limit), store: Store::default(), control }
    }
}

rules! {
    /// The sojourn time has been at least the target for an interval, so that CoDel enters the
    /// dropping state.
    ENTERS = "enters-dropping", from "rfc8289 §5.5";
    /// CoDel is in the dropping state, and the time of the next signal (drop_next) has come.
    NEXT = "drop-next", from "rfc8289 §5.5, §5.6";
    /// The sojourn time exceeds ce_threshold.
    CE_THRESHOLD = "ce-threshold", from "rfc8290 §5.2.7";
}

variables! {
    /// Variables of CoDel when it decides, before the decision changes them.
    pub struct CodelVariables {
        /// Sojourn time of the packet.
        sojourn_s in "s", from "rfc8289 §5.6";
        /// Time at which CoDel enters the dropping state unless the sojourn time falls below the
        /// target before (first_above_time), or NaN.
        first_above_s in "s", from "rfc8289 §5.6";
        /// Time of the next signal in the dropping state (drop_next).
        drop_next_s in "s", from "rfc8289 §5.5";
        /// Number of signals since CoDel entered the dropping state, before this signal (count).
        count in "signals", from "rfc8289 §5.5";
        /// Value of `count` when CoDel last entered the dropping state (lastcount).
        last_count in "signals", from "rfc8289 §5.5";
    }
}

/// Rules and variables of CoDel.
pub(crate) const DECLARED: Declared = Declared { rules: RULES, variables: CodelVariables::LIST };

/// CoDel on a first-in-first-out queue.
#[derive(Debug)]
pub struct CodelQueue {
    limit: Limit,
    store: Store,
    control: Control,
}

impl QueueDiscipline for CodelQueue {
    /// Store a packet, or drop it if the buffer is full. A drop at a full buffer does not change
    /// CoDel's count (§5.4).
    fn enqueue(&mut self, held: QueuedPacket, at: &Arrival, fates: &mut Fates) {
        if self.limit.is_full(&held.packet, at) {
            return fates.drop(held.packet, Why::Full, |to| self.limit.explain(at.backlog, to));
        }
        self.store.push(held);
    }

    fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Next {
        let limit = self.limit;
        let explain = |store: &Store, to: &mut Explanation| limit.explain(store.backlog(), to);
        self.control.dequeue(&mut self.store, Backlog::default(), now, fates, explain).into()
    }

    fn backlog(&self) -> Backlog {
        self.store.backlog()
    }

    fn next_size(&self) -> u64 {
        self.store.next_size()
    }

    fn each(&self, see: &mut dyn FnMut(&QueuedPacket)) {
        self.store.iter().for_each(see);
    }
}

/// Result of dodequeue() (§5.6).
struct Taken {
    held: Option<QueuedPacket>,
    ok_to_drop: bool,
}

/// State of CoDel (§5.2), without the packets.
#[derive(Clone, Debug)]
pub struct Control {
    target: Duration,
    interval: Duration,
    mtu: u64,
    occupancy: Occupancy,
    ce_threshold: Option<Duration>,
    marks: bool,
    root: Root,
    /// Approximation of 1/√count by Newton's iteration, in units of 2^-16.
    inverse: u16,
    /// Time at which CoDel enters the dropping state, unless the sojourn time falls below the
    /// target before.
    first_above: Option<Time>,
    drop_next: Time,
    count: u32,
    last_count: u32,
    dropping: bool,
}

impl Control {
    /// Create the initial state of CoDel. `marks` is true if ECN-capable packets are marked.
    pub fn new(codel: &Codel, occupancy: Occupancy, marks: bool) -> Self {
        Control {
            target: codel.target,
            interval: codel.interval,
            mtu: codel.mtu.0,
            occupancy,
            ce_threshold: codel.ce_threshold,
            marks,
            root: codel.root,
            inverse: u16::MAX,
            first_above: None,
            drop_next: Time::ZERO,
            count: 0,
            last_count: 0,
            dropping: false,
        }
    }

    /// Return the time of the next signal after `t` (§5.6, control_law()).
    fn after(&self, t: Time) -> Time {
        t + match self.root {
            Root::Exact => Duration((self.interval.0 as f64 / f64::from(self.count).sqrt()) as u64),
            Root::Newton => Duration(((u128::from(self.interval.0) * u128::from(self.inverse)) >> 16) as u64),
        }
    }

    /// Set the number of signals (count), and update the approximation x of 1/√count by one step: x
    /// becomes x (3 - count x²)/2.
    fn count(&mut self, count: u32) {
        self.count = count;
        if count == 1 {
            self.inverse = u16::MAX;
            return;
        }
        let x = u64::from(self.inverse) << 16;
        let square = (x * x) >> 32;
        let value = (3u64 << 32).wrapping_sub(u64::from(count) * square) >> 2;
        self.inverse = ((value.wrapping_mul(x) >> 31) >> 16) as u16;
    }

    /// Remove the packet at the head (§5.6, dodequeue()). `elsewhere` is the number of bytes in the
    /// other queues of the link.
    fn take(&mut self, store: &mut Store, elsewhere: u64, now: Time) -> Taken {
        let Some(held) = store.pop() else {
            self.first_above = None;
            return Taken { held: None, ok_to_drop: false };
        };
        let mut ok_to_drop = false;
        if now.since(held.entered) < self.target || store.backlog().bytes + elsewhere <= self.mtu {
            self.first_above = None;
        } else {
            match self.first_above {
                None => self.first_above = Some(now + self.interval),
                Some(first) => ok_to_drop = now >= first,
            }
        }
        Taken { held: Some(held), ok_to_drop }
    }

    /// Signal a packet by a rule. Return the packet if it was marked, or `None` if it was dropped.
    fn signal(
        &self,
        held: Option<QueuedPacket>,
        (rule, now): (&'static Rule, Time),
        fates: &mut Fates,
        explain: impl Fn(&mut Explanation),
    ) -> Option<QueuedPacket> {
        let mut held = held?;
        let entered = held.entered;
        let explain = |to: &mut Explanation| {
            explain(to);
            to.by(rule).with(self.variables(now.since(entered)));
        };
        if self.marks && held.packet.ecn.is_capable() {
            fates.mark(&mut held.packet, Why::Early, explain);
            return Some(held);
        }
        fates.drop(held.packet, Why::Early, explain);
        None
    }

    /// Return the variables for a packet with this sojourn time.
    fn variables(&self, sojourn: Duration) -> CodelVariables {
        CodelVariables {
            sojourn_s: sojourn.seconds(),
            first_above_s: self.first_above.map_or(f64::NAN, Time::seconds),
            drop_next_s: self.drop_next.seconds(),
            count: f64::from(self.count),
            last_count: f64::from(self.last_count),
        }
    }
}

impl Takes for Control {
    fn dequeue(
        &mut self,
        store: &mut Store,
        elsewhere: Backlog,
        now: Time,
        fates: &mut Fates,
        explain: impl Fn(&Store, &mut Explanation),
    ) -> Option<QueuedPacket> {
        let others = match self.occupancy {
            Occupancy::AllQueues => elsewhere.bytes,
            Occupancy::OwnQueue => 0,
        };
        let mut sent = self.choose(store, others, now, fates, &explain)?;
        // Marking above ce_threshold follows RFC 8290 §5.2.7.
        let late = self.ce_threshold.is_some_and(|threshold| now.since(sent.entered) > threshold);
        if late && self.marks && sent.packet.ecn.is_markable() {
            let sojourn = now.since(sent.entered);
            fates.mark(&mut sent.packet, Why::Threshold, |to| {
                explain(store, to);
                to.by(&CE_THRESHOLD).with(self.variables(sojourn));
            });
        }
        Some(sent)
    }
}

impl Control {
    /// Return the next packet to send (§5.5, dequeue()). `others` is the number of bytes in the
    /// other queues of the link.
    fn choose(
        &mut self,
        store: &mut Store,
        others: u64,
        now: Time,
        fates: &mut Fates,
        explain: impl Fn(&Store, &mut Explanation),
    ) -> Option<QueuedPacket> {
        let mut r = self.take(store, others, now);
        if self.dropping {
            if !r.ok_to_drop {
                self.dropping = false;
            }
            while now >= self.drop_next && self.dropping {
                let marked = self.signal(r.held, (&NEXT, now), fates, |to| explain(store, to));
                self.count(self.count.saturating_add(1));
                if let Some(marked) = marked {
                    self.drop_next = self.after(self.drop_next);
                    return Some(marked);
                }
                r = self.take(store, others, now);
                if r.ok_to_drop {
                    self.drop_next = self.after(self.drop_next);
                } else {
                    self.dropping = false;
                }
            }
        } else if r.ok_to_drop {
            let marked = self.signal(r.held, (&ENTERS, now), fates, |to| explain(store, to));
            r.held = if marked.is_some() { marked } else { self.take(store, others, now).held };
            self.dropping = true;
            let delta = self.count.saturating_sub(self.last_count);
            let recently = now.since(self.drop_next).0 < 16 * self.interval.0;
            self.count(if delta > 1 && recently { delta } else { 1 });
            self.drop_next = self.after(now);
            self.last_count = self.count;
        }
        r.held
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use net::Packet;

    /// In permanent overload the signal with the number n + 1 comes interval (1 + 1/√2 + … + 1/√n)
    /// after the first signal (§5.6).
    #[test]
    fn signals_come_faster_with_the_root_of_their_count() {
        let step = Duration::from_millis(1);
        let interval = Duration::from_millis(100);
        let codel = Codel {
            target: Duration::from_millis(5),
            interval,
            mtu: Bytes(1500),
            root: Root::Exact,
            ce_threshold: None,
        };
        let mut control = Control::new(&codel, Occupancy::OwnQueue, true);
        let mut store = Store::default();
        let packet = Packet { size: 1500, ..Packet::default() };
        (0..20_000).for_each(|_| store.push(QueuedPacket { packet, source: 0, entered: Time::ZERO }));
        let mut fates = Fates::default();
        let (mut now, mut left, mut drops) = (Time::ZERO, store.len(), Vec::new());
        for _ in 0..5000 {
            now += step;
            assert!(control.dequeue(&mut store, Backlog::default(), now, &mut fates, |_, _| {}).is_some());
            drops.extend((store.len() + 1..left).map(|_| now));
            left = store.len();
        }
        // The delay of the queue exceeds the target after 5 ms, and the first signal follows one
        // interval later.
        assert_eq!(drops[0], Time::ZERO + Duration::from_millis(105));
        let mut aqm = drops[0].seconds();
        for (i, at) in drops.iter().enumerate() {
            let late = at.seconds() - aqm;
            assert!((-1e-9..=step.seconds() + 1e-9).contains(&late), "drop {i} is {late} s late");
            aqm += 0.1 / ((i + 1) as f64).sqrt();
        }
        assert!(drops.len() > 500, "{}", drops.len());
    }

    /// §4.4: "the total occupancy of all queues sharing the same output link SHOULD be used". The
    /// delay of a queue is above the target, and its last packet leaves. If CoDel counts the bytes
    /// in all queues of the link, and the other queues contain more than one MTU, CoDel signals the
    /// packet that leaves. If CoDel counts only the bytes in the queue of the packet, CoDel does
    /// not signal the last packet.
    #[test]
    fn the_backlog_of_other_queues_counts() {
        let ms = |t| Time::ZERO + Duration::from_millis(t);
        let codel = Codel {
            target: Duration::from_millis(5),
            interval: Duration::from_millis(100),
            root: Root::Newton,
            mtu: Bytes(1500),
            ce_threshold: None,
        };
        for (occupancy, elsewhere, signalled) in [
            (Occupancy::AllQueues, 1501, true),
            (Occupancy::AllQueues, 1500, false),
            (Occupancy::OwnQueue, 1501, false),
        ] {
            let mut control = Control::new(&codel, occupancy, false);
            let mut fates = Fates::default();
            for now in [200, 400] {
                let mut store = Store::default();
                let packet = Packet { size: 1500, ..Packet::default() };
                store.push(QueuedPacket { packet, source: 0, entered: ms(now - 100) });
                let elsewhere = Backlog { packets: 1, bytes: elsewhere };
                control.dequeue(&mut store, elsewhere, ms(now), &mut fates, |_, _| {});
            }
            assert_eq!(fates.count(), usize::from(signalled), "{occupancy:?} {elsewhere}");
        }
    }

    /// The first interval is 100 ms long, and the next signals follow after 50, 56, 49 and 44 ms.
    /// Each of the times results from one step of Newton's iteration, which starts from 1.
    #[test]
    fn newtons_iteration_approaches_the_root() {
        let interval = Duration::from_millis(100);
        let codel = Codel {
            target: Duration::from_millis(5),
            interval,
            mtu: Bytes(1500),
            root: Root::Newton,
            ce_threshold: None,
        };
        let mut control = Control::new(&codel, Occupancy::OwnQueue, false);
        let shares: Vec<u64> = (1..=6)
            .map(|count| {
                control.count(count);
                control.after(Time::ZERO).0 / 1_000_000_000
            })
            .collect();
        assert_eq!(shares, [99, 50, 56, 48, 44, 40]);
        for count in 7..200 {
            control.count(count);
            let exact = interval.0 as f64 / f64::from(count).sqrt();
            assert!((control.after(Time::ZERO).0 as f64 / exact - 1.0).abs() < 0.02, "{count}");
        }
    }
}
