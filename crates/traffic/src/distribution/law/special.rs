//! Functions of the normal distribution, and the incomplete gamma function.

use std::f64::consts::{SQRT_2, TAU};

/// Return P(Z > z), where Z is a standard normal variable.
pub fn normal_survival(z: f64) -> f64 {
    0.5 * libm::erfc(z / SQRT_2)
}

/// Return the value z for which P(Z > z) = s, where Z is a standard normal variable.
pub fn normal_with_survival(s: f64) -> f64 {
    if s > 0.5 {
        return -normal_with_survival(1.0 - s);
    }
    if s <= 0.0 {
        return f64::INFINITY;
    }
    // The approximation 26.2.23 of Abramowitz & Stegun 1964 has an error of at most 4.5e-4. Two
    // steps of Halley's method make the approximated quantile exact.
    let t = libm::sqrt(-2.0 * libm::log(s));
    let above = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let below = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    let mut z = t - above / below;
    for _ in 0..2 {
        let newton = (normal_survival(z) - s) * libm::sqrt(TAU) * libm::exp(z * z / 2.0);
        z += newton / (1.0 - z * newton / 2.0);
    }
    z
}

/// Return the regularized upper incomplete gamma function Q(a, x). For x below a + 1, a series
/// gives the function Q. For larger x, Legendre's continued fraction gives Q (Abramowitz & Stegun
/// 1964, 6.5.29 and 6.5.31).
pub fn upper_gamma(a: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 1.0;
    }
    if x.is_infinite() {
        return 0.0;
    }
    let front = libm::exp(a * libm::log(x) - x - libm::lgamma(a));
    if x < a + 1.0 {
        let (mut term, mut sum, mut n) = (1.0 / a, 1.0 / a, a);
        while term > sum * f64::EPSILON {
            n += 1.0;
            term *= x / n;
            sum += term;
        }
        return 1.0 - front * sum;
    }
    // The convergents of the continued fraction are computed by the modified Lentz method of
    // Thompson and Barnett.
    let mut b = x + 1.0 - a;
    let mut c = f64::MAX;
    let mut d = 1.0 / b;
    let mut fraction = d;
    for i in 1..10_000 {
        let i = f64::from(i);
        let numerator = -i * (i - a);
        b += 2.0;
        d = 1.0 / (numerator * d + b);
        c = b + numerator / c;
        let factor = c * d;
        fraction *= factor;
        if (factor - 1.0).abs() < f64::EPSILON {
            break;
        }
    }
    front * fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The quantiles agree with tables of the normal distribution, and the distribution is
    /// symmetric.
    #[test]
    fn normal_quantiles_match_tables() {
        for (s, z) in [(0.5, 0.0), (0.025, 1.959_963_984_540_054), (1e-9, 5.997_807_015_007_687)] {
            assert!((normal_with_survival(s) - z).abs() < 1e-13, "{s}");
            assert!((normal_with_survival(1.0 - s) + z).abs() < 1e-7, "{s}");
        }
        for i in 1..400 {
            let z = f64::from(i) / 20.0;
            let there = normal_with_survival(normal_survival(z));
            assert!((there / z - 1.0).abs() < 1e-12, "{z} {there}");
        }
    }

    /// Q(1, x) = exp(−x), Q(1/2, x) = erfc(√x), and Q(a + 1, x) = Q(a, x) + x^a exp(−x)/Γ(a + 1).
    #[test]
    fn the_gamma_function_matches_closed_forms() {
        for x in [1e-9, 0.1, 1.0, 1.4, 1.6, 2.0, 7.0, 40.0] {
            let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-14 + 1e-13 * b, "{x}: {a} {b}");
            near(upper_gamma(1.0, x), libm::exp(-x));
            near(upper_gamma(0.5, x), libm::erfc(libm::sqrt(x)));
            near(
                upper_gamma(1.5, x),
                upper_gamma(0.5, x) + libm::sqrt(x) * libm::exp(-x) / libm::tgamma(1.5),
            );
            near(
                upper_gamma(11.0, x),
                upper_gamma(10.0, x) + libm::pow(x, 10.0) * libm::exp(-x) / 3_628_800.0,
            );
        }
    }
}
