//! RED with the arithmetic of Linux and the parameters of `tc`.
//!
//! Source: tc-red(8) (`tcred8`) defines the parameters and their defaults. As in Linux, all
//! computations use integers: the weight of the average is 2^-Wlog, and the average is stored
//! multiplied by 2^Wlog. During idle time the average decays by a right shift. A table with 256
//! cells contains the number of bits for each idle time. At each signal RED takes a random number
//! between 0 and (max - min)/probability. The next signal comes when ((avg - min) 2^-Wlog) count
//! reaches this number, where count is the number of packets since the last signal.
//!
//! Each decision agrees with red.h and sch_red.c of Linux 6.12, if the kernel gets its parameters
//! from `tc` (tc_red.c, q_red.c). Wlog and the width of the table cells agree with those that a
//! running kernel reports. The code of Linux 2.4 was not available, so the arithmetic of
//! `linux-2.4` is from memory. Packet sizes in aqmlab exclude the 14 B of the Ethernet header,
//! which Linux includes.

use engine::Stream;
use net::{Aqm, Arrival, Declared, Explanation, Packet, Variables as _, Verdict, Why, rules, variables};
use units::param::{Invalid, join};
use units::{Bytes, Depth, Packets, Probability, Range, Rate, Read, Time, params, words};

use crate::aqm::{AqmParams, QueueContext};
use crate::average::AverageVariables;

words! {
    /// Linux version whose integer arithmetic `tc_red` uses.
    pub enum Arithmetic {
        /// Arithmetic of current kernels, which store the signal probability exactly. For current
        /// kernels `tc` computes the table of the idle decay in ticks of 64 ns, but the kernel
        /// reads the table with idle times in microseconds. After the average has halved once, it
        /// therefore decays 15.6 times more slowly than bandwidth and avpkt imply.
        Linux6 = "linux-6",
        /// Arithmetic of the kernels of the 2.4 series. Kernels of the 2.4 series round the
        /// quotient of (max - min) and the probability up to a power of two. The actual signal
        /// probability is therefore lower, down to half of `probability`. For kernels of the 2.4
        /// series the table of the idle decay is in microseconds.
        Linux24 = "linux-2.4",
    }
}

params! {
    /// RED with the parameters of Linux's `tc`. All queue lengths are in bytes. If the average
    /// queue length is between min and max, packets are signalled with a probability that rises to
    /// about `probability`. A signalled packet is marked if it is ECN-capable, and dropped
    /// otherwise. If the average queue length is above max, every packet is signalled. The weight
    /// of the average is computed from burst, min and avpkt. The decay of the average during idle
    /// time is computed from bandwidth and avpkt. Set the limit of the buffer in bytes, because
    /// `tc` also expects the limit in bytes.
    pub struct TcRed: "tc_red", checked by check {
        /// Average queue length above which packets are signalled. By default min is a third of
        /// max.
        min: Option<Bytes> = (None), in Range::at_least(1.0), from "tcred8: max/3";
        /// Average queue length above which every packet is signalled.
        max: Bytes = required, in Range::between(1.0, 1e9), from "tcred8: max should be at least twice min";
        /// Average packet size.
        avpkt: Bytes = (Bytes(1000)), in Range::between(1.0, 65535.0), from "tcred8: 1000 B is a good value";
        /// Number of packets in a burst that RED lets pass without a signal. RED computes the
        /// weight of the average from this number. The default burst is (2 min + max)/(3 avpkt).
        burst: Option<Packets> = (None), in Range::between(1.0, 1e6).whole(), from "tcred8: (min+min+max)/(3*avpkt)";
        /// Signal probability when the average queue length reaches max.
        probability: Probability = (Probability(0.02)), in Range::above_to(0.0, 1.0), from "tcred8: 0.02, suggested 0.01 to 0.02";
        /// Rate that converts idle time into a number of virtual packets, each of which lets the
        /// average queue length decay.
        bandwidth: Rate = (Rate(10_000_000)), in Range::ANY, from "tcred8: 10Mbit";
        /// Linux version whose integer arithmetic `tc_red` uses.
        arithmetic: Arithmetic = (Arithmetic::Linux6), in Range::ANY, from "Linux 6.12";
    }
}

/// Number of ticks of 64 ns per microsecond. Since Linux 2.6.22, `tc` and the kernel measure
/// transmission times in ticks of 64 ns.
const TICKS_A_MICROSECOND: f64 = 15.625;

