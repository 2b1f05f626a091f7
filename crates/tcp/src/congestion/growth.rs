//! How a window opens, in whatever controller does it as standard TCP does: slow start and congestion avoidance of RFC 5681
//! §3.1 (`rfc5681`), appropriate byte counting of RFC 3465 (`rfc3465`), and what Linux makes of both.

use units::words;

use crate::congestion::control::{Ack, Congestion};
use crate::congestion::hybrid_start::HybridState;
use crate::congestion::hystart::HystartState;
use crate::congestion::slow_start::{AtSsthresh, SlowStart};
use crate::window::Window;

words! {
    /// What congestion avoidance counts, where it adds so many segments a round trip.
    pub enum Avoidance {
        /// Every ACK of new data opens cwnd by SMSS²/cwnd (RFC 5681, equation 3): a segment a window, or half of one if ACKs are delayed.
        PerAck = "per-ack",
        /// Every byte acknowledged opens cwnd by SMSS/cwnd: a segment a window, whether or not ACKs are delayed.
        PerByte = "per-byte",
        /// Each time a window of bytes is acknowledged, cwnd opens by a segment (RFC 3465 §2.1; Linux).
        PerWindow = "per-window",
    }
}

/// The limit of slow start that is none.
const NO_LIMIT: u8 = 255;
/// The slow start under way follows a timeout.
const AFTER_TIMEOUT: u8 = 1;
/// Slow start goes no further than ssthresh.
const STOPS: u8 = 2;

/// A slow start that may end before congestion.
#[derive(Clone, Debug)]
enum Detector {
    PlusPlus(HystartState),
    Hybrid(HybridState),
}

#[derive(Clone, Debug)]
struct Early {
    detector: Detector,
    /// It has ended at this cwnd, and nobody was told yet.
    ended_at: Option<f64>,
}

/// Slow start and congestion avoidance of a connection.
#[derive(Clone, Debug)]
pub struct Growth {
    early: Option<Box<Early>>,
    /// Bytes counted since cwnd last opened (bytes_acked of RFC 3465).
    counted: u32,
    /// L of RFC 3465, in segments, or [`NO_LIMIT`].
    limit: u8,
    flags: u8,
    avoidance: Avoidance,
}

impl Growth {
    /// Before the first ACK.
    pub fn new(slow_start: &SlowStart, avoidance: Avoidance) -> Self {
        let (limit, detector, flags) = match slow_start {
            SlowStart::Standard(p) => {
                (p.limit.0 as u8, None, if p.at_ssthresh == AtSsthresh::Stops { STOPS } else { 0 })
            }
            SlowStart::Hystart(p) => (1, Some(Detector::PlusPlus(HystartState::new(p))), 0),
            SlowStart::Hybrid(p) => (NO_LIMIT, Some(Detector::Hybrid(HybridState::new(p))), STOPS),
        };
        let early = detector.map(|detector| Box::new(Early { detector, ended_at: None }));
        Growth { early, counted: 0, limit, flags, avoidance }
    }

    /// Whether round trips are to be measured: for a slow start that ends by them.
    pub fn measures(&self) -> bool {
        self.early.is_some()
    }

    /// Every ACK, before cwnd is computed. `paced`: segments are spaced.
    pub fn observe(&mut self, w: &Window, ack: &Ack, paced: bool) {
        if let Some(early) = &mut self.early
            && let Detector::Hybrid(hybrid) = &mut early.detector
            && hybrid.observe(w, ack, paced)
        {
            early.ended_at = Some(w.cwnd);
        }
    }

    /// cwnd after an ACK: slow start below ssthresh, from there on `alpha` segments a window.
    pub fn cwnd_on_ack(&mut self, w: &Window, ack: &Ack, alpha: f64) -> f64 {
        let (cwnd, rest) = self.slow_start(w, ack);
        self.avoid(cwnd, w.smss, rest, alpha)
    }

