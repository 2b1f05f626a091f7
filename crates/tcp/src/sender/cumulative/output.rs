//! Transmission without SACK: new data, and retransmissions from SND.NXT.

use net::Seq;
use units::Time;

use super::CumulativeSender;
use crate::config::Tcp;
use crate::congestion::CongestionControl;
use crate::sender::SLOW_PATHS;
use crate::sender::outgoing::Outgoing;
use crate::sender::tcb::Tcb;

impl CumulativeSender {
    /// Return the next segment, if the sender may send a segment now.
    #[inline]
    pub fn next_segment(&mut self, tcb: &mut Tcb, now: Time, tcp: &Tcp) -> Option<Outgoing> {
        if SLOW_PATHS || self.nxt != tcb.max || (tcb.retransmit | tcb.wait_for_timer) {
            return self.next_general(tcb, now, tcp);
        }
        if self.measurements.is_some() {
            return self.next_tracked(tcb, now, tcp);
        }
        // In the usual case the next segment is a whole segment of new data, and more data follows.
        // In this case only the window decides whether the sender may send the segment.
        if tcb.unsent <= u64::from(tcb.smss) {
            // an endpoint that only receives data usually has no data and no FIN to send
            let idle = tcb.unsent == 0 && tcb.closing == tcb.fin_sent;
            return if idle { None } else { self.next_in_order(tcb, now, tcp) };
        }
        let sent = tcb.flight();
        let usable = self.limit(tcb).saturating_sub(sent);
        if usable < tcb.smss {
            return if sent > 0 { None } else { self.next_in_order(tcb, now, tcp) };
        }
        let mut outgoing = tcb.build_next(now, tcb.smss, tcp);
        outgoing.last = usable - tcb.smss < tcb.smss && tcb.unsent > u64::from(tcb.smss);
        self.time(outgoing, now);
        self.nxt = tcb.max;
        Some(outgoing)
    }

    /// Return the next segment in every case that the fast path excludes.
    #[inline(never)]
    fn next_general(&mut self, tcb: &mut Tcb, now: Time, tcp: &Tcp) -> Option<Outgoing> {
        match self.measurements {
            _ if tcb.wait_for_timer && tcb.timer != Time::NEVER => None,
            Some(_) => self.next_measured(tcb, now, tcp),
            None => self.next_in_order(tcb, now, tcp),
        }
    }

    /// Return the next segment of a sender that has optional state, and that has no data to
    /// retransmit.
    #[inline(never)] // keeps the code of the congestion controls out of the caller's loop
    fn next_tracked(&mut self, tcb: &mut Tcb, now: Time, tcp: &Tcp) -> Option<Outgoing> {
        let is_bulk = tcb.unsent > u64::from(tcb.smss)
            && tcb.max != tcb.una
            && !tcb.congestion.paces()
            && self.tracking()?.records.is_empty();
        if !is_bulk {
            return self.next_measured(tcb, now, tcp);
        }
        tcb.pacing_holds = false;
        let usable = self.limit(tcb).saturating_sub(tcb.flight());
        if usable < tcb.smss || !self.is_buffered(tcb, tcb.smss, tcp) {
            self.record_limit(tcb);
            return None;
        }
        let mut outgoing = tcb.build_next(now, tcb.smss, tcp);
        self.time(outgoing, now);
        self.nxt = tcb.max;
        if usable - tcb.smss < tcb.smss && tcb.unsent > u64::from(tcb.smss) {
            self.record_limit(tcb);
            outgoing.last = true;
        }
        let measurements = self.measurements.as_mut()?;
        if tcb.congestion.needs_measurements() {
            measurements.on_sent(now, tcb.max, outgoing.len, true);
        }
        tcb.record_sent(&mut measurements.tracking, &mut outgoing, now);
        Some(outgoing)
    }

    /// Return the next segment of a sender with optional state, in the general case.
    #[inline(never)]
    fn next_measured(&mut self, tcb: &mut Tcb, now: Time, tcp: &Tcp) -> Option<Outgoing> {
        // As in Linux, the retransmission of an expired timer does not wait for pacing
        // (tcp_retransmit_timer).
        let timed_out = tcb.expirations > 0 && self.nxt == tcb.una && tcb.una != tcb.max;
        let may_send = tcb.prepare_to_send(self.tracking()?, now, tcp) || timed_out;
        let probes = tcb.window_probe_due();
        let outgoing = if may_send || probes {
            self.next_in_order(tcb, now, tcp)
        } else {
            tcb.pacing_holds = !tcb.all_sent() || tcb.retransmit || self.nxt != tcb.max;
            None
        };
        let Some(mut outgoing) = outgoing else {
            self.record_limit(tcb);
            return None;
        };
        let window = tcb.congestion.paces().then(|| self.window(tcb));
        let tracking = self.tracking_mut()?;
        if !probes && !outgoing.is_new {
            tracking.on_retransmit(now);
        }
        tcb.record_sent(tracking, &mut outgoing, now);
        if let Some(window) = window {
            tcb.pace(tracking, outgoing.len, &window, now, tcp);
        }
        Some(outgoing)
    }

