//! Definition of the keys of all distributions, for each type of quantity: a size, a time span or a
//! number.

use units::param::{Invalid, Json, Renamed, choice_schema, page, split_kind, with_kind};
use units::{Params, Range, Read, params};

use super::amount::{Amount, base};
use super::points::Points;
use super::{Quantity, check, law};

/// Former names of the keys that give the bounds of a distribution.
const RENAMED_BOUNDS: &[Renamed] = &[Renamed::key("least", "min"), Renamed::key("most", "max")];

params! {
    /// A constant. A constant value. In a scenario, a value alone has the same meaning as the table
    /// of the constant distribution.
    pub struct Constant<A: Amount>: "constant" {
        /// Value of the constant.
        value: A = required, in A::VALUES, from "";
    }
}

params! {
    /// The uniform distribution between a minimum and a maximum.
    pub struct Uniform<A: Amount>: "uniform", checked by Uniform::check, renamed by RENAMED_BOUNDS {
        /// Minimum.
        min: A = required, in A::VALUES, from "";
        /// Maximum.
        max: A = required, in A::VALUES, from "";
    }
}

params! {
    /// The exponential distribution: P(X > x) = exp(−x/mean).
    pub struct Exponential<A: Amount>: "exponential" {
        /// Mean of the distribution, before the cap applies.
        mean: A::Mean = required, in A::MEANS, from "";
        /// Maximum. Values above the cap are replaced by the cap. If the cap is absent, the values
        /// are unlimited.
        cap: Option<A> = (None), in A::VALUES, from "";
    }
}

params! {
    /// The lognormal distribution: the logarithm of the value is normally distributed. Values
    /// outside the bounds are sampled again.
    pub struct LogNormal<A: Amount>: "lognormal", checked by LogNormal::check, renamed by RENAMED_BOUNDS {
        /// Mean of the distribution, before the bounds apply.
        mean: A::Mean = required, in A::MEANS, from "";
        /// Standard deviation of the natural logarithm of the value.
        sigma: f64 = (1.0), in Range::above_to(0.0, 10.0), from "";
        /// Minimum. If the minimum is absent, values may be arbitrarily small.
        min: Option<A> = (None), in A::VALUES, from "";
        /// Maximum. If the maximum is absent, the values are unlimited.
        max: Option<A> = (None), in A::VALUES, from "";
    }
}

params! {
    /// The Weibull distribution: P(X > x) = exp(−(x/scale)^shape). With shape 1, the Weibull
    /// distribution is the exponential distribution. With a shape below 1, the Weibull distribution
    /// has a heavier tail than the exponential distribution.
    pub struct Weibull<A: Amount>: "weibull" {
        /// Mean: scale · Γ(1 + 1/shape).
        mean: A::Mean = required, in A::MEANS, from "";
        /// Exponent.
        shape: f64 = required, in Range::between(0.1, 100.0), from "";
    }
}

params! {
    /// The Pareto distribution, which has a heavy tail: P(X > x) = (k/x)^shape. The minimum k of
    /// the Pareto distribution is mean · (shape − 1)/shape.
    pub struct Pareto<A: Amount>: "pareto", checked by Pareto::check {
        /// Mean.
        mean: A::Mean = required, in A::MEANS, from "";
        /// Tail exponent. If the shape is below 2, the variance is infinite, so the mean of a
        /// sample converges slowly.
        shape: f64 = (1.2), in Range::above_to(1.0, 100.0), from "crovella1997web: between 1 and 2 for files on the web";
    }
}

params! {
    /// The bounded Pareto distribution, whose values have a maximum. Values above the maximum are
    /// sampled again.
    pub struct BoundedPareto<A: Amount>: "bounded_pareto", checked by BoundedPareto::check, renamed by RENAMED_BOUNDS {
        /// Minimum.
        min: A = required, in A::MEANS, from "";
        /// Maximum.
        max: A = required, in A::MEANS, from "";
        /// Tail exponent.
        shape: f64 = (1.2), in Range::between(0.01, 100.0), from "crovella1997web: between 1 and 2 for files on the web";
    }
}

params! {
    /// The Lomax distribution (Pareto distribution of the second kind), whose values begin at 0:
    /// P(X > x) = (1 + x/scale)^−shape.
    pub struct Lomax<A: Amount>: "lomax" {
        /// Mean: scale/(shape − 1).
        mean: A::Mean = required, in A::MEANS, from "";
        /// Tail exponent.
        shape: f64 = (1.2), in Range::above_to(1.0, 100.0), from "crovella1997web: between 1 and 2 for files on the web";
    }
}

