//! DCTCP (`dctcp`), RFC 8257 (`rfc8257`): marks reduce the window in proportion to the fraction of
//! marked bytes.
//!
//! This implementation counts marked and acknowledged bytes when they are delivered, including
//! SACKed bytes. RFC 8257 counts only the bytes of cumulative ACKs. Without loss, the counts of
//! this implementation and of RFC 8257 are the same. The receiver implements the ECN-Echo of RFC
//! 8257 §3.2, and the sender sets ECT on every packet (RFC 8257 §3.6). This file therefore contains
//! only the response to marks.

use net::{Rule, rules};
use serde_json::json;
use units::param::Json;
use units::{Probability, Range, Time, params, words};

use crate::congestion::control::{
    Ack, Congestion, CongestionControl, Control, ImpliedRecovery, Marks, decreased,
};
use crate::congestion::growth::{Avoidance, Growth};
use crate::congestion::slow_start::{self, SlowStart};
use crate::window::{Window, Windows};

words! {
    /// Rounding of α and of the reduction of cwnd after a window with marks.
    pub enum DctcpRules {
        /// Marks reduce cwnd by the fraction α/2. RFC 8257 §3.3 permits the sender to round the
        /// reduced cwnd down to whole segments.
        Rfc8257 = "rfc8257",
        /// Marks reduce cwnd by the fraction α/2, rounded down to whole segments, so that a
        /// reduction of less than one segment has no effect. α is a multiple of 1/1024. A value of
        /// α below 16/1024 becomes 0 after a window without marks (Linux, dctcp_ssthresh,
        /// dctcp_update_alpha).
        Linux = "linux",
    }
}

params! {
    /// DCTCP. cwnd grows as in Reno. Each window with marks reduces cwnd by the fraction α/2, where
    /// α is a moving average of the fraction of marked bytes. A loss halves cwnd.
    pub struct Dctcp: "dctcp" {
        /// Weight of the last window in the moving average α (g).
        g: Probability = (Probability(0.0625)), in Range::above_to(0.0, 1.0), from "alizadeh2010dctcp §3.1; rfc8257 §4.2: 1/16";
        /// Initial value of α.
        initial_alpha: Probability = (Probability(1.0)), in Range::between(0.0, 1.0), from "rfc8257 §3.3";
        /// Rounding of α and of the reduction of cwnd after a window with marks.
        rules: DctcpRules = (DctcpRules::Rfc8257), in Range::ANY, from "rfc8257 §3.3";
        /// Slow start.
        slow_start: SlowStart = (SlowStart::standard()), in Range::ANY, from "rfc8257 §3.4";
        /// Unit that congestion avoidance counts to increase cwnd: ACK, byte, or window of bytes.
        avoidance: Avoidance = (Avoidance::PerAck), in Range::ANY, from "rfc8257 §3.4: as rfc5681";
    }
}

rules! {
    /// A mark reduces the window by the fraction α/2, where α is the smoothed share of marked
    /// bytes.
    MARK = "dctcp-mark", from "rfc8257 §3.3, step 9";
}

impl Control for Dctcp {
    type State = DctcpState;
    const RULES: &'static [Rule] = RULES;
    const MARKS: Marks = Marks::Proportional;
    /// Loss recovery without PRR, because marks reduce cwnd immediately (RFC 8257 §3.3, step 9).
    const IMPLIED_RECOVERY: ImpliedRecovery = ImpliedRecovery::SackRack;

    fn new_state(&self, _: &Window) -> Self::State {
        DctcpState::new(self)
    }

    fn linux_defaults() -> Json {
        json!({"slow_start": slow_start::linux_defaults(), "avoidance": "per-window", "rules": "linux"})
    }
}

/// Moving average of the fraction of marked bytes (DCTCP.Alpha).
#[derive(Clone, Copy, Debug)]
pub(super) struct Alpha {
    pub value: f64,
    g: f64,
    /// True if α is computed in integers, as in Linux.
    in_1024ths: bool,
    /// DCTCP.BytesAcked.
    acked: u64,
    /// DCTCP.BytesMarked.
    marked: u64,
}

impl Alpha {
    pub fn new(g: f64, value: f64) -> Self {
        Alpha { value, g, in_1024ths: false, acked: 0, marked: 0 }
    }

    /// Count the bytes that an ACK acknowledges (steps 1 to 3 of RFC 8257 §3.3).
    pub fn count(&mut self, delivered: u32, marked: u32) {
        self.acked += u64::from(delivered);
        self.marked += u64::from(marked.min(delivered));
    }

    /// Process an ACK (steps 1 to 8 of RFC 8257 §3.3).
    fn on_ack(&mut self, delivered: u32, marked: u32, round: bool) {
        self.count(delivered, marked);
        if round {
            self.end_window(); // step 4
        }
    }

