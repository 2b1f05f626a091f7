//! Counters of each class of a scheduler, and the check of their sums.

use net::{Backlog, Count, Fate, QueuedPacket};

use super::Classes;

/// Counters of a class of a scheduler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassCounters {
    /// Count of the packets that arrived in the class.
    pub arrived: Count,
    /// Count of the packets that arrived in the class and were dropped.
    pub dropped: Count,
    /// Number of marked packets.
    pub marked: u64,
    /// Count of the packets that the scheduler dequeued from the class to send them.
    pub departed: Count,
}

impl ClassCounters {
    /// Return the difference between these counters and the counters `before` of an earlier time.
    pub fn since(&self, before: &ClassCounters) -> ClassCounters {
        ClassCounters {
            arrived: self.arrived - before.arrived,
            dropped: self.dropped - before.dropped,
            marked: self.marked - before.marked,
            departed: self.departed - before.departed,
        }
    }

    pub(super) fn arrive(&mut self, held: &QueuedPacket) {
        self.arrived.add(&held.packet);
    }

    pub(super) fn depart(&mut self, held: &QueuedPacket) {
        self.departed.add(&held.packet);
    }

    /// Count the drops and marks that the queue of the class has reported.
    pub(super) fn note(&mut self, fates: &[Fate]) {
        for fate in fates {
            match fate {
                Fate::Dropped(packet, _) => self.dropped.add(packet),
                Fate::Marked(..) => self.marked += 1,
            }
        }
    }
}

impl Classes {
    /// Call the function `see` for each class, with the index of the class in the list, its
    /// counters and its backlog. The classes within a class follow that class.
    pub fn each_class(&self, see: &mut dyn FnMut(&str, &ClassCounters, Backlog)) {
        self.each_below("", see);
    }

    fn each_below(&self, above: &str, see: &mut dyn FnMut(&str, &ClassCounters, Backlog)) {
        for leaf in &self.leaves {
            // The queue within a shaper is not reported as a separate class.
            let place = match (above, leaf.place.as_str()) {
                (only, "") | ("", only) => only.to_string(),
                (above, place) => format!("{above}.{place}"),
            };
            if !leaf.place.is_empty() {
                see(&place, &leaf.counters, leaf.queue.backlog());
            }
            if let Some(within) = leaf.queue.classes() {
                within.each_below(&place, see);
            }
        }
    }

