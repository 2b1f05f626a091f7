//! RED as Linux computes it and as `tc` sets it.
//!
//! Source: tc-red(8) (`tcred8`) for the parameters, their defaults and what they mean; the integer
//! arithmetic is Linux's: the weight is a power of two, the average is held times 2^Wlog, the idle decay is a shift
//! looked up by idle time in a table of 256 cells, and a packet is signalled when ((avg - min) 2^-Wlog) count reaches a
//! random number up to (max - min)/probability that is drawn once a signal.
//!
//! Decision by decision that of red.h and sch_red.c of Linux 6.12 with the numbers that `tc` (tc_red.c, q_red.c) gives
//! them; Wlog and the width of a cell are those of a real kernel's RED. The code of 2.4 was not at hand: what
//! `linux-2.4` does differently is from memory. Sizes here are without the 14 B of Ethernet that Linux counts.

use engine::Stream;
use net::{Aqm, Arrival, Packet, Verdict, Why};
use units::param::{Invalid, join};
use units::{Bytes, Depth, Packets, Probability, Range, Rate, Read, Time, params, words};

use crate::law::{Configures, Place};

words! {
    /// Whose integers RED is computed in.
    pub enum Arithmetic {
        /// Those of today's kernels: the probability is held exactly. `tc` makes the table of the idle decay in ticks of 64 ns
        /// and the kernel looks it up by microseconds, so that an average that idle time has halved stands 15.6 times longer
        /// than bandwidth and avpkt say before it falls on.
        Linux6 = "linux-6",
        /// Those of kernels of the 2.4 series: the probability is rounded to a power of two of (max - min), by up to half,
        /// and the table is in microseconds.
        Linux24 = "linux-2.4",
    }
}

params! {
    /// RED with the parameters of Linux's `tc`, in bytes. Between min and max packets are signalled
    /// (marked if ECN-capable, else dropped) with a probability that rises to about `probability`;
    /// above max every packet is. The weight of the average follows from burst, min and avpkt; the
    /// decay while idle from bandwidth and avpkt. As with `tc`, give the limit in bytes too.
    pub struct TcRed: "tc_red", checked by check {
        /// Average queue where signals begin; absent: a third of max.
        min: Option<Bytes> = (None), in Range::at_least(1.0), from "tcred8: max/3";
        /// Average queue above which every packet is signalled.
        max: Bytes = required, in Range::between(1.0, 1e9), from "tcred8: at least twice min";
        /// Average packet size.
        avpkt: Bytes = (Bytes(1000)), in Range::between(1.0, 65535.0), from "tcred8: 1000 is a good value";
        /// Packets of a burst that passes unsignalled: sets the weight; absent: (2 min + max)/(3 avpkt).
        burst: Option<Packets> = (None), in Range::between(1.0, 1e6).whole(), from "tcred8: (min+min+max)/(3*avpkt)";
        /// Signal probability at max.
        probability: Probability = (Probability(0.02)), in Range::above_to(0.0, 1.0), from "tcred8: 0.02, suggested 0.01 to 0.02";
        /// Rate at which the average decays while idle.
        bandwidth: Rate = (Rate(10_000_000)), in Range::ANY, from "tcred8: 10Mbit";
        /// Whose integers it is computed in.
        arithmetic: Arithmetic = (Arithmetic::Linux6), in Range::ANY, from "Linux 6.12";
    }
}

/// What `tc` and the kernel reckon transmission times in since 2.6.22: ticks of 64 ns.
const TICKS_A_MICROSECOND: f64 = 15.625;

impl TcRed {
    fn min(&self) -> u64 {
        self.min.map_or(self.max.0 / 3, |b| b.0)
    }

    fn burst(&self) -> f64 {
        let guess = (2 * self.min() + self.max.0) / (3 * self.avpkt.0);
        self.burst.map_or(guess as f64, |b| b.0)
    }

    /// The least Wlog whose filter, W = 2^-Wlog, lets the burst pass: burst + 1 - min/avpkt <= (1 - (1-W)^burst)/W.
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

    /// The bits of a random number that (max - min) reaches with about the probability.
    fn plog(&self) -> Option<u32> {
        let p = self.probability.0 / (self.max.0 - self.min()) as f64;
        (0..32).find(|&log| p * libm::exp2(f64::from(log)) > 1.0)
    }

    /// Where a signal comes next.
    fn reach(&self) -> Option<Reach> {
        let plog = self.plog()?;
        match self.arithmetic {
            Arithmetic::Linux24 => Some(Reach::Bits((1 << plog) - 1)),
            Arithmetic::Linux6 => {
                // max_P, in 2^-32.
                let probability = (self.probability.0 * libm::exp2(32.0)) as u32;
                let per_byte = u64::from(probability) / (self.max.0 - self.min());
                (probability > 0).then_some(Reach::Share(per_byte.max(1)))
            }
        }
    }

    /// The table of the idle decay.
    fn idle_table(&self, wlog: u32) -> IdleTable {
        let microseconds = self.bandwidth.transmission_time(self.avpkt).seconds() * 1e6;
        match self.arithmetic {
            Arithmetic::Linux6 => IdleTable::new(wlog, (microseconds * TICKS_A_MICROSECOND).ceil(), 0),
            Arithmetic::Linux24 => IdleTable::new(wlog, microseconds, 1),
        }
    }
}

