//! The flows that are traced: those of one connection that `record.traced` names, or all of these.

use net::End;
use units::Time;

use super::recorder::{RunStart, SingleFlow, StoredRows};
use crate::columns::Definition;
use crate::memory::List;
use crate::record::Table;

/// The rows of the flows that are traced, at the client's end and, where both hosts send data, at the server's, and how
/// far each end has come.
#[derive(Debug)]
pub struct Traced<Progress, Row> {
    /// By slot and end; none: not traced.
    progress: Vec<[Option<Progress>; 2]>,
    rows: [List<Row>; 2],
    begins: Time,
}

impl<Progress: Clone + Default, Row> Traced<Progress, Row> {
    /// None yet.
    pub fn begin(start: &RunStart) -> Self {
        let ends = |of: &SingleFlow| {
            [of.traced, of.traced && of.is_bidirectional].map(|end| end.then(Progress::default))
        };
        Traced {
            progress: start.single.iter().map(ends).collect(),
            rows: Default::default(),
            begins: start.begins,
        }
    }

    /// How far an end has come; none: it is not traced.
    pub fn of(&mut self, end: End) -> Option<&mut Progress> {
        self.progress.get_mut(end.connection() as usize)?[end.sends().index()].as_mut()
    }

    /// Adds a row of an end, unless that is before the end of the warm-up.
    pub fn push(&mut self, now: Time, end: End, row: Row) {
        if now >= self.begins {
            self.rows[end.sends().index()].push(row);
        }
    }

    /// How many rows there are.
    pub fn stored_rows(&self) -> StoredRows {
        let [client, server] = &self.rows;
        StoredRows::from(client) + StoredRows::from(server)
    }

    /// The rows of clients as a table, and those of servers, if there are any, as another.
    pub fn tables<Columns: Definition>(&self, columns: impl Fn(&[Row]) -> Columns) -> Vec<Table> {
        let bidirectional = self.progress.iter().any(|[_, server]| server.is_some());
        let ends = Columns::IS.names.iter().zip(&self.rows).take(if bidirectional { 2 } else { 1 });
        ends.map(|(name, rows)| columns(rows).named(name)).collect()
    }
}
