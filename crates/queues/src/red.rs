//! Random Early Detection (RED).
//!
//! Source: Floyd & Jacobson 1993, "Random early detection gateways for congestion avoidance"
//! (`floyd1993red`): the algorithm of figure 2, the decay during idle time of section 4, the two
//! spacings of section 7 and the byte mode of section 4. The parameter `gentle` is from Floyd 2000
//! (`floyd2000gentle`). RFC 3168 §7 allows marking instead of dropping above maxth.
//!
//! Four parameters are from ns-2 (red.cc of ns-2.35): the wait spacing, the minimum backlog, the
//! probability from which packets are dropped instead of marked, and the mode that counts bytes. In
//! the byte mode of ns-2, the first packet after the average rises above minth always passes. In
//! the other modes, the first packet after the average rises above minth may be signalled, as in
//! figure 2.

use engine::Stream;
use net::{Aqm, Arrival, Declared, Explanation, Packet, Variables as _, Verdict, Why, variables};
use units::param::{Invalid, join};
use units::{Bytes, Depth, Packets, Probability, Range, Read, Time, params, words};

use crate::aqm::{AqmParams, FORMER_BACKLOG_KEY, QueueContext, measure};
use crate::average::Average;
use crate::spacing::{AboveMaxth, Chooser, Pressure, Spacing};

words! {
    /// Effect of a packet's size on its signal probability.
    pub enum ChanceBy {
        /// The signal probability does not depend on the packet size.
        Packet = "packet",
        /// RED first multiplies the signal probability by the packet size divided by the reference
        /// size, and then applies spacing to the result, as in the text of Floyd & Jacobson 1993.
        /// With uniform spacing, large packets are then signalled more often than in proportion to
        /// their size: a packet of 1500 B is signalled about 7 times as often as a packet of 500 B,
        /// and up to 9 times while the average queue length changes.
        Size = "size",
        /// The byte mode of ns-2. For the spacing between signals, RED counts the bytes since the
        /// last signal, divides the number of bytes by the reference size and rounds the result
        /// down. RED first applies spacing to the signal probability, and then multiplies the
        /// result by the packet size divided by the reference size. A packet that arrives at an
        /// empty queue passes. A packet of 1500 B is signalled 3 to 4 times as often as a packet of
        /// 500 B.
        Bytes = "bytes",
    }
}

