//! Distributions that are given by points of their cumulative distribution functions.

use units::words;

use super::Law;

words! {
    /// Method of interpolation between two points of a cumulative distribution function.
    pub enum Between {
        /// Values between two points are uniformly distributed.
        Linear = "linear",
        /// The logarithms of values between two points are uniformly distributed.
        Log = "log",
        /// No interpolation: each value is one of the listed values.
        Steps = "steps",
    }
}

/// A cumulative distribution function that is given by points, each with a value and a probability.
#[derive(Clone, Debug, PartialEq)]
pub struct Empirical {
    points: Vec<[f64; 2]>,
    between: Between,
}

impl Empirical {
    /// Create a distribution. From point to point, values and probabilities must not decrease, and
    /// the last probability must be 1.
    pub fn new(points: Vec<[f64; 2]>, between: Between) -> Self {
        Empirical { points, between }
    }

    /// Return all intervals between neighbouring points, each with its two values and its
    /// probability. The first interval begins and ends at the value of the first point.
    fn stretches(&self) -> impl Iterator<Item = ([f64; 2], f64)> {
        let [first, probability] = self.points[0];
        let rest = self.points.windows(2).map(|p| ([p[0][0], p[1][0]], p[1][1] - p[0][1]));
        std::iter::once(([first, first], probability)).chain(rest)
    }

    /// Return the value at a given fraction of an interval between two values.
    fn at(&self, [a, b]: [f64; 2], way: f64) -> f64 {
        match self.between {
            Between::Linear => a + (b - a) * way,
            Between::Log => a * libm::pow(b / a, way),
            Between::Steps => b,
        }
    }

    /// Return the fraction of an interval between two values at which the value x lies.
    fn way(&self, [a, b]: [f64; 2], x: f64) -> f64 {
        match self.between {
            Between::Linear => (x - a) / (b - a),
            Between::Log => libm::log(x / a) / libm::log(b / a),
            Between::Steps => 0.0,
        }
    }

    /// Return the mean of the values in the interval between two points.
    fn middle(&self, [a, b]: [f64; 2]) -> f64 {
        match self.between {
            Between::Linear => (a + b) / 2.0,
            Between::Log if a < b => (b - a) / libm::log(b / a),
            Between::Log | Between::Steps => b,
        }
    }
}

impl Law for Empirical {
    fn mean(&self) -> f64 {
        self.stretches().map(|(values, probability)| probability * self.middle(values)).sum()
    }
    fn quantile(&self, p: f64) -> f64 {
        let behind = self.points.partition_point(|point| point[1] < p);
        let Some(&[b, to]) = self.points.get(behind) else { return self.points[self.points.len() - 1][0] };
        match behind.checked_sub(1).map(|before| self.points[before]) {
            Some([a, from]) => self.at([a, b], (p - from) / (to - from)),
            None => b,
        }
    }
    fn survival(&self, x: f64) -> f64 {
        let behind = self.points.partition_point(|point| point[0] <= x);
        let Some(&[b, to]) = self.points.get(behind) else { return 0.0 };
        match behind.checked_sub(1).map(|before| self.points[before]) {
            Some([a, from]) => 1.0 - from - (to - from) * self.way([a, b], x),
            None => 1.0,
        }
    }
    fn above(&self, x: f64) -> f64 {
        let part = |([a, b], probability): ([f64; 2], f64)| {
            if x >= b {
                0.0
            } else if x < a || a == b || self.between == Between::Steps {
                probability * self.middle([a, b])
            } else {
                probability * (1.0 - self.way([a, b], x)) * self.middle([x, b])
            }
        };
        self.stretches().map(part).sum()
    }
}
