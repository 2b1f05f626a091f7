//! The kinds of distributions, and what is made of them for each quantity that is drawn. They are defined once, in a macro, as only
//! the units of their keys differ.

/// Defines a type of what is drawn, and a module with the structs of its kinds: the module, the type, its amount and mean, in
/// which range these are, and kinds that it has beyond the others.
macro_rules! family {
    (
        $(#[doc = $doc:literal])+
        mod $family:ident, $Drawn:ident of $Amount:ty, mean $Mean:ty;
        amount in $amounts:expr, mean in $means:expr $(, and $Extra:ident)*
    ) => {
        pub mod $family {
            //! The kinds of distributions for a quantity.

            use units::param::{Invalid, Json};
            use units::{Range, Read, choice, params};

            use $crate::distribution::amount::base;
            use $crate::distribution::{check, law, points::Points};

            params! {
                /// Always the same: what a value alone says too.
                pub struct Constant: "constant" {
                    /// The value.
                    value: $Amount = required, in $amounts, from "";
                }
            }

            params! {
                /// Every value between two is equally likely.
                pub struct Uniform: "uniform", checked by Uniform::check {
                    /// Least value.
                    least: $Amount = required, in $amounts, from "";
                    /// Greatest value.
                    most: $Amount = required, in $amounts, from "";
                }
            }

            params! {
                /// Without memory: P(X > x) = exp(−x/mean).
                pub struct Exponential: "exponential" {
                    /// Mean, without the cap.
                    mean: $Mean = required, in $means, from "";
                    /// Greatest value, which stands for all that exceed it; absent: there is none.
                    cap: Option<$Amount> = (None), in $amounts, from "";
                }
            }

            params! {
                /// The logarithm is normally distributed. With bounds, what falls outside them is drawn again.
                pub struct LogNormal: "lognormal", checked by LogNormal::check {
                    /// Mean, before the bounds are set.
                    mean: $Mean = required, in $means, from "";
                    /// Standard deviation of the natural logarithm.
                    sigma: f64 = (1.0), in Range::above_to(0.0, 10.0), from "";
                    /// Least value; absent: there is none.
                    least: Option<$Amount> = (None), in $amounts, from "";
                    /// Greatest value; absent: there is none.
                    most: Option<$Amount> = (None), in $amounts, from "";
                }
            }

            params! {
                /// P(X > x) = exp(−(x/scale)^shape): below shape 1 a tail heavier than that of the exponential, which is shape 1.
                pub struct Weibull: "weibull" {
                    /// Mean: scale Γ(1 + 1/shape).
                    mean: $Mean = required, in $means, from "";
                    /// Exponent.
                    shape: f64 = required, in Range::between(0.1, 100.0), from "";
                }
            }

            params! {
                /// With a heavy tail: P(X > x) = (k/x)^shape from k = mean (shape − 1)/shape on.
                pub struct Pareto: "pareto", checked by Pareto::check {
                    /// Mean.
                    mean: $Mean = required, in $means, from "";
                    /// Exponent of the tail; below 2 the variance is infinite, and a sample's mean comes near only slowly.
                    shape: f64 = (1.2), in Range::above_to(1.0, 100.0), from "crovella1997web: between 1 and 2 for files of the web";
                }
            }

            params! {
                /// A Pareto law with an upper bound: what falls above it is drawn again.
                pub struct BoundedPareto: "bounded_pareto", checked by BoundedPareto::check {
                    /// Least value.
                    least: $Amount = required, in $means, from "";
                    /// Greatest value.
                    most: $Amount = required, in $means, from "";
                    /// Exponent of the tail.
                    shape: f64 = (1.2), in Range::between(0.01, 100.0), from "crovella1997web: between 1 and 2 for files of the web";
                }
            }

            params! {
                /// Pareto's law of the second kind, which begins at 0: P(X > x) = (1 + x/scale)^−shape.
                pub struct Lomax: "lomax" {
                    /// Mean: scale/(shape − 1).
                    mean: $Mean = required, in $means, from "";
                    /// Exponent of the tail.
                    shape: f64 = (1.2), in Range::above_to(1.0, 100.0), from "crovella1997web: between 1 and 2 for files of the web";
                }
            }

            params! {
                /// A distribution as it was measured, or given by points of its distribution function.
                pub struct Empirical: "empirical", checked by Empirical::check {
                    /// The points: a list of [value, probability that no more is drawn], or the name of a text file with a value, in bytes,
                    /// seconds or a number, and its probability on each line. Both rise, or stay, from point to point, and the last
                    /// probability is 1. What the first probability leaves below it has the first value. What follows # in a file is not read;
                    /// names are from the folder in which aqmlab runs.
                    cdf: Points<$Amount> = required, in Range::ANY, from "";
                    /// What lies between the points.
                    between: law::Between = (law::Between::Linear), in Range::ANY, from "";
                }
            }

            params! {
                /// One of several distributions, which is drawn first.
                pub struct Mixture: "mixture", checked by Mixture::check {
                    /// The distributions and their weights: a list of { weight, of }.
                    parts: Vec<Part> = required, in Range::ANY, from "";
                }
            }

            params! {
                /// A distribution in a mixture.
                pub struct Part: "part" {
                    /// Its weight; its share of what is drawn is this of the sum of all.
                    weight: f64 = required, in Range::above_to(0.0, 1e12), from "";
                    /// What is drawn: a value, or a table of a distribution.
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
                /// The law of it, in the base unit.
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

            /// The manual page of each kind, and of the parts of a mixture.
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
                /// Always this.
                pub fn fixed(value: $Amount) -> Self {
                    Kind::Constant(Constant { value }).into()
                }

                /// Its value, if that is always the same.
                pub fn constant(&self) -> Option<$Amount> {
                    if let Kind::Constant(constant) = &self.kind { Some(constant.value) } else { None }
                }

                /// What it means, in JSON Schema; elsewhere stands a reference to it, since a mixture holds others.
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
