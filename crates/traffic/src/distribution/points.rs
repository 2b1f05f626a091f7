//! Points of a cumulative distribution function, which a scenario gives as a list or as a file.

use units::Read;
use units::file::{lines, read_text};
use units::param::{Invalid, Json, join};

use super::amount::{Amount, base};

/// At least one value with its cumulative probability. The last cumulative probability is 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Points<T>(pub Vec<(T, f64)>);

/// Maximum difference between the last probability and 1, which allows for rounding.
const ROUNDING: f64 = 1e-9;

impl<T: Amount> Points<T> {
    fn of(points: impl Iterator<Item = Result<(T, f64), String>>) -> Result<Self, String> {
        let mut all: Vec<(T, f64)> = Vec::new();
        for point in points {
            let (value, probability) = point?;
            if !(0.0..=1.0 + ROUNDING).contains(&probability) {
                return Err(format!("the probability {probability} must be between 0 and 1"));
            }
            if let Some((before, lower)) = all.last() {
                if base(&value) < base(before) {
                    return Err(format!(
                        "the value {} is below the previous one, but values must not decrease",
                        value.write()
                    ));
                }
                if probability < *lower {
                    return Err(format!(
                        "the probability {probability} is below the previous one, but probabilities \
                         must not decrease"
                    ));
                }
            }
            all.push((value, probability.min(1.0)));
        }
        match all.last_mut() {
            None => Err("it is empty".into()),
            Some((_, last)) if *last < 1.0 - ROUNDING => {
                Err(format!("the last probability is {last} instead of 1"))
            }
            Some((_, last)) => {
                *last = 1.0;
                Ok(Points(all))
            }
        }
    }

    /// Return the points of the distribution function, in the base unit.
    pub fn numbers(&self) -> Vec<[f64; 2]> {
        self.0.iter().map(|(value, probability)| [base(value), *probability]).collect()
    }
}

/// Parse a line of a file, which has a value in the base unit and its cumulative probability.
fn line<T: Amount>((number, line): (usize, &str)) -> Result<(T, f64), String> {
    let wrong = || format!("line {number} must be a value and a probability");
    let words: Vec<f64> =
        line.split_whitespace().map(|word| word.parse().map_err(|_| wrong())).collect::<Result<_, _>>()?;
    match words[..] {
        [value, probability] => T::of(value)
            .map(|value| (value, probability))
            .ok_or_else(|| format!("line {number}: the value {value} is out of range")),
        _ => Err(wrong()),
    }
}

impl<T: Amount> Read for Points<T> {
    fn read(value: &Json, path: &str) -> Result<Self, Invalid> {
        let none = |e| format!("is not a distribution function: {e}");
        if let Some(name) = value.as_str() {
            let text = read_text(name, path)?;
            return Points::of(lines(&text).map(line)).map_err(|e| Invalid::new(path, value, none(e)));
        }
        let list = value
            .as_array()
            .ok_or_else(|| Invalid::new(path, value, "must be the name of a file or a list"))?;
        let mut points = Vec::new();
        for (i, pair) in list.iter().enumerate() {
            let path = join(path, i);
            let Some([value, probability]) = pair.as_array().map(Vec::as_slice) else {
                return Err(Invalid::new(&path, pair, "must be a pair of a value and a probability"));
            };
            points.push(Ok((T::read(value, &join(&path, 0))?, f64::read(probability, &join(&path, 1))?)));
        }
        Points::of(points.into_iter()).map_err(|e| Invalid::at(path, none(e)))
    }
    fn write(&self) -> Json {
        self.0.iter().map(|(value, probability)| serde_json::json!([value.write(), probability])).collect()
    }
    fn schema() -> Json {
        let pair = serde_json::json!({"type": "array", "minItems": 2, "maxItems": 2,
            "items": {"anyOf": [T::schema(), f64::schema()]}});
        serde_json::json!({"anyOf": [{"type": "string"}, {"type": "array", "items": pair}]})
    }
}