params! {
    /// RED computes an exponentially weighted moving average of the queue length, and compares it
    /// with two thresholds. If the average is below minth, every packet passes. If the average is
    /// between minth and maxth, packets are signalled with a probability that rises linearly to
    /// maxp. A signalled packet is marked if it is ECN-capable, and dropped otherwise. If the
    /// average is above maxth, the signal probability rises linearly to 1 (gentle), or every packet
    /// is signalled. If the thresholds are in packets, the average counts packets. If the
    /// thresholds are in bytes, the average counts bytes.
    pub struct Red: "red", checked by check, renamed by FORMER_BACKLOG_KEY {
        /// Average queue length below which no packet is signalled (minth).
        minth: Depth = (Depth::Packets(5.0)), in Range::above(0.0), from "floyd1993red §6: minth should be at least 5 packets";
        /// Average queue length at which the signal probability reaches maxp (maxth). Above maxth
        /// the parameter gentle determines the signal probability.
        maxth: Depth = (Depth::Packets(15.0)), in Range::above(0.0), from "floyd1997parameters: maxth is three times minth";
        /// Signal probability when the average queue length reaches maxth (maxp).
        maxp: Probability = (Probability(0.1)), in Range::above_to(0.0, 1.0), from "floyd1997parameters: 1/10";
        /// Weight of the current queue length in the moving average of the queue length (wq).
        wq: Probability = (Probability(0.002)), in Range::above_to(0.0, 1.0), from "floyd1993red §6: 0.002";
        /// If gentle is true, the signal probability rises linearly from maxp at maxth to 1 at
        /// twice maxth. If gentle is false, the signal probability jumps from maxp to 1 at maxth.
        gentle: bool = (true), in Range::ANY, from "floyd2000gentle";
        /// Distribution of the number of packets between two signals.
        spacing: Spacing = (Spacing::Uniform), in Range::ANY, from "floyd1993red §7, method 2";
        /// Action on a packet while the average queue length is above maxth (above twice maxth if
        /// gentle).
        above_maxth: AboveMaxth = (AboveMaxth::Drop), in Range::ANY, from "rfc3168 §7";
        /// Signal probability from which RED drops signalled packets even if they are ECN-capable.
        /// If mark_below is 1, RED marks every signalled packet that is ECN-capable.
        mark_below: Probability = (Probability(1.0)), in Range::above_to(0.0, 1.0), from "floyd1993red always marks; ns-2 (`mark_p_`) drops from 0.1 on";
        /// Effect of a packet's size on its signal probability.
        chance_by: ChanceBy = (ChanceBy::Packet), in Range::ANY, from "floyd1993red §4 has size if the queue is measured in bytes; red.cc of ns-2.35 (`modify_p`) has bytes; rfc7141 §2.2 recommends packet";
        /// Packet size with which RED compares the size of a packet if chance_by is size or bytes.
        reference_size: Bytes = (Bytes(1500)), in Range::between(1.0, 65535.0), from "floyd1993red §4 has the maximum packet size; ns-2 has 500 B (`mean_pktsize_`)";
        /// Maximum number of waiting packets at which every arriving packet passes, for any average
        /// queue length. If min_backlog is 0 packets, the average queue length alone decides on a
        /// signal.
        min_backlog: Packets = (Packets(0.0)), in Range::at_least(0.0).whole(), from "floyd1993red has no minimum backlog; ns-2 has 1 packet";
        /// Packet size that converts idle time into a number of virtual packets, each of which lets
        /// the average queue length decay.
        idle_packet_size: Bytes = (Bytes(500)), in Range::between(1.0, 65535.0), from "floyd1993red §4 has the time s of a small packet; ns-2 uses 500 B";
    }
}

fn check(red: &Red, path: &str) -> Result<(), Invalid> {
    check_spacing(red.chance_by, red.spacing, path)?;
    check_thresholds(red.minth, red.maxth, path)
}

/// Refuse the combination of `spacing = "wait"` and `chance_by = "size"`. With both settings, every
/// signal of a large packet would restart the wait that precedes the signal of a small packet.
/// Small packets would therefore never be signalled.
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

/// Refuse a minth that is not below maxth, and thresholds in different units.
pub(crate) fn check_thresholds(minth: Depth, maxth: Depth, path: &str) -> Result<(), Invalid> {
    let path = join(path, "minth");
    if !minth.counts_as(maxth) {
        return Err(Invalid::new(&path, &minth.write(), format!("must have the unit of maxth ({maxth})"))
            .remedy("write both thresholds in packets or both in bytes"));
    }
    if minth.amount() >= maxth.amount() {
        return Err(Invalid::new(&path, &minth.write(), format!("must be below maxth ({maxth})"))
            .remedy("lower minth or raise maxth"));
    }
    Ok(())
}

/// Return true if at most `min_backlog` packets wait, so that an arriving packet passes.
#[inline]
pub(crate) fn is_spared(at: &Arrival, min_backlog: u32) -> bool {
    at.backlog.packets <= min_backlog && min_backlog > 0
}

variables! {
    /// Variables of RED and of its variants that adapt maxp.
    pub struct RedVariables {
        /// Signal probability when the average queue length reaches maxth (maxp). Adaptive RED and
        /// self-configuring RED change maxp during the run.
        maxp in "0..1", from "floyd1993red fig. 2";
    }
}

/// Rules and variables of RED.
pub(crate) const DECLARED: &[Declared] = &[
    crate::average::DECLARED,
    Declared { rules: &[], variables: RedVariables::LIST },
    crate::spacing::DECLARED,
];

/// Signal probability of RED as a function of the average queue length.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Curve {
    pub minth: f64,
    pub maxth: f64,
    pub maxp: f64,
    pub gentle: bool,
}

