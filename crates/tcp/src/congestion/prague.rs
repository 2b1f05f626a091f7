//! Prague (`prague`), a scalable congestion control for L4S: RFC 9331 §4.3 (`rfc9331`) and
//! draft-briscoe-iccrg-prague-congestion-control (`draft-briscoe-prague`).
//!
//! Only the abstract of the draft, and quotations of its text in other documents, were available.
//! The following properties of this implementation were checked against the authors' code for Linux
//! (`tcp_prague`):
//!
//! - The gain g and the reduction for marks have the authors' values, and only unmarked bytes
//!   increase cwnd.
//! - From 500 round trips after slow start on, the increase of cwnd, α and the reduction use the
//!   virtual round-trip time, RTT_virt = max(RTT, 25 ms).
//! - The first mark triggers the first update of α, a loss halves the window, and segments are
//!   paced.
//!
//! The properties that were checked against Linux, except the transition after 500 round trips,
//! were also checked against the authors' code over UDP. In slow start, the authors' code paces at
//! twice the rate only up to half of ssthresh. In this implementation, as in the authors' code, a
//! loss halves the FlightSize, because RFC 9331 §4.3, item 2 requires Reno's response to a loss.
//! Newer revisions of the authors' code respond to a loss as CUBIC does.
//! [`fallback`](super::fallback) implements the fall-back (RFC 9331 §4.3, item 3). A window below
//! one segment (RFC 9331 §4.3, item 5) is not implemented.

use net::{Rule, rules};
use serde_json::json;
use units::param::Json;
use units::{Bytes, Duration, Packets, Probability, Range, Rate, Time, params};

use crate::congestion::bbr::rate_from_bytes;
use crate::congestion::control::{
    Ack, Congestion, CongestionControl, Control, ImpliedRecovery, Marks, decreased,
};
use crate::congestion::dctcp::Alpha;
use crate::congestion::fallback::{Detector, Fallback};
use crate::congestion::growth::{Avoidance, Growth};
use crate::congestion::slow_start::{self, SlowStart};
use crate::window::{Window, Windows};

params! {
    /// Prague, a DCTCP for the Internet. Marks reduce cwnd by half the marked fraction, and
    /// unmarked bytes increase cwnd by one segment per round trip. A flow with a shorter round-trip
    /// time than 25 ms behaves as if its round-trip time were 25 ms. Segments are paced.
    pub struct Prague: "prague" {
        /// Weight of the last round trip in the moving average α.
        g: Probability = (Probability(0.0625)), in Range::above_to(0.0, 1.0), from "draft-briscoe-prague §2.4.2: 1/16";
        /// Value of α before the first mark.
        initial_alpha: Probability = (Probability(1.0)), in Range::between(0.0, 1.0), from "rfc8257 §3.3";
        /// Minimum of the virtual round-trip time (RTT_virt).
        rtt_virtual: Duration = (Duration::from_millis(25)), in Range::between(0.0, 1.0), from "draft-briscoe-prague §2.4.4";
        /// Number of round trips after slow start before the virtual round-trip time applies.
        transition: Packets = (Packets(500.0)), in Range::between(0.0, 1e9).whole(), from "Linux, tcp_prague: 500 round trips after slow start";
        /// Factor by which a loss multiplies the FlightSize.
        beta_loss: f64 = (0.5), in Range::between(0.1, 0.95), from "rfc9331 §4.3, item 2: as Reno";
        /// Response of Prague to a classic AQM in a shared queue.
        fallback: Fallback = (Fallback::Off), in Range::ANY, from "rfc9331 §4.3, item 3";
        /// Smoothed queueing delay above which the AQM may be a classic AQM.
        fallback_delay: Duration = (Duration::from_millis(5)), in Range::above(0.0), from "rfc9332 appendix A.1: an L4S queue is marked from 0.8 ms, and a classic queue aims at 15 ms; the default is between the two";
        /// Pacing rate in slow start, as a multiple of cwnd/SRTT.
        slow_start_pacing: f64 = (2.0), in Range::between(1.0, 10.0), from "draft-briscoe-prague §2.4.6";
        /// Header bytes per segment that the pacing rate includes. The interval between two paced
        /// segments is proportional to their data without headers. At a constant round-trip time,
        /// cwnd therefore limits the flow, and the pacing rate does not.
        pacing_header: Bytes = (Bytes(0)), in Range::between(0.0, 120.0), from "Linux, tcp_prague: 52 B with timestamps, because the rate is cwnd times the MTU over SRTT and pacing spaces only the data";
        /// Slow start.
        slow_start: SlowStart = (SlowStart::standard()), in Range::ANY, from "rfc5681 §3.1";
    }
}

