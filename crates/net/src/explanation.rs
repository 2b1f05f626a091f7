//! Explanations of drops, marks and changes of cwnd: the rule that fired, and the variables of the
//! algorithm at that time.
//!
//! A queue explains its drops and marks only while a series records the explanations
//! ([`Link::explain`](crate::Link::explain)). Each algorithm declares its rules and its variables
//! once, beside its code, with the macros [`rules!`](crate::rules) and
//! [`variables!`](crate::variables). The reference pages are generated from these declarations.

use units::param::{Json, JsonMap, doc_text};

use crate::why::Why;

/// Rule by which an algorithm drops or marks a packet, or changes a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Name of the rule in result tables.
    pub name: &'static str,
    /// Lines of the description: the condition of the rule.
    pub about: &'static [&'static str],
    /// Source of the rule: key in references.bib and section, or file of another implementation.
    pub source: &'static str,
}

/// Variable of an algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Name of the variable, which is the name of its column in result tables.
    pub name: &'static str,
    /// Unit of the variable.
    pub unit: &'static str,
    /// Lines of the description.
    pub about: &'static [&'static str],
    /// Source of the variable.
    pub source: &'static str,
}

/// Rules and variables of an algorithm.
#[derive(Clone, Copy, Debug)]
pub struct Declared {
    /// Rules of the algorithm.
    pub rules: &'static [Rule],
    /// Variables of the algorithm.
    pub variables: &'static [Variable],
}

impl Rule {
    /// Return the entry of the rule in a manual page.
    pub fn entry(&self) -> Json {
        entry([("name", self.name.into()), ("meaning", doc_text(self.about)), ("source", self.source.into())])
    }
}

impl Variable {
    /// Return the entry of the variable in a manual page.
    pub fn entry(&self) -> Json {
        entry([
            ("name", self.name.into()),
            ("unit", self.unit.into()),
            ("meaning", doc_text(self.about)),
            ("source", self.source.into()),
        ])
    }
}

/// Return a JSON object with these texts.
fn entry<const N: usize>(texts: [(&str, String); N]) -> Json {
    let texts = texts.map(|(key, text)| (key.to_string(), Json::from(text)));
    Json::Object(JsonMap::from_iter(texts))
}

