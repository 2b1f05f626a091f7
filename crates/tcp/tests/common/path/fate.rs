//! Treatment of packets on the path, which a rule decides for each packet.

use engine::Stream;
use net::{Ecn, Options, Segment};
use tcp::Endpoint;
use units::{Duration, Time};

/// Treatment of a packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fate {
    pub dropped: bool,
    /// True if the packet is marked CE, provided that it is ECN-capable.
    pub marked: bool,
    /// Delay in addition to the delay of the path, so that other packets overtake the packet.
    pub extra_delay: Duration,
    /// Delay of a second copy of the packet, or `None` if the path does not duplicate the packet.
    pub copy: Option<Duration>,
}

impl Fate {
    pub const PASS: Fate = Fate { dropped: false, marked: false, extra_delay: Duration::ZERO, copy: None };
    pub const DROP: Fate = Fate { dropped: true, ..Fate::PASS };
    pub const MARK: Fate = Fate { marked: true, ..Fate::PASS };
}

/// Properties of a packet that enters the path, on which the rule bases its decision.
pub struct Passage<'a> {
    pub now: Time,
    pub pair: usize,
    /// Direction of the packet: 0 for packets of the endpoint that opens the connection, 1 for
    /// packets of the other endpoint.
    pub direction: usize,
    /// Number of earlier packets that the pair of endpoints sent in this direction.
    pub nth: u64,
    pub nth_data: u64,
    pub segment: &'a Segment,
    pub options: &'a Options,
    pub field: Ecn,
    /// The endpoint that sent the packet.
    pub sender: &'a Endpoint,
}

/// Random impairments of every packet. The probabilities are independent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Impairments {
    pub loss: f64,
    /// Probability of corruption. A corrupted packet fails its checksum and is therefore lost.
    pub corruption: f64,
    pub duplication: f64,
    pub reordering: f64,
    pub marking: f64,
    /// Maximum delay of a reordered packet or of a copy, in milliseconds.
    pub max_delay_ms: u64,
}

impl Impairments {
    /// Return a rule that applies the impairments to random packets, with the seed of the random
    /// numbers.
    pub fn rule(self, seed: u64) -> impl FnMut(&Passage) -> Fate {
        let mut random = Stream::new(seed, "harm");
        move |_| {
            let mut is = |p: f64| p > 0.0 && random.uniform() < p;
            let dropped = is(self.loss) | is(self.corruption);
            let (copy, extra_delay, marked) = (is(self.duplication), is(self.reordering), is(self.marking));
            let mut span = || Duration::from_millis(random.below(self.max_delay_ms.max(1)) + 1);
            Fate {
                dropped,
                marked,
                extra_delay: if extra_delay { span() } else { Duration::ZERO },
                copy: copy.then(&mut span),
            }
        }
    }
}
