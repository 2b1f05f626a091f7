//! DCTCP, RFC 8257 (`rfc8257`): the window is cut by the share of bytes that were marked.
//!
//! Marked and acknowledged bytes are counted as they are delivered, SACKed ones included, where the RFC
//! counts cumulative ACKs alone; without loss there is no difference. The echo at the receiver
//! (§3.2) and ECT on every packet (§3.6) are not a controller's.

use serde_json::json;
use units::param::Json;
use units::{Probability, Range, Time, params, words};

use crate::congestion::control::{
    Ack, Congestion, CongestionControl, Control, ImpliedRecovery, Marks, decreased,
};
use crate::congestion::growth::{Avoidance, Growth};
use crate::congestion::slow_start::{self, SlowStart};
use crate::window::Window;

words! {
    /// How a window with marks cuts cwnd.
    pub enum DctcpRules {
        /// By α/2 of it; what is left may be rounded down to whole segments (RFC 8257 §3.3).
        Rfc8257 = "rfc8257",
        /// By the whole segments in that, so that a cut of less than one is none; α is whole 1024ths, and what is less than 16 of them is 0 after
        /// a window without marks (Linux, dctcp_ssthresh, dctcp_update_alpha).
        Linux = "linux",
    }
}

params! {
    /// DCTCP: grows as Reno does; each window with marks cuts cwnd by α/2, where α is a moving
    /// average of the share of bytes marked; a loss halves it.
    pub struct Dctcp: "dctcp" {
        /// Weight of the last window in α (g).
        g: Probability = (Probability(0.0625)), in Range::above_to(0.0, 1.0), from "alizadeh2010dctcp §3.1; rfc8257 §4.2: 1/16";
        /// α before anything is measured.
        initial_alpha: Probability = (Probability(1.0)), in Range::between(0.0, 1.0), from "rfc8257 §3.3";
        /// How a window with marks cuts cwnd.
        rules: DctcpRules = (DctcpRules::Rfc8257), in Range::ANY, from "rfc8257 §3.3";
        /// Slow start.
        slow_start: SlowStart = (SlowStart::standard()), in Range::ANY, from "rfc8257 §3.4";
        /// What congestion avoidance counts.
        avoidance: Avoidance = (Avoidance::PerAck), in Range::ANY, from "rfc8257 §3.4: as rfc5681";
    }
}

impl Control for Dctcp {
    type State = DctcpState;
    const MARKS: Marks = Marks::ByShare;
    const IMPLIED_RECOVERY: ImpliedRecovery = ImpliedRecovery::SackRack; // its cut for marks is at once (RFC 8257 §3.3, step 9): no PRR

    fn begin(&self, _: &Window) -> Self::State {
        DctcpState::new(self)
    }

    fn in_linux() -> Json {
        json!({"slow_start": slow_start::in_linux(), "avoidance": "per-window", "rules": "linux"})
    }
}

/// The moving average of the share of bytes that were marked (DCTCP.Alpha).
#[derive(Clone, Copy, Debug)]
pub(super) struct Alpha {
    pub value: f64,
    g: f64,
    /// In integers, as Linux.
    whole: bool,
    /// DCTCP.BytesAcked.
    acked: u64,
    /// DCTCP.BytesMarked.
    marked: u64,
}

impl Alpha {
    pub fn new(g: f64, value: f64) -> Self {
        Alpha { value, g, whole: false, acked: 0, marked: 0 }
    }

    /// Steps 1 to 3 of §3.3.
    pub fn count(&mut self, delivered: u32, marked: u32) {
        self.acked += u64::from(delivered);
        self.marked += u64::from(marked.min(delivered));
    }

    /// Steps 1 to 8.
    fn on_ack(&mut self, delivered: u32, marked: u32, round: bool) {
        self.count(delivered, marked);
        if round {
            self.end_window(); // step 4
        }
    }

