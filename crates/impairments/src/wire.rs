//! The wire behind a link, with its impairments. The wire begins at the far end of the link.
//! Packets may leave the wire in a different order.
//!
//! A packet that reaches the far end of the link passes all impairments of the wire in the order of
//! the list. The wire computes the delays of all impairments at once, and stores the packet in a
//! heap until the packet leaves the wire. A wire has at most one pending event: the time at which
//! its next packet leaves.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use engine::Stream;
use net::{Count, Fate, Packet, Probe};
use units::{Duration, Time};

use crate::effect::{Effect, Impair, Passage};
use crate::kinds::{Impairment, State};

/// Observer of a wire, which records the lost packets and copies the duplicated packets.
pub trait Witness: Probe {
    /// Return a copy of a packet, including its TCP options.
    fn copy(&mut self, packet: &Packet) -> Packet;
}

/// Numbers of packets that one impairment lost, damaged, duplicated or delayed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Number of packets that reached the impairment.
    pub seen: u64,
    /// Number of packets that the impairment lost.
    pub lost: u64,
    /// Number of packets that the impairment damaged.
    pub damaged: u64,
    /// Number of packets that the impairment duplicated.
    pub doubled: u64,
    /// Number of packets that the impairment delayed.
    pub held: u64,
}

/// A packet on a wire.
#[derive(Clone, Copy, Debug)]
pub struct InWire {
    /// Time when the packet leaves the wire.
    pub leaves: Time,
    /// Sequence number. Packets with equal times leave the wire in the order of their sequence
    /// numbers.
    number: u64,
    /// The packet.
    pub packet: Packet,
}

impl PartialEq for InWire {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for InWire {}

impl PartialOrd for InWire {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for InWire {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.leaves, self.number).cmp(&(other.leaves, other.number))
    }
}

/// The wire behind a link, with its impairments.
#[derive(Clone, Debug)]
pub struct Wire {
    stages: Vec<(State, Counts)>,
    /// Packets on the wire. The packet that leaves the wire first is at the root of the heap.
    inside: BinaryHeap<Reverse<InWire>>,
    number: u64,
    entered: Count,
    copied: Count,
    lost: Count,
    left: Count,
}

impl Wire {
    /// Create a wire with a list of impairments. `random` returns the stream of random numbers for
    /// an impairment, given the kind of the impairment and its number among the impairments of this
    /// kind.
    pub fn new(impairments: &[Impairment], random: impl Fn(&str, usize) -> Stream) -> Self {
        let stages = impairments.iter().enumerate().map(|(i, impairment)| {
            let name = impairment.name();
            let number = impairments[..i].iter().filter(|before| before.name() == name).count();
            (State::new(impairment, random(name, number)), Counts::default())
        });
        Wire {
            stages: stages.collect(),
            inside: BinaryHeap::new(),
            number: 0,
            entered: Count::default(),
            copied: Count::default(),
            lost: Count::default(),
            left: Count::default(),
        }
    }

    /// Process a packet that reached the far end of the link.
    pub fn receive(&mut self, now: Time, packet: Packet, witness: &mut impl Witness) {
        self.entered.add(&packet);
        self.go_through(0, now, now, packet, witness);
    }

    /// Pass a packet through the impairments, beginning with impairment number `first`.
    fn go_through(
        &mut self,
        first: usize,
        now: Time,
        mut leaves: Time,
        mut packet: Packet,
        witness: &mut impl Witness,
    ) {
        for i in first..self.stages.len() {
            let (state, counts) = &mut self.stages[i];
            counts.seen += 1;
            match state.act(&Passage { arrives: now, leaves, size: packet.size }) {
                Effect::Pass => {}
                Effect::Lose(why) => {
                    counts.lost += 1;
                    self.lost.add(&packet);
                    return witness.fate(now, &Fate::Dropped(packet, why), None);
                }
                Effect::Damage => {
                    counts.damaged += 1;
                    packet.damage();
                }
                Effect::Delay(time) => {
                    counts.held += u64::from(time > Duration::ZERO);
                    leaves += time;
                }
                Effect::Duplicate(later) => {
                    counts.doubled += 1;
                    self.copied.add(&packet);
                    let copy = witness.copy(&packet);
                    // If a packet and its copy leave at the same time, the original packet leaves
                    // first.
                    self.go_through(i + 1, now, leaves, packet, witness);
                    return self.go_through(i + 1, now, leaves + later, copy, witness);
                }
            }
        }
        self.number += 1;
        self.inside.push(Reverse(InWire { leaves, number: self.number, packet }));
    }

    /// Return the time when the next packet leaves the wire, or [`Time::NEVER`] if the wire is
    /// empty.
    pub fn due(&self) -> Time {
        self.inside.peek().map_or(Time::NEVER, |first| first.0.leaves)
    }

    /// Remove and return a packet that leaves the wire now, or return `None`.
    pub fn deliver(&mut self, now: Time) -> Option<InWire> {
        if self.due() > now {
            return None;
        }
        let Reverse(first) = self.inside.pop()?;
        self.left.add(&first.packet);
        Some(first)
    }

    /// Return the packets that are on the wire.
    pub fn inside(&self) -> impl Iterator<Item = &InWire> {
        self.inside.iter().map(|entry| &entry.0)
    }

    /// Return the effect counts of each impairment, in the order of the list.
    pub fn counts(&self) -> impl Iterator<Item = &Counts> {
        self.stages.iter().map(|stage| &stage.1)
    }

    /// Reset the effect counts of all impairments to 0.
    pub fn forget_counts(&mut self) {
        self.stages.iter_mut().for_each(|(_, counts)| *counts = Counts::default());
    }

    /// Return the number of packets that left the wire.
    pub fn left(&self) -> Count {
        self.left
    }

    /// Check the conservation of packets, which must be true at every instant: each packet that
    /// entered the wire, and each copy, was lost, has left the wire or is on the wire.
    pub fn check(&self) -> Result<(), String> {
        let mut inside = Count::default();
        self.inside().for_each(|entry| inside.add(&entry.packet));
        if self.entered + self.copied == self.lost + self.left + inside {
            return Ok(());
        }
        Err(format!(
            "packet counts of the wire do not balance: entered {:?} + copied {:?} differs from lost \
             {:?} + left {:?} + on the wire {inside:?}",
            self.entered, self.copied, self.lost, self.left
        ))
    }
}
