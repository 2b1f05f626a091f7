//! Decimal numbers of a scenario, stored as digits and a power of ten, because binary fractions
//! would be inexact. For example, `4.1 MB` is exactly 4,100,000 B. A number that would have to be
//! rounded causes an error.

use std::borrow::Cow;

/// Decimal number with the value `digits` · 10^`exponent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decimal {
    negative: bool,
    digits: u128,
    exponent: i32,
}

/// Maximum number of significant digits. If a number had more than 20 digits, the product of the
/// number and the largest unit could overflow.
const MOST_DIGITS: usize = 20;
/// Bound on the exponent of ten. Every valid quantity, in every unit, has a smaller exponent.
const LARGEST_EXPONENT: i32 = 400;

impl Decimal {
    /// Parse a number such as `1`, `1.5`, `.5`, `1_000` or `1e3`, with or without a sign, as in
    /// TOML.
    pub(crate) fn read(text: &str) -> Option<Decimal> {
        let negative = text.starts_with('-');
        let text = text.strip_prefix(['+', '-']).unwrap_or(text);
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, power(exponent)?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
        let whole = if whole.is_empty() && mantissa.starts_with('.') { "0" } else { whole };
        let (whole, fraction) = (plain(whole)?, plain(fraction)?);
        let fraction = fraction.trim_end_matches('0');
        let all = [whole.as_ref(), fraction].concat();
        let significant = all.trim_start_matches('0');
        let kept = significant.trim_end_matches('0');
        if kept.len() > MOST_DIGITS {
            return None;
        }
        let dropped = significant.len() - kept.len();
        let exponent = i64::from(exponent) + dropped as i64 - fraction.len() as i64;
        let digits = if kept.is_empty() { 0 } else { kept.parse().ok()? };
        Some(Decimal { negative, digits, exponent: exponent.clamp(-1_000_000, 1_000_000) as i32 })
    }

    /// Convert the number to the base unit. The argument `unit` is the number of base units per
    /// unit of the number.
    pub(crate) fn times(self, unit: u64) -> Decimal {
        Decimal { digits: self.digits * u128::from(unit), ..self }
    }

    /// Return the nearest binary floating-point number, which is infinite if the decimal number is
    /// too large.
    pub(crate) fn value(self) -> f64 {
        // A whole number below this bound has an exact binary form.
        if let Some(whole) = self.whole().filter(|&n| !self.negative && n < 1 << f64::MANTISSA_DIGITS) {
            return whole as f64;
        }
        let sign = if self.negative { "-" } else { "" };
        format!("{sign}{}e{}", self.digits, self.exponent).parse().unwrap_or(f64::NAN)
    }

    /// Return the number as an integer, or `None` if the number is fractional, negative, or too
    /// large for the type.
    pub(crate) fn whole(self) -> Option<u64> {
        if self.digits == 0 {
            return Some(0);
        }
        if self.negative || self.exponent.abs() > LARGEST_EXPONENT {
            return None;
        }
        let scale = 10_u128.checked_pow(self.exponent.unsigned_abs())?;
        let number = match self.exponent >= 0 {
            true => self.digits.checked_mul(scale)?,
            false if self.digits.is_multiple_of(scale) => self.digits / scale,
            false => return None,
        };
        u64::try_from(number).ok()
    }
}

/// Remove the single underscores between digits, and return the digits.
fn plain(text: &str) -> Option<Cow<'_, str>> {
    if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
        return Some(text.into());
    }
    let good = text.split('_').all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()));
    good.then(|| text.replace('_', "").into())
}

fn power(text: &str) -> Option<i32> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let size: i32 = plain(digits)?.parse().unwrap_or(i32::MAX).min(1_000_000);
    Some(if text.starts_with('-') { -size } else { size })
}

/// Write the number `base`, which is in the base unit, exactly as a decimal number of another unit.
pub(crate) fn written(base: u64, unit: u64) -> String {
    let (whole, mut rest) = (base / unit, u128::from(base % unit));
    let mut text = whole.to_string();
    if rest > 0 {
        text.push('.');
    }
    while rest > 0 {
        rest *= 10;
        text.push(char::from(b'0' + (rest / u128::from(unit)) as u8));
        rest %= u128::from(unit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_decimal() {
        let whole = |text: &str, unit| Decimal::read(text).unwrap().times(unit).whole();
        assert_eq!(whole("4.1", 1_000_000), Some(4_100_000));
        assert_eq!(whole("1_000.5e2", 1), Some(100_050));
        assert_eq!(whole("0.1", 1_000_000_000_000), Some(100_000_000_000));
        assert_eq!(whole("+.5", 10), Some(5));
        assert_eq!(whole("-0", 10), Some(0));
        assert_eq!(whole("0e99999999999", 1), Some(0));
        assert_eq!(whole("1.5", 1), None);
        assert_eq!(whole("-1", 1), None);
        assert_eq!(whole("1e30", 1), None);
        assert_eq!(whole("1e-400000", 1), None);
        assert_eq!(Decimal::read("4.1").unwrap().times(1_000_000).value(), 4_100_000.0);
        assert_eq!(Decimal::read("1e999").unwrap().value(), f64::INFINITY);
        for (text, value) in [("9007199254740993", 9007199254740993.0), ("2_0e1", 200.0), ("0.1e1", 1.0)] {
            assert_eq!(Decimal::read(text).unwrap().value(), value, "{text}");
        }
        assert!(Decimal::read("-0").unwrap().value().is_sign_negative());
    }

    #[test]
    fn incomplete_numbers_are_refused() {
        for text in
            ["", "+", ".", "5.", "1e", "1e+", "1__5", "_1", "1_", "1_.5", "1._5", "1e1_", "--1", "1.2.3"]
        {
            assert_eq!(Decimal::read(text), None, "{text}");
        }
        assert_eq!(Decimal::read("0.333333333333333333333"), None, "too many digits");
    }

    #[test]
    fn written_numbers_are_exact() {
        assert_eq!(written(1_500_000, 1_000_000), "1.5");
        assert_eq!(written(u64::MAX, 1_000_000_000_000), "18446744.073709551615");
        assert_eq!(written(0, 1000), "0");
    }
}
