//! Text files whose names a scenario contains. Each text file is read as a whole, and its size is
//! limited.

use std::fs::File;
use std::io::Read as _;

use serde_json::Value;

use crate::param::Invalid;

/// Maximum size of a text file, in bytes.
const LARGEST: u64 = 64 << 20;

/// Return the text of the file with the given name, relative to the working directory. The argument
/// `path` is the path of the key in the scenario that names the file.
pub fn read_text(name: &str, path: &str) -> Result<String, Invalid> {
    let refuse = |problem: String| Invalid::new(path, &Value::from(name), problem);
    let unreadable = |e: std::io::Error| {
        let reason = e.to_string();
        let reason = reason.split(" (os error").next().unwrap_or_default().to_lowercase();
        refuse(format!("cannot be read: {reason}"))
            .remedy("check the path, which is relative to the folder where aqmlab runs")
    };
    // The function tests the type of the file before it opens the file. Opening a pipe would wait
    // until another process writes to the pipe.
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
    String::from_utf8(text)
        .map_err(|_| refuse("is not a text in UTF-8".into()).remedy("save the file in UTF-8"))
}

/// Return the numbered lines of a text, except for empty lines. Comments after `#` are removed.
pub fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let bare = text.lines().map(|line| line.split('#').next().unwrap_or("").trim());
    bare.enumerate().map(|(i, line)| (i + 1, line)).filter(|(_, line)| !line.is_empty())
}
