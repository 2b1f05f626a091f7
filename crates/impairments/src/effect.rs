//! Effects of impairments on packets, and the interface of an impairment.

use engine::Stream;
use net::Why;
use units::{Duration, Params, Time};

/// A packet that reached the far end of a link.
#[derive(Clone, Copy, Debug)]
pub struct Passage {
    /// Time when the packet reached the far end. Consecutive packets have arrival times that never
    /// decrease.
    pub arrives: Time,
    /// Time when the packet leaves the wire, including the delays of the preceding impairments.
    pub leaves: Time,
    /// Size on the wire, in bytes.
    pub size: u16,
}

/// Effect of an impairment on one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The packet continues unchanged.
    Pass,
    /// The packet is lost.
    Lose(Why),
    /// The packet continues with bit errors that only its receiver detects.
    Damage,
    /// The packet continues, and a copy of the packet follows after the given delay.
    Duplicate(Duration),
    /// The packet is delayed by the given time.
    Delay(Duration),
}

/// A kind of impairment. A kind of impairment is a struct of parameters, which creates the state of
/// the impairment for each wire.
pub trait Kind: Params {
    /// True if the impairment can duplicate packets. The number of impairments that duplicate
    /// packets is limited per wire.
    const DUPLICATES: bool = false;

    /// State of the impairment on one wire.
    type State: Impair;

    /// Return the state of the impairment before its first packet. `random` is the stream of random
    /// numbers of the impairment.
    fn start(&self, random: Stream) -> Self::State;
}

/// State of an impairment, which returns the effect on each packet.
pub trait Impair {
    /// Return the effect on the next packet.
    fn act(&mut self, packet: &Passage) -> Effect;
}

/// An effect that applies to each packet with the same probability.
#[derive(Clone, Debug)]
pub struct Chance {
    probability: f64,
    effect: Effect,
    random: Stream,
}

impl Chance {
    /// Create an effect that applies to each packet with the given probability.
    pub fn new(probability: units::Probability, effect: Effect, random: Stream) -> Self {
        Chance { probability: probability.0, effect, random }
    }
}

impl Impair for Chance {
    fn act(&mut self, _: &Passage) -> Effect {
        if self.random.uniform() < self.probability { self.effect } else { Effect::Pass }
    }
}

/// Return the numbers of the packets that are lost among the first `n` packets, counted from 1.
#[cfg(test)]
pub fn lost_packets(kind: &impl Kind, n: u64) -> Vec<u64> {
    let mut state = kind.start(Stream::new(1, ""));
    let packet = Passage { arrives: Time::ZERO, leaves: Time::ZERO, size: 1500 };
    (1..=n).filter(|_| matches!(state.act(&packet), Effect::Lose(_))).collect()
}
