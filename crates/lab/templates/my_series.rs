//! Template for a new series. The template records the maximum queueing delay between two samples.
//! The guide docs/how-to/add-a-series.md describes where to register the series.
//!
//! Source: replace this line by the publication that defines the measure, with its key in
//! references.bib. (No publication defines the measure in this template.)

// The trait `Recorder` in `recorder.rs` lists the hooks of a series. `Samples` and `List` store
// rows, and report if the available memory does not suffice for another row.
use units::{Duration, Time};

use super::recorder::{Names, Needs, Recorder, RunStart, SampledCounts, Snapshot, StoredRows};
use super::samples::Samples;
use crate::columns::{self, Definition as _};
use crate::record::Table;

// Definition of the table. The struct of the table's columns, the page docs/results.md and
// `aqmlab.manual.columns()` are generated from this definition. The first line is also the
// description of the series in the reference documentation. "my_series" is the name of the series
// in `record.series`, and also the name of its table.
columns::tables! {
    /// Maximum queueing delay of each link since the previous sample.
    Columns "my_series" {
        time_s in "s": "Time of the sample.";
        link in "": "Name of the link, in the form from>to.";
        longest_wait_s in "s": "Maximum time from the arrival of a packet at the queue to the beginning of its transmission. The column is 0 if no packet arrived since the previous sample.";
    }
}

/// Maximum queueing delays of all recorded links.
#[derive(Debug)]
pub struct MySeries {
    links: Vec<u32>,
    /// For each link, the maximum queueing delay since the previous sample.
    longest: Vec<Duration>,
    samples: Samples<Duration>,
}

impl Recorder for MySeries {
    type Table = Columns;
    // The run calls a hook only if a series of the run needs this hook. The run always calls the hooks for rare events: drops, marks, requests, ends
    // of connections, and the end of the run.
    const NEEDS: Needs = Needs { samples: true, links: true, ..Needs::NOTHING };

    // `start` describes the number of links, the links that `record.links` selects, and the flows
    // with a single connection.
    fn begin(start: &RunStart) -> Self {
        let longest = vec![Duration::ZERO; start.links];
        MySeries { links: start.recorded.to_vec(), longest, samples: Samples::default() }
    }

    // Only a sampled series implements `rows_per_sample`. The simulator uses the number of rows per
    // sample to refuse, before the run, a scenario with too many samples.
    fn rows_per_sample(counts: &SampledCounts) -> u64 {
        counts.links
    }

    // If a row could not be stored because the available memory did not suffice, the run ends with
    // an error.
    fn stored_rows(&self) -> StoredRows {
        self.samples.stored_rows()
    }

    fn on_link(&mut self, _: Time, link: u32, [entered, begins]: [Time; 2], _: u32) {
        let longest = &mut self.longest[link as usize];
        *longest = (*longest).max(begins.since(entered));
    }

    fn sample(&mut self, snapshot: &mut Snapshot) {
        let longest = self.links.iter().map(|&l| std::mem::take(&mut self.longest[l as usize]));
        self.samples.take(snapshot.now, self.links.len(), longest);
    }

    // A column is one of three variants: `Column::Float` (with NaN for a missing value),
    // `Column::Count`, or `Column::Name` with `names.links()` or `names.flows()`.
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

    // Return the result of a run that records `my_series`, and also `delays` for a comparison.
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
    fn each_sample_adds_one_row() {
        let outcome = outcome();
        let times = numbers(&outcome, "my_series", "time_s");
        assert_eq!(times.len(), 21);
        assert!(times.iter().enumerate().all(|(i, t)| (t - i as f64 / 10.0).abs() < 1e-9));
    }

    #[test]
    fn the_maximum_of_all_samples_equals_the_maximum_of_delays() {
        let outcome = outcome();
        let delays = numbers(&outcome, "my_series", "longest_wait_s");
        let longest = delays.iter().copied().fold(0.0, f64::max);
        // The transmission of 20 packets of 1500 B at 2 Mbit/s takes 120 ms.
        assert!((0.1..=0.121).contains(&longest), "{longest}");
        assert_eq!(longest, numbers(&outcome, "delays", "longest_delay_s")[0]);
    }
}