params! {
    /// A distribution that is given by points of its cumulative distribution function, for example
    /// a measured distribution.
    pub struct Empirical<A: Amount>: "empirical", checked by Empirical::check {
        /// Points of the cumulative distribution function: a list of [value, probability] pairs, or
        /// the name of a text file with a value and a probability on each line. In a file, the
        /// values are in bytes, in seconds, or numbers without a unit. The values and the
        /// probabilities must not decrease from point to point, and the last probability must be 1.
        /// The probability of the first value is the first probability in the list. In a file of
        /// points, the text after # is a comment. File names are relative to the folder in which
        /// aqmlab runs.
        cdf: Points<A> = required, in Range::ANY, from "";
        /// Interpolation between the points.
        between: law::Between = (law::Between::Linear), in Range::ANY, from "";
    }
}

params! {
    /// A mixture: each value comes from one of several distributions, which is chosen at random.
    pub struct Mixture<A: Amount>: "mixture", checked by Mixture::check {
        /// The distributions of a mixture and their weights, as a list of tables { weight, of }.
        parts: Vec<Part<A>> = required, in Range::ANY, from "";
    }
}

params! {
    /// A component of a mixture of distributions.
    pub struct Part<A: Amount>: "part" {
        /// Weight. The probability of the component is its weight divided by the sum of the weights
        /// of all components.
        weight: f64 = required, in Range::above_to(0.0, 1e12), from "";
        /// A quantity in a scenario: a constant value, or the table of a distribution.
        of: Quantity<A> = required, in Range::ANY, from "";
    }
}

params! {
    /// The geometric distribution: the number of trials up to and including the first success. The
    /// number of trials N has the distribution P(N > n) = (1 − 1/mean)^n for whole numbers n from 1
    /// on.
    pub struct Geometric: "geometric" {
        /// Mean.
        mean: f64 = required, in Range::between(1.0, 4e9), from "";
    }
}

impl<A: Amount> Uniform<A> {
    fn check(&self, path: &str) -> Result<(), Invalid> {
        check::rises(&self.min, &self.max, path)
    }
}

impl<A: Amount> BoundedPareto<A> {
    fn check(&self, path: &str) -> Result<(), Invalid> {
        check::rises(&self.min, &self.max, path)
    }
}

impl<A: Amount> LogNormal<A> {
    fn law(&self) -> law::LogNormal {
        law::LogNormal::new(base(&self.mean), self.sigma, self.min.number(), self.max.number())
    }

    fn check(&self, path: &str) -> Result<(), Invalid> {
        if let (Some(min), Some(max)) = (&self.min, &self.max) {
            check::rises(min, max, path)?;
        }
        check::leaves_enough(self.law().inside(), &self.mean, path)
    }
}

impl<A: Amount> Pareto<A> {
    fn law(&self) -> law::Pareto {
        law::Pareto::new(base(&self.mean), self.shape)
    }

    fn check(&self, path: &str) -> Result<(), Invalid> {
        check::is_whole(self.law().min(), &self.mean, path)
    }
}

impl<A: Amount> Empirical<A> {
    fn check(&self, path: &str) -> Result<(), Invalid> {
        check::can_be_logarithms(&self.cdf.0[0].0, self.between, path)
    }
}

impl<A: Amount> Mixture<A> {
    fn check(&self, path: &str) -> Result<(), Invalid> {
        check::has_parts(self.parts.len(), path)
    }
}

/// Distribution of a quantity that has the Rust type `A`.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind<A: Amount> {
    /// See [`Constant`].
    Constant(Constant<A>),
    /// See [`Uniform`].
    Uniform(Uniform<A>),
    /// See [`Exponential`].
    Exponential(Exponential<A>),
    /// See [`LogNormal`].
    LogNormal(LogNormal<A>),
    /// See [`Weibull`].
    Weibull(Weibull<A>),
    /// See [`Pareto`].
    Pareto(Pareto<A>),
    /// See [`BoundedPareto`].
    BoundedPareto(BoundedPareto<A>),
    /// See [`Lomax`].
    Lomax(Lomax<A>),
    /// See [`Empirical`].
    Empirical(Empirical<A>),
    /// See [`Mixture`].
    Mixture(Mixture<A>),
    /// See [`Geometric`].
    Geometric(Geometric),
}

