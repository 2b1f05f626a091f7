//! A list of requests that was read from a file. The SHA-256 digest of the file identifies the
//! list.

use std::collections::VecDeque;
use std::str::FromStr;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use sha2::{Digest, Sha256};
use units::file::{lines, read_text};
use units::param::{Invalid, Json, join};
use units::{Duration, Read, Time, params};

/// Columns of a file with a list of requests, in order.
const COLUMNS: &str = "user,connection,at_s,request_bytes,response_bytes";

params! {
    /// A list of requests, as a scenario contains it after all defaults are filled in.
    pub struct Frozen: "frozen" {
        /// Name of the file.
        file: String = required, in units::Range::ANY, from "";
        /// SHA-256 digest of the file, by which a change of the file is detected.
        sha256: String = required, in units::Range::ANY, from "fips180-4";
    }
}

/// A request in a list of requests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Request {
    /// Time when the client writes the request, counted from the start of the run.
    pub at: Time,
    /// Size of the request, in bytes.
    pub request: u64,
    /// Size of the response, in bytes.
    pub response: u64,
}

/// Content of a list of requests, sorted by user, then by connection, then by time.
#[derive(Debug, Default, PartialEq)]
pub struct Rows {
    /// For each user, the index in `connections` of the user's first connection. The last entry of
    /// the list is the number of all connections.
    users: Vec<u32>,
    /// For each connection, the index in `requests` of the connection's first request. The last
    /// entry of the list is the number of all requests.
    connections: Vec<u32>,
    requests: Vec<Request>,
}

/// Maximum time of a request in seconds, and maximum size of a request or a response in bytes.
const MAX_TIME: f64 = 1e7;
const MAX_SIZE: u64 = 1_000_000_000_000_000;

fn part<T: FromStr>(fields: &mut std::str::Split<'_, char>) -> Option<T> {
    fields.next()?.trim().parse().ok()
}

impl Rows {
    fn of(text: &str) -> Result<Self, String> {
        let mut lines = lines(text).peekable();
        if lines.peek().is_none() {
            return Err(format!("the file is empty; each line must have the columns {COLUMNS}"));
        }
        let lines = lines.filter(|(_, line)| *line != COLUMNS);
        let mut rows = Rows::default();
        let mut last = (0, None);
        for (number, line) in lines {
            let (ids, request) = row(line).map_err(|problem| format!("line {number} {problem}"))?;
            rows.add(&mut last, ids, request).map_err(|problem| format!("line {number} {problem}"))?;
        }
        rows.users.push(rows.connections.len() as u32);
        rows.connections.push(rows.requests.len() as u32);
        Ok(rows)
    }

    /// Add a request. The argument `last` contains the user and the connection of the previous
    /// request in the file.
    fn add(&mut self, last: &mut (u32, Option<u32>), ids: [u32; 2], request: Request) -> Result<(), String> {
        let [user, connection] = ids;
        let (before, open) = *last;
        if user < before {
            return Err(format!(
                "belongs to user {user} but follows lines of user {before}; sort the lines by user and \
                 connection"
            ));
        }
        let same = !self.users.is_empty() && user == before;
        let next = if same { open.map_or(0, |c| c + 1) } else { 0 };
        if !(connection == next || same && Some(connection) == open) {
            return Err(format!(
                "belongs to connection {connection} of user {user}, but the next connection must be \
                 {next}; count the connections of each user from 0"
            ));
        }
        if same
            && self.requests.last().is_some_and(|before| request.at < before.at)
            && Some(connection) == open
        {
            return Err(
                "has an earlier time than the previous request of its connection; sort the requests of \
                 each connection by time"
                    .into(),
            );
        }
        if connection == next {
            if same && self.requests[self.connections[self.connections.len() - 1] as usize].at > request.at {
                return Err(format!(
                    "opens connection {connection} before the previous connection opens; number the \
                     connections of each user by time"
                ));
            }
            self.users.resize(self.users.len().max(user as usize + 1), self.connections.len() as u32);
            self.connections.push(self.requests.len() as u32);
        }
        self.requests.push(request);
        *last = (user, Some(connection));
        Ok(())
    }

