//! Random Early Detection.
//!
//! Source: Floyd & Jacobson 1993, "Random early detection gateways for congestion avoidance"
//! (`floyd1993red`): the algorithm of figure 2, with the idle-time decay of section 4, the two
//! spacings of section 7 and the byte mode of section 4. `gentle`: Floyd 2000 (`floyd2000gentle`).
//! Marking instead of dropping above maxth, as RFC 3168 §7 allows. Wait spacing, the least backlog,
//! the probability up to which packets are marked and the byte mode that counts bytes are ns-2's
//! (red.cc of ns-2.35). In that mode the first packet that finds the average above minth passes, as
//! in ns-2; in the others it may be signalled, as in figure 2.

use engine::Stream;
use net::{Aqm, Arrival, Packet, Verdict};
use units::param::{Invalid, join};
use units::{Bytes, Depth, Packets, Probability, Range, Read, Time, params, words};

use crate::average::Average;
use crate::law::{Configures, Place, measure};
use crate::spacing::{AboveMaxth, Chooser, Pressure, Spacing};

words! {
    /// Effect of a packet's size on its chance to be signalled.
    pub enum ChanceBy {
        /// Every packet has the same probability.
        Packet = "packet",
        /// The probability before spacing is that of the average times the packet's size over the
        /// reference size, as the text of 1993 has it.
        /// Uniform spacing then signals large packets out of proportion: 500 B and 1500 B packets
        /// about as 1 : 7, up to 1 : 9 as the average moves.
        Size = "size",
        /// The byte mode of ns-2: spacing counts the bytes since the last signal, in whole
        /// reference sizes, and the probability after spacing is multiplied by the packet's size
        /// over the reference size. A packet that finds the queue empty passes. 500 B and 1500 B
        /// packets are signalled about as 1 : 3 to 1 : 4.
        Bytes = "bytes",
    }
}

params! {
    /// RED keeps an exponentially weighted average of the queue. Below minth every packet passes;
    /// between minth and maxth packets are signalled (marked if ECN-capable, else dropped) with a
    /// probability that rises linearly to maxp; above maxth every packet is. The average is kept in
    /// packets or in bytes, as the thresholds are given.
    pub struct Red: "red", checked by check {
        /// Average queue below which no packet is signalled (minth).
        minth: Depth = (Depth::Packets(5.0)), in Range::above(0.0), from "floyd1993red §6: a useful least value is 5 packets";
        /// Average queue above which every packet is signalled (maxth).
        maxth: Depth = (Depth::Packets(15.0)), in Range::above(0.0), from "floyd1997parameters: three times minth";
        /// Signal probability when the average reaches maxth (maxp).
        maxp: Probability = (Probability(0.1)), in Range::above_to(0.0, 1.0), from "floyd1997parameters: 1/10";
        /// Weight of the present queue in the average (wq).
        wq: Probability = (Probability(0.002)), in Range::above_to(0.0, 1.0), from "floyd1993red §6: 0.002";
        /// Above maxth the probability rises from maxp to 1 at twice maxth, instead of jumping to 1.
        gentle: bool = (true), in Range::ANY, from "floyd2000gentle";
        /// How signals are spaced.
        spacing: Spacing = (Spacing::Uniform), in Range::ANY, from "floyd1993red §7, method 2";
        /// What happens to a packet above maxth (twice maxth when gentle).
        above_maxth: AboveMaxth = (AboveMaxth::Drop), in Range::ANY, from "rfc3168 §7";
        /// Signal probability from which a packet that is chosen below the upper threshold is dropped, ECN-capable or not; 1: none is.
        mark_below: Probability = (Probability(1.0)), in Range::above_to(0.0, 1.0), from "floyd1993red marks at any; ns-2 drops from 0.1 on (`mark_p_`)";
        /// Effect of a packet's size on its chance to be signalled.
        chance_by: ChanceBy = (ChanceBy::Packet), in Range::ANY, from "floyd1993red §4: size where the queue is measured in bytes; red.cc of ns-2.35 (`modify_p`): bytes; rfc7141 §2.2: packet";
        /// Packet size whose probability is that of the average, unless chance_by is packet.
        reference_size: Bytes = (Bytes(1500)), in Range::between(1.0, 65535.0), from "floyd1993red §4: the maximum packet size; ns-2: `mean_pktsize_`, 500 B";
        /// No packet is signalled while this many or fewer wait, whatever the average; 0: the average alone decides.
        least_backlog: Packets = (Packets(0.0)), in Range::at_least(0.0).whole(), from "floyd1993red has none; ns-2 has 1";
        /// Size of the packets that are pretended to have arrived while the queue was idle.
        idle_packet_size: Bytes = (Bytes(500)), in Range::between(1.0, 65535.0), from "floyd1993red §4, the time s of a small packet; 500 B is ns-2's";
    }
}