impl TcRed {
    fn min(&self) -> u64 {
        self.min.map_or(self.max.0 / 3, |b| b.0)
    }

    fn burst(&self) -> f64 {
        let guess = (2 * self.min() + self.max.0) / (3 * self.avpkt.0);
        self.burst.map_or(guess as f64, |b| b.0)
    }

    /// Return the minimum Wlog with which the burst passes. The burst passes if burst + 1 -
    /// min/avpkt <= (1 - (1-W)^burst)/W, where W = 2^-Wlog is the weight.
    fn wlog(&self) -> Option<u32> {
        let burst = self.burst();
        let a = burst + 1.0 - self.min() as f64 / self.avpkt.0 as f64;
        if a < 1.0 {
            return None;
        }
        (1..32).find(|&log| {
            let w = libm::exp2(-f64::from(log));
            a <= (1.0 - libm::pow(1.0 - w, burst)) / w
        })
    }

    /// Return Plog, the smallest number for which 2^Plog exceeds (max - min)/probability.
    fn plog(&self) -> Option<u32> {
        let p = self.probability.0 / (self.max.0 - self.min()) as f64;
        (0..32).find(|&log| p * libm::exp2(f64::from(log)) > 1.0)
    }

    /// Return the rule that computes the random number for the next signal.
    fn reach(&self) -> Option<Reach> {
        let plog = self.plog()?;
        match self.arithmetic {
            Arithmetic::Linux24 => Some(Reach::Bits((1 << plog) - 1)),
            Arithmetic::Linux6 => {
                // Scaled probability max_P, in units of 2^-32.
                let probability = (self.probability.0 * libm::exp2(32.0)) as u32;
                let per_byte = u64::from(probability) / (self.max.0 - self.min());
                (probability > 0).then_some(Reach::Share(per_byte.max(1)))
            }
        }
    }

    /// Return the table of the idle decay of the average.
    fn idle_table(&self, wlog: u32) -> IdleTable {
        let microseconds = self.bandwidth.transmission_time(self.avpkt).seconds() * 1e6;
        match self.arithmetic {
            Arithmetic::Linux6 => IdleTable::new(wlog, (microseconds * TICKS_A_MICROSECOND).ceil(), 0),
            Arithmetic::Linux24 => IdleTable::new(wlog, microseconds, 1),
        }
    }
}

/// Rule that computes the value for the next signal (qR) from a random number. The next signal
/// comes when count times (average - min) reaches the value qR.
#[derive(Clone, Copy, Debug)]
enum Reach {
    /// Bit mask that is applied to a random 32-bit number.
    Bits(u64),
    /// Number by which a random 32-bit number is divided.
    Share(u64),
}

impl Reach {
    fn draw(self, random: &mut Stream) -> u64 {
        let number = random.below(1 << 32);
        match self {
            Reach::Bits(mask) => number & mask,
            Reach::Share(divisor) => number / divisor,
        }
    }
}

fn check(red: &TcRed, path: &str) -> Result<(), Invalid> {
    if red.min() >= red.max.0 {
        return Err(Invalid::new(&join(path, "max"), &red.max.write(), "must be above min")
            .remedy("raise max or lower min"));
    }
    if red.wlog().is_none() {
        let problem = format!("is too short for min {} B and avpkt {}", red.min(), red.avpkt);
        let written = Packets(red.burst()).write();
        return Err(Invalid::new(&join(path, "burst"), &written, problem).remedy("write at least min/avpkt"));
    }
    if red.reach().is_none() {
        let problem = "is too small for max - min";
        return Err(Invalid::new(&join(path, "probability"), &red.probability.write(), problem)
            .remedy("raise probability or lower max"));
    }
    Ok(())
}

/// Table with the number of bits by which the average is shifted to the right after an idle time.
#[derive(Clone, Debug)]
struct IdleTable {
    shifts: [u8; 256],
    /// Each cell of the table stands for 2^cell_log microseconds (Scell_log).
    cell_log: u32,
    /// Number that is added to half of the average, if an idle time shorter than one table cell
    /// halves the average.
    more: u64,
}

impl IdleTable {
    /// Create the table for the weight 2^-wlog. `transmission` is the transmission time of an
    /// average packet.
    fn new(wlog: u32, transmission: f64, more: u64) -> Self {
        let decay = -libm::log(1.0 - libm::exp2(-f64::from(wlog))) / transmission;
        let longest = 31.0 / decay;
        let cell_log = (0..32).find(|&log| longest / libm::exp2(f64::from(log)) < 512.0).unwrap_or(31);
        let mut shifts = [31; 256];
        shifts[0] = 0;
        for (i, shift) in shifts.iter_mut().enumerate().take(255).skip(1) {
            *shift = ((i << cell_log) as f64 * decay).min(31.0) as u8;
        }
        IdleTable { shifts, cell_log, more }
    }

