//! Sizes: fixed, or drawn from a distribution given by its mean.

use units::param::{Invalid, Json, join};
use units::{Bytes, Range, Read, choice, params};

params! {
    /// Sizes with a memoryless tail.
    pub struct Exponential: "exponential" {
        /// Mean size.
        mean: Bytes = required, in Range::between(1.0, 1e12), from "";
    }
}

params! {
    /// Sizes with a heavy tail: P(X > x) = (k/x)^shape from k = mean (shape − 1)/shape on.
    pub struct Pareto: "pareto", checked by check_pareto {
        /// Mean size.
        mean: Bytes = required, in Range::between(1.0, 1e12), from "";
        /// Exponent of the tail; below 2 the variance is infinite, and a sample's mean comes near only slowly.
        shape: f64 = (1.2), in Range::above_to(1.0, 100.0), from "crovella1997web: between 1 and 2 for files of the web";
    }
}

params! {
    /// Sizes whose logarithm is normally distributed.
    pub struct LogNormal: "lognormal" {
        /// Mean size.
        mean: Bytes = required, in Range::between(1.0, 1e12), from "";
        /// Standard deviation of the natural logarithm.
        sigma: f64 = (1.0), in Range::above_to(0.0, 10.0), from "";
    }
}

fn check_pareto(p: &Pareto, path: &str) -> Result<(), Invalid> {
    if p.least() < 1.0 {
        let problem = format!("makes the least size {:.3} B, less than a byte", p.least());
        return Err(
            Invalid::new(&join(path, "mean"), &p.mean.write(), problem).remedy("raise the mean or the shape")
        );
    }
    Ok(())
}

impl Pareto {
    fn least(&self) -> f64 {
        self.mean.0 as f64 * (self.shape - 1.0) / self.shape
    }
}

choice! {
    /// A distribution of sizes.
    pub enum Distribution {
        Exponential(Exponential),
        Pareto(Pareto),
        LogNormal(LogNormal),
    }
}

/// A size: always the same (`"7.2 kB"`), or drawn (`{ kind = "pareto", mean = "7.2 kB" }`).
#[derive(Clone, Debug, PartialEq)]
pub enum Size {
    /// Always this.
    Fixed(Bytes),
    /// Drawn anew each time.
    Drawn(Distribution),
}

/// The largest size that is drawn.
const LARGEST: f64 = 1e15;

impl Size {
    /// The size that two uniform numbers in [0, 1) give, in whole bytes, at least one.
    pub fn draw(&self, [u, v]: [f64; 2]) -> Bytes {
        // Inversion (Devroye 1986, II.2), of 1 − u, which is above 0.
        let x = match self {
            Size::Fixed(size) => return *size,
            Size::Drawn(Distribution::Exponential(d)) => -(d.mean.0 as f64) * libm::log1p(-u),
            Size::Drawn(Distribution::Pareto(d)) => d.least() * libm::pow(1.0 - u, -1.0 / d.shape),
            Size::Drawn(Distribution::LogNormal(d)) => {
                // Box & Muller 1958; the mean is exp(µ + σ²/2).
                let normal = libm::sqrt(-2.0 * libm::log1p(-u)) * libm::cos(std::f64::consts::TAU * v);
                d.mean.0 as f64 * libm::exp(d.sigma * normal - d.sigma * d.sigma / 2.0)
            }
        };
        Bytes(x.round().clamp(1.0, LARGEST) as u64)
    }
}

impl Read for Size {
    const UNIT: &'static str = Bytes::UNIT;
    const EXAMPLE: &'static str = Bytes::EXAMPLE;
    fn read(value: &Json, path: &str) -> Result<Self, Invalid> {
        if value.is_object() {
            return Distribution::read(value, path).map(Size::Drawn);
        }
        Bytes::read(value, path).map(Size::Fixed)
    }
    fn write(&self) -> Json {
        match self {
            Size::Fixed(size) => size.write(),
            Size::Drawn(distribution) => distribution.write(),
        }
    }
    fn schema() -> Json {
        serde_json::json!({"anyOf": [Bytes::schema(), Distribution::schema()]})
    }
    fn number(&self) -> Option<f64> {
        match self {
            Size::Fixed(size) => size.number(),
            Size::Drawn(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn size(value: Json) -> Size {
        Size::read(&value, "size").unwrap()
    }

    /// The n midpoints of [0, 1), so that moments come out as integrals.
    fn grid(n: u32) -> impl Iterator<Item = f64> {
        (0..n).map(move |i| (f64::from(i) + 0.5) / f64::from(n))
    }

    #[test]
    fn a_fixed_size_is_what_it_says() {
        assert_eq!(size(json!("7.2 kB")).draw([0.3, 0.9]), Bytes(7200));
    }

    /// Medians in closed form: m ln 2; k 2^(1/shape); m exp(−σ²/2).
    #[test]
    fn medians_are_those_of_the_law() {
        let median = |value| {
            let size = size(value);
            let mut drawn: Vec<u64> =
                grid(300).flat_map(|u| grid(300).map(move |v| [u, v])).map(|u| size.draw(u).0).collect();
            drawn.sort_unstable();
            drawn[drawn.len() / 2] as f64
        };
        let near =
            |found: f64, expected: f64| assert!((found / expected - 1.0).abs() < 0.01, "{found} {expected}");
        near(median(json!({"kind": "exponential", "mean": "100 kB"})), 1e5 * std::f64::consts::LN_2);
        let k = 1e5 * 0.2 / 1.2;
        near(median(json!({"kind": "pareto", "mean": "100 kB", "shape": 1.2})), k * 2f64.powf(1.0 / 1.2));
        near(median(json!({"kind": "lognormal", "mean": "100 kB", "sigma": 1.5})), 1e5 * (-1.125f64).exp());
    }

    /// Means by numerical integration, where the tail is light enough for it.
    #[test]
    fn means_are_those_asked_for() {
        for value in [
            json!({"kind": "exponential", "mean": "100 kB"}),
            json!({"kind": "pareto", "mean": "100 kB", "shape": 3.0}),
            json!({"kind": "lognormal", "mean": "100 kB", "sigma": 0.5}),
        ] {
            let size = size(value);
            let n = 1000;
            let sum: f64 =
                grid(n).flat_map(|u| grid(n).map(move |v| [u, v])).map(|u| size.draw(u).0 as f64).sum();
            let mean = sum / f64::from(n * n);
            assert!((mean / 1e5 - 1.0).abs() < 0.005, "{mean}");
        }
    }

    #[test]
    fn refusals_name_the_key() {
        let e = |v| Size::read(&v, "size").unwrap_err().to_string();
        assert!(
            e(json!({"kind": "pareto", "mean": "7 kB", "shape": 1.0}))
                .contains("size.shape: 1.0 must be above 1")
        );
        assert!(
            e(json!({"kind": "pareto", "mean": "2 B"})).contains("size.mean: \"2 B\" makes the least size")
        );
        assert!(e(json!({"kind": "normal"})).contains("size.kind: \"normal\" is not known"));
        assert!(e(json!({"kind": "exponential"})).contains("size.mean: is missing"));
        assert_eq!(
            Size::read(&size(json!({"kind": "pareto", "mean": "7 kB"})).write(), "").unwrap(),
            size(json!({"kind": "pareto", "mean": "7 kB"}))
        );
    }
}