    /// cwnd after the slow start of an ACK, and the bytes that the ACK leaves for congestion avoidance.
    pub fn slow_start(&mut self, w: &Window, ack: &Ack) -> (f64, u32) {
        match self.early.as_deref_mut() {
            Some(early) if early.ended_at.is_some() => return (w.cwnd, ack.counted),
            Some(Early { detector: Detector::PlusPlus(hystart), ended_at })
                if w.cwnd < w.ssthresh && hystart.rules(w) =>
            {
                let cwnd = hystart.cwnd_on_ack(w, ack);
                *ended_at = hystart.leaves().then_some(cwnd);
                return (cwnd, 0);
            }
            _ => {}
        }
        self.standard_slow_start(w.cwnd, w.ssthresh, w.smss, ack.counted)
    }

    /// RFC 5681, equation 2; RFC 3465 §2.3: L is one segment after a timeout.
    #[inline]
    fn standard_slow_start(&self, cwnd: f64, ssthresh: f64, smss: f64, counted: u32) -> (f64, u32) {
        if cwnd >= ssthresh {
            return (cwnd, counted);
        }
        let most = match self.limit {
            _ if self.flags & AFTER_TIMEOUT != 0 => smss,
            NO_LIMIT => f64::INFINITY,
            limit => f64::from(limit) * smss,
        };
        let grown = cwnd + f64::from(counted).min(most);
        if self.flags & STOPS == 0 || grown < ssthresh {
            return (grown, 0);
        }
        (ssthresh, counted - ((ssthresh - cwnd) as u32).min(counted))
    }

    /// cwnd after an ACK in congestion avoidance that leaves so many bytes to be counted.
    #[inline]
    pub fn avoid(&mut self, cwnd: f64, smss: f64, counted: u32, alpha: f64) -> f64 {
        if counted == 0 {
            return cwnd;
        }
        self.flags &= !AFTER_TIMEOUT;
        match self.avoidance {
            Avoidance::PerAck => cwnd + alpha * smss * smss / cwnd, // equation 3
            Avoidance::PerByte => cwnd + alpha * smss * f64::from(counted).min(cwnd) / cwnd,
            Avoidance::PerWindow => self.count(cwnd, smss, counted, (cwnd / alpha) as u32),
        }
    }

    /// A segment for each `window` bytes counted. What was counted for a larger window is worth one segment, no more
    /// (Linux, tcp_cong_avoid_ai).
    pub fn count(&mut self, mut cwnd: f64, smss: f64, counted: u32, window: u32) -> f64 {
        let window = window.max(1);
        if self.counted >= window {
            self.counted = 0;
            cwnd += smss;
        }
        self.counted = self.counted.saturating_add(counted);
        let segments = self.counted / window;
        self.counted -= segments * window;
        cwnd + f64::from(segments) * smss
    }

    /// cwnd after an ACK, if nothing is measured and a segment a window is added: as
    /// [`cwnd_on_ack`](Self::cwnd_on_ack), from what counts.
    #[inline]
    pub fn opened(&mut self, cwnd: f64, ssthresh: f64, smss: f64, counted: u32) -> f64 {
        let (cwnd, rest) = self.standard_slow_start(cwnd, ssthresh, smss, counted);
        if rest == 0 { cwnd } else { self.avoid(cwnd, smss, rest, 1.0) }
    }

    /// Congestion: what is counted begins anew.
    pub fn on_congestion(&mut self, congestion: Congestion) {
        let timeout = matches!(congestion, Congestion::Timeout { .. });
        self.counted = 0;
        // Linux has no limit after a timeout either, which is safe because its slow start stops at ssthresh.
        let limited = timeout && !(self.limit == NO_LIMIT && self.flags & STOPS != 0);
        self.flags = self.flags & !AFTER_TIMEOUT | if limited { AFTER_TIMEOUT } else { 0 };
        if let Some(early) = &mut self.early
            && let Detector::Hybrid(hybrid) = &mut early.detector
            && timeout
        {
            hybrid.on_timeout();
        }
    }

    /// Where slow start has just ended without congestion: ssthresh. Said once.
    pub fn left_slow_start(&mut self) -> Option<f64> {
        self.early.as_mut()?.ended_at.take()
    }
}
