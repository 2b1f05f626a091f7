//! RED with the arithmetic of Linux and the parameters of `tc`.
//!
//! Source: tc-red(8) (`tcred8`) for the parameters, their defaults and their meaning. The integer
//! arithmetic is that of Linux: the weight is a power of two, and the average is stored multiplied
//! by 2^Wlog. Idle decay is a shift that a table of 256 cells gives for an idle time. A packet is
//! signalled when ((avg - min) 2^-Wlog) count reaches a random number up to (max -
//! min)/probability, which is drawn once per signal.
//!
//! Each decision agrees with red.h and sch_red.c of Linux 6.12 for the numbers that `tc` (tc_red.c,
//! q_red.c) passes to the kernel. Wlog and the width of a cell agree with those that a running
//! kernel reports. The code of Linux 2.4 was not available, so the differences of `linux-2.4` are
//! from memory. Packet sizes in this file do not include the 14 B Ethernet header that Linux
//! counts.

use engine::Stream;
use net::{Aqm, Arrival, Packet, Verdict, Why};
use units::param::{Invalid, join};
use units::{Bytes, Depth, Packets, Probability, Range, Rate, Read, Time, params, words};

use crate::aqm::{AqmParams, QueueContext};

words! {
    /// Kernel whose integer arithmetic computes RED.
    pub enum Arithmetic {
        /// Arithmetic of current kernels, which store the probability exactly. `tc` computes the
        /// table of idle decay in ticks of 64 ns and the kernel looks it up in microseconds, so the
        /// average decays 15.6 times more slowly after its first halving than bandwidth and avpkt
        /// imply.
        Linux6 = "linux-6",
        /// Arithmetic of kernels of the 2.4 series. The quotient of (max - min) and the probability
        /// is rounded up to a power of two, which lowers the probability by up to half. The table
        /// of idle decay is in microseconds.
        Linux24 = "linux-2.4",
    }
}

params! {
    /// RED with the parameters of Linux's `tc`, in bytes. Between min and max packets are signalled
    /// (marked if ECN-capable, else dropped) with a probability that rises to about `probability`.
    /// Above max every packet is signalled. The weight of the average follows from burst, min and
    /// avpkt, and its decay during idle time from bandwidth and avpkt. As with `tc`, give the limit
    /// of the buffer in bytes too.
    pub struct TcRed: "tc_red", checked by check {
        /// Average queue length at which signals begin. If the key is absent, the value is a third
        /// of max.
        min: Option<Bytes> = (None), in Range::at_least(1.0), from "tcred8: max/3";
        /// Average queue length above which every packet is signalled.
        max: Bytes = required, in Range::between(1.0, 1e9), from "tcred8: at least twice min";
        /// Average packet size.
        avpkt: Bytes = (Bytes(1000)), in Range::between(1.0, 65535.0), from "tcred8: 1000 is a good value";
        /// Number of packets of a burst that passes without a signal. This number sets the weight
        /// of the average. If the key is absent, the value is (2 min + max)/(3 avpkt).
        burst: Option<Packets> = (None), in Range::between(1.0, 1e6).whole(), from "tcred8: (min+min+max)/(3*avpkt)";
        /// Signal probability when the average reaches max.
        probability: Probability = (Probability(0.02)), in Range::above_to(0.0, 1.0), from "tcred8: 0.02, suggested 0.01 to 0.02";
        /// Rate that converts idle time into virtual packet arrivals.
        bandwidth: Rate = (Rate(10_000_000)), in Range::ANY, from "tcred8: 10Mbit";
        /// Kernel whose integer arithmetic computes RED.
        arithmetic: Arithmetic = (Arithmetic::Linux6), in Range::ANY, from "Linux 6.12";
    }
}

/// Ticks of 64 ns per microsecond, in which `tc` and the kernel measure transmission times since
/// 2.6.22.
const TICKS_A_MICROSECOND: f64 = 15.625;

impl TcRed {
    fn min(&self) -> u64 {
        self.min.map_or(self.max.0 / 3, |b| b.0)
    }

    fn burst(&self) -> f64 {
        let guess = (2 * self.min() + self.max.0) / (3 * self.avpkt.0);
        self.burst.map_or(guess as f64, |b| b.0)
    }

    /// Return the minimum Wlog whose weight W = 2^-Wlog lets the burst pass: burst + 1 - min/avpkt
    /// <= (1 - (1-W)^burst)/W.
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

    /// Return the number of random bits whose values max - min reaches with about the given
    /// probability.
    fn plog(&self) -> Option<u32> {
        let p = self.probability.0 / (self.max.0 - self.min()) as f64;
        (0..32).find(|&log| p * libm::exp2(f64::from(log)) > 1.0)
    }

