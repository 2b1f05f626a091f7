//! Lateness: the time from the moment at which a packet leaves the network to the moment at which
//! the router hands it to the host.

use units::Duration;

/// Lateness of all packets of a run.
#[derive(Clone, Debug, Default)]
pub struct Lateness {
    nanoseconds: Vec<u32>,
}

impl Lateness {
    /// Add a packet.
    pub(crate) fn add(&mut self, late: Duration) {
        self.nanoseconds.push(u32::try_from(late.0 / 1000).unwrap_or(u32::MAX));
    }

    /// Return the number of packets, and the given quantiles of their lateness in seconds. Without
    /// packets, the quantiles are NaN.
    pub fn quantiles_s<const N: usize>(&mut self, quantiles: [f64; N]) -> (usize, [f64; N]) {
        self.nanoseconds.sort_unstable();
        let all = &self.nanoseconds;
        let of = |q: f64| {
            let at = (q * all.len() as f64).ceil() as usize;
            all.get(at.clamp(1, all.len().max(1)) - 1).map_or(f64::NAN, |&ns| f64::from(ns) / 1e9)
        };
        (all.len(), quantiles.map(of))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_sorted_values() {
        let mut late = Lateness::default();
        assert!(late.quantiles_s([0.5]).1[0].is_nan());
        (1..=100u64).rev().for_each(|us| late.add(Duration(us * 1_000_000)));
        let (count, [half, most, all]) = late.quantiles_s([0.5, 0.99, 1.0]);
        assert_eq!((count, half, most, all), (100, 50e-6, 99e-6, 100e-6));
    }
}
