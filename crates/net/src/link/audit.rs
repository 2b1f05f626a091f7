//! Position of each packet of a link at one time. The check of conservation compares the counters
//! of the link with the positions of its packets.

use units::{Bytes, Time};

use super::{Flight, InPipe, Link};
use crate::counters::Inside;
use crate::discipline::{LinkQueue, QueueDiscipline};
use crate::packet::Packet;

impl<Q: LinkQueue> Link<Q> {
    /// Add each packet in the pipe of this link to `inside`, by its position at the time `now`.
    pub fn locate_all(&self, flight: &Flight, now: Time, inside: &mut Inside) {
        let mut before = Time::ZERO;
        for entry in self.pipe(flight) {
            if self.pace.is_some() {
                // No packet is ahead of the first packet in the pipe, so the transmission of the
                // first packet has already begun.
                let sent = entry.arrives - self.delay;
                self.place(entry, now, (entry.entered.max(before), sent), inside);
                before = sent;
            } else {
                self.locate(entry, false, now, inside);
            }
        }
    }

    /// Add a packet to `inside`, given the begin and the end of its transmission. The packet has
    /// entered the link at `now` or before.
    fn place(&self, entry: &InPipe, now: Time, (begins, sent): (Time, Time), inside: &mut Inside) {
        inside.work = inside.work.wrapping_add(sent.since(now.max(begins)).0);
        if begins > now { inside.waiting.add(&entry.packet) } else { inside.on_wire.add(&entry.packet) }
    }

    /// Count a packet in the field of `inside` that stands for the packet's position at the time
    /// `now`. The rate of the link is constant. If `beyond` is false, the packet is in the pipe of
    /// this link. If `beyond` is true, the packet is in the pipe of the next link, which only
    /// delays packets.
    pub fn locate(&self, entry: &InPipe, beyond: bool, now: Time, inside: &mut Inside) {
        let packet = &entry.packet;
        // If the packet is in the pipe of the next link, `entry.entered` is the time at which the
        // packet arrived at the far end of this link.
        let (entered, arrives) =
            if beyond { (Time::ZERO, entry.entered) } else { (entry.entered, entry.arrives) };
        let time = self.transmission_time(Bytes(u64::from(packet.size)));
        let sent = arrives - self.delay;
        let begins = sent - time;
        inside.work = inside.work.wrapping_add(sent.since(now).0.min(time.0));
        if entered > now {
            inside.to_come.add(packet);
        } else if begins > now {
            inside.waiting.add(packet);
        } else if beyond && arrives <= now {
            inside.beyond.add(packet);
        } else {
            inside.on_wire.add(packet);
        }
    }

    /// Add the packets that the queue stores to `inside`, and call the function `see` for each of
    /// them.
    pub fn locate_stored(&self, inside: &mut Inside, mut see: impl FnMut(&Packet)) {
        if let Some(queue) = self.queue.discipline() {
            queue.each(&mut |held| {
                inside.add_waiting(&held.packet);
                see(&held.packet);
            });
        }
    }
}