    /// Steps 5, 6 and 8: the observation window has ended.
    pub fn end_window(&mut self) {
        if self.whole {
            self.value = self.in_integers();
            (self.acked, self.marked) = (0, 0);
        } else if self.acked > 0 {
            let m = self.marked as f64 / self.acked as f64;
            self.value = self.value * (1.0 - self.g) + self.g * m;
            (self.acked, self.marked) = (0, 0);
        }
    }
}

impl Alpha {
    /// dctcp_update_alpha: in 1024ths, with g as a shift.
    fn in_integers(&self) -> f64 {
        let shift = -self.g.log2().round() as u32;
        let mut alpha = (self.value * ONE) as u64;
        alpha -= if alpha >> shift == 0 { alpha } else { alpha >> shift };
        let share = (self.marked << 10 >> shift) / self.acked.max(1);
        (alpha + share).min(ONE as u64) as f64 / ONE
    }
}

/// What Linux counts α in.
const ONE: f64 = 1024.0;

/// State of DCTCP.
#[derive(Clone, Debug)]
pub struct DctcpState {
    alpha: Alpha,
    /// α with the ACK at hand, which asks for a cut.
    next: Option<f64>,
    growth: Growth,
}

impl DctcpState {
    /// Before the first ACK.
    pub fn new(params: &Dctcp) -> Self {
        let whole = params.rules == DctcpRules::Linux;
        DctcpState {
            alpha: Alpha { whole, ..Alpha::new(params.g.0, params.initial_alpha.0) },
            next: None,
            growth: Growth::new(&params.slow_start, params.avoidance),
        }
    }
}

impl CongestionControl for DctcpState {
    fn observe(&mut self, w: &Window, ack: &Ack) {
        self.growth.observe(w, ack, false);
        self.next = None;
        self.alpha.on_ack(ack.delivered, ack.marked, ack.round);
    }

    fn before_cut(&mut self, delivered: u32, marked: u32, round: bool) {
        let mut alpha = self.alpha;
        alpha.on_ack(delivered, marked, round);
        self.next = Some(alpha.value);
    }

    fn cwnd_on_ack(&mut self, w: &Window, ack: &Ack) -> f64 {
        if ack.cwnd_limited { self.growth.cwnd_on_ack(w, ack, 1.0) } else { w.cwnd } // §3.4
    }

    fn ssthresh_on(&mut self, w: &Window, congestion: Congestion, _now: Time) -> f64 {
        self.growth.on_congestion(congestion);
        let alpha = self.next.unwrap_or(self.alpha.value);
        match congestion {
            Congestion::Ecn if self.alpha.whole => {
                let cwnd = (w.cwnd / w.smss) as u64;
                (cwnd - ((cwnd * (alpha * ONE) as u64) >> 11)) as f64 * w.smss // dctcp_ssthresh
            }
            Congestion::Ecn => (w.cwnd * (1.0 - alpha / 2.0)).max(2.0 * w.smss), // step 9
            _ => decreased(w, 0.5, congestion),                                  // §3.5
        }
    }