/// Draws what the product of count and distance from min must reach for the next signal (qR).
#[derive(Clone, Copy, Debug)]
enum Reach {
    /// These bits of a random number of 32.
    Bits(u64),
    /// The number divided by this.
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
        return Err(Invalid::new(&join(path, "max"), &red.max.write(), "must be above min"));
    }
    if red.wlog().is_none() {
        let problem = format!("is no burst for min {} B and avpkt {}", red.min(), red.avpkt);
        let written = Packets(red.burst()).write();
        return Err(
            Invalid::new(&join(path, "burst"), &written, problem).remedy("at least min/avpkt is needed")
        );
    }
    if red.reach().is_none() {
        let problem = "is too small for max - min";
        return Err(Invalid::new(&join(path, "probability"), &red.probability.write(), problem));
    }
    Ok(())
}

/// By how many bits the average is shifted after an idle time.
#[derive(Clone, Debug)]
struct IdleTable {
    shifts: [u8; 256],
    /// A cell covers 2^cell_log microseconds (Scell_log).
    cell_log: u32,
    /// What is added to an average that is halved within the first cell.
    more: u64,
}

impl IdleTable {
    /// The table for this weight, where a packet takes `transmission`.
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

    /// The average after `idle` microseconds.
    fn decay(&self, average: u64, idle: u64) -> u64 {
        let idle = idle.min(255 << self.cell_log);
        let shift = self.shifts[((idle >> self.cell_log) & 255) as usize];
        if shift > 0 {
            return average >> shift;
        }
        // Within the first halving: in proportion to the share of a cell.
        let less = (average * idle) >> self.cell_log;
        if less < average / 2 { average - less } else { (average >> 1) + self.more }
    }
}

impl Configures for TcRed {
    type Law = TcRedLaw;

    fn law(&self, place: Place) -> TcRedLaw {
        let wlog = self.wlog().unwrap_or(31);
        TcRedLaw {
            min: self.min() << wlog,
            max: self.max.0 << wlog,
            wlog,
            reach: self.reach().unwrap_or(Reach::Bits(0)),
            idle: self.idle_table(wlog),
            average: 0,
            count: -1,
            least: 0,
            idle_from: Time::ZERO,
            random: place.random,
        }
    }
}

/// The state of Linux's RED.
#[derive(Clone, Debug)]
pub struct TcRedLaw {
    /// Thresholds times 2^Wlog, as is the average.
    min: u64,
    max: u64,
    wlog: u32,
    reach: Reach,
    idle: IdleTable,
    average: u64,
    /// Packets since the last signal, -1 below min.
    count: i64,
    /// What the product must reach for the next signal (qR).
    least: u64,
    /// When the last packet came that found the link idle: since then, if it was dropped, the link is idle anew.
    idle_from: Time,
    random: Stream,
}

impl Aqm for TcRedLaw {
    fn on_arrival(&mut self, _: &Packet, at: &Arrival) -> Verdict {
        self.average = match at.idle_since() {
            Some(since) => {
                // An empty queue that is asked for a packet, after every arrival, begins to be idle.
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

    /// tc-red(8)'s example: min 30000, max 120000 (avpkt 1000, burst 55, probability 0.02).
    #[test]
    fn weight_and_probability_follow_from_the_burst() {
        let tc = read(json!({})).unwrap();
        // (1 - (1-W)^55)/W is 15.5 for W = 1/16 and 26.4 for W = 1/32; 55 + 1 - 30 = 26 is asked.
        assert_eq!(tc.wlog(), Some(5));
        // 0.02/90 000 passes 1 when multiplied by 2^23.
        assert_eq!(tc.plog(), Some(23));
        assert!(read(json!({"burst": "20 packets"})).unwrap_err().to_string().contains("burst"));
        assert!(read(json!({"probability": 1e-10})).unwrap_err().to_string().contains("probability"));
    }

    /// What a real kernel says of its RED (Linux 6.12.117): `tc qdisc add … red limit 96000 min 15000 max 45000 avpkt 1000
    /// burst 20 probability 0.1 bandwidth 1500kbit`, then `tc -s -d qdisc show`: ewma 3, Scell_log 16.
    #[test]
    fn weight_and_cells_are_those_of_a_real_kernel() {
        let given = json!({"min": "15 kB", "max": "45 kB", "burst": "20 packets", "probability": 0.1, "bandwidth": "1.5 Mbit/s"});
        let tc = read(given).unwrap();
        let wlog = tc.wlog().unwrap();
        assert_eq!((wlog, tc.idle_table(wlog).cell_log), (3, 16));
        // In microseconds, as the kernel looks it up, a cell would be 2^4 of them shorter.
        let old = TcRed { arithmetic: Arithmetic::Linux24, ..tc };
        assert_eq!(old.idle_table(wlog).cell_log, 12);
    }

    /// Half-way between the thresholds gaps between signals are uniform in 1..2/probability, 10.5 packets on average at
    /// 0.1, whatever the thresholds. With powers of two they are 18.0, 13.6 and 12.2.
    #[test]
    fn the_probability_is_exact() {
        for (min, max) in [(15_000, 45_000), (10_000, 30_000), (30_000, 120_000)] {
            let red = json!({"min": format!("{min} B"), "max": format!("{max} B"), "probability": 0.1});
            let place = Place::new(Rate(10_000_000), Depth::Bytes(1e6), Stream::new(1, "red"));
            let mut law = read(red).unwrap().law(place);
            let backlog = Backlog { packets: 20, bytes: (min + max) / 2 };
            law.average = backlog.bytes << law.wlog;
            let packets = 200_000;
            let signals = (0..packets)
                .filter(|&i| {
                    let now = Time::ZERO + Duration::from_millis(i);
                    let at = Arrival { now, backlog, free_at: Time::NEVER };
                    law.on_arrival(&Packet::default(), &at) != Verdict::Pass
                })
                .count();
            let gap = packets as f64 / signals as f64;
            assert!((gap - 10.5).abs() < 0.1, "{gap} packets between signals from {min} to {max}");
        }
    }
}
