//! Transmitters whose rate changes at times that are known in advance. The rate changes by steps,
//! or a trace lists the transmission opportunities.
//!
//! The beginning of a transmission determines its end, because all changes of the rate are known in
//! advance. A link with a variable rate therefore computes all times of a packet when it admits the
//! packet, as a link with a constant rate does. If a packet uses only a part of a transmission
//! opportunity, the next packet can use the rest.

use std::sync::Arc;

use units::{Duration, Rate, Time};

/// Number of picoseconds per second, times the number of bits per byte.
const BYTE: u128 = 8_000_000_000_000;

/// Model of a transmitter whose rate changes over time.
#[derive(Clone, Debug)]
pub enum Pace {
    /// The rate changes by steps.
    Steps(Steps),
    /// Trace of transmission opportunities.
    Opportunities(Opportunities),
}

impl Pace {
    /// Schedule the transmission of `bytes` bytes that can begin at `begins`, and return the end of
    /// the transmission. `begins` must be at or after the end of the previous transmission.
    pub(super) fn send(&mut self, begins: Time, bytes: u64) -> Time {
        match self {
            Pace::Steps(steps) => steps.ends(begins, bytes),
            Pace::Opportunities(opportunities) => opportunities.send(begins, bytes),
        }
    }

    /// Return the time at which a transmission of `bytes` bytes would end, without scheduling it.
    pub(super) fn would_send(&self, begins: Time, bytes: u64) -> Time {
        self.clone().send(begins, bytes)
    }
}

/// Rate that changes by steps, either once or periodically. A step with the rate 0 is followed by a
/// later step with a rate above 0.
#[derive(Clone, Debug)]
pub struct Steps {
    /// Start of each step and its rate in bit/s, in ascending order of the starts. The first step
    /// starts at time 0.
    steps: Arc<[(u64, u64)]>,
    /// Period after which the steps of the rate repeat, if they repeat.
    period: Option<u64>,
}

impl Steps {
    /// Create the steps of a rate, which is `first` until the first change. The changes are in
    /// ascending order of time, and their rates may be 0. The steps repeat after `period`, which
    /// must be later than the last change. Return `None` if the rate is 0 for ever from some time
    /// on, so that a packet might never be sent.
    pub fn new(first: Rate, changes: &[(Duration, Rate)], period: Option<Duration>) -> Option<Self> {
        let later = changes.iter().map(|(at, rate)| (at.0, rate.0));
        let mut steps: Vec<(u64, u64)> = [(0, first.0)].into_iter().chain(later).collect();
        steps.dedup_by(|b, a| {
            b.0 == a.0 && {
                *a = *b;
                true
            }
        });
        let sends = match period {
            Some(_) => steps.iter().any(|step| step.1 > 0),
            None => steps.last().is_some_and(|step| step.1 > 0),
        };
        sends.then(|| Steps { steps: steps.into(), period: period.map(|p| p.0) })
    }

    /// Return the time at which step `i` of the rate ends, counted from the start of the period.
    fn end(&self, i: usize) -> Option<u64> {
        self.steps.get(i + 1).map(|step| step.0).or(self.period)
    }

    /// Return the amount of traffic that the link can send in a whole period, in bit · ps / s.
    fn in_a_period(&self) -> u128 {
        let span = |i: usize| u128::from(self.end(i).unwrap_or(0) - self.steps[i].0);
        (0..self.steps.len()).map(|i| span(i) * u128::from(self.steps[i].1)).sum()
    }

    /// Return the time at which a transmission of `bytes` bytes ends, if the transmission begins at
    /// the time `begins`. The function computes this time by an exact integration of the variable
    /// rate.
    fn ends(&self, begins: Time, bytes: u64) -> Time {
        let mut left = u128::from(bytes) * BYTE;
        let (mut base, mut at) = match self.period {
            Some(period) => (u128::from(begins.0 / period * period), begins.0 % period),
            None => (0, begins.0),
        };
        let mut i = self.steps.partition_point(|step| step.0 <= at) - 1;
        loop {
            let rate = u128::from(self.steps[i].1);
            let end = self.end(i);
            let goes = end.map_or(u128::MAX, |end| u128::from(end - at) * rate);
            if rate > 0 && left <= goes {
                let ends = base + u128::from(at) + (left + rate / 2) / rate;
                return Time(u64::try_from(ends).unwrap_or(u64::MAX));
            }
            let (Some(end), next) = (end, i + 1) else { return Time::NEVER };
            (left, at, i) = (left - goes, end, next);
            if i == self.steps.len() {
                // Skip the whole periods in one calculation, and go through the last period step by
                // step.
                let whole = left.saturating_sub(1) / self.in_a_period();
                left -= whole * self.in_a_period();
                base += (whole + 1) * u128::from(end);
                (at, i) = (0, 0);
            }
        }
    }
}