rules! {
    /// cwnd grows by (RTT/RTT_virt)² segments per round trip, for unmarked bytes only.
    INCREASE = "prague-increase", from "draft-briscoe-prague §2.4.4";
    /// A mark reduces the window by the fraction α/2, where α is the smoothed share of marked
    /// bytes.
    MARK = "prague-mark", from "rfc9331 §4.3; draft-briscoe-prague §2.4.2";
    /// A mark halves the window, because the bottleneck seems to have a Classic AQM.
    FALLBACK = "prague-fallback", from "rfc9331 §4.3, item 3";
    /// A loss multiplies the window by beta_loss.
    LOSS = "prague-loss", from "rfc9331 §4.3, item 2";
}

impl Control for Prague {
    type State = PragueState;
    const RULES: &'static [Rule] = RULES;
    const MARKS: Marks = Marks::L4s;
    /// Loss recovery by RACK, because losses must be detected in units of time (RFC 9331 §4.3, item
    /// 6).
    const IMPLIED_RECOVERY: ImpliedRecovery = ImpliedRecovery::SackRackPrr;

    fn new_state(&self, _: &Window) -> Self::State {
        PragueState::new(self)
    }

    fn linux_defaults() -> Json {
        json!({"slow_start": slow_start::linux_defaults(), "pacing_header": "52 B"})
    }
}

/// State of Prague in a connection.
#[derive(Clone, Debug)]
pub struct PragueState {
    params: Prague,
    alpha: Alpha,
    growth: Growth,
    /// Number of round trips since slow start.
    rounds: u64,
    /// True after the first mark, which shows that an AQM on the path marks packets.
    has_marks: bool,
    /// Time of the last update of α.
    alpha_updated_at: Time,
    /// Time of the last reduction in response to a mark.
    last_reduction: Option<Time>,
    srtt: Duration,
    rtt_min: Duration,
    detector: Detector,
}

impl PragueState {
    /// Create the state of Prague in a connection before the first ACK of the connection.
    pub fn new(params: &Prague) -> Self {
        PragueState {
            params: params.clone(),
            alpha: Alpha::new(params.g.0, params.initial_alpha.0),
            growth: Growth::new(&params.slow_start, Avoidance::PerByte),
            rounds: 0,
            has_marks: false,
            alpha_updated_at: Time::ZERO,
            last_reduction: None,
            srtt: Duration::ZERO,
            rtt_min: Duration(u64::MAX),
            detector: Detector::default(),
        }
    }

    /// Return RTT_virt: the smoothed round-trip time, or the minimum of RTT_virt if that is longer.
    fn rtt_virtual(&self) -> Duration {
        if (self.rounds as f64) < self.params.transition.0 {
            return self.srtt;
        }
        self.srtt.max(self.params.rtt_virtual)
    }

    /// Return the increase of cwnd in segments per round trip, (RTT/RTT_virt)².
    ///
    /// With this increase of cwnd, the sending rate grows by one segment per RTT_virt in each
    /// RTT_virt.
    fn increase(&self) -> f64 {
        let rtt_virtual = self.rtt_virtual().seconds();
        if rtt_virtual == 0.0 {
            return 1.0;
        }
        let m = self.srtt.seconds() / rtt_virtual;
        m * m
    }

