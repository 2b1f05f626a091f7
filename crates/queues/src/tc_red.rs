//! RED as Linux computes it and as `tc` sets it.
//!
//! Source: tc-red(8) (`tcred8`) for the parameters, their defaults and what they mean; the integer
//! arithmetic is that of the 2.4 series, in outline: the weight is a
//! power of two, the average is held times 2^Wlog, the idle decay is a shift looked up by idle time
//! in a table of 256 cells, and a packet is signalled when
//! ((avg - min) 2^-Wlog) count reaches a random number of Plog bits that is drawn once a signal.
//! Times are in microseconds. (Kernels from 3.2 hold the probability exactly instead of as a power of two.)
//!
//! Compared with today's red.h, sch_red.c and `tc` (tc_red.c, q_red.c): parameters, defaults, the table and the
//! arithmetic agree, but for the probability since 3.2, and for an average that is halved within the first
//! cell, to which nothing is added there. The code of 2.4 was not at hand.

use engine::Stream;
use net::{Aqm, Arrival, Packet, Verdict, Why};
use units::param::{Invalid, join};
use units::{Bytes, Packets, Probability, Range, Rate, Read, params};

use crate::law::{Configures, Place};

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
        /// Signal probability at max; rounded to a power of two of (max - min).
        probability: Probability = (Probability(0.02)), in Range::above_to(0.0, 1.0), from "tcred8: 0.02, suggested 0.01 to 0.02";
        /// Rate at which the average decays while idle.
        bandwidth: Rate = (Rate(10_000_000)), in Range::ANY, from "tcred8: 10Mbit";
    }
}

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
    if red.plog().is_none() {
        let problem = "is too small for max - min";
        return Err(Invalid::new(&join(path, "probability"), &red.probability.write(), problem));
    }
    Ok(())
}

/// By how many bits the average is shifted after an idle time.
#[derive(Clone, Debug)]
struct IdleTable {
    shifts: [u8; 256],
    /// A cell covers 2^cell_log microseconds.
    cell_log: u32,
}

impl IdleTable {
    /// The table for this weight, where a packet takes `transmission` microseconds.
    fn new(wlog: u32, transmission: f64) -> Self {
        let decay = -libm::log(1.0 - libm::exp2(-f64::from(wlog))) / transmission;
        let longest = 31.0 / decay;
        let cell_log = (0..32).find(|&log| longest / libm::exp2(f64::from(log)) < 512.0).unwrap_or(31);
        let mut shifts = [31; 256];
        shifts[0] = 0;
        for (i, shift) in shifts.iter_mut().enumerate().take(255).skip(1) {
            *shift = ((i << cell_log) as f64 * decay).min(31.0) as u8;
        }
        IdleTable { shifts, cell_log }
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
        if less < average / 2 { average - less } else { (average >> 1) + 1 }
    }
}

impl Configures for TcRed {
    type Law = TcRedLaw;

    fn law(&self, place: Place) -> TcRedLaw {
        let wlog = self.wlog().unwrap_or(31);
        let transmission = self.bandwidth.transmission_time(self.avpkt).seconds() * 1e6;
        TcRedLaw {
            min: self.min() << wlog,
            max: self.max.0 << wlog,
            wlog,
            mask: (1 << self.plog().unwrap_or(31)) - 1,
            idle: IdleTable::new(wlog, transmission),
            average: 0,
            count: -1,
            least: 0,
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
    mask: u64,
    idle: IdleTable,
    average: u64,
    /// Packets since the last signal, -1 below min.
    count: i64,
    /// What the product must reach for the next signal (qR).
    least: u64,
    random: Stream,
}

impl Aqm for TcRedLaw {
    fn on_arrival(&mut self, _: &Packet, at: &Arrival) -> Verdict {
        self.average = match at.idle_since() {
            Some(since) => self.idle.decay(self.average, at.now.since(since).0 / 1_000_000),
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
            self.least = self.random.below(1 << 32) & self.mask;
            return Verdict::Pass;
        }
        if ((self.average - self.min) >> self.wlog) * self.count as u64 >= self.least {
            self.count = 0;
            self.least = self.random.below(1 << 32) & self.mask;
            return Verdict::Signal(Why::Early);
        }
        Verdict::Pass
    }

    fn average(&self) -> Option<f64> {
        Some(self.average as f64 / libm::exp2(f64::from(self.wlog)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// tc-red(8)'s example: min 30000, max 120000 (avpkt 1000, burst 55, probability 0.02).
    #[test]
    fn weight_and_probability_follow_from_the_burst() {
        let red = |burst: u32| {
            TcRed::read(
                &json!({"min": "30 kB", "max": "120 kB", "avpkt": "1000 B", "burst": format!("{burst} packets"), "probability": 0.02}),
                "",
            )
        };
        let tc = red(55).unwrap();
        // (1 - (1-W)^55)/W is 15.5 for W = 1/16 and 26.4 for W = 1/32; 55 + 1 - 30 = 26 is asked.
        assert_eq!(tc.wlog(), Some(5));
        // 0.02/90 000 passes 1 when multiplied by 2^23.
        assert_eq!(tc.plog(), Some(23));
        assert!(red(20).unwrap_err().to_string().contains("burst"));
    }
}