/// Number of bytes that a transmission opportunity carries.
const MTU: u64 = 1500;

/// Transmission opportunities: times at which the link carries up to 1500 bytes, as in the trace
/// format of mahimahi (Netravali et al. 2015). A transmission opportunity carries one packet,
/// several packets or a part of a packet. The opportunity is lost if no packet is waiting. After
/// the last transmission opportunity, the sequence of times repeats.
#[derive(Clone, Debug)]
pub struct Opportunities {
    /// Times of the transmission opportunities, in ascending order. The last time in the trace is
    /// above 0.
    times: Arc<[Duration]>,
    /// Number of the transmission opportunity that sent the end of the last packet. The numbers
    /// increase through all repetitions of the trace. The field `left` is the number of unused
    /// bytes of the transmission opportunity with this number.
    number: u64,
    left: u64,
}

impl Opportunities {
    /// Create transmission opportunities from times in ascending order. Return `None` if the times
    /// are not in ascending order or all are 0.
    pub fn new(times: Arc<[Duration]>) -> Option<Self> {
        let fits = times.is_sorted() && times.last().is_some_and(|last| last.0 > 0);
        fits.then_some(Opportunities { times, number: 0, left: MTU })
    }

    fn at(&self, number: u64) -> Time {
        let n = self.times.len() as u64;
        let round = u128::from(number / n) * u128::from(self.times[self.times.len() - 1].0);
        let time = round + u128::from(self.times[(number % n) as usize].0);
        Time(u64::try_from(time).unwrap_or(u64::MAX))
    }

    /// Return the number of the first transmission opportunity at or after `now`.
    fn first(&self, now: Time) -> u64 {
        let (n, last) = (self.times.len() as u64, self.times[self.times.len() - 1].0);
        let round = now.0.saturating_sub(1) / last; // the last time of a round precedes the first of the next round
        round * n + self.times.partition_point(|t| t.0 < now.0 - round * last) as u64
    }

