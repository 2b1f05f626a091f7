//! Adaptive RED.
//!
//! Source: Floyd, Gummadi & Shenker 2001, "Adaptive RED: an algorithm for increasing the robustness
//! of RED's active queue management" (`floyd2001adaptive`): the algorithm of figure 1, and the
//! automatic setting of wq and the thresholds of sections 4.3 and 5. At the end of each interval
//! maxp is adapted to the current average queue length. If the link is idle, the current average
//! includes its decay since the last arrival. Without this decay of the average, maxp would
//! continue to rise while no packet arrives.
//!
//! The paper on Adaptive RED was not available. The algorithm of figure 1 agrees with Linux's
//! red.h, and so does the average queue length while the queue is idle. The target, the steps,
//! their upper bound, the thresholds, wq and the minimum backlog agree with the first author's ns-2
//! code (red.cc). In aqmlab maxp is adapted at the end of every interval. In ns-2 maxp is adapted
//! when a packet arrives and more than one interval has passed since the last change of maxp. In
//! aqmlab the lower bound of maxp is 0.01, as in the paper. In ns-2 since 2004 the lower bound is
//! smaller on fast links. Above maxth (gentle) aqmlab computes the signal probability from the
//! current maxp, and ns-2 from the initial maxp.

use net::{Aqm, Arrival, Declared, Explanation, Packet, Verdict, Why};
use units::param::{Invalid, join};
use units::{Bytes, Depth, Duration, Packets, Probability, Range, Time, params};

use crate::aqm::{AqmParams, FORMER_BACKLOG_KEY, QueueContext};
use crate::lazy::Ticks;
use crate::red::{ChanceBy, Red, RedAqm, check_spacing, check_thresholds};
use crate::spacing::{AboveMaxth, Spacing};

params! {
    /// Adaptive RED changes maxp between 1 and 50 % in small steps, so that the average queue
    /// length stays in the middle fifth of the range from minth to maxth under different loads. By
    /// default Adaptive RED computes the thresholds from a target delay and wq from the rate of the
    /// link, and gentle is true, as in the paper.
    pub struct AdaptiveRed: "adaptive_red", checked by check, renamed by FORMER_BACKLOG_KEY {
        /// Queueing delay that determines the default thresholds: minth is half of the traffic that
        /// the link sends in this time, and at least 5 packets.
        target_delay: Duration = (Duration::from_millis(5)), in Range::above(0.0), from "floyd2001adaptive §5: minth = max(5, delay C / 2)";
        /// Average queue length below which no packet is signalled (minth). By default minth is
        /// computed from target_delay. The default minth is in bytes if chance_by is bytes, and in
        /// packets otherwise.
        minth: Option<Depth> = (None), in Range::above(0.0), from "floyd2001adaptive §5";
        /// Average queue length at which the signal probability reaches maxp (maxth). By default
        /// maxth is three times minth.
        maxth: Option<Depth> = (None), in Range::above(0.0), from "floyd2001adaptive §5";
        /// Weight of the current queue length in the moving average of the queue length (wq). By
        /// default wq is 1 - exp(-1/C), where C is the number of packets that the link sends per
        /// second.
        wq: Option<Probability> = (None), in Range::above_to(0.0, 1.0), from "floyd2001adaptive §4.3";
        /// Packet size that converts the rate of the link into packets per second. If chance_by is
        /// size or bytes, packet sizes are also compared with mean_packet_size.
        mean_packet_size: Bytes = (Bytes(500)), in Range::between(1.0, 65535.0), from "floyd2001adaptive §4.3 recommends a default packet size; ns-2 uses 500 B";
        /// Initial maxp, the signal probability when the average queue length reaches maxth.
        maxp: Probability = (Probability(0.1)), in Range::above_to(0.0, 0.5), from "floyd1997parameters: 1/10";
        /// Time between two adaptations of maxp.
        interval: Duration = (Duration::from_millis(500)), in Range::at_least(1e-6), from "floyd2001adaptive fig. 1: 0.5 s";
        /// Maximum increase of maxp per interval (alpha). The increase is at most a quarter of
        /// maxp.
        increment: Probability = (Probability(0.01)), in Range::above_to(0.0, 1.0), from "floyd2001adaptive fig. 1: min(0.01, maxp/4)";
        /// Factor that multiplies maxp when the average queue length is below its target range
        /// (beta).
        decrease: Probability = (Probability(0.9)), in Range::above_to(0.0, 1.0), from "floyd2001adaptive fig. 1: 0.9";
        /// Distribution of the number of packets between two signals.
        spacing: Spacing = (Spacing::Uniform), in Range::ANY, from "floyd1993red §7, method 2";
        /// Effect of a packet's size on its signal probability.
        chance_by: ChanceBy = (ChanceBy::Packet), in Range::ANY, from "the first author's ns-2 code has bytes (`bytes_`, `queue_in_bytes_`); rfc7141 §2.2 recommends packet";
        /// If gentle is true, the signal probability rises linearly from maxp at maxth to 1 at
        /// twice maxth. If gentle is false, the signal probability jumps from maxp to 1 at maxth.
        gentle: bool = (true), in Range::ANY, from "floyd2001adaptive §2 uses RED in gentle mode";
        /// Action on a packet while the average queue length is above maxth (above twice maxth if
        /// gentle).
        above_maxth: AboveMaxth = (AboveMaxth::Drop), in Range::ANY, from "rfc3168 §7";
        /// Maximum number of waiting packets at which every arriving packet passes, for any average
        /// queue length. If min_backlog is 0 packets, the average queue length alone decides on a
        /// signal.
        min_backlog: Packets = (Packets(1.0)), in Range::at_least(0.0).whole(), from "the first author's ns-2 code: 1 packet";
    }
}

