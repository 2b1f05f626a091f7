//! Packets at a constant rate in some stretches of time, and none in others.
//!
//! Many sources with heavy-tailed stretches add up to self-similar traffic (Willinger, Taqqu, Sherman & Wilson
//! 1997, `willinger1997selfsimilarity`). A packet is sent whenever the time spent on has grown by an interval, so the
//! mean rate is rate · on/(on + off) also for stretches shorter than an interval.

use engine::Stream;
use units::param::{Invalid, join};
use units::{Bytes, Duration, Range, Rate, Read, words};

use super::emitter::{Common, Datagrams, Gaps, datagrams, interval};

words! {
    /// The distribution of the lengths of stretches, given their mean.
    pub enum Lengths {
        /// Exponential.
        Exponential = "exponential",
        /// Pareto: with a shape below 2 their variance is infinite.
        Pareto = "pareto",
        /// All the same.
        Constant = "constant",
    }
}

datagrams! {
    /// Stretches of a constant bit rate between stretches of silence; it begins with one that is on.
    pub struct OnOff: "on_off", checked by check {
        /// Rate on the wire while it is on, headers included.
        rate: Rate = required, in Range::ANY, from "";
        /// Mean length of a stretch that is on.
        on: Duration = required, in Range::above(0.0), from "";
        /// Mean length of a stretch that is off.
        off: Duration = required, in Range::at_least(0.0), from "";
        /// Distribution of both.
        lengths: Lengths = (Lengths::Exponential), in Range::ANY, from "";
        /// Exponent of the tail of Pareto lengths.
        shape: f64 = (1.5), in Range::between(1.01, 100.0), from "willinger1997selfsimilarity: between 1 and 2";
        /// Payload of a packet.
        payload: Bytes = (Bytes(972)), in Range::between(1.0, 60_000.0), from "1000 B on the wire";
    }
}

/// Most stretches, in the mean, between two packets.
const MOST_STRETCHES: f64 = 1000.0;

fn check(p: &OnOff, path: &str) -> Result<(), Invalid> {
    let stretches = interval(p.rate, p.payload, p.headers).seconds() / p.on.seconds();
    if stretches > MOST_STRETCHES {
        let problem = format!("gives {stretches:.0} stretches to a packet");
        return Err(Invalid::new(&join(path, "on"), &p.on.write(), problem).remedy("raise it, or the rate"));
    }
    Ok(())
}

impl Datagrams for OnOff {
    fn common(&self) -> Common {
        self.shared()
    }

    fn gaps(&self, random: Stream) -> Box<dyn Gaps> {
        Box::new(Stretches::new(self, random))
    }
}

/// Its working.
#[derive(Debug)]
struct Stretches {
    mean: [Duration; 2],
    lengths: Lengths,
    shape: f64,
    interval: Duration,
    /// What is left of the stretch that is on.
    left: Duration,
    /// Whether the first packet was sent, which goes at once.
    begun: bool,
    payload: u16,
    random: Stream,
}

impl Stretches {
    /// At the beginning of a stretch that is on.
    fn new(p: &OnOff, random: Stream) -> Self {
        let mut stretches = Stretches {
            mean: [p.off, p.on],
            lengths: p.lengths,
            shape: p.shape,
            interval: interval(p.rate, p.payload, p.headers),
            left: Duration::ZERO,
            begun: false,
            payload: p.payload.0 as u16,
            random,
        };
        stretches.left = stretches.draw(1);
        stretches
    }

    fn draw(&mut self, on: usize) -> Duration {
        let mean = self.mean[on].seconds();
        let u = self.random.uniform();
        // Inversion (Devroye 1986, II.2), of 1 − u, which is above 0.
        Duration::from_seconds(match self.lengths {
            Lengths::Constant => mean,
            Lengths::Exponential => -mean * libm::log1p(-u),
            Lengths::Pareto => mean * (self.shape - 1.0) / self.shape * libm::pow(1.0 - u, -1.0 / self.shape),
        })
    }

    /// The time to the next packet.
    fn gap(&mut self) -> Duration {
        let (mut gap, mut needs) = (Duration::ZERO, self.interval);
        while self.left < needs {
            needs = Duration(needs.0 - self.left.0);
            gap = gap + self.left + self.draw(0);
            self.left = self.draw(1);
        }
        self.left = Duration(self.left.0 - needs.0);
        gap + needs
    }
}

impl Gaps for Stretches {
    fn next_packet(&mut self) -> Option<(Duration, u16)> {
        let gap = if self.begun { self.gap() } else { Duration::ZERO };
        self.begun = true;
        Some((gap, self.payload))
    }
}