    /// Return true if the queue is longer than the queue of an L4S AQM.
    fn queue_is_long(&self) -> bool {
        self.rtt_min != Duration(u64::MAX)
            && self.srtt.seconds() > self.rtt_min.seconds() + self.params.fallback_delay.seconds()
    }
}

impl CongestionControl for PragueState {
    fn observe(&mut self, w: &Window, ack: &Ack) {
        self.growth.observe(w, ack, true);
        self.srtt = ack.srtt;
        self.rtt_min = self.rtt_min.min(ack.rtt.unwrap_or(self.rtt_min));
        self.has_marks |= ack.marked > 0;
        self.alpha.count(ack.delivered, ack.marked);
        self.rounds += u64::from(ack.round && w.cwnd >= w.ssthresh);
        if ack.round && ack.now.since(self.alpha_updated_at) >= self.rtt_virtual() {
            if self.has_marks {
                self.alpha.end_window();
            } else {
                // α starts at the first mark
                self.alpha = Alpha::new(self.params.g.0, self.params.initial_alpha.0);
            }
            self.alpha_updated_at = ack.now;
        }
        if self.params.fallback == Fallback::Delay && w.cwnd >= w.ssthresh {
            let is_long = self.queue_is_long();
            self.detector.observe(ack, is_long, w.smss);
        }
    }

    fn cwnd_on_ack(&mut self, w: &Window, ack: &Ack) -> f64 {
        if !ack.cwnd_limited {
            w.cwnd
        } else if w.cwnd < w.ssthresh {
            self.growth.slow_start(w, ack).0
        } else {
            let unmarked = ack.counted.saturating_sub(ack.marked);
            self.growth.congestion_avoidance(w.cwnd, w.smss, unmarked, self.increase())
        }
    }

    fn ssthresh_on_congestion(&mut self, w: &Window, congestion: Congestion, now: Time) -> f64 {
        self.growth.on_congestion(congestion);
        match congestion {
            Congestion::Ecn if self.detector.is_classic() => decreased(w, 0.5, congestion),
            Congestion::Ecn => {
                self.last_reduction = Some(now);
                (w.cwnd * (1.0 - self.alpha.value / 2.0)).max(2.0 * w.smss)
            }
            _ => decreased(w, self.params.beta_loss, congestion),
        }
    }

    fn ssthresh_on_ack(&mut self, _: &Window) -> Option<f64> {
        self.growth.take_slow_start_exit()
    }

    /// Allow one response per round trip, or one per RTT_virt if RTT_virt is longer. The minimum
    /// interval between two updates of α is also one round trip, or RTT_virt if RTT_virt is longer.
    fn responds_to_mark(&self, now: Time, new_window: bool) -> bool {
        let since = self.last_reduction.map(|last| now.since(last)).filter(|_| !self.detector.is_classic());
        match since {
            Some(since) if self.rtt_virtual() > self.srtt => since >= self.rtt_virtual(),
            _ => new_window,
        }
    }

    fn is_scalable(&self) -> bool {
        true
    }

    fn paces(&self) -> bool {
        true
    }

    fn pacing_rate(&self, w: &Window, srtt: Duration) -> Option<Rate> {
        if srtt == Duration::ZERO {
            return None;
        }
        let gain = if w.cwnd < w.ssthresh { self.params.slow_start_pacing } else { 1.0 };
        let headers = 1.0 + self.params.pacing_header.0 as f64 / w.smss;
        Some(rate_from_bytes(gain * headers * w.cwnd.max(w.pipe) / srtt.seconds()))
    }

    fn min_super_packet(&self, rate: Rate) -> u32 {
        super::bbr::min_super_packet(rate)
    }

