//! The longest wait in a queue between two samples: a template for a series of your own. docs/how-to/add-a-series.md says
//! where each line goes.
//!
//! Source: name what measures so, with its key in references.bib. (This series is made up.)

// What a series is told, and when, is in `recorder.rs`; what a row needs beside it (`Samples`, `List`) keeps the rows, and
// says so where there is no memory for more.
use net::Packet;
use units::{Duration, Time};

use super::recorder::{Names, Needs, Recorder, RunStart, SampledCounts, Snapshot, StoredRows};
use super::samples::Samples;
use crate::columns::{self, Definition as _};
use crate::record::Table;

// The one definition of the table: its struct, the tables of docs/results.md and `aqmlab.manual.columns()` are made from it.
// The first line is also what the reference says of the series. "my_series" is its name in `record.series` and that of its table.
columns::tables! {
    /// The longest wait in the queue of each link since the sample before.
    Columns "my_series" {
        time_s in "s": "When.";
        link in "": "Where.";
        longest_wait_s in "s": "The longest time from a packet's arrival at the queue to the beginning of its transmission; 0 if none came.";
    }
}

/// The longest waits at the links that are recorded.
#[derive(Debug)]
pub struct MySeries {
    links: Vec<u32>,
    /// By link: the longest since the last sample.
    longest: Vec<Duration>,
    samples: Samples<Duration>,
}

impl Recorder for MySeries {
    type Table = Columns;
    // A series is only called for what it wants, and a run only pays for what one of its series wants. What is rare (drops,
    // marks, requests, connections that are over, the end) it is told without asking.
    const NEEDS: Needs = Needs { samples: true, packets: true, ..Needs::NOTHING };

    // `start` has the number of links, those that `record.links` names, and the flows of one connection.
    fn begin(start: &RunStart) -> Self {
        let longest = vec![Duration::ZERO; start.links];
        MySeries { links: start.recorded.to_vec(), longest, samples: Samples::default() }
    }

    // Only for one that is sampled: too many samples are refused before the run.
    fn rows_per_sample(of: &SampledCounts) -> u64 {
        of.links
    }

    // Where a row was left away for lack of memory, the run ends with an error.
    fn stored_rows(&self) -> StoredRows {
        self.samples.stored_rows()
    }

    fn on_link(&mut self, _: Time, link: u32, [entered, begins]: [Time; 2], _: &Packet) {
        let longest = &mut self.longest[link as usize];
        *longest = (*longest).max(begins.since(entered));
    }

    fn sample(&mut self, at: &mut Snapshot) {
        let longest = self.links.iter().map(|&l| std::mem::take(&mut self.longest[l as usize]));
        self.samples.take(at.now, self.links.len(), longest);
    }

    // Columns: `Column::Float` (NaN: not there), `Column::Count`, and `Column::Name` of `names.links()` or `names.flows()`.
    fn tables(self, names: &Names) -> Vec<Table> {
        let columns = Columns {
            time_s: self.samples.times(self.links.len()),
            link: self.samples.keys(&self.links, names.links()),
            longest_wait_s: self.samples.column(|longest| longest.seconds()),
        };
        vec![columns.table()]
    }
}

#[cfg(test)]
mod tests {
    use crate::record::Column;
    use crate::{Format, Outcome, Watch, read, run};

    // A whole run, held against another series of the same run.
    fn outcome() -> Outcome {
        let scenario = r#"
            duration = "2 s"
            network = { kind = "dumbbell", rate = "2 Mbit/s", delay = "5 ms", queue = { kind = "drop_tail", limit = "20 packets" },
                        left_rate = "100 Mbit/s", left_delay = "1 ms", right_rate = "100 Mbit/s", right_delay = "1 ms" }
            flows = [{ from = "left-0", to = "right-0", traffic = { kind = "bulk" } }]
            record = { series = ["my_series", "delays"], links = ["left>right"], interval = "100 ms" }
        "#;
        run(&read(scenario, Format::Toml, &[]).unwrap(), &Watch::default()).unwrap()
    }

    fn numbers(outcome: &Outcome, table: &str, column: &str) -> Vec<f64> {
        let table = outcome.tables.iter().find(|t| t.name == table).unwrap();
        match &table.columns.iter().find(|(name, _)| *name == column).unwrap().1 {
            Column::Float(values) => values.clone(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn there_is_a_row_a_sample() {
        let outcome = outcome();
        let times = numbers(&outcome, "my_series", "time_s");
        assert_eq!(times.len(), 21);
        assert!(times.iter().enumerate().all(|(i, t)| (t - i as f64 / 10.0).abs() < 1e-9));
    }

    #[test]
    fn the_longest_of_all_is_that_of_the_delays() {
        let outcome = outcome();
        let waits = numbers(&outcome, "my_series", "longest_wait_s");
        let longest = waits.iter().copied().fold(0.0, f64::max);
        // 20 packets of 1500 B at 2 Mbit/s are 120 ms.
        assert!((0.1..=0.121).contains(&longest), "{longest}");
        assert_eq!(longest, numbers(&outcome, "delays", "longest_delay_s")[0]);
    }
}
