//! The kinds of distributions, and one family of types per quantity that can be drawn. A macro
//! defines all families, because they differ only in the units of their keys.

/// Define a quantity that can be drawn, and a module with the parameters of its distributions. The
/// arguments are the module, the type, the type of a value, that of a mean, the ranges of both, and
/// the kinds that only this family has.
macro_rules! family {
    (
        $(#[doc = $doc:literal])+
        mod $family:ident, $Drawn:ident of $Amount:ty, mean $Mean:ty;
        amount in $amounts:expr, mean in $means:expr $(, and $Extra:ident)*
    ) => {
        pub mod $family {
            //! The distributions of one quantity.

            use units::param::{Invalid, Json};
            use units::{Range, Read, choice, params};

            use $crate::distribution::amount::base;
            use $crate::distribution::{check, law, points::Points};

            params! {
                /// A constant. A plain value means the same.
                pub struct Constant: "constant" {
                    /// The value.
                    value: $Amount = required, in $amounts, from "";
                }
            }

            params! {
                /// The uniform distribution between two values.
                pub struct Uniform: "uniform", checked by Uniform::check {
                    /// Minimum.
                    least: $Amount = required, in $amounts, from "";
                    /// Maximum.
                    most: $Amount = required, in $amounts, from "";
                }
            }

            params! {
                /// The exponential distribution: P(X > x) = exp(−x/mean).
                pub struct Exponential: "exponential" {
                    /// Mean, before the cap applies.
                    mean: $Mean = required, in $means, from "";
                    /// Maximum. Larger values are replaced by the cap. If absent, values are
                    /// unlimited.
                    cap: Option<$Amount> = (None), in $amounts, from "";
                }
            }

            params! {
                /// The lognormal distribution: the logarithm is normally distributed. Values
                /// outside the bounds are drawn again.
                pub struct LogNormal: "lognormal", checked by LogNormal::check {
                    /// Mean, before the bounds apply.
                    mean: $Mean = required, in $means, from "";
                    /// Standard deviation of the natural logarithm.
                    sigma: f64 = (1.0), in Range::above_to(0.0, 10.0), from "";
                    /// Minimum. If absent, values may be arbitrarily small.
                    least: Option<$Amount> = (None), in $amounts, from "";
                    /// Maximum. If absent, values are unlimited.
                    most: Option<$Amount> = (None), in $amounts, from "";
                }
            }

            params! {
                /// The Weibull distribution: P(X > x) = exp(−(x/scale)^shape). Shape 1 is the
                /// exponential distribution, and a shape below 1 has a heavier tail.
                pub struct Weibull: "weibull" {
                    /// Mean: scale · Γ(1 + 1/shape).
                    mean: $Mean = required, in $means, from "";
                    /// Exponent.
                    shape: f64 = required, in Range::between(0.1, 100.0), from "";
                }
            }

            params! {
                /// The Pareto distribution, which has a heavy tail: P(X > x) = (k/x)^shape for x
                /// above the minimum k = mean · (shape − 1)/shape.
                pub struct Pareto: "pareto", checked by Pareto::check {
                    /// Mean.
                    mean: $Mean = required, in $means, from "";
                    /// Tail exponent. Below 2 the variance is infinite, and the mean of a sample
                    /// converges slowly.
                    shape: f64 = (1.2), in Range::above_to(1.0, 100.0), from "crovella1997web: between 1 and 2 for files of the web";
                }
            }

            params! {
                /// The Pareto distribution with a maximum. Values above the maximum are drawn
                /// again.
                pub struct BoundedPareto: "bounded_pareto", checked by BoundedPareto::check {
                    /// Minimum.
                    least: $Amount = required, in $means, from "";
                    /// Maximum.
                    most: $Amount = required, in $means, from "";
                    /// Tail exponent.
                    shape: f64 = (1.2), in Range::between(0.01, 100.0), from "crovella1997web: between 1 and 2 for files of the web";
                }
            }

            params! {
                /// The Lomax distribution (Pareto distribution of the second kind), which begins at
                /// 0: P(X > x) = (1 + x/scale)^−shape.
                pub struct Lomax: "lomax" {
                    /// Mean: scale/(shape − 1).
                    mean: $Mean = required, in $means, from "";
                    /// Tail exponent.
                    shape: f64 = (1.2), in Range::above_to(1.0, 100.0), from "crovella1997web: between 1 and 2 for files of the web";
                }
            }

            params! {
                /// A measured distribution, or any other that is given by points of its cumulative
                /// distribution function.
                pub struct Empirical: "empirical", checked by Empirical::check {
                    /// Points of the cumulative distribution function: a list of [value,
                    /// probability] pairs, or the name of a text file with a value and a
                    /// probability on each line. Values in a file are in bytes, seconds or plain
                    /// numbers. Values and probabilities must not decrease, and the last
                    /// probability is 1. The first value has the first probability. In a file, text
                    /// after # is a comment. File names are relative to the folder in which aqmlab
                    /// runs.
                    cdf: Points<$Amount> = required, in Range::ANY, from "";
                    /// Interpolation between the points.
                    between: law::Between = (law::Between::Linear), in Range::ANY, from "";
                }
            }

            params! {
                /// A mixture: one of several distributions, chosen at random for each value.
                pub struct Mixture: "mixture", checked by Mixture::check {
                    /// The distributions and their weights: a list of { weight, of }.
                    parts: Vec<Part> = required, in Range::ANY, from "";
                }
            }

            params! {
                /// A component of a mixture.
                pub struct Part: "part" {
                    /// Weight. The probability of the component is its weight divided by the sum of
                    /// all weights.
                    weight: f64 = required, in Range::above_to(0.0, 1e12), from "";
                    /// A value, or the table of a distribution.
                    of: super::$Drawn = required, in Range::ANY, from "";
                }
            }

            choice! {
                /// A distribution.
                pub enum Kind {
                    Constant(Constant),
                    Uniform(Uniform),
                    Exponential(Exponential),
                    LogNormal(LogNormal),
                    Weibull(Weibull),
                    Pareto(Pareto),
                    BoundedPareto(BoundedPareto),
                    Lomax(Lomax),
                    Empirical(Empirical),
                    Mixture(Mixture),
                    $($Extra(super::$Extra),)*
                }
            }

            impl Uniform {
                fn check(&self, path: &str) -> Result<(), Invalid> {
                    check::rises(&self.least, &self.most, path)
                }
            }

            impl BoundedPareto {
                fn check(&self, path: &str) -> Result<(), Invalid> {
                    check::rises(&self.least, &self.most, path)
                }
            }

            impl LogNormal {
                fn law(&self) -> law::LogNormal {
                    law::LogNormal::new(base(&self.mean), self.sigma, self.least.number(), self.most.number())
                }
                fn check(&self, path: &str) -> Result<(), Invalid> {
                    if let (Some(least), Some(most)) = (&self.least, &self.most) {
                        check::rises(least, most, path)?;
                    }
                    check::leaves_enough(self.law().inside(), &self.mean, path)
                }
            }

            impl Pareto {
                fn law(&self) -> law::Pareto {
                    law::Pareto::new(base(&self.mean), self.shape)
                }
                fn check(&self, path: &str) -> Result<(), Invalid> {
                    check::is_whole(self.law().least(), &self.mean, path)
                }
            }

            impl Empirical {
                fn check(&self, path: &str) -> Result<(), Invalid> {
                    check::can_be_logarithms(&self.cdf.0[0].0, self.between, path)
                }
            }

            impl Mixture {
                fn check(&self, path: &str) -> Result<(), Invalid> {
                    check::has_parts(self.parts.len(), path)
                }
            }

            impl Kind {
                /// Return the distribution in the base unit.
                fn law(&self) -> law::AnyLaw {
                    match self {
                        Kind::Constant(k) => law::Constant(base(&k.value)).into(),
                        Kind::Uniform(k) => law::Uniform { least: base(&k.least), most: base(&k.most) }.into(),
                        Kind::Exponential(k) => {
                            let cap = k.cap.as_ref().map_or(f64::INFINITY, base);
                            law::Exponential { mean: base(&k.mean), cap }.into()
                        }
                        Kind::LogNormal(k) => k.law().into(),
                        Kind::Weibull(k) => law::Weibull::new(base(&k.mean), k.shape).into(),
                        Kind::Pareto(k) => k.law().into(),
                        Kind::BoundedPareto(k) => {
                            law::BoundedPareto::new(base(&k.least), base(&k.most), k.shape).into()
                        }
                        Kind::Lomax(k) => law::Lomax::new(base(&k.mean), k.shape).into(),
                        Kind::Empirical(k) => law::Empirical::new(k.cdf.numbers(), k.between).into(),
                        Kind::Mixture(k) => {
                            let parts = k.parts.iter().map(|part| (part.weight, part.of.law.clone()));
                            law::Mixture::new(parts.collect()).into()
                        }
                        $(Kind::$Extra(k) => k.law(),)*
                    }
                }
            }

            /// Return the manual page of each kind, and of the components of a mixture.
            pub fn pages() -> Vec<Json> {
                let mut pages = Kind::pages();
                pages.push(units::param::page::<Part>());
                pages
            }

            $(#[doc = $doc])+
            #[derive(Clone, Debug, PartialEq)]
            pub struct $Drawn {
                pub(super) kind: Kind,
                pub(super) law: law::AnyLaw,
            }

            impl $Drawn {
                /// Return a constant.
                pub fn fixed(value: $Amount) -> Self {
                    Kind::Constant(Constant { value }).into()
                }

                /// Return the value, if it is constant.
                pub fn constant(&self) -> Option<$Amount> {
                    if let Kind::Constant(constant) = &self.kind { Some(constant.value) } else { None }
                }

                /// Return the JSON Schema of this family. Other schemas refer to it, because a
                /// mixture contains distributions of its own family.
                pub fn definition() -> Json {
                    serde_json::json!({"anyOf": [<$Amount>::schema(), Kind::schema()]})
                }
            }

            impl From<Kind> for $Drawn {
                fn from(kind: Kind) -> Self {
                    let law = kind.law();
                    $Drawn { kind, law }
                }
            }

            impl Read for $Drawn {
                const UNIT: &'static str = <$Amount>::UNIT;
                const EXAMPLE: &'static str = <$Amount>::EXAMPLE;
                fn read(value: &Json, path: &str) -> Result<Self, Invalid> {
                    if value.is_object() {
                        return Kind::read(value, path).map(Into::into);
                    }
                    let amount = <$Amount>::read(value, path)?;
                    let amounts: Range = $amounts;
                    amounts.check(&amount, Some(value), path)?;
                    Ok($Drawn::fixed(amount))
                }
                fn write(&self) -> Json {
                    self.constant().map_or_else(|| self.kind.write(), |value| value.write())
                }
                fn schema() -> Json {
                    units::param::reference(stringify!($family))
                }
                fn number(&self) -> Option<f64> {
                    self.constant().and_then(|value| value.number())
                }
            }
        }
    };
}

pub(super) use family;