    /// Return the maximum number of bytes in flight.
    #[inline]
    fn limit(&self, tcb: &Tcb) -> u32 {
        (tcb.cwnd as u32).saturating_add(self.inflation).min(tcb.rwnd)
    }

    /// Return the next segment from SND.NXT, or the retransmission that is due.
    #[inline(never)]
    fn next_in_order(&mut self, tcb: &mut Tcb, now: Time, tcp: &Tcp) -> Option<Outgoing> {
        let mss = tcb.smss;
        if tcb.window_probe_due() {
            return Some(self.probe(tcb, now, tcp));
        }
        if tcb.retransmit {
            tcb.retransmit = false;
            return Some(self.build(tcb, now, tcb.una, mss.min(tcb.data_end() - tcb.una), tcp));
        }
        let sent = self.nxt - tcb.una;
        let usable = self.limit(tcb).saturating_sub(sent);
        let retransmittable = if self.nxt.before(tcb.data_end()) { tcb.data_end() - self.nxt } else { 0 };
        let available = u64::from(retransmittable).saturating_add(tcb.unsent);
        if available == 0 {
            let fin_due = tcb.closing && (!tcb.fin_sent || self.nxt.before(tcb.max));
            return (fin_due && usable > 0).then(|| self.build(tcb, now, self.nxt, 0, tcp));
        }
        let len = available.min(u64::from(mss)) as u32;
        // The sender sends only whole segments (RFC 9293 §3.8.6.2.1). A segment may be smaller than
        // a whole segment if it is a retransmission, or if silly window avoidance permits a smaller
        // segment while no data is in flight.
        if usable < len {
            let may_split = sent == 0
                && usable > 0
                && tcb.rwnd < len
                && (retransmittable > 0 || tcb.avoids_silly_window(usable));
            if !may_split {
                tcb.persist(now, tcp);
                return None;
            }
            let outgoing = self.build(tcb, now, self.nxt, usable, tcp);
            self.nxt = self.nxt + outgoing.len;
            return Some(outgoing);
        }
        let mut len = len;
        if let Some(tracking) = self.tracking() {
            len = tracking.within_record(self.nxt, len);
            let last = retransmittable == 0 && u64::from(len) == tcb.unsent;
            if len < mss && last && !tcb.closing && tcb.holds_small_segment(tracking, tcp) {
                tcb.persist(now, tcp);
                return None;
            }
        }
        if retransmittable == 0 && !self.is_buffered(tcb, len, tcp) {
            return None;
        }
        let outgoing = self.build(tcb, now, self.nxt, len, tcp);
        self.nxt = self.nxt + outgoing.len + u32::from(outgoing.fin);
        Some(outgoing)
    }

    /// Return true if the send buffer has `len` bytes of new data.
    #[inline]
    fn is_buffered(&mut self, tcb: &Tcb, len: u32, tcp: &Tcp) -> bool {
        let Some(queue) = self.tracking_mut().and_then(|t| t.queue.as_mut()) else { return true };
        queue.expand(tcb, tcp);
        queue.fill(tcb, 0, tcp) >= len
    }

    /// Build a segment, record the transmission, and time the segment's round trip if no other
    /// segment is being timed.
    #[inline(never)]
    fn build(&mut self, tcb: &mut Tcb, now: Time, seq: Seq, len: u32, tcp: &Tcp) -> Outgoing {
        let outgoing = tcb.build(now, seq, len, self.tracking(), tcp);
        if let Some(measurements) = self.measurements.as_mut().filter(|_| tcb.congestion.needs_measurements())
        {
            measurements.on_sent(now, tcb.max, len, outgoing.is_new);
        }
        self.time(outgoing, now);
        if seq == self.nxt && len == 0 {
            self.nxt = tcb.max;
        }
        outgoing
    }

    /// Start to measure the round-trip time of a new segment, unless another segment is being
    /// timed.
    #[inline]
    fn time(&mut self, outgoing: Outgoing, now: Time) {
        if outgoing.is_new && self.timed_at == Time::NEVER {
            (self.timed, self.timed_at) = (outgoing.seq, now);
        }
    }

    /// Send a window probe. The sender sends the byte of the window probe again, together with the
    /// data that follows this byte.
    fn probe(&mut self, tcb: &mut Tcb, now: Time, tcp: &Tcp) -> Outgoing {
        let outgoing = tcb.probe_window(now, tcp);
        if outgoing.seq == tcb.una {
            self.nxt = if outgoing.probe { tcb.una } else { tcb.max };
        }
        outgoing
    }
}
