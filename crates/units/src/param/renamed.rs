//! Former keys, which have been renamed or moved to another table.

use serde_json::{Map, Value};

use super::invalid::shortened;
use super::{Invalid, join};

/// Former key of a table.
#[derive(Clone, Copy, Debug)]
pub struct Renamed {
    /// The former key.
    pub old: &'static str,
    /// Present path of the value in the same table, with dots between the keys.
    pub new: &'static str,
    /// Words among the values of the key that were renamed too, each as its former and its present
    /// form.
    pub words: &'static [(&'static str, &'static str)],
}

impl Renamed {
    /// Return a former key whose values are unchanged.
    pub const fn key(old: &'static str, new: &'static str) -> Self {
        Renamed { old, new, words: &[] }
    }

    /// Refuse the former keys of a table, with an error that gives the present key and value.
    pub(super) fn refuse(all: &[Renamed], map: &Map<String, Value>, path: &str) -> Result<(), Invalid> {
        for renamed in all {
            if let Some(value) = map.get(renamed.old) {
                let refusal = Invalid::at(&join(path, renamed.old), format!("is now {}", renamed.new));
                return Err(refusal.remedy(format!("write {}", renamed.written(value))));
            }
        }
        Ok(())
    }

    /// Return the present key with the value of the former key, as TOML text.
    fn written(&self, value: &Value) -> String {
        let present = |word| self.words.iter().find(|w| Some(w.0) == word).map(|w| Value::from(w.1));
        let value = present(value.as_str()).unwrap_or_else(|| value.clone());
        let mut text = shortened(&value.to_string(), 60);
        for (depth, key) in self.new.rsplit('.').enumerate() {
            text = if depth == 0 { format!("{key} = {text}") } else { format!("{key} = {{ {text} }}") };
        }
        text
    }
}
