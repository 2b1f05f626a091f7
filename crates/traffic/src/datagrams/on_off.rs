//! Datagrams at a constant rate during on-periods, which are separated by silent off-periods.
//!
//! Many sources whose periods have heavy-tailed lengths together produce self-similar traffic
//! (Willinger, Taqqu, Sherman & Wilson 1997, `willinger1997selfsimilarity`). A packet is sent
//! whenever the sum of the on-time since the previous packet reaches one interval. The mean rate is
//! therefore rate · on/(on + off), even if an on-period is shorter than an interval.

use engine::Stream;
use units::param::{Invalid, join};
use units::{Bytes, Duration, Range, Rate, Read, words};

use super::emitter::{Common, Datagrams, Gaps, datagrams, interval};

words! {
    /// Distribution of the lengths of on-periods and off-periods, given their mean.
    pub enum Lengths {
        /// Exponential lengths.
        Exponential = "exponential",
        /// Pareto lengths. If `shape` is below 2, the variance of the lengths is infinite.
        Pareto = "pareto",
        /// Equal lengths.
        Constant = "constant",
    }
}

datagrams! {
    /// Datagrams at a constant bit rate during on-periods, which are separated by silent
    /// off-periods. The flow begins with an on-period.
    pub struct OnOff: "on_off", checked by check {
        /// Rate on the wire during an on-period, including the headers.
        rate: Rate = required, in Range::ANY, from "";
        /// Mean length of an on-period.
        on: Duration = required, in Range::above(0.0), from "";
        /// Mean length of an off-period.
        off: Duration = required, in Range::at_least(0.0), from "";
        /// Distribution of the lengths of on-periods and off-periods.
        lengths: Lengths = (Lengths::Exponential), in Range::ANY, from "";
        /// Tail exponent of the lengths, if they have a Pareto distribution.
        shape: f64 = (1.5), in Range::between(1.01, 100.0), from "willinger1997selfsimilarity: between 1 and 2";
        /// Payload per packet.
        payload: Bytes = (Bytes(972)), in Range::between(1.0, 60_000.0), from "1000 B per packet on the wire";
    }
}

/// Maximum average number of on-periods from one packet to the next.
const MAX_PERIODS: f64 = 1000.0;

fn check(p: &OnOff, path: &str) -> Result<(), Invalid> {
    let stretches = interval(p.rate, p.payload, p.headers).seconds() / p.on.seconds();
    if stretches > MAX_PERIODS {
        let problem = format!(
            "is too short for the rate: a packet would take {stretches:.0} on-periods on average, and \
             the maximum is {MAX_PERIODS}"
        );
        return Err(Invalid::new(&join(path, "on"), &p.on.write(), problem)
            .remedy("use longer on-periods or a higher rate"));
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
    /// Remaining length of the current on-period.
    left: Duration,
    /// True after the first packet, which is sent at the start of the flow.
    begun: bool,
    payload: u16,
    random: Stream,
}

impl Stretches {
    /// Create a generator that is at the beginning of an on-period.
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
        // The length is sampled by inversion (Devroye 1986, II.2) from 1 − u instead of the uniform
        // random number u, because 1 − u is above 0.
        Duration::from_seconds(match self.lengths {
            Lengths::Constant => mean,
            Lengths::Exponential => -mean * libm::log1p(-u),
            Lengths::Pareto => mean * (self.shape - 1.0) / self.shape * libm::pow(1.0 - u, -1.0 / self.shape),
        })
    }

    /// Return the interval from the previous packet to the next packet.
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