    /// End the observation window: update α and reset the counts of bytes (steps 5, 6 and 8 of RFC
    /// 8257 §3.3).
    pub fn end_window(&mut self) {
        if self.in_1024ths {
            self.value = self.update_in_1024ths();
            (self.acked, self.marked) = (0, 0);
        } else if self.acked > 0 {
            let m = self.marked as f64 / self.acked as f64;
            self.value = self.value * (1.0 - self.g) + self.g * m;
            (self.acked, self.marked) = (0, 0);
        }
    }
}

impl Alpha {
    /// Return the next α in multiples of 1/1024, with g as a shift (Linux, dctcp_update_alpha).
    fn update_in_1024ths(&self) -> f64 {
        let shift = -self.g.log2().round() as u32;
        let mut alpha = (self.value * SCALE) as u64;
        alpha -= if alpha >> shift == 0 { alpha } else { alpha >> shift };
        let share = (self.marked << 10 >> shift) / self.acked.max(1);
        (alpha + share).min(SCALE as u64) as f64 / SCALE
    }
}

/// Value of α = 1 in Linux's integers (DCTCP_MAX_ALPHA).
const SCALE: f64 = 1024.0;

/// State of DCTCP in a connection.
#[derive(Clone, Debug)]
pub struct DctcpState {
    alpha: Alpha,
    /// Value of α after the current ACK; present if the current ACK reduces cwnd.
    alpha_with_this_ack: Option<f64>,
    growth: Growth,
}

impl DctcpState {
    /// Create the state of DCTCP in a connection before the first ACK of the connection.
    pub fn new(params: &Dctcp) -> Self {
        let in_1024ths = params.rules == DctcpRules::Linux;
        DctcpState {
            alpha: Alpha { in_1024ths, ..Alpha::new(params.g.0, params.initial_alpha.0) },
            alpha_with_this_ack: None,
            growth: Growth::new(&params.slow_start, params.avoidance),
        }
    }
}

impl CongestionControl for DctcpState {
    fn observe(&mut self, w: &Window, ack: &Ack) {
        self.growth.observe(w, ack, false);
        self.alpha_with_this_ack = None;
        self.alpha.on_ack(ack.delivered, ack.marked, ack.round);
    }

    fn before_reduction(&mut self, delivered: u32, marked: u32, round: bool) {
        let mut alpha = self.alpha;
        alpha.on_ack(delivered, marked, round);
        self.alpha_with_this_ack = Some(alpha.value);
    }

    fn cwnd_on_ack(&mut self, w: &Window, ack: &Ack) -> f64 {
        // RFC 8257 §3.4
        if ack.cwnd_limited { self.growth.cwnd_on_ack(w, ack, 1.0) } else { w.cwnd }
    }

    fn ssthresh_on_congestion(&mut self, w: &Window, congestion: Congestion, _now: Time) -> f64 {
        self.growth.on_congestion(congestion);
        let alpha = self.alpha_with_this_ack.unwrap_or(self.alpha.value);
        match congestion {
            Congestion::Ecn if self.alpha.in_1024ths => {
                let cwnd = (w.cwnd / w.smss) as u64;
                (cwnd - ((cwnd * (alpha * SCALE) as u64) >> 11)) as f64 * w.smss // dctcp_ssthresh
            }
            Congestion::Ecn => (w.cwnd * (1.0 - alpha / 2.0)).max(2.0 * w.smss), // step 9
            _ => decreased(w, 0.5, congestion),                                  // RFC 8257 §3.5
        }
    }

    fn ssthresh_on_ack(&mut self, _: &Window) -> Option<f64> {
        self.growth.take_slow_start_exit()
    }

