//! Errors of a scenario. Each error is one line with the key, the value, the problem and the
//! remedy.

use std::fmt;

use serde_json::Value;

/// Error of a scenario, with the key, its value, the problem and the remedy.
#[derive(Clone, Debug, PartialEq)]
pub struct Invalid {
    path: String,
    /// Value as shortened JSON.
    value: Option<String>,
    problem: String,
    remedy: Option<String>,
}

impl std::error::Error for Invalid {}

/// Maximum number of characters of the path in an error.
const LONGEST_PATH: usize = 200;

/// Return a text, shortened to at most `longest` characters.
pub(super) fn shortened(text: &str, longest: usize) -> String {
    if text.chars().count() <= longest {
        return text.into();
    }
    text.chars().take(longest - 3).collect::<String>() + "..."
}

impl Invalid {
    /// Create an error about a wrong value of the key at `path`. In the error message, `problem`
    /// follows the value, as in "2 must be at most 1".
    pub fn new(path: &str, value: &Value, problem: impl Into<String>) -> Self {
        Invalid {
            path: shortened(path, LONGEST_PATH),
            value: Some(shortened(&value.to_string(), 60)),
            problem: problem.into(),
            remedy: None,
        }
    }

    /// Create an error about the key at `path`. The error names no value.
    pub fn at(path: &str, problem: impl Into<String>) -> Self {
        Invalid { path: shortened(path, LONGEST_PATH), value: None, problem: problem.into(), remedy: None }
    }

    /// Return the dotted path of the key. The path is empty in an error about the whole text.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// If the error cannot list all known names in a line, add the command that lists them.
    #[must_use]
    pub(super) fn explained(mut self, known: &[&str], page: &str) -> Self {
        if let Some(remedy) = self.remedy.as_mut().filter(|_| known.len() > MOST_NAMES) {
            remedy.push_str(&format!("; the command `aqmlab explain {page}` lists them"));
        }
        self
    }

    /// Add the remedy.
    #[must_use]
    pub fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        if let Some(value) = &self.value {
            write!(f, "{value} ")?;
        }
        f.write_str(&self.problem)?;
        if let Some(remedy) = &self.remedy {
            write!(f, "; {remedy}")?;
        }
        Ok(())
    }
}

/// Return `path.key`, or `key` if the path is empty.
pub fn join(path: &str, key: impl ToString) -> String {
    let key = key.to_string();
    if path.is_empty() { key } else { [path, ".", &key].concat() }
}

/// Maximum number of names that an error lists in a line.
pub(super) const MOST_NAMES: usize = 50;

/// Suggest the most similar name in `known`, where capitals do not matter, and list the known
/// names. If more than 50 names are known, the error lists only the most similar names.
///
/// A known name is not suggested if more than half of the letters would have to change.
pub fn did_you_mean(word: &str, known: &[&str]) -> String {
    let word = if word.len() <= LONGEST_PATH { word.to_lowercase() } else { String::new() };
    let mut nearest: Vec<(usize, &str)> =
        known.iter().map(|k| (distance(&word, &k.to_lowercase()), *k)).collect();
    nearest.sort_unstable();
    let letters = word.chars().count();
    let meant = nearest.first().filter(|(d, _)| *d <= 2.max(letters / 3) && 2 * d <= letters);
    let list = match known {
        [] => return "no name is known".into(),
        _ if known.len() <= MOST_NAMES => known.join(", "),
        _ => {
            let names: Vec<&str> = nearest.iter().map(|(_, k)| *k).take(10).collect();
            format!("{} and {} more", names.join(", "), known.len() - names.len())
        }
    };
    match meant {
        Some((_, k)) => format!("did you mean {k}? Known: {list}"),
        None => format!("known: {list}"),
    }
}

/// Return the edit distance of two words, in which an exchange of two adjacent letters counts once
/// (optimal string alignment).
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![(0..=b.len()).collect::<Vec<usize>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::{did_you_mean, distance};

    #[test]
    fn edit_distance_counts_changed_letters() {
        assert_eq!(distance("minth", "maxth"), 2);
        assert_eq!((distance("", "abc"), distance("rde", "red")), (3, 1));
    }

    #[test]
    fn only_similar_words_are_suggested() {
        assert_eq!(did_you_mean("RED", &["red", "rem"]), "did you mean red? Known: red, rem");
        for far in ["", "on", "z", "ecn"] {
            assert_eq!(did_you_mean(far, &["off", "pi", "tcp"]), "known: off, pi, tcp");
        }
        assert_eq!(did_you_mean("a", &[]), "no name is known");
        let many: Vec<String> = (0..80).map(|i| format!("key-{i}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let hint = did_you_mean("key-7x", &many);
        assert!(
            hint.starts_with("did you mean key-7? Known: key-7, ") && hint.ends_with(" and 70 more"),
            "{hint}"
        );
    }
}
