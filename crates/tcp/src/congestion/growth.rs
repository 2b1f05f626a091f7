//! Growth of cwnd by the rules of standard TCP.
//!
//! The rules are slow start and congestion avoidance of RFC 5681 §3.1 (`rfc5681`), Appropriate Byte
//! Counting of RFC 3465 (`rfc3465`), and the variants of Linux. All congestion controls that grow
//! the window by the rules of standard TCP share this code.

use net::{Rule, rules};
use units::words;

use crate::congestion::event::{Ack, Congestion};
use crate::congestion::hybrid_start::HybridState;
use crate::congestion::hystart::HystartState;
use crate::congestion::slow_start::{AtSsthresh, SlowStart};
use crate::window::{Window, Windows};

rules! {
    /// Slow start: each ACK increases cwnd by the acknowledged bytes, at most by L segments.
    SLOW_START = "slow-start", from "rfc5681 §3.1, equation 2; rfc3465 §2.2";
    /// HyStart++: slow start, or conservative slow start after the round-trip time has risen.
    HYSTART = "hystart", from "rfc9406 §4.2";
    /// Congestion avoidance: cwnd grows by about one segment per round trip.
    AVOIDANCE = "congestion-avoidance", from "rfc5681 §3.1, equation 3";
    /// Congestion avoidance with Appropriate Byte Counting: each acknowledged window of bytes
    /// increases cwnd by one segment.
    BYTE_COUNTING = "appropriate-byte-counting", from "rfc3465 §2.1";
    /// HyStart++ ended slow start without congestion, and ssthresh is cwnd.
    SLOW_START_ENDS = "slow-start-ends", from "rfc9406 §4.2";
}

/// Return the rule of standard TCP by which an ACK changed the windows.
pub fn rule(window: &Window, after: Windows) -> &'static Rule {
    if after[1] != window.ssthresh {
        &SLOW_START_ENDS
    } else if window.cwnd < window.ssthresh {
        &SLOW_START
    } else {
        &AVOIDANCE
    }
}

words! {
    /// Event that increases cwnd in congestion avoidance: an ACK, an acknowledged byte, or an
    /// acknowledged window of bytes.
    pub enum Avoidance {
        /// Each ACK of new data increases cwnd by SMSS²/cwnd (RFC 5681, equation 3). cwnd grows by
        /// one segment per round trip, or by half a segment if the receiver delays ACKs.
        PerAck = "per-ack",
        /// Each acknowledged byte increases cwnd by SMSS/cwnd. cwnd grows by one segment per round
        /// trip, with or without delayed ACKs.
        PerByte = "per-byte",
        /// Each acknowledged window of bytes increases cwnd by one segment (RFC 3465 §2.1; Linux).
        PerWindow = "per-window",
    }
}

/// Value of L (RFC 3465) that stands for slow start without a limit per ACK.
const UNLIMITED: u8 = 255;
/// Flag: the current slow start follows a timeout.
const AFTER_TIMEOUT: u8 = 1;
/// Flag: slow start ends at ssthresh exactly.
const STOPS_AT_SSTHRESH: u8 = 2;

/// Algorithm that can end slow start before congestion occurs.
#[derive(Clone, Debug)]
enum Detector {
    PlusPlus(HystartState),
    Hybrid(HybridState),
}

/// Detector of the end of slow start, and cwnd at the detected end.
#[derive(Clone, Debug)]
struct DetectedExit {
    detector: Detector,
    /// cwnd at the end of slow start, stored until the sender sets ssthresh to this value.
    ended_at: Option<f64>,
}

/// Slow start and congestion avoidance of a connection.
#[derive(Clone, Debug)]
pub struct Growth {
    exit: Option<Box<DetectedExit>>,
    /// Bytes counted since cwnd last increased (bytes_acked of RFC 3465).
    counted: u32,
    /// L of RFC 3465, in segments, or [`UNLIMITED`].
    limit: u8,
    flags: u8,
    avoidance: Avoidance,
}

impl Growth {
    /// Create the state of the growth of cwnd in a connection before its first ACK.
    pub fn new(slow_start: &SlowStart, avoidance: Avoidance) -> Self {
        let (limit, detector, flags) = match slow_start {
            SlowStart::Standard(p) => (
                p.limit.0 as u8,
                None,
                if p.at_ssthresh == AtSsthresh::Stops { STOPS_AT_SSTHRESH } else { 0 },
            ),
            SlowStart::Hystart(p) => (1, Some(Detector::PlusPlus(HystartState::new(p))), 0),
            SlowStart::Hybrid(p) => {
                (UNLIMITED, Some(Detector::Hybrid(HybridState::new(p))), STOPS_AT_SSTHRESH)
            }
        };
        let exit = detector.map(|detector| Box::new(DetectedExit { detector, ended_at: None }));
        Growth { exit, counted: 0, limit, flags, avoidance }
    }

