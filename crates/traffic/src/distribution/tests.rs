use proptest::prelude::*;
use serde_json::{Value, json};
use units::{Bytes, Duration, Read};

use super::law::{self, AnyLaw, Between, Law};
use super::{Count, Size, Times};

fn size(value: Value) -> Size {
    Size::read(&value, "size").unwrap()
}

/// Return the midpoints of n equal parts of [0, 1), so that a mean over them is an integral by the
/// midpoint rule.
fn grid(n: u32) -> impl Iterator<Item = f64> {
    (0..n).map(move |i| (f64::from(i) + 0.5) / f64::from(n))
}

/// Integrate P(X > x) from the value `from` on, with the logarithm of x as the variable.
fn integral(law: &AnyLaw, from: f64) -> f64 {
    let (low, high, n) = (-30.0, 90.0, 60_000);
    let step = (high - low) / f64::from(n);
    let lowest = libm::exp(low);
    let below = (lowest - from).max(0.0) * law.survival(from);
    below
        + grid(n)
            .map(|p| libm::exp(low + (high - low) * p))
            .filter(|x| *x > from)
            .map(|x| law.survival(x) * x * step)
            .sum::<f64>()
}

fn any_law() -> impl Strategy<Value = AnyLaw> {
    let mean = 0.5..50.0;
    let simple = prop_oneof![
        (mean.clone(), prop_oneof![Just(f64::INFINITY), 0.1..12.0])
            .prop_map(|(mean, times)| law::Exponential { mean, cap: times * mean }.into()),
        (mean.clone(), 0.3..4.0).prop_map(|(mean, shape)| law::Weibull::new(mean, shape).into()),
        (mean.clone(), 0.1..3.0)
            .prop_map(|(mean, sigma)| law::LogNormal::new(mean, sigma, None, None).into()),
        (mean.clone(), 0.1..3.0).prop_map(|(mean, sigma)| law::LogNormal::new(
            mean,
            sigma,
            Some(mean / 3.0),
            Some(mean * 7.0)
        )
        .into()),
        (mean.clone(), 1.5..6.0).prop_map(|(mean, shape)| law::Pareto::new(mean, shape).into()),
        (mean.clone(), 1.5..6.0).prop_map(|(mean, shape)| law::Lomax::new(mean, shape).into()),
        (mean.clone(), 1.1..1e4, 0.2..4.0).prop_map(|(min, times, shape)| law::BoundedPareto::new(
            min,
            times * min,
            shape
        )
        .into()),
        mean.clone().prop_map(|min| law::BoundedPareto::new(min, 90.0 * min, 1.0).into()),
        (mean.clone(), 1.1..9.0).prop_map(|(min, times)| law::Uniform { min, max: times * min }.into()),
        (mean, prop::bool::ANY).prop_map(|(x, log)| {
            let points = vec![[x, 0.2], [2.0 * x, 0.3], [2.0 * x, 0.5], [9.0 * x, 0.9], [30.0 * x, 1.0]];
            law::Empirical::new(points, if log { Between::Log } else { Between::Linear }).into()
        }),
    ]
    .boxed();
    let part = (0.1..5.0, simple.clone());
    let mixture = prop::collection::vec(part, 1..4).prop_map(|parts| law::Mixture::new(parts).into());
    prop_oneof![9 => simple, 3 => mixture]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// The part of the mean above x, E[X; X > x], is x P(X > x) plus the integral of P(X > t) for t
    /// from x on.
    #[test]
    fn means_are_integrals(law in any_law(), p in 0.05..0.95) {
        let near = |a: f64, b: f64| (a - b).abs() <= 3e-3 * law.mean();
        prop_assert!(near(law.mean(), integral(&law, 0.0)), "{} {}", law.mean(), integral(&law, 0.0));
        let x = law.quantile(p) * 1.001;
        let above = x * law.survival(x) + integral(&law, x);
        prop_assert!(near(law.above(x), above), "{x}: {} {above}", law.above(x));
        prop_assert!(near(law.above(0.0), law.mean()));
    }

    /// The p-quantile of a distribution is the smallest x for which P(X ≤ x) is at least p.
    #[test]
    fn quantiles_invert_the_survival(law in any_law(), p in 0.0001..0.9999) {
        let x = law.quantile(p);
        prop_assert!(law.survival(x * (1.0 + 1e-9)) <= 1.0 - p + 1e-6);
        prop_assert!(law.survival(x * (1.0 - 1e-9)) >= 1.0 - p - 1e-6);
    }

    /// A fraction p of the sampled values lies below the p-quantile of the distribution.
    #[test]
    fn draws_have_the_quantiles(law in any_law(), p in 0.1..0.9) {
        let x = law.quantile(p);
        let n = 300;
        let draws = || grid(n).flat_map(|u| grid(n).map(move |v| [u, v])).map(|uv| law.draw(uv));
        let share = |below: f64| draws().filter(|d| *d <= below).count() as f64 / f64::from(n * n);
        prop_assert!(share(x * 1.0001) >= p - 0.006 && share(x * 0.9999) <= p + 0.006);
    }
}

