//! What becomes of packets, by a rule.

use engine::Stream;
use net::{Ecn, Options, Segment};
use tcp::Endpoint;
use units::{Duration, Time};

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fate {
    pub dropped: bool,
    /// Marked CE, if it is ECN-capable.
    pub marked: bool,
    /// Delay beyond the path's, so that others overtake it.
    pub extra_delay: Duration,
    /// A copy of it arrives, so much later.
    pub copy: Option<Duration>,
}

impl Fate {
    pub const PASS: Fate = Fate { dropped: false, marked: false, extra_delay: Duration::ZERO, copy: None };
    pub const DROP: Fate = Fate { dropped: true, ..Fate::PASS };
    pub const MARK: Fate = Fate { marked: true, ..Fate::PASS };
}

/// A packet that enters the path, as a rule sees it.
pub struct Passage<'a> {
    pub now: Time,
    pub pair: usize,
    /// 0: from the end that opened; 1: from the other.
    pub direction: usize,
    /// How many packets, and how many with data, went this way of this pair before.
    pub nth: u64,
    pub nth_data: u64,
    pub segment: &'a Segment,
    pub options: &'a Options,
    pub field: Ecn,
    /// The end that sent it.
    pub sender: &'a Endpoint,
}

/// Random harm, the same for every packet: each probability is of its own.
#[derive(Clone, Copy, Debug, Default)]
pub struct Impairments {
    pub loss: f64,
    /// A corrupted packet fails its checksum: it is lost as well.
    pub corruption: f64,
    pub duplication: f64,
    pub reordering: f64,
    pub marking: f64,
    /// Longest delay of a packet that is reordered, or of a copy, in milliseconds.
    pub max_delay_ms: u64,
}

impl Impairments {
    /// As a rule with this seed.
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