fn check(red: &Red, path: &str) -> Result<(), Invalid> {
    check_spacing(red.chance_by, red.spacing, path)?;
    check_thresholds(red.minth, red.maxth, path)
}

/// Refuse wait spacing of probabilities that are scaled by size before: the large packets' signals
/// always come before a small packet's wait is over, so small packets are never signalled.
pub(crate) fn check_spacing(chance_by: ChanceBy, spacing: Spacing, path: &str) -> Result<(), Invalid> {
    match (chance_by, spacing) {
        (ChanceBy::Size, Spacing::Wait) => {
            let problem =
                "cannot be combined with spacing = \"wait\", which would never signal small packets";
            Err(Invalid::new(&join(path, "chance_by"), &chance_by.write(), problem)
                .remedy("set chance_by = \"bytes\" or another spacing"))
        }
        _ => Ok(()),
    }
}

/// Refuses thresholds in the wrong order, or of different units.
pub(crate) fn check_thresholds(minth: Depth, maxth: Depth, path: &str) -> Result<(), Invalid> {
    let path = join(path, "minth");
    if !minth.counts_as(maxth) {
        return Err(Invalid::new(&path, &minth.write(), format!("must count what maxth ({maxth}) counts"))
            .remedy("give both in packets or both in bytes"));
    }
    if minth.amount() >= maxth.amount() {
        return Err(Invalid::new(&path, &minth.write(), format!("must be below maxth ({maxth})"))
            .remedy("lower minth or raise maxth"));
    }
    Ok(())
}

/// Whether too little waits for a signal (`least_backlog`).
#[inline]
pub(crate) fn is_spared(at: &Arrival, least_backlog: u32) -> bool {
    at.backlog.packets <= least_backlog && least_backlog > 0
}

/// RED's probability as a function of the average.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Curve {
    pub minth: f64,
    pub maxth: f64,
    pub maxp: f64,
    pub gentle: bool,
}

impl Curve {
    /// The probability p_b at this average.
    #[inline]
    pub fn pressure(&self, average: f64) -> Pressure {
        if average < self.minth {
            return Pressure::None;
        }
        let p = if average < self.maxth {
            self.maxp * (average - self.minth) / (self.maxth - self.minth)
        } else if self.gentle {
            self.maxp + (1.0 - self.maxp) * (average - self.maxth) / self.maxth
        } else {
            1.0
        };
        if p >= 1.0 { Pressure::Full } else { Pressure::Early(p) }
    }
}

/// The state of RED.
#[derive(Clone, Debug)]
pub struct RedLaw {
    counts: Depth,
    pub(crate) curve: Curve,
    /// Backlog up to which no packet is signalled, if the parameters have one.
    least_backlog: Option<u32>,
    /// The probability from which a chosen packet is dropped.
    mark_below: f64,
    chance_by: ChanceBy,
    reference_size: u16,
    average: Average,
    chooser: Chooser,
    random: Stream,
}

impl Configures for Red {
    type Law = RedLaw;

    fn law(&self, place: Place) -> RedLaw {
        RedLaw {
            counts: self.minth,
            curve: Curve {
                minth: self.minth.amount(),
                maxth: self.maxth.amount(),
                maxp: self.maxp.0,
                gentle: self.gentle,
            },
            // In bytes ns-2's test for at most one waiting packet is a test for an empty queue.
            least_backlog: (self.least_backlog.0 > 0.0 || self.chance_by == ChanceBy::Bytes)
                .then_some(self.least_backlog.0 as u32),
            mark_below: self.mark_below.0,
            chance_by: self.chance_by,
            reference_size: self.reference_size.0 as u16,
            average: Average::new(self.wq.0, place.rate, self.idle_packet_size),
            chooser: Chooser::new(self.spacing, self.above_maxth),
            random: place.random,
        }
    }
}

impl RedLaw {
    /// Figure 2, "calculate the new average queue size": returns it.
    #[inline]
    pub(crate) fn update_average(&mut self, at: &Arrival) -> f64 {
        self.average.update(at.now, at.idle_since(), measure(at.backlog, self.counts));
        self.average.value()
    }

    /// The average at an instant at which no packet comes, the link having been idle since `idle_since`, if it is.
    pub(crate) fn decay(&mut self, now: Time, idle_since: Option<Time>) -> f64 {
        self.average.decay(now, idle_since);
        self.average.value()
    }