#[test]
fn the_mean_of_a_count_is_that_of_its_draws() {
    let count = |value| Count::read(&value, "c").unwrap();
    for value in [
        json!({"kind": "geometric", "mean": 5.5}),
        json!({"kind": "geometric", "mean": 1}),
        json!({"kind": "exponential", "mean": 1.2}),
        json!({"kind": "exponential", "mean": 5, "cap": 9}),
        json!({"kind": "pareto", "mean": 4, "shape": 3}),
        json!({"kind": "uniform", "min": 1, "max": 8}),
        json!({"kind": "empirical", "cdf": [[1, 0.5], [3, 0.8], [40, 1]], "between": "steps"}),
        json!({"kind": "mixture", "parts": [{"weight": 3, "of": 1}, {"weight": 1, "of": {"kind": "geometric", "mean": 9}}]}),
        json!(7),
    ] {
        let count = count(value.clone());
        let n = 1_000_000;
        let sum: f64 = grid(n).map(|u| count.draw([u, 0.5]) as f64).sum();
        let mean = sum / f64::from(n);
        assert!((mean / count.mean() - 1.0).abs() < 1e-3, "{value}: {mean} {}", count.mean());
    }
    assert_eq!(count(json!({"kind": "exponential", "mean": 1.2})).draw([0.0, 0.0]), 1);
}

/// The expected fractions are closed forms: q^(1 − 1/shape) for the Pareto distribution, q (1 − ln
/// q) for the exponential distribution, and q for equal values.
#[test]
fn shares_of_the_largest_match_closed_forms() {
    for q in [0.01, 0.15, 0.5] {
        let near = |value: Value, expected: f64| {
            let share = size(value).share_of_largest(q);
            assert!((share - expected).abs() < 1e-12, "{q}: {share} {expected}");
        };
        near(json!({"kind": "pareto", "mean": "100 kB", "shape": 1.2}), libm::pow(q, 1.0 - 1.0 / 1.2));
        near(json!({"kind": "exponential", "mean": "100 kB"}), q * (1.0 - libm::log(q)));
        near(json!("7 kB"), q);
    }
}

#[test]
fn a_constant_always_has_its_value() {
    assert_eq!(size(json!("7.2 kB")).draw([0.3, 0.9]), Bytes(7200));
    assert_eq!(size(json!({"kind": "constant", "value": "7.2 kB"})), size(json!("7.2 kB")));
    assert_eq!(size(json!({"kind": "constant", "value": "7.2 kB"})).write(), json!("7200 B"));
    assert_eq!(Times::read(&json!("1 s"), "t").unwrap().draw([0.3, 0.9]), Duration::from_millis(1000));
    assert_eq!(Count::read(&json!(5), "c").unwrap().write(), json!(5));
}

/// Exponential, Pareto and lognormal sizes are equal to the closed forms bit by bit, so that the
/// results of earlier versions stay valid.
#[test]
fn draws_equal_their_formulas() {
    let (mean, sigma, shape) = (12_345_f64, 1.5_f64, 1.2_f64);
    let of = |kind: &str| size(json!({"kind": kind, "mean": "12345 B", "sigma": sigma}));
    let exponential = size(json!({"kind": "exponential", "mean": "12345 B"}));
    let pareto = size(json!({"kind": "pareto", "mean": "12345 B", "shape": shape}));
    for u in grid(100) {
        for v in grid(100) {
            let whole = |x: f64| Bytes(x.round().clamp(1.0, 1e15) as u64);
            assert_eq!(exponential.draw([u, v]), whole(-mean * libm::log1p(-u)));
            let min = mean * (shape - 1.0) / shape;
            assert_eq!(pareto.draw([u, v]), whole(min * libm::pow(1.0 - u, -1.0 / shape)));
            let normal = libm::sqrt(-2.0 * libm::log1p(-u)) * libm::cos(std::f64::consts::TAU * v);
            let x = mean * libm::exp(sigma * normal - sigma * sigma / 2.0);
            assert_eq!(of("lognormal").draw([u, v]), whole(x));
        }
    }
}

/// The expected medians are closed forms: m ln 2; k 2^(1/shape); m exp(−σ²/2); scale (ln
/// 2)^(1/shape).
#[test]
fn medians_match_closed_forms() {
    let near = |value: Value, expected: f64| {
        let found = size(value).quantile(0.5);
        assert!((found / expected - 1.0).abs() < 1e-12, "{found} {expected}");
    };
    let ln2 = std::f64::consts::LN_2;
    near(json!({"kind": "exponential", "mean": "100 kB"}), 1e5 * ln2);
    near(json!({"kind": "exponential", "mean": "100 kB", "cap": "70 kB"}), 1e5 * ln2);
    near(json!({"kind": "exponential", "mean": "100 kB", "cap": "69 kB"}), 69e3);
    near(json!({"kind": "pareto", "mean": "100 kB", "shape": 1.2}), 1e5 * 0.2 / 1.2 * 2f64.powf(1.0 / 1.2));
    near(json!({"kind": "lognormal", "mean": "100 kB", "sigma": 1.5}), 1e5 * (-1.125f64).exp());
    near(json!({"kind": "weibull", "mean": "100 kB", "shape": 0.5}), 1e5 / 2.0 * ln2 * ln2);
}

