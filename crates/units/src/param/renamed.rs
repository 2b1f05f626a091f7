//! Former keys of a table, which have a new name or are in another table now.

use serde_json::{Map, Value};

use super::invalid::shortened;
use super::{Invalid, join};

/// Former key of a table.
#[derive(Clone, Copy, Debug)]
pub struct Renamed {
    /// The former key.
    pub old: &'static str,
    /// Path that the value has now, relative to the table of the former key, with dots between the
    /// keys.
    pub new: &'static str,
    /// Values of the key that were renamed together with the key. Each pair consists of the former
    /// word and the present word.
    pub words: &'static [(&'static str, &'static str)],
}

impl Renamed {
    /// Return a former key whose values did not change.
    pub const fn key(old: &'static str, new: &'static str) -> Self {
        Renamed { old, new, words: &[] }
    }

    /// Refuse a table that contains a former key. The error names the new key and the value to set.
    pub(super) fn refuse(all: &[Renamed], map: &Map<String, Value>, path: &str) -> Result<(), Invalid> {
        for renamed in all {
            if let Some(value) = map.get(renamed.old) {
                let refusal = Invalid::at(&join(path, renamed.old), format!("is now {}", renamed.new));
                return Err(refusal.remedy(format!("write {}", renamed.written(value))));
            }
        }
        Ok(())
    }

    /// Return TOML text that sets the new key to the value of the old key.
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
