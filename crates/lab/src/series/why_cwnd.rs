//! Series with the reason for each change of cwnd and ssthresh: the rule of the sender or of the
//! congestion control, with its source.

use net::End;
use tcp::CwndChange;
use units::Time;

use super::recorder::{Names, Needs, Recorder, RunStart, StoredRows};
use crate::columns::{self, Definition as _};
use crate::memory::List;
use crate::record::{Column, Table, words_of};

columns::tables! {
    /// Reason for every change of cwnd and ssthresh.
    Columns "why_cwnd" {
        time_s in "s": "Time of the change.";
        flow in "": "Flow of the sender.";
        connection in "": "Number of the connection within the flow, counted from 0.";
        reply in "0 or 1": "1 if the sender is the host `to`, 0 if it is the host `from`.";
        cwnd_before_bytes in "bytes": "Congestion window before the change. The first change of a connection has the value 0, so that the sum of all changes is the congestion window.";
        cwnd_after_bytes in "bytes": "Congestion window after the change.";
        ssthresh_before_bytes in "bytes": "Slow-start threshold before the change. The first change of a connection has the value 0.";
        ssthresh_after_bytes in "bytes": "Slow-start threshold after the change. The threshold is infinite before the first reduction of the congestion window.";
        rule in "": "Rule that caused the change. The manual page `tcp.cwnd` describes the rules of every sender, and the page of a congestion control its own rules.";
        source in "": "Source of the rule: key in references.bib and section, or function of Linux.";
    }
}

/// Change of the windows of one sender.
#[derive(Clone, Copy, Debug)]
struct Row {
    at: Time,
    end: End,
    flow: u32,
    connection: u32,
    change: CwndChange,
}

/// Changes of the windows of all recorded senders.
#[derive(Debug)]
pub struct WhyCwnd {
    rows: List<Row>,
    begins: Time,
}

impl Recorder for WhyCwnd {
    type Table = Columns;
    const NEEDS: Needs = Needs { changes: true, ..Needs::NOTHING };

    fn begin(start: &RunStart) -> Self {
        WhyCwnd { rows: List::default(), begins: start.begins }
    }

    fn stored_rows(&self) -> StoredRows {
        StoredRows::from(&self.rows)
    }

    fn on_cwnd_change(&mut self, at: Time, end: End, [flow, connection]: [u32; 2], change: &CwndChange) {
        if at >= self.begins {
            self.rows.push(Row { at, end, flow, connection, change: *change });
        }
    }

    fn tables(self, names: &Names) -> Vec<Table> {
        let mut rows: Vec<&Row> = self.rows.iter().collect();
        let reply = |row: &Row| u64::from(!row.end.is_sender());
        // Early delivery can simulate an endpoint ahead of the other endpoints.
        rows.sort_by_key(|row| (row.at, row.flow, row.connection, reply(row)));
        let window = |value: fn(&CwndChange) -> f64| {
            Column::Float(rows.iter().map(|row| value(&row.change)).collect())
        };
        let columns = Columns {
            time_s: Column::Float(rows.iter().map(|row| row.at.seconds()).collect()),
            flow: Column::Name(rows.iter().map(|row| row.flow).collect(), names.flows().clone()),
            connection: Column::Count(rows.iter().map(|row| u64::from(row.connection)).collect()),
            reply: Column::Count(rows.iter().map(|row| reply(row)).collect()),
            cwnd_before_bytes: window(|change| change.before[0]),
            cwnd_after_bytes: window(|change| change.after[0]),
            ssthresh_before_bytes: window(|change| change.before[1]),
            ssthresh_after_bytes: window(|change| change.after[1]),
            rule: words_of(rows.iter().map(|row| row.change.rule.name)),
            source: words_of(rows.iter().map(|row| row.change.rule.source)),
        };
        vec![columns.table()]
    }
}