impl Curve {
    /// Return the probability p_b for this average queue length.
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

/// State of RED.
#[derive(Clone, Debug)]
pub struct RedAqm {
    counts: Depth,
    pub(crate) curve: Curve,
    /// Maximum number of waiting packets at which every arriving packet passes, or `None` if RED
    /// does not check the backlog.
    min_backlog: Option<u32>,
    /// Signal probability from which RED drops a signalled packet instead of marking it.
    mark_below: f64,
    chance_by: ChanceBy,
    reference_size: u16,
    average: Average,
    chooser: Chooser,
    random: Stream,
}

impl AqmParams for Red {
    type Aqm = RedAqm;
    const DECLARED: &'static [Declared] = DECLARED;

    fn aqm(&self, context: QueueContext) -> RedAqm {
        RedAqm {
            counts: self.minth,
            curve: Curve {
                minth: self.minth.amount(),
                maxth: self.maxth.amount(),
                maxp: self.maxp.0,
                gentle: self.gentle,
            },
            // If min_backlog is 0, a packet that arrives at an empty queue always passes in the
            // byte mode of ns-2, and may be signalled in the other modes.
            min_backlog: (self.min_backlog.0 > 0.0 || self.chance_by == ChanceBy::Bytes)
                .then_some(self.min_backlog.0 as u32),
            mark_below: self.mark_below.0,
            chance_by: self.chance_by,
            reference_size: self.reference_size.0 as u16,
            average: Average::new(self.wq.0, context.rate, self.idle_packet_size),
            chooser: Chooser::new(self.spacing, self.above_maxth),
            random: context.random,
        }
    }
}

impl RedAqm {
    /// Update the average for an arrival, and return the average (figure 2, "calculate the new
    /// average queue size").
    #[inline]
    pub(crate) fn update_average(&mut self, at: &Arrival) -> f64 {
        self.average.update(at.now, at.idle_since(), measure(at.backlog, self.counts));
        self.average.value()
    }

    /// Let the average decay up to the time `now` without an arrival, and return the average. If
    /// the link is idle, `idle_since` is the start of the idle time.
    pub(crate) fn decay(&mut self, now: Time, idle_since: Option<Time>) -> f64 {
        self.average.decay(now, idle_since);
        self.average.value()
    }