    fn ssthresh_on_ack(&mut self, _: &Window) -> Option<f64> {
        self.growth.take_slow_start_exit()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::control::defaults;
    use crate::congestion::harness::{MSS, Path, Sim, ack, window};

    fn dctcp() -> DctcpState {
        DctcpState::new(&defaults())
    }

    /// A window of ten ACKs, so many of them marked.
    fn observe(d: &mut DctcpState, marked: u32) {
        for i in 0..10 {
            let mut a = ack(1.0);
            a.marked = if i < marked { a.delivered } else { 0 };
            a.round = i == 9;
            d.observe(&window(10.0, 10.0, 10.0), &a);
        }
    }

    /// α is the exponentially weighted average of the marked share: without marks 1 becomes (15/16)^n;
    /// with a share F it tends to F as F + (α₀ − F)(15/16)^n.
    #[test]
    fn alpha_is_the_weighted_average() {
        let mut d = dctcp();
        for n in 1..=20 {
            observe(&mut d, 0);
            assert!((d.alpha.value - (15.0f64 / 16.0).powi(n)).abs() < 1e-12);
        }
        let from = d.alpha.value;
        for n in 1..=50 {
            observe(&mut d, 3);
            let closed = 0.3 + (from - 0.3) * (15.0f64 / 16.0).powi(n);
            assert!((d.alpha.value - closed).abs() < 1e-12);
        }
    }

    /// Step 9: α = 1 halves the window, α = 0.25 leaves seven eighths; a loss halves it whatever α is.
    #[test]
    fn the_cut_is_half_of_alpha() {
        let mut d = dctcp();
        let w = window(100.0, 50.0, 100.0);
        assert_eq!(d.ssthresh_on(&w, Congestion::Ecn, Time::ZERO), 50.0 * MSS);
        d.alpha.value = 0.25;
        assert_eq!(d.ssthresh_on(&w, Congestion::Ecn, Time::ZERO), 87.5 * MSS);
        assert_eq!(d.ssthresh_on(&w, Congestion::FastRetransmit, Time::ZERO), 50.0 * MSS);
    }

    /// Steps 1 to 8 come before 9: the ACK that ends the window is in the α by which it cuts, and is counted once.
    #[test]
    fn the_ack_that_cuts_counts_first() {
        let mut d = dctcp();
        (d.alpha.value, d.alpha.g) = (0.0, 0.5);
        let w = window(100.0, 50.0, 100.0);
        let last = Ack { marked: MSS as u32, round: true, ..ack(1.0) };
        d.observe(&w, &ack(1.0));
        d.before_cut(last.delivered, last.marked, last.round);
        assert_eq!(d.ssthresh_on(&w, Congestion::Ecn, Time::ZERO), 87.5 * MSS); // α = 0.5 * 1/2
        d.observe(&w, &last);
        assert_eq!(d.alpha.value, 0.25);
    }

    /// Linux, tcp_dctcp.c: α of 100/1024 cuts nothing of 20 segments and one of 21; without marks 15/1024 is 0 next.
    #[test]
    fn as_linux_it_cuts_whole_segments() {
        let mut d = DctcpState::new(&Dctcp { rules: DctcpRules::Linux, ..defaults() });
        for (cwnd, left) in [(20.0, 20.0), (21.0, 20.0), (42.0, 40.0)] {
            d.alpha.value = 100.0 / 1024.0;
            let w = window(cwnd, 10.0, cwnd);
            assert_eq!(d.ssthresh_on(&w, Congestion::Ecn, Time::ZERO), left * MSS);
        }
        for (was, marked, then) in [(15.0, 0, 0.0), (16.0, 0, 15.0), (1024.0, 0, 960.0), (100.0, 3, 113.0)] {
            d.alpha.value = was / 1024.0;
            observe(&mut d, marked);
            assert_eq!(d.alpha.value * 1024.0, then);
        }
    }

    /// A single flow at a step of K packets: the queue swings between K + 1 and K + 1 less the amplitude,
    /// and α tends to √(2/W*) with W* = C·RTT + K (Alizadeh 2010, §3.3, equations 6 to 8; the
    /// approximation is for small α).
    #[test]
    fn alpha_at_a_step_is_the_fluid_value() {
        let (k, bdp) = (40, 500.0); // 400 Mbit/s × 10 ms
        let path = Path { mark_threshold: k, ..Path::new(400_000_000, 10) };
        let mut sim = Sim::new(dctcp(), path, 10.0, 400.0);
        let (mut sum, mut n, mut longest) = (0.0, 0.0, 0);
        sim.run(4.0, |_| {});
        let before = sim.delivered;
        sim.run(10.0, |sim| {
            (sum, n) = (sum + sim.controller.alpha.value, n + 1.0);
            longest = longest.max(sim.flight());
        });
        let fluid = (2.0 / (bdp + k as f64)).sqrt();
        let alpha = sum / n;
        assert!((alpha / fluid - 1.0).abs() < 0.15, "{alpha} {fluid}");
        assert!((sim.delivered - before) as f64 > 0.99 * 50e6 * 6.0, "the link is full");
        assert!(longest < 560, "{longest}");
    }
}