    /// The verdict at the present average.
    #[inline]
    pub(crate) fn judge(&mut self, packet: &Packet, at: &Arrival) -> Verdict {
        let spared = self.least_backlog.is_some_and(|least| at.backlog.packets <= least);
        let mut pressure = if spared { Pressure::None } else { self.curve.pressure(self.average.value()) };
        let verdict = match self.chance_by {
            ChanceBy::Packet => self.chooser.judge(pressure, &mut self.random),
            ChanceBy::Size => {
                if let Pressure::Early(pb) = &mut pressure {
                    // Section 4: p_b <- p_b PacketSize / MaximumPacketSize
                    *pb *= f64::from(packet.size) / f64::from(self.reference_size);
                }
                self.chooser.judge(pressure, &mut self.random)
            }
            ChanceBy::Bytes => {
                self.chooser.judge_bytes(pressure, packet.size, self.reference_size, &mut self.random)
            }
        };
        match (verdict, pressure) {
            (Verdict::Signal(why), Pressure::Early(pb)) if pb >= self.mark_below => Verdict::Drop(why),
            (verdict, _) => verdict,
        }
    }
}

impl Aqm for RedLaw {
    #[inline]
    fn on_arrival(&mut self, packet: &Packet, at: &Arrival) -> Verdict {
        self.update_average(at);
        self.judge(packet, at)
    }

    fn on_overflow(&mut self, _: Time) {
        self.chooser.restart();
    }