    /// Check the sums of the counters. The check is valid at any time. Each packet that arrived in
    /// a class was dropped, has departed, or still waits in the class. Over all classes, the sums
    /// of the arrivals, drops and marks equal those of the scheduler. A packet that no class
    /// admitted counts as an arrival and a drop.
    pub fn check(&self, arrived: Count, dropped: Count, marked: u64) -> Result<(), String> {
        let mut sum =
            ClassCounters { arrived: self.refused, dropped: self.refused, ..ClassCounters::default() };
        for leaf in &self.leaves {
            let counters = &leaf.counters;
            let Backlog { packets, bytes } = leaf.queue.backlog();
            let waiting = Count { packets: packets.into(), bytes };
            if counters.arrived != counters.dropped + counters.departed + waiting {
                return Err(format!("class {}: {counters:?} with {waiting:?} waiting", leaf.place));
            }
            if let Some(within) = leaf.queue.classes() {
                within
                    .check(counters.arrived, counters.dropped, counters.marked)
                    .map_err(|what| format!("class {}: {what}", leaf.place))?;
            }
            sum.arrived = sum.arrived + counters.arrived;
            sum.dropped = sum.dropped + counters.dropped;
            sum.marked += counters.marked;
        }
        if (sum.arrived, sum.dropped, sum.marked) != (arrived, dropped, marked) {
            return Err(format!(
                "the scheduler has arrived {arrived:?}, dropped {dropped:?}, marked {marked}; the sum in all classes is {sum:?}"
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use engine::Stream;
    use net::{Ecn, Fates, Packet};
    use serde_json::json;
    use units::{Rate, Read as _, Time};

    use super::*;
    use crate::discipline::{Discipline, Storing, StoringQueue};
    use crate::schedulers::priority::PriorityQueue;
    use crate::schedulers::tbf::TbfQueue;
    use crate::{NoCustomAqms, Queue};

    /// Return a priority scheduler that contains a shaper, which contains a DRR scheduler, and the
    /// expected counters of the outer scheduler. Packets have arrived, and some were dropped or
    /// marked.
    fn used() -> (Box<dyn StoringQueue>, ClassCounters) {
        let aqm = json!({"kind": "threshold", "limit": "4 packets", "threshold": "1 packet"});
        let inner = json!({"kind": "drr", "classes": [{"match": {"dscp": "EF"}, "queue": aqm}, {"queue": {"kind": "drop_tail", "limit": "2 packets"}}]});
        let shaper = json!({"kind": "tbf", "rate": "1 Mbit/s", "burst": "1000 B", "queue": inner});
        let queue = json!({"kind": "priority", "classes": [{"match": {"dscp": "CS6"}, "queue": "drop_tail"}, {"queue": shaper}]});
        let queue = Queue::read(&queue, "queue").unwrap();
        let rate = Rate(10_000_000);
        let built =
            queue.build("link", rate, Stream::new(1, "queue"), &NoCustomAqms, &crate::diffserv::NoFlows);
        let Discipline::Storing(mut queue) = built else { panic!() };
        let mut fates = Fates::default();
        let mut all = ClassCounters::default();
        for k in 0..60_u64 {
            let now = Time(k * 4_000_000_000);
            let size = if k.is_multiple_of(20) { 1500 } else { 500 }; // the shaper refuses the large packets
            let label = net::Label::default().with_dscp([46, 48, 0][k as usize % 3]);
            let packet = Packet {
                size,
                label,
                ecn: [Ecn::Ect0, Ecn::NotEct][k as usize / 3 % 2],
                ..Packet::default()
            };
            let held = QueuedPacket { packet, source: 0, entered: now };
            all.arrive(&held);
            queue.enqueue(held, &net::Arrival { now, backlog: queue.backlog(), free_at: now }, &mut fates);
            if k.is_multiple_of(2)
                && let Some(held) = queue.dequeue(now, &mut fates).packet()
            {
                all.depart(&held);
            }
        }
        all.note(fates.since(0));
        assert!(all.dropped.packets > 5 && all.marked > 2 && all.departed.packets > 20, "{all:?}");
        (queue, all)
    }

    /// Return a reference to the scheduler of type `D` that `queue` contains.
    fn inner<D: 'static>(queue: &mut dyn StoringQueue) -> &mut D {
        let queue: &mut dyn std::any::Any = queue;
        &mut queue.downcast_mut::<Storing<D>>().unwrap().discipline
    }

    fn check(queue: &dyn StoringQueue, all: &ClassCounters) -> Result<(), String> {
        queue.classes().unwrap().check(all.arrived, all.dropped, all.marked)
    }

    #[test]
    fn the_sums_of_classes_agree() {
        let (queue, all) = used();
        check(&*queue, &all).unwrap();
        let mut seen = Vec::new();
        queue.classes().unwrap().each_class(&mut |place, counters, backlog| {
            seen.push((place.to_string(), counters.arrived.packets, backlog.packets));
        });
        let places: Vec<&str> = seen.iter().map(|s| s.0.as_str()).collect();
        assert_eq!(places, ["0", "1", "1.0", "1.1"]);
        let arrived: Vec<u64> = seen.iter().map(|s| s.1).collect();
        assert_eq!(arrived, [20, 40, 19, 19], "the shaper refused a packet of 1500 B of each inner class");
    }

    /// Each change in `break_one` makes one counter of a class wrong by one packet or one byte.
    #[test]
    fn wrong_counters_are_detected() {
        let break_one: [fn(&mut ClassCounters); 4] = [
            |a| a.arrived.packets += 1,
            |a| a.dropped.bytes -= 1,
            |a| a.marked += 1,
            |a| a.departed.packets -= 1,
        ];
        for breaks in break_one {
            let (mut queue, all) = used();
            let priority = inner::<PriorityQueue>(&mut *queue);
            breaks(&mut priority.classes.leaves[1].counters);
            let e = check(&*queue, &all).unwrap_err();
            assert!(e.contains("class 1") || e.contains("in all classes"), "{e}");
        }
        // The next lines make two counters of the queue within the shaper wrong: the number of
        // arrived packets and the number of departed packets are both too small by 1.
        let (mut queue, all) = used();
        let priority = inner::<PriorityQueue>(&mut *queue);
        let tbf = inner::<TbfQueue>(&mut *priority.classes.leaves[1].queue);
        tbf.classes.leaves[0].counters.arrived.packets -= 1;
        tbf.classes.leaves[0].counters.departed.packets -= 1;
        assert!(check(&*queue, &all).unwrap_err().starts_with("class 1: "));
    }
}
