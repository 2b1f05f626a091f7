//! Effects of impairments on packets, and the interface of an impairment.

use engine::Stream;
use net::Why;
use units::{Duration, Params, Time};

/// A packet that reached the far end of a link.
#[derive(Clone, Copy, Debug)]
pub struct Passage {
    /// Time when the packet reached the far end. The times of consecutive packets never decrease.
    pub arrives: Time,
    /// Time when the packet leaves the wire, given the delays of the preceding impairments.
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
    /// The packet continues with errors that only its receiver detects.
    Damage,
    /// The packet continues, and a copy of the packet follows after this delay.
    Duplicate(Duration),
    /// The packet is delayed by this time.
    Delay(Duration),
}

/// A kind of impairment. The parameters of a kind create the state of the impairment on a wire.
pub trait Kind: Params {
    /// True if the impairment can duplicate packets. A wire may have only a few impairments that
    /// duplicate packets.
    const DUPLICATES: bool = false;

    /// State of the impairment on one wire.
    type State: Impair;

    /// Return the state before the first packet. `random` supplies the random numbers.
    fn start(&self, random: Stream) -> Self::State;
}

/// State of an impairment, which returns the effect on each packet.
pub trait Impair {
    /// Return the effect on the next packet.
    fn act(&mut self, packet: &Passage) -> Effect;
}

/// An effect that each packet receives with the same probability.
#[derive(Clone, Debug)]
pub struct Chance {
    probability: f64,
    effect: Effect,
    random: Stream,
}

impl Chance {
    /// Create the state of an effect with a probability.
    pub fn new(probability: units::Probability, effect: Effect, random: Stream) -> Self {
        Chance { probability: probability.0, effect, random }
    }
}

impl Impair for Chance {
    fn act(&mut self, _: &Passage) -> Effect {
        if self.random.uniform() < self.probability { self.effect } else { Effect::Pass }
    }
}

/// Return the numbers of the lost packets among the first `n`, counted from 1.
#[cfg(test)]
pub fn lost_packets(kind: &impl Kind, n: u64) -> Vec<u64> {
    let mut state = kind.start(Stream::new(1, ""));
    let packet = Passage { arrives: Time::ZERO, leaves: Time::ZERO, size: 1500 };
    (1..=n).filter(|_| matches!(state.act(&packet), Effect::Lose(_))).collect()
}