    /// Return the verdict on a packet for the current value of the average.
    #[inline]
    pub(crate) fn judge(&mut self, packet: &Packet, at: &Arrival) -> Verdict {
        let spared = self.min_backlog.is_some_and(|least| at.backlog.packets <= least);
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

impl Aqm for RedAqm {
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

    fn explain(&self, why: Why, to: &mut Explanation) {
        self.average.explain(to);
        to.with(RedVariables { maxp: self.curve.maxp });
        self.chooser.explain(why, to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use net::Backlog;
    use serde_json::json;
    use units::Rate;

    fn aqm(change: serde_json::Value) -> RedAqm {
        let (rate, limit) = (Rate(1_500_000), Depth::Packets(100.0));
        let context = QueueContext::new(rate, limit, Stream::new(1, "red"));
        Red::read(&change, "red").unwrap().aqm(context)
    }

    /// Let `n` packets arrive, one every 8 ms. `queue` packets wait at each arrival.
    fn arrive(aqm: &mut RedAqm, n: usize, queue: u32) -> Vec<Verdict> {
        (0..n)
            .map(|i| {
                let backlog = Backlog { packets: queue, bytes: 0 };
                let now = Time(i as u64 * 8_000_000_000);
                aqm.on_arrival(&Packet::default(), &Arrival { now, backlog, free_at: Time::NEVER })
            })
            .collect()
    }

    /// Equation (1) of section 4: after n arrivals at a constant queue length L, the average is L
    /// (1 - (1-wq)^n).
    #[test]
    fn the_average_follows_its_closed_form() {
        let mut l = aqm(json!({"minth": "50 packets", "maxth": "150 packets"}));
        arrive(&mut l, 1000, 10);
        let expected = 10.0 * (1.0 - 0.998_f64.powi(1000));
        assert!((l.average.value() - expected).abs() < 1e-9, "{} {expected}", l.average.value());
    }

    /// Section 4: during idle time the average decays as if m = idle/s small packets had arrived.
    #[test]
    fn idle_time_decays_the_average() {
        let mut l = aqm(json!({}));
        l.average.set(4.0);
        let s = 500.0 * 8.0 / 1.5e6;
        let now = Time((300.0 * s * 1e12) as u64);
        let at = Arrival { now, backlog: Backlog::default(), free_at: Time::ZERO };
        l.on_arrival(&Packet::default(), &at);
        let expected = 4.0 * 0.998_f64.powf(300.0) * 0.998;
        assert!((l.average.value() - expected).abs() < 1e-6, "{} {expected}", l.average.value());
    }

    #[test]
    fn red_signals_no_packet_below_minth_and_every_packet_above_maxth() {
        let mut l = aqm(json!({"gentle": false}));
        l.average.set(4.0);
        assert!(arrive(&mut l, 100, 4).iter().all(|v| *v == Verdict::Pass));
        l.average.set(20.0);
        assert!(arrive(&mut l, 100, 20).iter().all(|v| *v == Verdict::Drop(Why::Threshold)));
        let mut l = aqm(json!({"gentle": false, "above_maxth": "mark"}));
        l.average.set(20.0);
        assert!(arrive(&mut l, 100, 20).iter().all(|v| *v == Verdict::Signal(Why::Threshold)));
    }

    #[test]
    fn packets_are_dropped_instead_of_marked_from_a_probability_on() {
        for (average, verdict) in [(9.9, Verdict::Signal(Why::Early)), (10.1, Verdict::Drop(Why::Early))] {
            let mut l = aqm(json!({"maxp": 0.2, "wq": 1e-9, "mark_below": 0.1}));
            l.average.set(average);
            let verdicts = arrive(&mut l, 200, 10);
            assert!(verdicts.iter().all(|v| *v == Verdict::Pass || *v == verdict), "{average}");
            assert!(verdicts.contains(&verdict), "{average}");
        }
    }

    #[test]
    fn gentle_reaches_probability_1_at_twice_maxth() {
        let l = aqm(json!({"maxp": 0.1}));
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
        // The average queue length stays at 10 packets, between the thresholds 5 and 15, so p_b =
        // maxp/2 = 0.05.
        let mut l = aqm(json!({"maxp": 0.1, "wq": 1e-9, "spacing": spacing}));
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

    /// The gaps between two signals follow section 7. Geometric gaps have the mean 1/p, and uniform
    /// gaps are at most 1/p. Figure 2 also counts the packet on which RED decides, so uniform gaps
    /// are in the range 1..1/p-1, with the mean 1/(2p). According to the text of section 7, uniform
    /// gaps are in the range 1..1/p. The implementation follows figure 2. With wait spacing (ns-2),
    /// gaps are in the range 1/p..2/p-1.
    #[test]
    fn gaps_have_the_distribution_of_their_spacing() {
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

    /// Return the shares of packets of 500 B and of packets of 1500 B that RED signals at p_b =
    /// 0.05. Packets of both sizes arrive alternately.
    fn shares_by_size(change: serde_json::Value) -> [f64; 2] {
        let mut given = json!({"maxp": 0.1, "wq": 1e-9});
        given.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        let mut l = aqm(given);
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

    /// The text of 1993 scales the probability by the packet size before uniform spacing. Large
    /// packets are then signalled more often than in proportion to their size. The code of ns-2
    /// scales the probability by the packet size after spacing. A Python transcription of the text
    /// of 1993 and of the ns-2 code computed the expected ratios from a million packets.
    #[test]
    fn sizes_scale_the_probability_before_or_after_spacing() {
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
    fn a_short_queue_is_not_signalled_below_min_backlog() {
        let mut l = aqm(json!({"min_backlog": "1 packet", "gentle": false}));
        l.average.set(20.0);
        assert_eq!(arrive(&mut l, 1, 1), [Verdict::Pass]);
        assert_eq!(arrive(&mut l, 1, 2), [Verdict::Drop(Why::Threshold)]);
    }
}