    fn average(&self) -> Option<Depth> {
        Some(self.counts.like(self.average.value()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use net::{Backlog, Why};
    use serde_json::json;
    use units::Rate;

    fn law(change: serde_json::Value) -> RedLaw {
        let (rate, limit) = (Rate(1_500_000), Depth::Packets(100.0));
        let place = Place::new(rate, limit, Stream::new(1, "red"));
        Red::read(&change, "red").unwrap().law(place)
    }

    /// Arrivals that meet `queue` waiting packets, one each 8 ms.
    fn arrive(law: &mut RedLaw, n: usize, queue: u32) -> Vec<Verdict> {
        (0..n)
            .map(|i| {
                let backlog = Backlog { packets: queue, bytes: 0 };
                let now = Time(i as u64 * 8_000_000_000);
                law.on_arrival(&Packet::default(), &Arrival { now, backlog, free_at: Time::NEVER })
            })
            .collect()
    }

    /// Equation (1) of section 4: after n arrivals at a constant queue L, avg = L (1 - (1-wq)^n).
    #[test]
    fn the_average_follows_its_closed_form() {
        let mut l = law(json!({"minth": "50 packets", "maxth": "150 packets"}));
        arrive(&mut l, 1000, 10);
        let expected = 10.0 * (1.0 - 0.998_f64.powi(1000));
        assert!((l.average.value() - expected).abs() < 1e-9, "{} {expected}", l.average.value());
    }

    /// Section 4: while idle the average decays as if m = idle/s small packets had arrived.
    #[test]
    fn idle_time_decays_the_average() {
        let mut l = law(json!({}));
        l.average.set(4.0);
        let s = 500.0 * 8.0 / 1.5e6;
        let now = Time((300.0 * s * 1e12) as u64);
        let at = Arrival { now, backlog: Backlog::default(), free_at: Time::ZERO };
        l.on_arrival(&Packet::default(), &at);
        let expected = 4.0 * 0.998_f64.powf(300.0) * 0.998;
        assert!((l.average.value() - expected).abs() < 1e-6, "{} {expected}", l.average.value());
    }

    #[test]
    fn nothing_below_minth_and_everything_above_maxth() {
        let mut l = law(json!({"gentle": false}));
        l.average.set(4.0);
        assert!(arrive(&mut l, 100, 4).iter().all(|v| *v == Verdict::Pass));
        l.average.set(20.0);
        assert!(arrive(&mut l, 100, 20).iter().all(|v| *v == Verdict::Drop(Why::Threshold)));
        let mut l = law(json!({"gentle": false, "above_maxth": "mark"}));
        l.average.set(20.0);
        assert!(arrive(&mut l, 100, 20).iter().all(|v| *v == Verdict::Signal(Why::Threshold)));
    }

    #[test]
    fn from_a_probability_on_packets_are_dropped_and_not_marked() {
        for (average, verdict) in [(9.9, Verdict::Signal(Why::Early)), (10.1, Verdict::Drop(Why::Early))] {
            let mut l = law(json!({"maxp": 0.2, "wq": 1e-9, "mark_below": 0.1}));
            l.average.set(average);
            let verdicts = arrive(&mut l, 200, 10);
            assert!(verdicts.iter().all(|v| *v == Verdict::Pass || *v == verdict), "{average}");
            assert!(verdicts.contains(&verdict), "{average}");
        }
    }

    #[test]
    fn gentle_reaches_one_at_twice_maxth() {
        let l = law(json!({"maxp": 0.1}));
        for (average, p) in [(10.0, 0.05), (15.0, 0.1), (22.5, 0.55), (30.0, 1.0)] {
            let found = match l.curve.pressure(average) {
                Pressure::None => 0.0,
                Pressure::Early(p) => p,
                Pressure::Full => 1.0,
            };
            assert!((found - p).abs() < 1e-12, "{average}");
        }
    }

    fn gaps(spacing: &str, n: usize) -> Vec<usize> {
        // The average stands at 10 of 5..15, so p_b = maxp/2 = 0.05.
        let mut l = law(json!({"maxp": 0.1, "wq": 1e-9, "spacing": spacing}));
        l.average.set(10.0);
        let signals: Vec<usize> = arrive(&mut l, n, 10)
            .iter()
            .enumerate()
            .filter(|(_, v)| **v != Verdict::Pass)
            .map(|(i, _)| i)
            .collect();
        signals.windows(2).map(|w| w[1] - w[0]).collect()
    }

    fn mean(gaps: &[usize]) -> f64 {
        gaps.iter().sum::<usize>() as f64 / gaps.len() as f64
    }

    /// Section 7: the gap is geometric with mean 1/p, or uniform up to 1/p. Figure 2 counts the packet
    /// that is being judged, so a uniform gap is in 1..1/p-1 with mean 1/(2p), where the text of
    /// section 7 has 1..1/p; the figure is followed. With wait (ns-2) it is in 1/p..2/p-1.
    #[test]
    fn gaps_have_the_law_of_their_spacing() {
        let geometric = gaps("geometric", 400_000);
        assert!((mean(&geometric) - 20.0).abs() < 0.6, "{}", mean(&geometric));
        assert!(geometric.iter().any(|&g| g > 60));
        let uniform = gaps("uniform", 400_000);
        assert!((mean(&uniform) - 10.0).abs() < 0.2, "{}", mean(&uniform));
        assert!(uniform.iter().all(|g| (1..=19).contains(g)));
        let wait = gaps("wait", 400_000);
        assert!((mean(&wait) - 29.5).abs() < 0.4, "{}", mean(&wait));
        assert!(
            wait.iter().all(|g| (20..=39).contains(g)),
            "{:?} {:?}",
            wait.iter().min(),
            wait.iter().max()
        );
    }

    /// Shares of the packets of 500 B and of 1500 B that are signalled, which arrive in turn, at
    /// p_b = 0.05.
    fn shares_by_size(change: serde_json::Value) -> [f64; 2] {
        let mut given = json!({"maxp": 0.1, "wq": 1e-9});
        given.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        let mut l = law(given);
        l.average.set(10.0);
        let mut signals = [0; 2];
        let packets = 400_000;
        for i in 0..packets {
            let packet = Packet { size: [500, 1500][i % 2], ..Packet::default() };
            let backlog = Backlog { packets: 10, bytes: 0 };
            let at = Arrival { now: Time(i as u64), backlog, free_at: Time::NEVER };
            signals[i % 2] += usize::from(l.on_arrival(&packet, &at) != Verdict::Pass);
        }
        signals.map(|n| n as f64 / (packets / 2) as f64)
    }

    /// Uniform spacing of what sizes have scaled, as in the text of 1993, is out of proportion to
    /// size. ns-2 scales after spacing. The expected ratios are those of a plain transcription of
    /// both in Python over a million packets.
    #[test]
    fn sizes_count_before_spacing_or_after() {
        let [small, large] = shares_by_size(json!({"chance_by": "size"}));
        assert!((large / small - 7.28).abs() < 0.3, "{small} {large}");
        for (spacing, ratio) in [("geometric", 3.0), ("uniform", 3.59), ("wait", 3.78)] {
            let bytes = json!({"chance_by": "bytes", "spacing": spacing, "reference_size": "1000 B"});
            let [small, large] = shares_by_size(bytes);
            assert!((large / small - ratio).abs() < 0.15, "{spacing}: {small} {large}");
        }
    }

    #[test]
    fn wait_spacing_of_scaled_probabilities_is_refused() {
        let e = Red::read(&json!({"chance_by": "size", "spacing": "wait"}), "queue").unwrap_err().to_string();
        assert!(e.contains("queue.chance_by: \"size\" cannot be combined with spacing = \"wait\""), "{e}");
        assert!(e.contains("set chance_by = \"bytes\""), "{e}");
    }

    #[test]
    fn thresholds_in_the_wrong_order_are_refused() {
        let e = Red::read(&json!({"minth": "70 packets", "maxth": "60 packets"}), "queue")
            .unwrap_err()
            .to_string();
        assert!(e.contains("queue.minth: \"70 packets\" must be below maxth (60 packets)"), "{e}");
    }

    #[test]
    fn a_short_queue_is_spared_when_asked() {
        let mut l = law(json!({"least_backlog": "1 packet", "gentle": false}));
        l.average.set(20.0);
        assert_eq!(arrive(&mut l, 1, 1), [Verdict::Pass]);
        assert_eq!(arrive(&mut l, 1, 2), [Verdict::Drop(Why::Threshold)]);
    }
}
