//! A list of requests, read from a file and known by its digest.

use std::collections::VecDeque;
use std::str::FromStr;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use sha2::{Digest, Sha256};
use units::file::{lines, read_text};
use units::param::{Invalid, Json, join};
use units::{Duration, Read, Time, params};

/// The columns of the file, in their order.
const COLUMNS: &str = "user,connection,at_s,request_bytes,response_bytes";

params! {
    /// A list of requests as a frozen scenario has it.
    pub struct Frozen: "frozen" {
        /// The name of its file.
        file: String = required, in units::Range::ANY, from "";
        /// SHA-256 of what is in it, by which a run knows it again.
        sha256: String = required, in units::Range::ANY, from "fips180-4";
    }
}

/// A request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Request {
    /// When it is written, counted from the start of the run.
    pub at: Time,
    /// Its bytes.
    pub request: u64,
    /// Those of its response.
    pub response: u64,
}

/// What a list says: the users one after the other, of each his connections, of each its requests.
#[derive(Debug, Default, PartialEq)]
pub struct Rows {
    /// Where the connections of a user begin, and behind the last where they end.
    users: Vec<u32>,
    /// Where the requests of a connection begin, and behind the last where they end.
    connections: Vec<u32>,
    requests: Vec<Request>,
}

/// The largest time in seconds, and the largest size in bytes.
const LATEST: f64 = 1e7;
const LARGEST: u64 = 1_000_000_000_000_000;

fn part<T: FromStr>(fields: &mut std::str::Split<'_, char>) -> Option<T> {
    fields.next()?.trim().parse().ok()
}

impl Rows {
    fn of(text: &str) -> Result<Self, String> {
        let mut lines = lines(text).peekable();
        if lines.peek().is_none() {
            return Err(format!("it is empty; a line has the columns {COLUMNS}"));
        }
        let lines = lines.filter(|(_, line)| *line != COLUMNS);
        let mut rows = Rows::default();
        let mut last = (0, None);
        for (number, line) in lines {
            let (whose, request) = row(line).map_err(|problem| format!("line {number} {problem}"))?;
            rows.add(&mut last, whose, request).map_err(|problem| format!("line {number} {problem}"))?;
        }
        rows.users.push(rows.connections.len() as u32);
        rows.connections.push(rows.requests.len() as u32);
        Ok(rows)
    }

    /// Adds a request; `last`: the user of the one before, and his connection.
    fn add(
        &mut self,
        last: &mut (u32, Option<u32>),
        whose: [u32; 2],
        request: Request,
    ) -> Result<(), String> {
        let [user, connection] = whose;
        let (before, open) = *last;
        if user < before {
            return Err(format!(
                "is of user {user}, and those of user {before} have begun; sort by user and connection"
            ));
        }
        let same = !self.users.is_empty() && user == before;
        let next = if same { open.map_or(0, |c| c + 1) } else { 0 };
        if !(connection == next || same && Some(connection) == open) {
            return Err(format!(
                "is of connection {connection} of user {user}, where {next} is the next; count them from 0"
            ));
        }
        if same
            && self.requests.last().is_some_and(|before| request.at < before.at)
            && Some(connection) == open
        {
            return Err("is earlier than the one before it on its connection".into());
        }
        if connection == next {
            if same && self.requests[self.connections[self.connections.len() - 1] as usize].at > request.at {
                return Err(format!(
                    "opens connection {connection} before the one before; sort them by time"
                ));
            }
            self.users.resize(self.users.len().max(user as usize + 1), self.connections.len() as u32);
            self.connections.push(self.requests.len() as u32);
        }
        self.requests.push(request);
        *last = (user, Some(connection));
        Ok(())
    }

    /// How many connections a user has.
    pub fn connections(&self, user: u32) -> u32 {
        let at = |k: usize| self.users.get(k).copied();
        match (at(user as usize), at(user as usize + 1)) {
            (Some(first), Some(end)) => end - first,
            _ => 0,
        }
    }

    /// The requests of a connection of a user.
    pub fn requests(&self, (user, connection): (u32, u32)) -> &[Request] {
        if connection >= self.connections(user) {
            return &[];
        }
        let c = (self.users[user as usize] + connection) as usize;
        &self.requests[self.connections[c] as usize..self.connections[c + 1] as usize]
    }
}

/// What a line says: user and connection, and the request.
fn row(line: &str) -> Result<([u32; 2], Request), String> {
    let mut fields = line.split(',');
    let wrong = || format!("is not {COLUMNS}");
    let whose = [part(&mut fields).ok_or_else(wrong)?, part(&mut fields).ok_or_else(wrong)?];
    let at: f64 = part(&mut fields).ok_or_else(wrong)?;
    let sizes: [u64; 2] = [part(&mut fields).ok_or_else(wrong)?, part(&mut fields).ok_or_else(wrong)?];
    if fields.next().is_some() {
        return Err(wrong());
    }
    if !(0.0..=LATEST).contains(&at) {
        return Err(format!("has the time {at}, which is not between 0 and {LATEST} s"));
    }
    if whose.iter().any(|&n| n > MOST) {
        return Err(format!("has a number above {MOST}"));
    }
    if sizes.iter().any(|size| !(1..=LARGEST).contains(size)) {
        return Err(format!("has a size that is not between 1 and {LARGEST} B"));
    }
    Ok((
        whose,
        Request { at: Time::ZERO + Duration::from_seconds(at), request: sizes[0], response: sizes[1] },
    ))
}