    /// Return the average after an idle time of `idle` microseconds.
    fn decay(&self, average: u64, idle: u64) -> u64 {
        let idle = idle.min(255 << self.cell_log);
        let shift = self.shifts[((idle >> self.cell_log) & 255) as usize];
        if shift > 0 {
            return average >> shift;
        }
        // Within the first cell of the table, the average falls linearly with the idle time, down
        // to one half of the average.
        let less = (average * idle) >> self.cell_log;
        if less < average / 2 { average - less } else { (average >> 1) + self.more }
    }
}

impl AqmParams for TcRed {
    type Aqm = TcRedAqm;
    const DECLARED: &'static [Declared] =
        &[crate::average::DECLARED, Declared { rules: RULES, variables: TcRedVariables::LIST }];

    fn aqm(&self, context: QueueContext) -> TcRedAqm {
        let wlog = self.wlog().unwrap_or(31);
        TcRedAqm {
            min: self.min() << wlog,
            max: self.max.0 << wlog,
            wlog,
            reach: self.reach().unwrap_or(Reach::Bits(0)),
            idle: self.idle_table(wlog),
            average: 0,
            count: -1,
            least: 0,
            signal: NO_VALUES,
            idle_from: Time::ZERO,
            random: context.random,
        }
    }
}

rules! {
    /// The average is between the thresholds, and (avg - min) times the count has reached qR.
    RANDOM = "random", from "red.h of Linux: red_mark_probability";
    /// The average is at least max.
    ABOVE_MAX = "above-max", from "red.h of Linux: red_action";
}

variables! {
    /// Variables of Linux's RED.
    pub struct TcRedVariables {
        /// Number of packets since the last signal while the average was at least min (qcount), -1
        /// below min.
        count in "packets", from "red.h of Linux";
        /// Average above min times the count.
        reach in "bytes", from "red.h of Linux: red_mark_probability";
        /// Random number that `reach` must attain (qR).
        q_r in "bytes", from "red.h of Linux: red_random";
    }
}

/// State of Linux's RED.
#[derive(Clone, Debug)]
pub struct TcRedAqm {
    /// Threshold min multiplied by 2^Wlog. `max` and `average` are multiplied by 2^Wlog too.
    min: u64,
    max: u64,
    wlog: u32,
    reach: Reach,
    idle: IdleTable,
    average: u64,
    /// Number of packets since the last signal, or -1 while the average is below min.
    count: i64,
    /// Value (qR) that count times (average - min) must reach for the next signal.
    least: u64,
    /// Variables of the last signal.
    signal: TcRedVariables,
    /// Time of the last packet that arrived at an idle link. If the packet was dropped, the link is
    /// still idle, and a new idle time began at the packet's arrival.
    idle_from: Time,
    random: Stream,
}

/// Variables without a value.
const NO_VALUES: TcRedVariables = TcRedVariables { count: f64::NAN, reach: f64::NAN, q_r: f64::NAN };

impl Aqm for TcRedAqm {
    fn on_arrival(&mut self, _: &Packet, at: &Arrival) -> Verdict {
        self.average = match at.idle_since() {
            Some(since) => {
                // Linux restarts the idle time when a dequeue returns no packet. Linux calls
                // dequeue after every arrival.
                let idle = at.now.since(since.max(self.idle_from));
                self.idle_from = at.now;
                self.idle.decay(self.average, idle.0 / 1_000_000)
            }
            None => self.average - (self.average >> self.wlog) + at.backlog.bytes,
        };
        if self.average < self.min {
            self.count = -1;
            return Verdict::Pass;
        }
        if self.average >= self.max {
            self.signal = TcRedVariables { count: self.count as f64, ..NO_VALUES };
            self.count = -1;
            return Verdict::Signal(Why::Threshold);
        }
        self.count += 1;
        if self.count == 0 {
            self.least = self.reach.draw(&mut self.random);
            return Verdict::Pass;
        }
        let reach = ((self.average - self.min) >> self.wlog) * self.count as u64;
        if reach >= self.least {
            let [count, reach, q_r] = [self.count as f64, reach as f64, self.least as f64];
            self.signal = TcRedVariables { count, reach, q_r };
            self.count = 0;
            self.least = self.reach.draw(&mut self.random);
            return Verdict::Signal(Why::Early);
        }
        Verdict::Pass
    }

