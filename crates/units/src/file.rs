//! Text files that a scenario names: read whole, within bounds.

use std::fs::File;
use std::io::Read as _;

use serde_json::Value;

use crate::param::Invalid;

/// The largest file that is read, in bytes.
const LARGEST: u64 = 64 << 20;

/// The text of the file called `name`, from the folder in which the program runs; `path` is where the name stands.
pub fn read_text(name: &str, path: &str) -> Result<String, Invalid> {
    let refuse = |problem: String| Invalid::new(path, &Value::from(name), problem);
    let unreadable = |e: std::io::Error| {
        let reason = e.to_string();
        let reason = reason.split(" (os error").next().unwrap_or_default().to_lowercase();
        refuse(format!("cannot be read: {reason}"))
            .remedy("check the path, which begins at the folder where aqmlab runs")
    };
    // Asked before it is opened: a pipe would wait for its writer.
    let about = std::fs::metadata(name).map_err(unreadable)?;
    if !about.is_file() {
        return Err(refuse("is no file but a folder, a device or a pipe".into()).remedy("name a text file"));
    }
    let mut text = Vec::new();
    File::open(name).map_err(unreadable)?.take(LARGEST + 1).read_to_end(&mut text).map_err(unreadable)?;
    if text.len() as u64 > LARGEST {
        return Err(refuse(format!("is larger than {} MiB", LARGEST >> 20)));
    }
    String::from_utf8(text).map_err(|_| refuse("is not text in UTF-8".into()))
}

/// The lines of a text that say something, with their numbers: no empty lines, and nothing behind `#`.
pub fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let bare = text.lines().map(|line| line.split('#').next().unwrap_or("").trim());
    bare.enumerate().map(|(i, line)| (i + 1, line)).filter(|(_, line)| !line.is_empty())
}