/// The largest number of a user or a connection.
const MOST: u32 = 10_000_000;

/// A list: its file, the digest of what is in it, and what that is when it was read.
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

/// The lists that were read last, by their digests: many runs replay few lists.
static KNOWN: Mutex<VecDeque<(String, Arc<Rows>)>> = Mutex::new(VecDeque::new());
const MOST_KNOWN: usize = 8;

fn read_rows(file: &str, path: &str) -> Result<(Arc<Rows>, String), Invalid> {
    let text = read_text(file, path)?;
    let digest = Sha256::digest(text.as_bytes());
    let sha256: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, rows)) = known().iter().find(|(of, _)| *of == sha256) {
        return Ok((rows.clone(), sha256));
    }
    let rows = Rows::of(&text).map_err(|problem| {
        Invalid::new(path, &Json::from(file), format!("is no list of requests: {problem}"))
    })?;
    let rows = Arc::new(rows);
    let mut known = known();
    known.truncate(MOST_KNOWN - 1);
    known.push_front((sha256.clone(), rows.clone()));
    Ok((rows, sha256))
}

impl List {
    /// Reads the list, unless it was; refuses one that is not what it was when the scenario was frozen.
    pub fn load(&self, path: &str) -> Result<(), Invalid> {
        if self.rows.get().is_some() {
            return Ok(());
        }
        let (rows, sha256) = read_rows(&self.frozen.file, path)?;
        if sha256 != self.frozen.sha256 {
            let problem = format!("has changed since the scenario was written: its SHA-256 is {sha256}");
            return Err(Invalid::new(&join(path, "sha256"), &Json::from(&self.frozen.sha256[..]), problem)
                .remedy("name the file alone to take it as it is now"));
        }
        self.rows.get_or_init(|| rows);
        Ok(())
    }

    /// How many connections a user has.
    pub fn connections(&self, user: u32) -> u32 {
        self.rows.get().map_or(0, |rows| rows.connections(user))
    }

    /// The requests of a connection of a user.
    pub fn requests(&self, whose: (u32, u32)) -> &[Request] {
        self.rows.get().map_or(&[], |rows| rows.requests(whose))
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
    fn lists_are_read_by_user_and_connection() {
        let text = "user,connection,at_s,request_bytes,response_bytes\n0,0,0.5,300,7200\n0,0,0.75,301,1\n# a user without\n2,0,0.25,1,2\n2,1,0.25,3,4\n";
        let rows = Rows::of(text).unwrap();
        assert_eq!([0, 1, 2, 3].map(|user| rows.connections(user)), [1, 0, 2, 0]);
        let sizes = |whose| rows.requests(whose).iter().map(|r| (r.request, r.response)).collect::<Vec<_>>();
        assert_eq!(sizes((0, 0)), [(300, 7200), (301, 1)]);
        assert_eq!(sizes((2, 1)), [(3, 4)]);
        assert_eq!(sizes((2, 2)), []);
        assert_eq!(rows.requests((0, 0))[1].at.seconds(), 0.75);
    }

    #[test]
    fn wrong_lists_are_refused_by_line() {
        let e = |text: &str| Rows::of(text).unwrap_err();
        assert!(e("").contains("it is empty"));
        assert!(e("0,0,0.5,300").contains("line 1 is not user,"));
        assert!(e("0,0,0.5,300,7,9").contains("line 1 is not user,"));
        assert!(e("0,0,nan,300,7").contains("the time NaN"));
        assert!(e("0,0,0.5,0,7").contains("a size"));
        assert!(e("0,1,0.5,3,7").contains("where 0 is the next"));
        assert!(e("1,0,0.5,3,7\n0,0,1,3,7").contains("line 2 is of user 0"));
        assert!(e("0,0,0.5,3,7\n0,0,0.4,3,7").contains("line 2 is earlier"));
        assert!(e("0,0,0.5,3,7\n0,1,0.4,3,7").contains("line 2 opens connection 1 before"));
        assert!(e("99999999,0,0.5,3,7").contains("a number above"));
    }

    #[test]
    fn a_list_that_changed_is_refused() {
        let file = std::env::temp_dir().join(format!("aqmlab-list-{}", std::process::id()));
        let name = file.to_str().unwrap();
        std::fs::write(&file, "0,0,0.5,300,7200\n").unwrap();
        let frozen = List::read(&Json::from(name), "list").unwrap().write();
        let again = List::read(&frozen, "list").unwrap();
        again.load("list").unwrap();
        assert_eq!(again.requests((0, 0)).len(), 1);
        std::fs::write(&file, "0,0,0.5,300,7201\n").unwrap();
        let e = List::read(&frozen, "list").unwrap().load("list").unwrap_err().to_string();
        assert!(e.contains("has changed since"), "{e}");
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