#[test]
fn a_written_distribution_reads_back() {
    for value in [
        json!({"kind": "pareto", "mean": "7 kB"}),
        json!({"kind": "lognormal", "mean": "7 kB", "min": "100 B", "max": "2 MB"}),
        json!({"kind": "bounded_pareto", "min": "1 kB", "max": "1 GB", "shape": 1}),
        json!({"kind": "empirical", "cdf": [["1 kB", 0.5], ["1 MB", 1]], "between": "log"}),
        json!({"kind": "mixture", "parts": [{"weight": 0.9, "of": "1 kB"}, {"weight": 0.1, "of": {"kind": "exponential", "mean": "9 kB"}}]}),
    ] {
        assert_eq!(Size::read(&size(value.clone()).write(), "").unwrap(), size(value));
    }
}

#[test]
fn points_can_come_from_a_file() {
    let file = std::env::temp_dir().join(format!("aqmlab-cdf-{}.txt", std::process::id()));
    std::fs::write(&file, "# seconds, probability\n0.5 0.25\n2 1\n").unwrap();
    let times = |cdf: Value| Times::read(&json!({"kind": "empirical", "cdf": cdf}), "t");
    assert_eq!(times(json!(file)).unwrap(), times(json!([["500 ms", 0.25], ["2 s", 1]])).unwrap());
    std::fs::write(&file, "0.5 0.25\n2 1 7\n").unwrap();
    assert!(times(json!(file)).unwrap_err().to_string().contains("line 2 must be a value"));
    std::fs::remove_file(&file).unwrap();
}

#[test]
fn an_error_names_its_key() {
    let refused = |value: Value, says: &str| {
        let e = Size::read(&value, "size").unwrap_err().to_string();
        assert!(e.contains(says), "{e}");
    };
    refused(json!({"kind": "pareto", "mean": "7 kB", "shape": 1.0}), "size.shape: 1.0 must be above 1");
    refused(json!({"kind": "pareto", "mean": "2 B"}), "size.mean: \"2 B\" makes the minimum size");
    refused(json!({"kind": "normal"}), "size.kind: \"normal\" is not known");
    refused(json!({"kind": "exponential"}), "size.mean: is missing");
    refused(json!({"kind": "geometric", "mean": "7 kB"}), "size.kind: \"geometric\" is not known");
    refused(json!({"kind": "uniform", "min": "7 kB", "max": "6 kB"}), "size.max: \"6000 B\" must be above");
    let bounds = json!({"kind": "lognormal", "mean": "1 kB", "min": "1 GB", "max": "2 GB"});
    refused(bounds, "size.mean: \"1000 B\" leaves less than");
    refused(json!({"kind": "mixture", "parts": []}), "size.parts: is empty");
    refused(
        json!({"kind": "mixture", "parts": [{"weight": 0, "of": "1 B"}]}),
        "size.parts.0.weight: 0 must be above 0",
    );
    refused(json!({"kind": "mixture", "parts": [{"weight": 1, "of": "1 s"}]}), "size.parts.0.of");
    let cdf = |cdf: Value| json!({"kind": "empirical", "cdf": cdf});
    refused(cdf(json!([])), "size.cdf: is not a distribution function: it is empty");
    refused(cdf(json!([["1 B", 0.5]])), "the last probability is 0.5 instead of 1");
    refused(cdf(json!([["2 B", 0.5], ["1 B", 1]])), "is below the previous one");
    refused(cdf(json!([["1 B", 0.5], ["2 B", 0.4], ["2 B", 1]])), "the probability 0.4 is below");
    refused(cdf(json!([[1, 1]])), "size.cdf.0.0: 1 must be a size with its unit");
    refused(cdf(json!([["1 B"]])), "size.cdf.0: [\"1 B\"] must be a pair");
    refused(cdf(json!("/nowhere")), "cannot be read");
    let e =
        Times::read(&json!({"kind": "empirical", "cdf": [["0 s", 1]], "between": "log"}), "t").unwrap_err();
    assert!(e.to_string().contains("t.between: \"log\" needs a first value"), "{e}");
    refused(json!("0 B"), "size: \"0 B\" must be at least 1 B");
    let e = Count::read(&json!(0), "n").unwrap_err().to_string();
    assert!(e.contains("n: 0 must be at least 1"), "{e}");
    let e = Count::read(&json!({"kind": "geometric", "mean": 0.5}), "n").unwrap_err().to_string();
    assert!(e.contains("n.mean: 0.5 must be at least 1"), "{e}");
}
