//! A wire with impairments: it begins at the far end of a link, and packets may leave it in another order.
//!
//! A packet goes through the impairments in the order of their list, when it reaches the far end of the
//! link; what they add to its delay is known at once, and it waits in a heap until then. A wire has one event, the
//! first arrival.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use engine::Stream;
use net::{Count, Fate, Packet, Probe, Why};
use units::{Duration, Time};

use crate::act::Act;
use crate::bit_errors::Bits;
use crate::episodes::Episodes;
use crate::gilbert_elliott::Chain;
use crate::impairment::Impairment;
use crate::jitter::Delays;
use crate::listed_loss::List;
use crate::loss::Dice;

/// Sees what becomes of packets, and makes copies of them.
pub trait Witness: Probe {
    /// A copy of the packet, with all that belongs to it.
    fn copy(&mut self, packet: &Packet) -> Packet;
}

/// An impairment at work.
#[derive(Clone, Debug)]
enum Stage {
    Loss(Dice),
    PeriodicLoss(crate::periodic_loss::Count),
    ListedLoss(List),
    GilbertElliott(Chain),
    BitErrors(Bits),
    Corruption(Dice),
    Duplication(Dice, Duration),
    Reordering(Dice, Duration),
    Jitter(Delays),
    DelaySpikes(Episodes),
    Outage(Episodes),
}

impl Stage {
    fn new(impairment: &Impairment, random: Stream) -> Self {
        match impairment {
            Impairment::Loss(p) => Stage::Loss(Dice::new(p.probability, random)),
            Impairment::PeriodicLoss(p) => Stage::PeriodicLoss(crate::periodic_loss::Count::new(p)),
            Impairment::ListedLoss(p) => Stage::ListedLoss(List::new(p)),
            Impairment::GilbertElliott(p) => Stage::GilbertElliott(Chain::new(p, random)),
            Impairment::BitErrors(p) => Stage::BitErrors(Bits::new(p, random)),
            Impairment::Corruption(p) => Stage::Corruption(Dice::new(p.probability, random)),
            Impairment::Duplication(p) => Stage::Duplication(Dice::new(p.probability, random), p.delay),
            Impairment::Reordering(p) => Stage::Reordering(Dice::new(p.probability, random), p.delay),
            Impairment::Jitter(p) => Stage::Jitter(Delays::new(p, random)),
            Impairment::DelaySpikes(p) => {
                Stage::DelaySpikes(Episodes::new(p.start, p.length, p.interval, p.spacing, random))
            }
            Impairment::Outage(p) => {
                Stage::Outage(Episodes::new(p.start, p.length, p.interval, p.spacing, random))
            }
        }
    }

    /// What becomes of a packet that reached the far end at `now` and leaves it at `leaves` so far.
    fn act(&mut self, now: Time, leaves: Time, size: u16) -> Act {
        match self {
            Stage::Loss(dice) => dice.chooses(Act::Lose(Why::Loss)),
            Stage::PeriodicLoss(count) => count.act(),
            Stage::ListedLoss(list) => list.act(),
            Stage::GilbertElliott(chain) => chain.act(),
            Stage::BitErrors(bits) => bits.act(size),
            Stage::Corruption(dice) => dice.chooses(Act::Damage),
            Stage::Duplication(dice, delay) => dice.chooses(Act::Double(*delay)),
            Stage::Reordering(dice, delay) => dice.chooses(Act::Hold(*delay)),
            Stage::Jitter(delays) => delays.act(leaves),
            // Stretches are those of the far end, where times only rise.
            Stage::DelaySpikes(spikes) => {
                spikes.end_at(now).map_or(Act::Pass, |end| Act::Hold(end.since(leaves)))
            }
            Stage::Outage(outages) => outages.end_at(now).map_or(Act::Pass, |_| Act::Lose(Why::Outage)),
        }
    }
}

/// What an impairment did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets that came to it.
    pub seen: u64,
    /// Lost.
    pub lost: u64,
    /// Damaged.
    pub damaged: u64,
    /// Doubled.
    pub doubled: u64,
    /// Held for some time.
    pub held: u64,
}