    fn average(&self) -> Option<Depth> {
        Some(Depth::Bytes(self.average as f64 / libm::exp2(f64::from(self.wlog))))
    }

    fn explain(&self, why: Why, to: &mut Explanation) {
        to.with(AverageVariables { avg: self.average as f64 / libm::exp2(f64::from(self.wlog)) });
        match why {
            Why::Early => to.by(&RANDOM).with(self.signal),
            Why::Threshold => to.by(&ABOVE_MAX).with(self.signal),
            _ => to.with(TcRedVariables { count: self.count as f64, ..NO_VALUES }),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use net::Backlog;
    use serde_json::json;
    use units::{Depth, Duration};

    fn read(change: serde_json::Value) -> Result<TcRed, Invalid> {
        let mut red = json!({"min": "30 kB", "max": "120 kB", "avpkt": "1000 B", "burst": "55 packets", "probability": 0.02});
        red.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        TcRed::read(&red, "")
    }

    /// The test uses the example of tc-red(8): min 30000, max 120000 (avpkt 1000, burst 55,
    /// probability 0.02).
    #[test]
    fn weight_and_probability_follow_from_the_burst() {
        let tc = read(json!({})).unwrap();
        // (1 - (1-W)^55)/W is 15.5 for W = 1/16 and 26.4 for W = 1/32. (1 - (1-W)^55)/W must be at
        // least 55 + 1 - 30 = 26.
        assert_eq!(tc.wlog(), Some(5));
        // 2^23 is the smallest power of two whose product with 0.02/90 000 exceeds 1.
        assert_eq!(tc.plog(), Some(23));
        assert!(read(json!({"burst": "20 packets"})).unwrap_err().to_string().contains("burst"));
        assert!(read(json!({"probability": 1e-10})).unwrap_err().to_string().contains("probability"));
    }

    /// Linux 6.12.117 reports ewma 3 and Scell_log 16 in `tc -s -d qdisc show` after `tc qdisc add
    /// … red limit 96000 min 15000 max 45000 avpkt 1000 burst 20 probability 0.1 bandwidth
    /// 1500kbit`.
    #[test]
    fn weight_and_cells_equal_those_of_a_running_kernel() {
        let given = json!({"min": "15 kB", "max": "45 kB", "burst": "20 packets", "probability": 0.1, "bandwidth": "1.5 Mbit/s"});
        let tc = read(given).unwrap();
        let wlog = tc.wlog().unwrap();
        assert_eq!((wlog, tc.idle_table(wlog).cell_log), (3, 16));
        // The kernel interprets the cells of the table for idle times as microseconds. If `tc` also
        // computed the table for idle times in microseconds, cell_log would be 12 instead of 16.
        let old = TcRed { arithmetic: Arithmetic::Linux24, ..tc };
        assert_eq!(old.idle_table(wlog).cell_log, 12);
    }

    /// If the average is half-way between the thresholds, the gaps between two signals are uniform
    /// in the range 1..2/probability. With a probability of 0.1 the mean gap is 10.5 packets, for
    /// all thresholds. If probabilities were rounded to powers of two, the mean gaps of the three
    /// examples would be 18.0, 13.6 and 12.2 packets.
    #[test]
    fn the_signal_rate_is_exact_for_all_thresholds() {
        for (min, max) in [(15_000, 45_000), (10_000, 30_000), (30_000, 120_000)] {
            let red = json!({"min": format!("{min} B"), "max": format!("{max} B"), "probability": 0.1});
            let context = QueueContext::new(Rate(10_000_000), Depth::Bytes(1e6), Stream::new(1, "red"));
            let mut aqm = read(red).unwrap().aqm(context);
            let backlog = Backlog { packets: 20, bytes: (min + max) / 2 };
            aqm.average = backlog.bytes << aqm.wlog;
            let packets = 200_000;
            let signals = (0..packets)
                .filter(|&i| {
                    let now = Time::ZERO + Duration::from_millis(i);
                    let at = Arrival { now, backlog, free_at: Time::NEVER };
                    aqm.on_arrival(&Packet::default(), &at) != Verdict::Pass
                })
                .count();
            let gap = packets as f64 / signals as f64;
            assert!((gap - 10.5).abs() < 0.1, "{gap} packets between signals from {min} to {max}");
        }
    }
}
