//! Text files that a scenario names. Each file is read whole, and its size is bounded.

use std::fs::File;
use std::io::Read as _;

use serde_json::Value;

use crate::param::Invalid;

/// Maximum size of a file in bytes.
const LARGEST: u64 = 64 << 20;

/// Return the text of the file `name`, relative to the working directory. `path` is the path of the
/// key that names the file.
pub fn read_text(name: &str, path: &str) -> Result<String, Invalid> {
    let refuse = |problem: String| Invalid::new(path, &Value::from(name), problem);
    let unreadable = |e: std::io::Error| {
        let reason = e.to_string();
        let reason = reason.split(" (os error").next().unwrap_or_default().to_lowercase();
        refuse(format!("cannot be read: {reason}"))
            .remedy("check the path, which begins at the folder where aqmlab runs")
    };
    // The function tests the type of the file before it opens the file, because opening a pipe
    // would wait for the writer of the pipe.
    let about = std::fs::metadata(name).map_err(unreadable)?;
    if !about.is_file() {
        return Err(refuse("is a folder, a device or a pipe instead of a file".into())
            .remedy("write the path of a text file"));
    }
    let mut text = Vec::new();
    File::open(name).map_err(unreadable)?.take(LARGEST + 1).read_to_end(&mut text).map_err(unreadable)?;
    if text.len() as u64 > LARGEST {
        return Err(refuse(format!("is larger than {} MiB", LARGEST >> 20)).remedy("split the file"));
    }
    String::from_utf8(text).map_err(|_| refuse("is not text in UTF-8".into()).remedy("save it in UTF-8"))
}

/// Return the lines with content and their numbers, without empty lines and without comments after
/// `#`.
pub fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let bare = text.lines().map(|line| line.split('#').next().unwrap_or("").trim());
    bare.enumerate().map(|(i, line)| (i + 1, line)).filter(|(_, line)| !line.is_empty())
}