impl AdaptiveRed {
    fn thresholds(&self, packets_per_second: f64) -> (Depth, Depth) {
        let automatic = (self.target_delay.seconds() * packets_per_second / 2.0).max(5.0);
        let minth = self.minth.unwrap_or(match self.chance_by {
            ChanceBy::Bytes => Depth::Bytes(automatic * self.mean_packet_size.0 as f64),
            _ => Depth::Packets(automatic),
        });
        (minth, self.maxth.unwrap_or(minth.like(3.0 * minth.amount())))
    }
}

fn check(red: &AdaptiveRed, path: &str) -> Result<(), Invalid> {
    check_spacing(red.chance_by, red.spacing, path)?;
    match (red.minth, red.maxth) {
        (Some(minth), Some(maxth)) => check_thresholds(minth, maxth, path),
        (None, Some(_)) => Err(Invalid::at(&join(path, "maxth"), "is given without minth")
            .remedy("give both or neither of minth and maxth")),
        _ => Ok(()),
    }
}

impl AqmParams for AdaptiveRed {
    type Aqm = AdaptiveRedAqm;
    const DECLARED: &'static [Declared] = crate::red::DECLARED;

    fn aqm(&self, context: QueueContext) -> AdaptiveRedAqm {
        let c = context.packets_per_second(self.mean_packet_size);
        let (minth, maxth) = self.thresholds(c);
        let red = Red {
            minth,
            maxth,
            maxp: self.maxp,
            wq: self.wq.unwrap_or(Probability(1.0 - libm::exp(-1.0 / c))),
            gentle: self.gentle,
            spacing: self.spacing,
            above_maxth: self.above_maxth,
            chance_by: self.chance_by,
            reference_size: self.mean_packet_size,
            min_backlog: self.min_backlog,
            mark_below: Probability(1.0),
            idle_packet_size: self.mean_packet_size,
        };
        let (low, width) = (minth.amount(), maxth.amount() - minth.amount());
        AdaptiveRedAqm {
            target: (low + 0.4 * width, low + 0.6 * width),
            increment: self.increment.0,
            decrease: self.decrease.0,
            ticks: Ticks::every(self.interval),
            red: red.aqm(context),
        }
    }
}

/// State of Adaptive RED.
#[derive(Clone, Debug)]
pub struct AdaptiveRedAqm {
    /// Range of average queue lengths in which maxp stays unchanged.
    target: (f64, f64),
    increment: f64,
    decrease: f64,
    ticks: Ticks,
    red: RedAqm,
}

impl AdaptiveRedAqm {
    /// Adapt maxp at the end of an interval (figure 1). Return true if the adaptation changed maxp.
    fn adapt(&mut self, average: f64) -> bool {
        let maxp = &mut self.red.curve.maxp;
        if average > self.target.1 && *maxp <= 0.5 {
            *maxp += self.increment.min(*maxp / 4.0);
        } else if average < self.target.0 && *maxp >= 0.01 {
            *maxp *= self.decrease;
        } else {
            return false;
        }
        true
    }

    /// Adapt maxp once for every interval that has ended since the previous call.
    fn end_intervals(&mut self, at: &Arrival) {
        while let Some(tick) = self.ticks.due(at.now) {
            let idle_since = at.idle_since().filter(|&since| since <= tick);
            let average = self.red.decay(tick, idle_since);
            if self.adapt(average) {
                continue;
            }
            // Without an arrival the average and maxp stay unchanged while the link is busy, and
            // the average falls while the link is idle.
            match (idle_since, at.idle_since()) {
                (None, since) => self.ticks.pass_over(since.unwrap_or(at.now)),
                (Some(_), _) if average < self.target.0 => self.ticks.pass_over(at.now),
                _ => {}
            }
        }
    }
}

