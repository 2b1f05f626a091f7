//! Numbers with units, which are read exactly and written in the largest suitable unit.

use serde_json::Value;

use crate::decimal::{Decimal, written};
use crate::param::Invalid;

/// Split a text into a number and a unit.
pub(crate) fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let digits = text.find(|c: char| !(c.is_ascii_digit() || "+-.eE_".contains(c))).unwrap_or(text.len());
    (&text[..digits], text[digits..].trim())
}

/// A unit, given by its name and its size in the base unit.
pub(crate) type Unit = (&'static str, u64);

/// Parse a text of the form `"<number> <unit>"`, and convert the number to the base unit.
pub(crate) fn parse_scaled(
    value: &Value,
    path: &str,
    what: &str,
    units: &[Unit],
    example: &str,
) -> Result<Decimal, Invalid> {
    let accepted = || units.iter().map(|u| u.0).collect::<Vec<_>>().join(", ");
    // If the unit of a number of packets or bytes is missing, the base unit is probably meant, so
    // the error suggests the base unit. If the unit of a rate or a time is missing, the intended
    // unit is unknown.
    let like = |number: &str| {
        let unit = split(example).1;
        let is_base = units.first().is_some_and(|u| u.0 == unit);
        if is_base && !number.starts_with('-') { format!("{number} {unit}") } else { example.into() }
    };
    let refused = |problem: String, example: String| {
        Err(Invalid::new(path, value, problem).remedy(format!("write for example \"{example}\"")))
    };
    let wrong = |problem: String| refused(problem, example.into());
    let Some(text) = value.as_str() else {
        let example = if value.is_number() { like(&value.to_string()) } else { example.into() };
        return refused(format!("must be {what} with its unit ({})", accepted()), example);
    };
    let (number, unit) = split(text);
    match (Decimal::read(number), units.iter().find(|u| u.0 == unit)) {
        (Some(n), Some((_, scale))) if n.value().is_finite() => Ok(n.times(*scale)),
        (Some(_), _) if unit.is_empty() => refused(format!("lacks its unit ({})", accepted()), like(number)),
        (Some(_), None) => wrong(format!("has the unit \"{unit}\", which is not one of {}", accepted())),
        _ => wrong(format!("is not {what}")),
    }
}

/// Return the number in the base unit, or an error if the number is not whole in the base unit. A
/// number that is not whole in the base unit is not rounded.
pub(crate) fn whole(number: Decimal, value: &Value, path: &str, base: &str) -> Result<u64, Invalid> {
    number.whole().ok_or_else(|| {
        Invalid::new(path, value, format!("must be a whole number of {base}")).remedy("round it")
    })
}

/// Write a number exactly, in the largest unit in which it is at least 1.
pub(crate) fn format_scaled(base: u64, largest_first: &[Unit]) -> String {
    let zero = if base == 0 { largest_first.first() } else { largest_first.last() };
    let fits = largest_first.iter().find(|u| base >= u.1);
    fits.or(zero).map_or(String::new(), |(unit, scale)| format!("{} {unit}", written(base, *scale)))
}