    fn rule_of_ack(&self, window: &Window, after: Windows) -> &'static Rule {
        self.growth.rule(window, after, None)
    }

    fn rule_of_congestion(&self, congestion: Congestion) -> Option<&'static Rule> {
        (congestion == Congestion::Ecn).then_some(&MARK)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::harness::{MSS, Path, Sim, ack, window};
    use units::param::defaults;

    fn dctcp() -> DctcpState {
        DctcpState::new(&defaults())
    }

    /// Observe a window of ten ACKs, of which `marked` report marks.
    fn observe(d: &mut DctcpState, marked: u32) {
        for i in 0..10 {
            let mut a = ack(1.0);
            a.marked = if i < marked { a.delivered } else { 0 };
            a.round = i == 9;
            d.observe(&window(10.0, 10.0, 10.0), &a);
        }
    }

    /// α is the exponentially weighted moving average of the marked fraction F. Without marks, the
    /// initial value 1 becomes (15/16)^n after n windows. With a constant marked fraction F, α
    /// becomes F + (α₀ − F)(15/16)^n after n windows.
    #[test]
    fn alpha_is_a_weighted_moving_average() {
        let mut d = dctcp();
        for n in 1..=20 {
            observe(&mut d, 0);
            assert!((d.alpha.value - (15.0f64 / 16.0).powi(n)).abs() < 1e-12);
        }
        let from = d.alpha.value;
        for n in 1..=50 {
            observe(&mut d, 3);
            let expected = 0.3 + (from - 0.3) * (15.0f64 / 16.0).powi(n);
            assert!((d.alpha.value - expected).abs() < 1e-12);
        }
    }

    /// RFC 8257 §3.3, step 9: α = 1 halves cwnd, and α = 0.25 reduces it to seven eighths. A loss
    /// halves the FlightSize at any α.
    #[test]
    fn marks_reduce_cwnd_by_half_of_alpha() {
        let mut d = dctcp();
        let w = window(100.0, 50.0, 100.0);
        assert_eq!(d.ssthresh_on_congestion(&w, Congestion::Ecn, Time::ZERO), 50.0 * MSS);
        d.alpha.value = 0.25;
        assert_eq!(d.ssthresh_on_congestion(&w, Congestion::Ecn, Time::ZERO), 87.5 * MSS);
        assert_eq!(d.ssthresh_on_congestion(&w, Congestion::FastRetransmit, Time::ZERO), 50.0 * MSS);
    }

    /// Steps 1 to 8 of RFC 8257 §3.3 precede step 9. α therefore includes the ACK that ends the
    /// window and reduces cwnd, and α counts this ACK once.
    #[test]
    fn alpha_includes_the_ack_that_reduces_cwnd() {
        let mut d = dctcp();
        (d.alpha.value, d.alpha.g) = (0.0, 0.5);
        let w = window(100.0, 50.0, 100.0);
        let last = Ack { marked: MSS as u32, round: true, ..ack(1.0) };
        d.observe(&w, &ack(1.0));
        d.before_reduction(last.delivered, last.marked, last.round);
        // α = 0.5 * 1/2
        assert_eq!(d.ssthresh_on_congestion(&w, Congestion::Ecn, Time::ZERO), 87.5 * MSS);
        d.observe(&w, &last);
        assert_eq!(d.alpha.value, 0.25);
    }

    /// Linux, tcp_dctcp.c: with α = 100/1024, a mark does not reduce a cwnd of 20 segments, and
    /// reduces a cwnd of 21 segments by one segment. After a window without marks, α = 15/1024
    /// becomes 0.
    #[test]
    fn linux_rules_reduce_cwnd_by_whole_segments() {
        let mut d = DctcpState::new(&Dctcp { rules: DctcpRules::Linux, ..defaults() });
        for (cwnd, remaining) in [(20.0, 20.0), (21.0, 20.0), (42.0, 40.0)] {
            d.alpha.value = 100.0 / 1024.0;
            let w = window(cwnd, 10.0, cwnd);
            assert_eq!(d.ssthresh_on_congestion(&w, Congestion::Ecn, Time::ZERO), remaining * MSS);
        }
        for (before, marked, after) in
            [(15.0, 0, 0.0), (16.0, 0, 15.0), (1024.0, 0, 960.0), (100.0, 3, 113.0)]
        {
            d.alpha.value = before / 1024.0;
            observe(&mut d, marked);
            assert_eq!(d.alpha.value * 1024.0, after);
        }
    }

    /// A flow is alone at a link that marks every packet while its queue has more than K packets.
    /// The queue of the flow oscillates below K + 1 packets, and α approaches √(2/W*) with W* =
    /// C·RTT + K. The value √(2/W*) is an approximation for small α (Alizadeh 2010, §3.3, equations
    /// 6 to 8).
    #[test]
    fn alpha_at_a_step_marking_is_the_fluid_value() {
        let (k, bdp) = (40, 500.0); // 400 Mbit/s × 10 ms
        let path = Path { mark_threshold: k, ..Path::new(400_000_000, 10) };
        let mut sim = Sim::new(dctcp(), path, 10.0, 400.0);
        let (mut sum, mut n, mut max_queue) = (0.0, 0.0, 0);
        sim.run(4.0, |_| {});
        let before = sim.delivered;
        sim.run(10.0, |sim| {
            (sum, n) = (sum + sim.controller.alpha.value, n + 1.0);
            max_queue = max_queue.max(sim.flight());
        });
        let fluid = (2.0 / (bdp + k as f64)).sqrt();
        let alpha = sum / n;
        assert!((alpha / fluid - 1.0).abs() < 0.15, "{alpha} {fluid}");
        assert!((sim.delivered - before) as f64 > 0.99 * 50e6 * 6.0, "the link is full");
        assert!(max_queue < 560, "{max_queue}");
    }
}