impl Aqm for AdaptiveRedAqm {
    #[inline]
    fn on_arrival(&mut self, packet: &Packet, at: &Arrival) -> Verdict {
        self.end_intervals(at);
        self.red.on_arrival(packet, at)
    }

    fn on_overflow(&mut self, now: Time) {
        self.red.on_overflow(now);
    }

    fn average(&self) -> Option<Depth> {
        self.red.average()
    }

    fn explain(&self, why: Why, to: &mut Explanation) {
        self.red.explain(why, to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::Stream;
    use net::{Backlog, Why};
    use serde_json::json;
    use units::{Rate, Read};

    fn arrival(now: Time, packets: u32, free_at: Time) -> Arrival {
        Arrival { now, backlog: Backlog { packets, bytes: 0 }, free_at }
    }

    /// Return Adaptive RED after 2.5 s with 40 waiting packets, when its average is above the
    /// target and maxp is rising.
    fn after_load() -> (AdaptiveRedAqm, Time) {
        let context = QueueContext::new(Rate(10_000_000), Depth::Packets(100.0), Stream::new(1, "red"));
        let red = json!({"minth": "10 packets", "maxth": "30 packets", "above_maxth": "mark"});
        let mut aqm = AdaptiveRed::read(&red, "red").unwrap().aqm(context);
        let mut now = Time::ZERO;
        for _ in 0..2500 {
            now += Duration::from_millis(1);
            aqm.on_arrival(&Packet::default(), &arrival(now, 40, Time::NEVER));
        }
        (aqm, now)
    }

    /// As in Linux's red.h, the average queue length decays during idle time, and maxp is adapted
    /// to the decayed average. After less than a second of idle time the average queue length is
    /// below its target range, and maxp then falls to 1 %.
    #[test]
    fn maxp_falls_while_the_link_is_idle() {
        let (mut aqm, idle) = after_load();
        let loaded = aqm.red.curve.maxp;
        assert!(aqm.average().unwrap().amount() > aqm.target.1 && loaded > 0.1, "{loaded}");
        let now = idle + Duration::from_millis(20_000);
        aqm.end_intervals(&arrival(now, 0, idle));
        assert!(aqm.red.curve.maxp < 0.01, "{} was {loaded}", aqm.red.curve.maxp);
    }

    /// While the link is busy and no packet arrives, the average stays unchanged and maxp continues
    /// to rise.
    #[test]
    fn maxp_rises_until_the_link_is_idle() {
        let (mut aqm, loaded_until) = after_load();
        let before = aqm.red.curve.maxp;
        let idle = loaded_until + Duration::from_millis(1_600);
        aqm.end_intervals(&arrival(idle, 0, idle));
        assert!(
            (aqm.red.curve.maxp - (before + 3.0 * 0.01)).abs() < 1e-12,
            "{before} {}",
            aqm.red.curve.maxp
        );
    }

    /// Kuzmanovic 2005, §4.1: above maxth all packets are dropped (RED), or all are marked (RED*).
    #[test]
    fn adaptive_red_without_gentle_signals_every_packet_above_maxth() {
        for (above, verdict) in
            [("drop", Verdict::Drop(Why::Threshold)), ("mark", Verdict::Signal(Why::Threshold))]
        {
            let context = QueueContext::new(Rate(10_000_000), Depth::Packets(100.0), Stream::new(1, "red"));
            let thresholds = json!({"minth": "10 packets", "maxth": "30 packets", "wq": 1.0});
            let mut red = AdaptiveRed::read(&thresholds, "red").unwrap();
            (red.gentle, red.above_maxth) = (false, AboveMaxth::read(&json!(above), "").unwrap());
            let mut aqm = red.aqm(context);
            let at = |packets| arrival(Time::ZERO, packets, Time::NEVER);
            assert!((0..100).all(|_| aqm.on_arrival(&Packet::default(), &at(31)) == verdict));
            assert!((0..100).any(|_| aqm.on_arrival(&Packet::default(), &at(29)) == Verdict::Pass));
        }
    }

    #[test]
    fn a_nearly_empty_queue_is_not_signalled() {
        let (mut aqm, now) = after_load();
        let mut verdicts = |packets| {
            (0..1000)
                .map(|_| aqm.on_arrival(&Packet::default(), &arrival(now, packets, Time::NEVER)))
                .collect::<Vec<_>>()
        };
        assert!(verdicts(40).iter().any(|v| *v != Verdict::Pass));
        assert!(verdicts(1).iter().all(|v| *v == Verdict::Pass));
    }
}