    /// Return the rule by which an ACK changed the windows. `avoidance` is the rule of the control
    /// for congestion avoidance, or `None` for that of standard TCP.
    pub fn rule(&self, window: &Window, after: Windows, avoidance: Option<&'static Rule>) -> &'static Rule {
        let detector = self.exit.as_ref().map(|exit| &exit.detector);
        match (rule(window, after), detector) {
            (rule, Some(Detector::PlusPlus(_))) if *rule == SLOW_START => &HYSTART,
            (rule, Some(Detector::Hybrid(hybrid))) if *rule == SLOW_START_ENDS => hybrid.rule(),
            (rule, _) if *rule != AVOIDANCE => rule,
            (rule, _) => avoidance.unwrap_or(match self.avoidance {
                Avoidance::PerWindow => &BYTE_COUNTING,
                Avoidance::PerAck | Avoidance::PerByte => rule,
            }),
        }
    }

    /// Return true if slow start uses measured round-trip times to end before congestion occurs.
    pub fn needs_measurements(&self) -> bool {
        self.exit.is_some()
    }

    /// Pass an ACK to the detector of the end of slow start, before cwnd is computed. `paced` is
    /// true if segments are paced.
    pub fn observe(&mut self, w: &Window, ack: &Ack, paced: bool) {
        if let Some(exit) = &mut self.exit
            && let Detector::Hybrid(hybrid) = &mut exit.detector
            && hybrid.observe(w, ack, paced)
        {
            exit.ended_at = Some(w.cwnd);
        }
    }

    /// Return cwnd after an ACK: slow start below ssthresh, otherwise growth by `alpha` segments
    /// per round trip.
    pub fn cwnd_on_ack(&mut self, w: &Window, ack: &Ack, alpha: f64) -> f64 {
        let (cwnd, remaining) = self.slow_start(w, ack);
        self.congestion_avoidance(cwnd, w.smss, remaining, alpha)
    }

    /// Apply slow start to an ACK. Return the new cwnd, and the bytes of the ACK that remain for
    /// congestion avoidance.
    pub fn slow_start(&mut self, w: &Window, ack: &Ack) -> (f64, u32) {
        match self.exit.as_deref_mut() {
            Some(exit) if exit.ended_at.is_some() => return (w.cwnd, ack.counted),
            Some(DetectedExit { detector: Detector::PlusPlus(hystart), ended_at })
                if w.cwnd < w.ssthresh && hystart.is_active(w) =>
            {
                let cwnd = hystart.cwnd_on_ack(w, ack);
                *ended_at = hystart.take_exit().then_some(cwnd);
                return (cwnd, 0);
            }
            _ => {}
        }
        self.standard_slow_start(w.cwnd, w.ssthresh, w.smss, ack.counted)
    }

    /// Apply slow start of RFC 5681, equation 2. After a timeout L is one segment (RFC 3465 §2.3).
    #[inline]
    fn standard_slow_start(&self, cwnd: f64, ssthresh: f64, smss: f64, counted: u32) -> (f64, u32) {
        if cwnd >= ssthresh {
            return (cwnd, counted);
        }
        let max_increase = match self.limit {
            _ if self.flags & AFTER_TIMEOUT != 0 => smss,
            UNLIMITED => f64::INFINITY,
            limit => f64::from(limit) * smss,
        };
        let increased = cwnd + f64::from(counted).min(max_increase);
        if self.flags & STOPS_AT_SSTHRESH == 0 || increased < ssthresh {
            return (increased, 0);
        }
        (ssthresh, counted - ((ssthresh - cwnd) as u32).min(counted))
    }

    /// Return cwnd after `counted` bytes in congestion avoidance, which adds `alpha` segments per
    /// round trip.
    #[inline]
    pub fn congestion_avoidance(&mut self, cwnd: f64, smss: f64, counted: u32, alpha: f64) -> f64 {
        if counted == 0 {
            return cwnd;
        }
        self.flags &= !AFTER_TIMEOUT;
        match self.avoidance {
            Avoidance::PerAck => cwnd + alpha * smss * smss / cwnd, // equation 3
            Avoidance::PerByte => cwnd + alpha * smss * f64::from(counted).min(cwnd) / cwnd,
            Avoidance::PerWindow => self.count_bytes(cwnd, smss, counted, (cwnd / alpha) as u32),
        }
    }

    /// Add one segment to cwnd for each `window` counted bytes.
    ///
    /// Counted bytes that remain from earlier calls increase cwnd by at most one segment, even if
    /// `window` is now much smaller than in those calls (Linux, tcp_cong_avoid_ai).
    pub fn count_bytes(&mut self, mut cwnd: f64, smss: f64, counted: u32, window: u32) -> f64 {
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

    /// Return cwnd after an ACK that counts `counted` bytes.
    ///
    /// If cwnd grows by one segment per round trip and needs no measured round-trip times, this
    /// function computes the same cwnd as [`cwnd_on_ack`](Self::cwnd_on_ack) in less computing
    /// time.
    #[inline]
    pub fn cwnd_on_counted_bytes(&mut self, cwnd: f64, ssthresh: f64, smss: f64, counted: u32) -> f64 {
        let (cwnd, remaining) = self.standard_slow_start(cwnd, ssthresh, smss, counted);
        if remaining == 0 { cwnd } else { self.congestion_avoidance(cwnd, smss, remaining, 1.0) }
    }

    /// Restart the count of bytes at a congestion event. After a timeout, also limit the increase
    /// per ACK in slow start.
    pub fn on_congestion(&mut self, congestion: Congestion) {
        let timeout = matches!(congestion, Congestion::Timeout { .. });
        self.counted = 0;
        // Linux does not limit slow start after a timeout. Unlimited slow start is safe in Linux
        // because Linux stops slow start at ssthresh.
        let limited = timeout && !(self.limit == UNLIMITED && self.flags & STOPS_AT_SSTHRESH != 0);
        self.flags = self.flags & !AFTER_TIMEOUT | if limited { AFTER_TIMEOUT } else { 0 };
        if let Some(exit) = &mut self.exit
            && let Detector::Hybrid(hybrid) = &mut exit.detector
            && timeout
        {
            hybrid.on_timeout();
        }
    }

    /// Return ssthresh once after slow start has ended without congestion.
    pub fn take_slow_start_exit(&mut self) -> Option<f64> {
        self.exit.as_mut()?.ended_at.take()
    }
}
