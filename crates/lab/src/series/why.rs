//! Series with the reason for each drop and each mark: the rule that fired, and the variables of
//! the queue at that time.
//!
//! The table has the columns of its definition, and one column per variable of the queues of the
//! scenario. A row has values in the columns of its own queue.

use net::{Explanation, Fate, Rule, Variable};
use units::Time;

use super::incidents::Incident;
use super::recorder::{Names, Needs, Recorder, RunStart, StoredRows};
use crate::columns::{self, Definition as _};
use crate::memory::List;
use crate::record::{Column, Table, words_of};

columns::tables! {
    /// Reason for every drop and mark, with the variables of the queue.
    Columns "why" {
        time_s in "s": "Time at which the packet was dropped or marked.";
        link in "": "Name of the link, in the form from>to.";
        flow in "": "Flow of the packet.";
        reply in "0 or 1": "1 if the host `to` sent the packet, 0 if the host `from` sent it.";
        seq in "bytes": "Position of the packet's first byte in the data stream of the packet's sender, as in the table `drops`.";
        bytes in "bytes": "Payload of the packet.";
        signal in "": "`drop` or `mark`.";
        reason in "": "Reason for which the packet was dropped or marked, as in the table `drops`.";
        rule in "": "Rule that fired. The manual page of the queue describes its rules. The page of `drop_tail` describes the rules of the buffer, of wires and of conditioners.";
        source in "": "Source of the rule: key in references.bib and section, or file of another implementation.";
    }
}

/// Return true if each row of the series `why` has a column of this name, for any queue.
pub fn is_column_of_why(name: &str) -> bool {
    let fixed = Columns::DEFINITION.columns.iter().map(|[column, ..]| *column);
    let buffer = queues::fifo::DECLARED.variables.iter().map(|variable| variable.name);
    fixed.chain(buffer).any(|known| known == name)
}

/// Drop or mark with its rule.
#[derive(Clone, Copy, Debug)]
struct Reason {
    incident: Incident,
    marks: bool,
    rule: &'static Rule,
    /// End of the values of this row in the list of values.
    values_end: usize,
}

/// Reasons for all drops and marks.
#[derive(Debug)]
pub struct Why {
    rows: List<Reason>,
    /// Values of all rows in the order of the rows, each with the index of its variable.
    values: List<(u16, f64)>,
    variables: Vec<&'static Variable>,
    begins: Time,
}

impl Why {
    /// Return the index of a variable. Variables with the same name share a column.
    fn index(&mut self, variable: &'static Variable) -> u16 {
        let known = self.variables.iter().position(|known| known.name == variable.name);
        let index = known.unwrap_or_else(|| {
            self.variables.push(variable);
            self.variables.len() - 1
        });
        index as u16
    }

    /// Return the column of a variable. `order` has the indices of the rows in the order of the
    /// table.
    fn column(&self, variable: usize, order: &[usize]) -> Column {
        let value = |&row: &usize| {
            let begins = row.checked_sub(1).map_or(0, |before| self.rows[before].values_end);
            let values = &self.values[begins..self.rows[row].values_end];
            values.iter().find(|(v, _)| usize::from(*v) == variable).map_or(f64::NAN, |(_, value)| *value)
        };
        Column::Float(order.iter().map(value).collect())
    }
}

impl Recorder for Why {
    type Table = Columns;
    const NEEDS: Needs = Needs { explanations: true, ..Needs::NOTHING };

    fn begin(start: &RunStart) -> Self {
        Why {
            rows: List::default(),
            values: List::default(),
            variables: start.variables.to_vec(),
            begins: start.begins,
        }
    }

    fn stored_rows(&self) -> StoredRows {
        // The values of four variables need about as much memory as the other columns of a row.
        let values = StoredRows { rows: self.values.len() / 4, full: self.values.is_full() };
        StoredRows::from(&self.rows) + values
    }

    #[cold]
    #[inline(never)]
    fn on_fate(&mut self, at: Time, link: u32, flow: u32, fate: &Fate, explanation: Option<&Explanation>) {
        if at < self.begins {
            return;
        }
        let incident = Incident::new(at, link, flow, fate);
        let rule = explanation.map_or_else(|| incident.why.rule(), Explanation::rule);
        for (variable, value) in explanation.map_or(&[][..], Explanation::values) {
            let index = self.index(variable);
            self.values.push((index, *value));
        }
        let (marks, values_end) = (matches!(fate, Fate::Marked(..)), self.values.len());
        self.rows.push(Reason { incident, marks, rule, values_end });
    }

    fn tables(self, names: &Names) -> Vec<Table> {
        let mut order: Vec<usize> = (0..self.rows.len()).collect();
        // Early delivery reports drops at the links of a host before earlier drops at other links.
        order.sort_by_key(|&i| (self.rows[i].incident.at, self.rows[i].incident.link));
        let rows = || order.iter().map(|&i| &self.rows[i]);
        let incidents: Vec<&Incident> = rows().map(|row| &row.incident).collect();
        let columns = Columns {
            time_s: Incident::times(&incidents),
            link: Incident::links(&incidents, names),
            flow: Incident::flows(&incidents, names),
            reply: Incident::replies(&incidents),
            seq: Incident::positions(&incidents),
            bytes: Incident::sizes(&incidents),
            signal: words_of(rows().map(|row| if row.marks { "mark" } else { "drop" })),
            reason: Incident::reasons(&incidents),
            rule: words_of(rows().map(|row| row.rule.name)),
            source: words_of(rows().map(|row| row.rule.source)),
        };
        let mut table = columns.table();
        let variables = self.variables.iter().enumerate();
        table.columns.extend(variables.map(|(i, variable)| (variable.name, self.column(i, &order))));
        vec![table]
    }
}