    fn send(&mut self, begins: Time, bytes: u64) -> Time {
        if begins > self.at(self.number) {
            (self.number, self.left) = (self.first(begins), MTU);
        }
        if bytes > self.left {
            let more = (bytes - self.left).div_ceil(MTU);
            self.left += more * MTU;
            self.number = self.number.saturating_add(more);
        }
        self.left -= bytes;
        self.at(self.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ms(x: u64) -> Time {
        Time::ZERO + Duration::from_millis(x)
    }

    fn steps(first: u64, changes: &[(u64, u64)], period: Option<u64>) -> Steps {
        let changes: Vec<_> =
            changes.iter().map(|&(at, rate)| (Duration::from_millis(at), Rate(rate))).collect();
        Steps::new(Rate(first), &changes, period.map(Duration::from_millis)).unwrap()
    }

    /// The expected times were calculated by hand: 1500 B take 12 ms at 1 Mbit/s. If the rate
    /// doubles after 8 ms, the link has sent 8 kbit, and sends the remaining 4 kbit in 2 ms at 2
    /// Mbit/s. In the test cases where the rate drops to 0, it is 0 from 8 to 20 ms.
    #[test]
    fn a_transmission_goes_through_steps() {
        assert_eq!(steps(1_000_000, &[(8, 2_000_000)], None).ends(ms(0), 1500), ms(10));
        assert_eq!(steps(1_000_000, &[(8, 0), (20, 2_000_000)], None).ends(ms(0), 1500), ms(22));
        assert_eq!(steps(1_000_000, &[(8, 0), (20, 2_000_000)], None).ends(ms(9), 1500), ms(26));
        // With a period of 10 ms, the rate is 1 Mbit/s for 4 ms per period. A packet of 12 kbit is
        // therefore sent by 24 ms, in the third period.
        let again = steps(1_000_000, &[(4, 0)], Some(10));
        assert_eq!((again.ends(ms(0), 1500), again.ends(ms(6), 1500)), (ms(24), ms(34)));
        assert_eq!(again.ends(ms(0), 1_500_000), ms(10 * 2999 + 4));
        assert!(Steps::new(Rate(1), &[(Duration::from_millis(1), Rate(0))], None).is_none());
    }

    /// The expected times were calculated by hand from the rules of the trace format. The test
    /// covers whole packets, small packets that share an opportunity, large packets that need two
    /// opportunities, opportunities without a waiting packet, and the repetition of the trace.
    #[test]
    fn opportunities_carry_bytes() {
        let times = Arc::new([3, 3, 7, 10].map(Duration::from_millis));
        let mut o = Opportunities::new(times).unwrap();
        let mut free = Time::ZERO;
        let mut send = |now: u64, bytes: u64| {
            free = o.send(free.max(ms(now)), bytes);
            free.0 / 1_000_000_000
        };
        assert_eq!([1500, 700, 700, 200].map(|bytes| send(0, bytes)), [3, 3, 3, 7]);
        // The opportunity at 7 ms has 1400 B left, but no packet is waiting at that time. The next
        // transmission opportunity is at 10 ms.
        assert_eq!([send(8, 1500), send(8, 3000), send(8, 1501), send(20, 1)], [10, 13, 20, 20]);
        assert_eq!([send(20, 1498), send(21, 1500), send(40, 1500), send(40, 1500)], [20, 23, 40, 43]);
        assert!(
            Opportunities::new(Arc::new([Duration::ZERO])).is_none()
                && Opportunities::new(Arc::new([])).is_none()
        );
    }

    /// Return the end of each transmission by a direct simulation of the trace format: each
    /// opportunity sends bytes of the waiting packets in order.
    fn literal(times: &[u64], arrivals: &[(u64, u64)]) -> Vec<u64> {
        let (mut ends, mut rest) = (Vec::new(), arrivals.iter().map(|a| a.1).collect::<Vec<_>>());
        let last = times[times.len() - 1];
        for at in (0..).flat_map(|round| times.iter().map(move |t| round * last + t)) {
            let mut budget = MTU;
            while let Some(&(arrived, _)) = arrivals.get(ends.len())
                && arrived <= at
                && budget > 0
            {
                let sent = rest[ends.len()].min(budget);
                budget -= sent;
                rest[ends.len()] -= sent;
                if rest[ends.len()] == 0 {
                    ends.push(at);
                }
            }
            if ends.len() == arrivals.len() {
                return ends;
            }
        }
        unreachable!("the rounds are endless")
    }

    proptest! {
        #[test]
        fn opportunities_follow_the_trace_format(
            gaps in prop::collection::vec(0u64..4, 1..8),
            packets in prop::collection::vec((0u64..6, 1u64..4000), 1..40),
        ) {
            let rising = |sum: &mut u64, gap: u64| { *sum += gap; Some(*sum) };
            let mut times: Vec<u64> = gaps.into_iter().scan(0, rising).collect();
            times.push(times[times.len() - 1] + 1);
            let mut now = 0;
            let packets: Vec<(u64, u64)> = packets.into_iter().map(|(gap, size)| { now += gap; (now, size) }).collect();
            let spans: Arc<[Duration]> = times.iter().map(|&t| Duration(t)).collect();
            let mut o = Opportunities::new(spans).unwrap();
            let mut free = Time::ZERO;
            let ends: Vec<u64> = packets.iter().map(|&(at, size)| { free = o.send(free.max(Time(at)), size); free.0 }).collect();
            prop_assert_eq!(ends, literal(&times, &packets));
        }

        /// The bits that the link can send between the beginning and the end of a transmission,
        /// summed millisecond by millisecond, equal the size of the packet.
        #[test]
        fn a_transmission_is_the_integral_of_the_rate(
            rates in prop::collection::vec(0u64..5, 1..6), last in 1u64..5, period in prop::bool::ANY,
            begins in 0u64..40, kbits in 1u64..200,
        ) {
            let changes: Vec<(u64, u64)> =
                rates.iter().chain([&last]).enumerate().map(|(i, r)| (3 * i as u64 + 2, r * 8_000_000)).collect();
            let n = 3 * changes.len() as u64 + 5;
            let s = steps(8_000_000, &changes, period.then_some(n));
            let (mut t, mut left) = (begins, kbits * 8000);
            let ends = loop {
                let within = if period { t % n } else { t };
                let rate = changes.iter().rev().find(|c| c.0 <= within).map_or(8_000_000, |c| c.1) / 1000;
                if rate >= left { break t as f64 + left as f64 / rate as f64; }
                (t, left) = (t + 1, left - rate);
            };
            prop_assert!((s.ends(ms(begins), kbits * 1000).0 as f64 / 1e9 - ends).abs() < 1e-6);
        }
    }
}
