//! Where each packet of a link is at some instant, packet by packet: what its ledger is held against.

use units::{Bytes, Time};

use super::{Flight, InPipe, Link};
use crate::discipline::{LinkQueue, QueueDiscipline};
use crate::ledger::Inside;
use crate::packet::Packet;

impl<Q: LinkQueue> Link<Q> {
    /// Enters in `inside` where each packet of this link's own pipe is at `now`.
    pub fn locate_all(&self, flight: &Flight, now: Time, inside: &mut Inside) {
        let mut before = Time::ZERO;
        for entry in self.pipe(flight) {
            if self.pace.is_some() {
                // What is first in the pipe has begun: what was sent before it has arrived.
                let sent = entry.arrives - self.delay;
                self.place(entry, now, (entry.entered.max(before), sent), inside);
                before = sent;
            } else {
                self.locate(entry, false, now, inside);
            }
        }
    }

    /// Enters where a packet is that entered by now and whose transmission takes this span.
    fn place(&self, entry: &InPipe, now: Time, (begins, sent): (Time, Time), inside: &mut Inside) {
        inside.work = inside.work.wrapping_add(sent.since(now.max(begins)).0);
        if begins > now { inside.waiting.add(&entry.packet) } else { inside.on_wire.add(&entry.packet) }
    }

    /// Enters in `inside` where the packet of a pipe is at `now`, at a rate that does not change: this link's own
    /// pipe, or (`beyond`) that of the link behind it, which only delays.
    pub fn locate(&self, entry: &InPipe, beyond: bool, now: Time, inside: &mut Inside) {
        let packet = &entry.packet;
        // In the pipe of the link behind, the entry there is the arrival at the far end here.
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

    /// Enters in `inside` what the queue keeps, and shows each packet.
    pub fn locate_held(&self, inside: &mut Inside, mut see: impl FnMut(&Packet)) {
        if let Some(queue) = self.queue.keeper() {
            queue.each(&mut |held| {
                inside.keep(&held.packet);
                see(&held.packet);
            });
        }
    }
}
