//! Position of each packet of a link at one time. The check of conservation compares the counters
//! of the link with these positions.

use units::{Bytes, Time};

use super::{Flight, InPipe, Link};
use crate::counters::Inside;
use crate::discipline::{LinkQueue, QueueDiscipline};
use crate::packet::Packet;

impl<Q: LinkQueue> Link<Q> {
    /// Count in `inside` the position of each packet in this link's own pipe at `now`.
    pub fn locate_all(&self, flight: &Flight, now: Time, inside: &mut Inside) {
        let mut before = Time::ZERO;
        for entry in self.pipe(flight) {
            if self.pace.is_some() {
                // The transmission of the first packet in the pipe has begun, because all earlier
                // packets have arrived.
                let sent = entry.arrives - self.delay;
                self.place(entry, now, (entry.entered.max(before), sent), inside);
                before = sent;
            } else {
                self.locate(entry, false, now, inside);
            }
        }
    }

    /// Count a packet that has entered by `now` and is transmitted during the given time span.
    fn place(&self, entry: &InPipe, now: Time, (begins, sent): (Time, Time), inside: &mut Inside) {
        inside.work = inside.work.wrapping_add(sent.since(now.max(begins)).0);
        if begins > now { inside.waiting.add(&entry.packet) } else { inside.on_wire.add(&entry.packet) }
    }

    /// Count in `inside` the position of a packet at `now`, at a constant rate. The packet is in
    /// the pipe of this link or, if `beyond` is true, in the pipe of the next link, which only
    /// delays packets.
    pub fn locate(&self, entry: &InPipe, beyond: bool, now: Time, inside: &mut Inside) {
        let packet = &entry.packet;
        // If the packet is in the pipe of the next link, the time at which it entered the next link
        // is its arrival time at the far end of this link.
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

    /// Count in `inside` the packets that the queue stores, and call `see` for each.
    pub fn locate_stored(&self, inside: &mut Inside, mut see: impl FnMut(&Packet)) {
        if let Some(queue) = self.queue.discipline() {
            queue.each(&mut |held| {
                inside.add_waiting(&held.packet);
                see(&held.packet);
            });
        }
    }
}