/// A function that reads the keys of a kind of distribution.
type Reader<A> = Box<dyn Fn(&Json, &str) -> Result<Kind<A>, Invalid>>;

/// A row of the table of distributions: the name of a kind, the function that reads its keys, its
/// schema and its manual page.
struct Row<A: Amount> {
    key: &'static str,
    read: Reader<A>,
    schema: fn() -> Json,
    page: fn() -> Json,
}

fn row<A: Amount, T: Params + 'static>(kind: fn(T) -> Kind<A>) -> Row<A> {
    let read = move |value: &Json, path: &str| T::read(value, path).map(kind);
    Row { key: T::KEY, read: Box::new(read), schema: T::schema, page: page::<T> }
}

impl<A: Amount> Kind<A> {
    /// Return the table of all kinds of distributions.
    fn table() -> Vec<Row<A>> {
        let mut rows = vec![
            row(Kind::Constant),
            row(Kind::Uniform),
            row(Kind::Exponential),
            row(Kind::LogNormal),
            row(Kind::Weibull),
            row(Kind::Pareto),
            row(Kind::BoundedPareto),
            row(Kind::Lomax),
            row(Kind::Empirical),
            row(Kind::Mixture),
        ];
        if A::COUNTS {
            rows.push(row(Kind::Geometric));
        }
        rows
    }

    /// Return the distribution as a probability law in the base unit.
    pub fn law(&self) -> law::AnyLaw {
        match self {
            Kind::Constant(k) => law::Constant(base(&k.value)).into(),
            Kind::Uniform(k) => law::Uniform { min: base(&k.min), max: base(&k.max) }.into(),
            Kind::Exponential(k) => {
                let cap = k.cap.as_ref().map_or(f64::INFINITY, base);
                law::Exponential { mean: base(&k.mean), cap }.into()
            }
            Kind::LogNormal(k) => k.law().into(),
            Kind::Weibull(k) => law::Weibull::new(base(&k.mean), k.shape).into(),
            Kind::Pareto(k) => k.law().into(),
            Kind::BoundedPareto(k) => law::BoundedPareto::new(base(&k.min), base(&k.max), k.shape).into(),
            Kind::Lomax(k) => law::Lomax::new(base(&k.mean), k.shape).into(),
            Kind::Empirical(k) => law::Empirical::new(k.cdf.numbers(), k.between).into(),
            Kind::Mixture(k) => {
                let parts = k.parts.iter().map(|part| (part.weight, part.of.law.clone()));
                law::Mixture::new(parts.collect()).into()
            }
            Kind::Geometric(k) => law::Geometric::new(k.mean).into(),
        }
    }

    /// Return the manual pages of all kinds of distributions, and of the components of a mixture.
    pub fn pages() -> Vec<Json> {
        let mut pages: Vec<Json> = Self::table().iter().map(|row| (row.page)()).collect();
        pages.push(page::<Part<A>>());
        pages
    }
}

impl<A: Amount> Read for Kind<A> {
    fn read(value: &Json, path: &str) -> Result<Self, Invalid> {
        let table = Self::table();
        let keys: Vec<&str> = table.iter().map(|row| row.key).collect();
        let (kind, rest) = split_kind(value, path, &keys)?;
        let Some(row) = table.iter().find(|row| row.key == kind) else {
            unreachable!("the function split_kind returns the name of a known kind")
        };
        (row.read)(&rest, path)
    }

    fn write(&self) -> Json {
        match self {
            Kind::Constant(k) => with_kind(k),
            Kind::Uniform(k) => with_kind(k),
            Kind::Exponential(k) => with_kind(k),
            Kind::LogNormal(k) => with_kind(k),
            Kind::Weibull(k) => with_kind(k),
            Kind::Pareto(k) => with_kind(k),
            Kind::BoundedPareto(k) => with_kind(k),
            Kind::Lomax(k) => with_kind(k),
            Kind::Empirical(k) => with_kind(k),
            Kind::Mixture(k) => with_kind(k),
            Kind::Geometric(k) => with_kind(k),
        }
    }

    fn schema() -> Json {
        choice_schema(Self::table().iter().map(|row| (row.key, (row.schema)())).collect())
    }
}
