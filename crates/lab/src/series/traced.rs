//! Rows of the traced flows. A flow is traced if it has a single connection and the list
//! `record.traced` contains its name. If the list `record.traced` is empty, all flows with a single
//! connection are traced.

use net::End;
use units::Time;

use super::recorder::{RunStart, SingleFlow, StoredRows};
use crate::columns::Definition;
use crate::memory::List;
use crate::record::Table;

/// Rows of the traced flows, and the last recorded state (`Progress`) of each traced endpoint. The
/// client of each traced flow is traced, and the server too if both hosts send data.
#[derive(Debug)]
pub struct Traced<Progress, Row> {
    /// Last recorded state of the client and of the server of each connection, or `None` for an
    /// endpoint that is not traced.
    progress: Vec<[Option<Progress>; 2]>,
    rows: [List<Row>; 2],
    begins: Time,
}

impl<Progress: Clone + Default, Row> Traced<Progress, Row> {
    /// Return an empty list of rows for the traced flows.
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

    /// Return the last recorded state of an endpoint, or `None` if the endpoint is not traced.
    pub fn progress(&mut self, end: End) -> Option<&mut Progress> {
        self.progress.get_mut(end.connection() as usize)?[end.sends().index()].as_mut()
    }

    /// Add a row of an endpoint, except during the warm-up.
    pub fn push(&mut self, now: Time, end: End, row: Row) {
        if now >= self.begins {
            self.rows[end.sends().index()].push(row);
        }
    }

    /// Return the number of stored rows.
    pub fn stored_rows(&self) -> StoredRows {
        let [client, server] = &self.rows;
        StoredRows::from(client) + StoredRows::from(server)
    }

    /// Return the table of the clients. If a server is traced, also return the table of the
    /// servers.
    pub fn tables<Columns: Definition>(&self, columns: impl Fn(&[Row]) -> Columns) -> Vec<Table> {
        let bidirectional = self.progress.iter().any(|[_, server]| server.is_some());
        let ends = Columns::DEFINITION.names.iter().zip(&self.rows).take(if bidirectional { 2 } else { 1 });
        ends.map(|(name, rows)| columns(rows).named(name)).collect()
    }
}