    fn rule_of_ack(&self, window: &Window, after: Windows) -> &'static Rule {
        self.growth.rule(window, after, Some(&INCREASE))
    }

    fn rule_of_congestion(&self, congestion: Congestion) -> Option<&'static Rule> {
        match congestion {
            Congestion::Ecn if self.detector.is_classic() => Some(&FALLBACK),
            Congestion::Ecn => Some(&MARK),
            Congestion::FastRetransmit => Some(&LOSS),
            Congestion::Timeout { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::harness::{MSS, Path, Sim, ack_at, window};
    use units::param::defaults;

    fn prague() -> PragueState {
        PragueState::new(&defaults())
    }

    /// At a round-trip time of 5 ms, the increase is (5/25)² segments per round trip after the
    /// transition. At a round-trip time of 50 ms, the increase is one segment per round trip.
    #[test]
    fn short_round_trips_increase_cwnd_as_if_they_were_25_ms() {
        for (rtt, rounds, increase) in [(0.005, 500, 0.04), (0.005, 499, 1.0), (0.05, 500, 1.0)] {
            let mut p = prague();
            p.observe(&window(10.0, 5.0, 10.0), &ack_at(0.0, rtt, 1.0));
            p.rounds = rounds;
            assert!((p.increase() - increase).abs() < 1e-12, "{rtt} {rounds}");
        }
    }

    /// Round trips of slow start do not count towards the transition to the virtual round-trip time
    /// (Linux, tcp_prague).
    #[test]
    fn transition_begins_after_slow_start() {
        let mut p = prague();
        let mut a = ack_at(0.0, 0.005, 1.0);
        a.round = true;
        for (ssthresh, rounds) in [(20.0, 0), (20.0, 0), (10.0, 1), (5.0, 2)] {
            p.observe(&window(10.0, ssthresh, 10.0), &a);
            assert_eq!(p.rounds, rounds);
        }
    }

    /// At a round-trip time of 5 ms and an RTT_virt of 25 ms, marks reduce cwnd once in five round
    /// trips. Before the transition to RTT_virt, marks reduce cwnd in every round trip.
    #[test]
    fn marks_reduce_cwnd_once_per_virtual_round_trip() {
        for (rounds, cuts) in [(500, 2), (0, 10)] {
            let mut p = prague();
            (p.alpha.value, p.rounds) = (0.1, rounds);
            let w = window(100.0, 50.0, 100.0);
            p.observe(&w, &ack_at(0.0, 0.005, 1.0));
            let at = |n: u64| Time::ZERO + Duration::from_millis(5 * n);
            let reductions = (0..10).filter(|&n| {
                let responds = p.responds_to_mark(at(n), true);
                responds && p.ssthresh_on_congestion(&w, Congestion::Ecn, at(n)) < w.cwnd
            });
            assert_eq!(reductions.count(), cuts);
        }
    }

    /// Two flows with round-trip times of 5 ms and 25 ms reach the same rate if every hundredth
    /// packet is marked. Per round trip, the cwnd of the flow with a round-trip time of 5 ms grows
    /// by (5 ms/25 ms)² = 0.04 segments. Marks reduce the cwnd of the flow with a round-trip time
    /// of 5 ms in only one of five round trips (RFC 9331 §4.3, item 4).
    #[test]
    fn flows_of_5_and_25_ms_have_equal_rates() {
        let rate = |delay_ms: u64| {
            let params = Prague { transition: Packets(0.0), ..defaults() };
            let path = Path { mark_every: 100, ..Path::new(10_000_000_000, delay_ms) };
            let start = 200.0 * delay_ms as f64 / 25.0;
            let mut sim = Sim::new(PragueState::new(&params), path, start, start);
            sim.run(20.0, |_| {});
            let before = sim.delivered;
            sim.run(60.0, |_| {});
            (sim.delivered - before) as f64
        };
        let (short, long) = (rate(5), rate(25));
        assert!((short / long - 1.0).abs() < 0.15, "{}", short / long);
    }

    /// α is 1 until the first mark, which therefore halves the window.
    #[test]
    fn first_mark_halves_cwnd() {
        let mut p = prague();
        let w = window(100.0, 50.0, 100.0);
        let mut a = ack_at(0.0, 0.05, 1.0);
        a.round = true;
        for n in 0..100 {
            a.now = Time::ZERO + Duration::from_millis(50 * n);
            p.observe(&w, &a);
        }
        assert_eq!(p.ssthresh_on_congestion(&w, Congestion::Ecn, a.now), 50.0 * MSS);
    }

    #[test]
    fn marked_bytes_do_not_increase_cwnd() {
        let mut p = prague();
        let w = window(10.0, 5.0, 10.0);
        let mut a = ack_at(0.0, 0.05, 2.0);
        p.observe(&w, &a);
        assert_eq!(p.cwnd_on_ack(&w, &a), 10_200.0);
        a.marked = 1000;
        assert_eq!(p.cwnd_on_ack(&w, &a), 10_100.0);
        a.marked = 2000;
        assert_eq!(p.cwnd_on_ack(&w, &a), 10_000.0);
    }

    #[test]
    fn losses_halve_cwnd_and_marks_reduce_it_by_alpha_except_under_a_classic_aqm() {
        let mut p = prague();
        let w = window(100.0, 50.0, 100.0);
        p.alpha.value = 0.1;
        assert_eq!(p.ssthresh_on_congestion(&w, Congestion::FastRetransmit, Time::ZERO), 50.0 * MSS);
        p.observe(&w, &ack_at(0.0, 0.020, 1.0));
        assert_eq!(p.ssthresh_on_congestion(&w, Congestion::Ecn, Time::ZERO), 95.0 * MSS);
        p.detector = Detector::classic();
        assert_eq!(p.ssthresh_on_congestion(&w, Congestion::Ecn, Time::ZERO), 50.0 * MSS);
    }

    /// RFC 9331 §4.3: in equilibrium, a flow of any rate receives two marks per round trip. If one
    /// packet in n is marked, α is 1/n. Growth by one segment per round trip and reductions by the
    /// fraction α/2 = 1/2n balance at a window of 2n segments.
    #[test]
    fn two_marks_per_round_trip_at_any_rate() {
        for n in [25, 250] {
            let path = Path { mark_every: n, ..Path::new(1_000_000_000, 50) };
            let start = 1.5 * n as f64;
            let params = Prague { initial_alpha: Probability(1.0 / n as f64), ..defaults() };
            let mut sim = Sim::new(PragueState::new(&params), path, start, start);
            sim.run(60.0, |_| {});
            let (mut sum, mut count) = (0.0, 0.0);
            sim.run(100.0, |sim| (sum, count) = (sum + sim.segments(), count + 1.0));
            let marks = sum / count / n as f64;
            assert!((marks / 2.0 - 1.0).abs() < 0.15, "{marks} marks per round trip at one mark in {n}");
        }
    }

    #[test]
    fn pacing_rate_is_cwnd_over_srtt_and_double_in_slow_start() {
        let p = prague();
        let rtt = Duration::from_millis(100);
        assert_eq!(p.pacing_rate(&window(10.0, 5.0, 1.0), rtt), Some(Rate(800_000)));
        assert_eq!(p.pacing_rate(&window(10.0, 50.0, 1.0), rtt), Some(Rate(1_600_000)));
        assert_eq!(p.pacing_rate(&window(10.0, 5.0, 1.0), Duration::ZERO), None);
    }

    /// Linux, prague_update_pacing_rate: the pacing rate counts each segment of cwnd as the MTU of
    /// 1500 B, of which 1448 B are data.
    #[test]
    fn linux_includes_headers_in_the_pacing_rate() {
        let p = PragueState::new(&Prague { pacing_header: Bytes(52), ..defaults() });
        let w = Window { smss: 1448.0, ..window(10.0, 5.0, 1.0) };
        let w = Window { cwnd: 10.0 * w.smss, ssthresh: 5.0 * w.smss, pipe: w.smss, ..w };
        let rate = p.pacing_rate(&w, Duration::from_millis(100)).unwrap();
        assert!(rate.0.abs_diff(1_200_000) <= 1, "{}", rate.0);
    }
}