    /// Return the number of connections that a user has in the list.
    pub fn connections(&self, user: u32) -> u32 {
        let at = |k: usize| self.users.get(k).copied();
        match (at(user as usize), at(user as usize + 1)) {
            (Some(first), Some(end)) => end - first,
            _ => 0,
        }
    }

    /// Return the requests of a connection, given the number of the user and the number of the
    /// connection.
    pub fn requests(&self, (user, connection): (u32, u32)) -> &[Request] {
        if connection >= self.connections(user) {
            return &[];
        }
        let c = (self.users[user as usize] + connection) as usize;
        &self.requests[self.connections[c] as usize..self.connections[c + 1] as usize]
    }
}

/// Parse a line of the list into a user, a connection and a request.
fn row(line: &str) -> Result<([u32; 2], Request), String> {
    let mut fields = line.split(',');
    let wrong = || format!("does not have the columns {COLUMNS}");
    let ids = [part(&mut fields).ok_or_else(wrong)?, part(&mut fields).ok_or_else(wrong)?];
    let at: f64 = part(&mut fields).ok_or_else(wrong)?;
    let sizes: [u64; 2] = [part(&mut fields).ok_or_else(wrong)?, part(&mut fields).ok_or_else(wrong)?];
    if fields.next().is_some() {
        return Err(wrong());
    }
    if !(0.0..=MAX_TIME).contains(&at) {
        return Err(format!("has the time {at}, which must be between 0 and {MAX_TIME} s"));
    }
    if ids.iter().any(|&n| n > MAX_NUMBER) {
        return Err(format!("has a user or a connection above {MAX_NUMBER}, the maximum"));
    }
    if sizes.iter().any(|size| !(1..=MAX_SIZE).contains(size)) {
        return Err(format!("has a size that is not between 1 and {MAX_SIZE} B"));
    }
    Ok((ids, Request { at: Time::ZERO + Duration::from_seconds(at), request: sizes[0], response: sizes[1] }))
}

/// Maximum identifier of a user or of a connection in a list of requests.
const MAX_NUMBER: u32 = 10_000_000;

/// A list of requests: the name of its file, the digest of the file, and the content if the file
/// has been read.
#[derive(Clone, Debug)]
pub struct List {
    frozen: Frozen,
    rows: OnceLock<Arc<Rows>>,
}

impl PartialEq for List {
    fn eq(&self, other: &Self) -> bool {
        self.frozen == other.frozen
    }
}

/// Cache of the lists of requests that were read most recently, by digest, because many runs use
/// the same few lists.
static CACHE: Mutex<VecDeque<(String, Arc<Rows>)>> = Mutex::new(VecDeque::new());
const MAX_CACHED: usize = 8;

fn read_rows(file: &str, path: &str) -> Result<(Arc<Rows>, String), Invalid> {
    let text = read_text(file, path)?;
    let digest = Sha256::digest(text.as_bytes());
    let sha256: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    let cache = || CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, rows)) = cache().iter().find(|(of, _)| *of == sha256) {
        return Ok((rows.clone(), sha256));
    }
    let rows = Rows::of(&text).map_err(|problem| {
        Invalid::new(path, &Json::from(file), format!("is not a list of requests: {problem}"))
    })?;
    let rows = Arc::new(rows);
    let mut cache = cache();
    cache.truncate(MAX_CACHED - 1);
    cache.push_front((sha256.clone(), rows.clone()));
    Ok((rows, sha256))
}

impl List {
    /// Read the list of requests from its file, unless the list has already been read. Refuse the
    /// list if the file has changed, that is, if its digest differs from the digest in the
    /// scenario.
    pub fn load(&self, path: &str) -> Result<(), Invalid> {
        if self.rows.get().is_some() {
            return Ok(());
        }
        let (rows, sha256) = read_rows(&self.frozen.file, path)?;
        if sha256 != self.frozen.sha256 {
            let problem = format!(
                "differs from the digest of the file, because the file has changed: its SHA-256 is now \
                 {sha256}"
            );
            return Err(Invalid::new(&join(path, "sha256"), &Json::from(&self.frozen.sha256[..]), problem)
                .remedy("to use the present content of the file, write only the name of the file"));
        }
        self.rows.get_or_init(|| rows);
        Ok(())
    }