    /// Return the rule that draws the next signal.
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

    /// Return the table of idle decay.
    fn idle_table(&self, wlog: u32) -> IdleTable {
        let microseconds = self.bandwidth.transmission_time(self.avpkt).seconds() * 1e6;
        match self.arithmetic {
            Arithmetic::Linux6 => IdleTable::new(wlog, (microseconds * TICKS_A_MICROSECOND).ceil(), 0),
            Arithmetic::Linux24 => IdleTable::new(wlog, microseconds, 1),
        }
    }
}

/// Rule for the value that the product of count and the average's distance from min must reach for
/// the next signal (qR).
#[derive(Clone, Copy, Debug)]
enum Reach {
    /// Bit mask of a random 32-bit number.
    Bits(u64),
    /// Divisor of a random 32-bit number.
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

/// Table of the number of bits by which idle time shifts the average.
#[derive(Clone, Debug)]
struct IdleTable {
    shifts: [u8; 256],
    /// Width of a cell of the table: 2^cell_log microseconds (Scell_log).
    cell_log: u32,
    /// Addend to an average that is halved within the first cell.
    more: u64,
}

impl IdleTable {
    /// Create the table for this weight and for packets with this transmission time.
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

    /// Return the average after an idle time in microseconds.
    fn decay(&self, average: u64, idle: u64) -> u64 {
        let idle = idle.min(255 << self.cell_log);
        let shift = self.shifts[((idle >> self.cell_log) & 255) as usize];
        if shift > 0 {
            return average >> shift;
        }
        // Within the first halving the average falls in proportion to the elapsed share of a cell.
        let less = (average * idle) >> self.cell_log;
        if less < average / 2 { average - less } else { (average >> 1) + self.more }
    }
}

impl AqmParams for TcRed {
    type Aqm = TcRedAqm;

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
            idle_from: Time::ZERO,
            random: context.random,
        }
    }
}

/// State of Linux's RED.
#[derive(Clone, Debug)]
pub struct TcRedAqm {
    /// Lower threshold min multiplied by 2^Wlog. `max` and the average have the same scale.
    min: u64,
    max: u64,
    wlog: u32,
    reach: Reach,
    idle: IdleTable,
    average: u64,
    /// Number of packets since the last signal, or -1 below min.
    count: i64,
    /// Value that the product of count and the average's distance from min must reach for the next
    /// signal (qR).
    least: u64,
    /// Time of the last arrival at an idle link. If the packet of that arrival was dropped, the
    /// link has been idle again since then.
    idle_from: Time,
    random: Stream,
}

impl Aqm for TcRedAqm {
    fn on_arrival(&mut self, _: &Packet, at: &Arrival) -> Verdict {
        self.average = match at.idle_since() {
            Some(since) => {
                // Linux restarts the idle time when a dequeue finds an empty queue, and such a
                // dequeue follows every arrival.
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
            self.count = -1;
            return Verdict::Signal(Why::Threshold);
        }
        self.count += 1;
        if self.count == 0 {
            self.least = self.reach.draw(&mut self.random);
            return Verdict::Pass;
        }
        if ((self.average - self.min) >> self.wlog) * self.count as u64 >= self.least {
            self.count = 0;
            self.least = self.reach.draw(&mut self.random);
            return Verdict::Signal(Why::Early);
        }
        Verdict::Pass
    }

    fn average(&self) -> Option<Depth> {
        Some(Depth::Bytes(self.average as f64 / libm::exp2(f64::from(self.wlog))))
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

    /// Example of tc-red(8): min 30000, max 120000 (avpkt 1000, burst 55, probability 0.02).
    #[test]
    fn weight_and_probability_follow_from_the_burst() {
        let tc = read(json!({})).unwrap();
        // (1 - (1-W)^55)/W is 15.5 for W = 1/16 and 26.4 for W = 1/32. It must be at least 55 + 1 -
        // 30 = 26.
        assert_eq!(tc.wlog(), Some(5));
        // 0.02/90 000 exceeds 1 when it is multiplied by 2^23.
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
        // If the table is in microseconds, the unit of the kernel's lookup, a cell is shorter by
        // the factor 2^4.
        let old = TcRed { arithmetic: Arithmetic::Linux24, ..tc };
        assert_eq!(old.idle_table(wlog).cell_log, 12);
    }

    /// Half-way between the thresholds the gaps between signals are uniform in 1..2/probability,
    /// 10.5 packets on average at 0.1, for all thresholds. If probabilities were rounded to powers
    /// of two, the mean gaps would be 18.0, 13.6 and 12.2 packets.
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
