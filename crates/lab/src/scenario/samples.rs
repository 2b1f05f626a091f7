//! Size of the samples of a scenario, which is computed and limited before the run.

use traffic::Application;
use traffic::application::Side;
use units::param::{Invalid, join};
use units::{Duration, Read};

use super::{Network, Scenario, Series, opener};
use crate::series::SampledCounts;

impl Scenario {
    /// Maximum total size, in bytes, of the tables of sampled series.
    pub(crate) const MAX_SAMPLED: f64 = 4e9;

    /// Return the number of one-way links. A link with two directions counts twice.
    pub(crate) fn link_count(&self) -> u64 {
        match &self.network {
            Network::Dumbbell(d) => 2 + 2 * (d.left_hosts + d.right_hosts),
            Network::Graph(g) => g.links.iter().map(|link| 2 * link.count).fold(0, u64::saturating_add),
        }
    }

    /// Return the numbers of links and of flows that one sample covers.
    fn sizes(&self) -> SampledCounts {
        let connections = |which: fn(&dyn Application) -> bool| {
            let single =
                self.flows.iter().filter(|flow| opener(flow.arrivals.as_ref(), &flow.traffic).is_none());
            let those = single.filter(|flow| flow.traffic.application().is_some_and(which));
            those.map(|flow| flow.count).fold(0, u64::saturating_add)
        };
        let named = self.record.links.len() as u64;
        SampledCounts {
            links: if named == 0 { self.link_count() } else { named },
            single: connections(|_| true),
            bidirectional: connections(|application| application.needs(Side::Client).events),
        }
    }

    /// Return the number of samples, and the size of one sample in bytes, summed over all tables.
    /// For a run without a duration, the number of samples is 0, because the run checks the size of
    /// its samples while it takes them.
    pub(crate) fn samples(&self) -> (f64, f64) {
        let (record, sizes) = (&self.record, self.sizes());
        let wanted = Series::ALL.iter().filter(|series| record.series.contains(series));
        let each = wanted
            .map(|series| series.table().bytes_per_row() as f64 * series.rows_per_sample(&sizes) as f64)
            .sum();
        let intervals = |d: Duration| d.seconds() / record.interval.seconds();
        let times = |d: Duration| (intervals(d).floor() - intervals(self.warm_up).ceil()).max(0.0) + 1.0;
        (self.duration.map_or(0.0, times), each)
    }

    /// Refuse a scenario whose samples would exceed the maximum size.
    pub(super) fn check_samples(&self, path: &str) -> Result<(), Invalid> {
        let (times, each) = self.samples();
        if times * each > Self::MAX_SAMPLED {
            let (record, seconds) = (&self.record, times * self.record.interval.seconds());
            let least = Duration::from_seconds((seconds * each / Self::MAX_SAMPLED * 1e3).ceil() / 1e3);
            let problem = format!(
                "makes {times:.0} samples of {each:.0} B with a total size of {:.1} GB, more than the maximum of {:.0} GB",
                times * each / 1e9,
                Self::MAX_SAMPLED / 1e9
            );
            return Err(Invalid::new(&join(path, "record.interval"), &record.interval.write(), problem)
                .remedy(format!(
                    "sample every {least} or at longer intervals, or name fewer links in record.links"
                )));
        }
        Ok(())
    }
}