    /// Return the number of connections that a user has in the list.
    pub fn connections(&self, user: u32) -> u32 {
        self.rows.get().map_or(0, |rows| rows.connections(user))
    }

    /// Return the requests of a connection, given the number of the user and the number of the
    /// connection.
    pub fn requests(&self, ids: (u32, u32)) -> &[Request] {
        self.rows.get().map_or(&[], |rows| rows.requests(ids))
    }
}

impl Read for List {
    fn read(value: &Json, path: &str) -> Result<Self, Invalid> {
        let Some(name) = value.as_str() else {
            let frozen = Frozen::read(value, path)?;
            return Ok(List { frozen, rows: OnceLock::new() });
        };
        let (rows, sha256) = read_rows(name, path)?;
        let frozen = Frozen { file: name.into(), sha256 };
        Ok(List { frozen, rows: OnceLock::from(rows) })
    }
    fn write(&self) -> Json {
        self.frozen.write()
    }
    fn schema() -> Json {
        serde_json::json!({"anyOf": [{"type": "string"}, Frozen::schema()]})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_by_user_and_connection() {
        let text = "user,connection,at_s,request_bytes,response_bytes\n0,0,0.5,300,7200\n0,0,0.75,301,1\n# user 1 has no requests\n2,0,0.25,1,2\n2,1,0.25,3,4\n";
        let rows = Rows::of(text).unwrap();
        assert_eq!([0, 1, 2, 3].map(|user| rows.connections(user)), [1, 0, 2, 0]);
        let sizes = |ids| rows.requests(ids).iter().map(|r| (r.request, r.response)).collect::<Vec<_>>();
        assert_eq!(sizes((0, 0)), [(300, 7200), (301, 1)]);
        assert_eq!(sizes((2, 1)), [(3, 4)]);
        assert_eq!(sizes((2, 2)), []);
        assert_eq!(rows.requests((0, 0))[1].at.seconds(), 0.75);
    }

    #[test]
    fn an_error_in_a_list_names_its_line() {
        let e = |text: &str| Rows::of(text).unwrap_err();
        assert!(e("").contains("the file is empty"));
        assert!(e("0,0,0.5,300").contains("line 1 does not have the columns user,"));
        assert!(e("0,0,0.5,300,7,9").contains("line 1 does not have the columns user,"));
        assert!(e("0,0,nan,300,7").contains("the time NaN"));
        assert!(e("0,0,0.5,0,7").contains("a size"));
        assert!(e("0,1,0.5,3,7").contains("the next connection must be 0"));
        assert!(e("1,0,0.5,3,7\n0,0,1,3,7").contains("line 2 belongs to user 0"));
        assert!(e("0,0,0.5,3,7\n0,0,0.4,3,7").contains("line 2 has an earlier time"));
        assert!(e("0,0,0.5,3,7\n0,1,0.4,3,7").contains("line 2 opens connection 1 before the previous"));
        assert!(e("99999999,0,0.5,3,7").contains("a user or a connection above"));
    }

    #[test]
    fn a_changed_file_is_refused() {
        let file = std::env::temp_dir().join(format!("aqmlab-list-{}", std::process::id()));
        let name = file.to_str().unwrap();
        std::fs::write(&file, "0,0,0.5,300,7200\n").unwrap();
        let frozen = List::read(&Json::from(name), "list").unwrap().write();
        let again = List::read(&frozen, "list").unwrap();
        again.load("list").unwrap();
        assert_eq!(again.requests((0, 0)).len(), 1);
        std::fs::write(&file, "0,0,0.5,300,7201\n").unwrap();
        let e = List::read(&frozen, "list").unwrap().load("list").unwrap_err().to_string();
        assert!(e.contains("the file has changed"), "{e}");
        std::fs::remove_file(&file).unwrap();
        assert!(
            List::read(&frozen, "list")
                .unwrap()
                .load("list")
                .unwrap_err()
                .to_string()
                .contains("cannot be read")
        );
    }
}