/// A packet in a wire.
#[derive(Clone, Copy, Debug)]
pub struct InWire {
    /// When it leaves.
    pub leaves: Time,
    /// Its number among the packets that came: equal times leave in this order.
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
    stages: Vec<(Stage, Counts)>,
    /// What is in it, the first to leave on top.
    inside: BinaryHeap<Reverse<InWire>>,
    number: u64,
    entered: Count,
    copied: Count,
    lost: Count,
    left: Count,
}

impl Wire {
    /// A wire with these impairments in their order; `random` gives the random stream of each: its kind, and its number
    /// among those of that kind.
    pub fn new(impairments: &[Impairment], random: impl Fn(&str, usize) -> Stream) -> Self {
        let stages = impairments.iter().enumerate().map(|(i, impairment)| {
            let name = impairment.name();
            let number = impairments[..i].iter().filter(|before| before.name() == name).count();
            (Stage::new(impairment, random(name, number)), Counts::default())
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

    /// A packet comes from the link.
    pub fn receive(&mut self, now: Time, packet: Packet, witness: &mut impl Witness) {
        self.entered.add(&packet);
        self.go_through(0, now, now, packet, witness);
    }

    /// A packet goes through the impairments from number `first` on.
    fn go_through(
        &mut self,
        first: usize,
        now: Time,
        mut leaves: Time,
        mut packet: Packet,
        witness: &mut impl Witness,
    ) {
        for i in first..self.stages.len() {
            let (stage, counts) = &mut self.stages[i];
            counts.seen += 1;
            match stage.act(now, leaves, packet.size) {
                Act::Pass => {}
                Act::Lose(why) => {
                    counts.lost += 1;
                    self.lost.add(&packet);
                    return witness.fate(now, &Fate::Dropped(packet, why));
                }
                Act::Damage => {
                    counts.damaged += 1;
                    packet.damage();
                }
                Act::Hold(time) => {
                    counts.held += u64::from(time > Duration::ZERO);
                    leaves += time;
                }
                Act::Double(later) => {
                    counts.doubled += 1;
                    self.copied.add(&packet);
                    let copy = witness.copy(&packet);
                    // The packet itself first.
                    self.go_through(i + 1, now, leaves, packet, witness);
                    return self.go_through(i + 1, now, leaves + later, copy, witness);
                }
            }
        }
        self.number += 1;
        self.inside.push(Reverse(InWire { leaves, number: self.number, packet }));
    }

    /// When the first packet leaves; [`Time::NEVER`] if there is none.
    pub fn due(&self) -> Time {
        self.inside.peek().map_or(Time::NEVER, |first| first.0.leaves)
    }

    /// Hands over the packet that leaves now.
    pub fn deliver(&mut self, now: Time) -> Option<InWire> {
        if self.due() > now {
            return None;
        }
        let Reverse(first) = self.inside.pop()?;
        self.left.add(&first.packet);
        Some(first)
    }

    /// What is in it.
    pub fn inside(&self) -> impl Iterator<Item = &InWire> {
        self.inside.iter().map(|entry| &entry.0)
    }

    /// What each impairment did, in their order.
    pub fn counts(&self) -> impl Iterator<Item = &Counts> {
        self.stages.iter().map(|stage| &stage.1)
    }

    /// Begin again to count what each impairment does.
    pub fn forget_counts(&mut self) {
        self.stages.iter_mut().for_each(|(_, counts)| *counts = Counts::default());
    }

    /// Packets that left it.
    pub fn left(&self) -> Count {
        self.left
    }

    /// The identity that holds at every instant: what came and what was copied has left, was lost, or is inside.
    pub fn check(&self) -> Result<(), String> {
        let mut inside = Count::default();
        self.inside().for_each(|entry| inside.add(&entry.packet));
        if self.entered + self.copied == self.lost + self.left + inside {
            return Ok(());
        }
        Err(format!(
            "packets in {:?} and copies {:?} are not lost {:?} + out {:?} + inside {inside:?}",
            self.entered, self.copied, self.lost, self.left
        ))
    }
}
