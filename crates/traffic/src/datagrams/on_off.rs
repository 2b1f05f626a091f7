//! Datagrams at a constant rate in on-periods, separated by silent off-periods.
//!
//! Many sources with heavy-tailed periods add up to self-similar traffic (Willinger, Taqqu, Sherman
//! & Wilson 1997, `willinger1997selfsimilarity`). A packet leaves whenever the accumulated on-time
//! has grown by one interval. The mean rate is therefore rate · on/(on + off), even if on-periods
//! are shorter than an interval.

use engine::Stream;
use units::param::{Invalid, join};
use units::{Bytes, Duration, Range, Rate, Read, words};

use super::emitter::{Common, Datagrams, Gaps, datagrams, interval};

words! {
    /// Distribution of the lengths of periods, given their mean.
    pub enum Lengths {
        /// Exponential lengths.
        Exponential = "exponential",
        /// Pareto lengths. With a `shape` below 2 the variance of the lengths is infinite.
        Pareto = "pareto",
        /// Equal lengths.
        Constant = "constant",
    }
}

datagrams! {
    /// Datagrams at a constant bit rate in on-periods, separated by silent off-periods. The flow
    /// starts with an on-period.
    pub struct OnOff: "on_off", checked by check {
        /// Rate on the wire during on-periods, including headers.
        rate: Rate = required, in Range::ANY, from "";
        /// Mean length of an on-period.
        on: Duration = required, in Range::above(0.0), from "";
        /// Mean length of an off-period.
        off: Duration = required, in Range::at_least(0.0), from "";
        /// Distribution of the lengths of on-periods and off-periods.
        lengths: Lengths = (Lengths::Exponential), in Range::ANY, from "";
        /// Tail exponent of Pareto lengths.
        shape: f64 = (1.5), in Range::between(1.01, 100.0), from "willinger1997selfsimilarity: between 1 and 2";
        /// Payload per packet.
        payload: Bytes = (Bytes(972)), in Range::between(1.0, 60_000.0), from "1000 B on the wire";
    }
}

/// Maximum of the mean number of on-periods per packet.
const MAX_PERIODS: f64 = 1000.0;

fn check(p: &OnOff, path: &str) -> Result<(), Invalid> {
    let stretches = interval(p.rate, p.payload, p.headers).seconds() / p.on.seconds();
    if stretches > MAX_PERIODS {
        let problem =
            format!("is too short for the rate: {stretches:.0} on-periods per packet, above {MAX_PERIODS}");
        return Err(Invalid::new(&join(path, "on"), &p.on.write(), problem).remedy("raise on or the rate"));
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

/// State of the generator.
#[derive(Debug)]
struct Stretches {
    mean: [Duration; 2],
    lengths: Lengths,
    shape: f64,
    interval: Duration,
    /// Remaining time of the current on-period.
    left: Duration,
    /// True after the first packet, which leaves at the start.
    begun: bool,
    payload: u16,
    random: Stream,
}

impl Stretches {
    /// Create a generator at the beginning of an on-period.
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
        // The length is sampled by inversion (Devroye 1986, II.2) of 1 − u, which is above 0.
        Duration::from_seconds(match self.lengths {
            Lengths::Constant => mean,
            Lengths::Exponential => -mean * libm::log1p(-u),
            Lengths::Pareto => mean * (self.shape - 1.0) / self.shape * libm::pow(1.0 - u, -1.0 / self.shape),
        })
    }

    /// Return the time from the previous packet to the next packet.
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