/// Declare the rules of an algorithm as constants of the type [`Rule`], and list them in `RULES`.
///
/// An example is `rules! { /// The average is above maxth. ABOVE_MAXTH = "above-maxth", from
/// "floyd1993red fig. 2"; }`.
#[macro_export]
macro_rules! rules {
    ($( $(#[doc = $doc:literal])+ $RULE:ident = $name:literal, from $source:literal; )+) => {
        $(
            $(#[doc = $doc])+
            pub(crate) const $RULE: $crate::Rule =
                $crate::Rule { name: $name, about: &[$($doc),+], source: $source };
        )+
        /// Rules that this file declares.
        pub(crate) const RULES: &[$crate::Rule] = &[$($RULE),+];
    };
}

/// Declare the variables of an algorithm as a struct with one field of the type `f64` per variable.
///
/// An example is `variables! { /// Variables of RED. pub struct Variables { /// Average queue
/// length. avg in "packets", from "floyd1993red"; } }`. A variable that has no value is NaN.
#[macro_export]
macro_rules! variables {
    (
        $(#[doc = $about:literal])+
        pub struct $Name:ident {
            $( $(#[doc = $doc:literal])+ $variable:ident in $unit:literal, from $source:literal; )+
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct $Name { $( $(#[doc = $doc])+ pub $variable: f64, )+ }

        impl $crate::Variables for $Name {
            const LIST: &'static [$crate::Variable] = &[$( $crate::Variable {
                name: stringify!($variable), unit: $unit, about: &[$($doc),+], source: $source,
            } ),+];

            fn each(&self, see: &mut dyn FnMut(&'static $crate::Variable, f64)) {
                let values = [$(self.$variable),+];
                Self::LIST.iter().zip(values).for_each(|(variable, value)| see(variable, value));
            }
        }
    };
}

/// Values of the variables that the macro [`variables!`](crate::variables) declares.
pub trait Variables {
    /// Variables, in the order of the declaration.
    const LIST: &'static [Variable];
    /// Call the function `see` with each variable and its value.
    fn each(&self, see: &mut dyn FnMut(&'static Variable, f64));
}

rules! {
    /// The buffer had no space for the packet.
    FULL = "buffer-full", from "rfc2309 §1";
    /// The AQM signalled congestion early, at random or by its state.
    EARLY = "early", from "rfc3168 §5";
    /// A value of the AQM exceeded an upper threshold.
    THRESHOLD = "threshold", from "rfc3168 §7";
    /// An impairment of the link lost the packet.
    LOSS = "loss", from "impairments of the link";
    /// The receiver discarded the packet, because its checksum was wrong.
    CORRUPTION = "corruption", from "rfc9293 §3.1";
    /// The link was down.
    OUTAGE = "outage", from "impairments of the link";
    /// A conditioner dropped the packet before the packet reached the queue.
    POLICED = "policed", from "rfc2475 §2.3.3.4";
}

/// Rules of drops and marks for which no algorithm has a rule of its own.
pub const GENERAL_RULES: &[Rule] = RULES;

impl Why {
    /// Return the rule that stands for this reason if the algorithm has no rule of its own.
    pub fn rule(self) -> &'static Rule {
        &GENERAL_RULES[self.index()]
    }
}

/// Explanation of one drop or mark.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    rule: &'static Rule,
    values: Vec<(&'static Variable, f64)>,
}

impl Explanation {
    /// Return the explanation of a drop or mark for which only the reason is known.
    pub fn of(why: Why) -> Self {
        Explanation { rule: why.rule(), values: Vec::new() }
    }

    /// Set the rule.
    pub fn by(&mut self, rule: &'static Rule) -> &mut Self {
        self.rule = rule;
        self
    }

    /// Set the rule of a signal and return the random number `drawn` of the signal. If the packet
    /// was dropped because the buffer was full (`why`), the AQM did not signal the packet: leave
    /// the rule unchanged, and return NaN.
    pub fn drawn(&mut self, why: Why, rule: &'static Rule, drawn: f64) -> f64 {
        if why == Why::Full {
            return f64::NAN;
        }
        self.rule = rule;
        drawn
    }

    /// Add variables with their values.
    pub fn with(&mut self, variables: impl Variables) -> &mut Self {
        variables.each(&mut |variable, value| self.add(variable, value));
        self
    }

    /// Add a variable with its value.
    pub fn add(&mut self, variable: &'static Variable, value: f64) {
        self.values.push((variable, value));
    }

    /// Return the rule.
    pub fn rule(&self) -> &'static Rule {
        self.rule
    }

    /// Return the variables, each with its value.
    pub fn values(&self) -> &[(&'static Variable, f64)] {
        &self.values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    variables! {
        /// Variables of the test.
        pub struct Test {
            /// Average.
            avg in "packets", from "test §1";
            /// Count.
            count in "packets", from "test §2";
        }
    }

    #[test]
    fn each_reason_has_its_rule() {
        assert_eq!(
            Why::ALL.map(|why| why.rule().name).as_slice(),
            ["buffer-full", "early", "threshold", "loss", "corruption", "outage", "policed"]
        );
    }

    #[test]
    fn an_explanation_has_the_declared_variables() {
        let mut explanation = Explanation::of(Why::Early);
        explanation.by(&LOSS).with(Test { avg: 1.5, count: 3.0 });
        let values: Vec<_> = explanation.values().iter().map(|(v, x)| (v.name, v.unit, *x)).collect();
        assert_eq!(values, [("avg", "packets", 1.5), ("count", "packets", 3.0)]);
        assert_eq!(explanation.rule(), &LOSS);
    }
}
