//! Measurements for those fields of Linux's TCP_INFO that the endpoint itself does not measure
//! (Linux 6.12, struct tcp_info, tcp_get_info). The measured values are times of the last events,
//! counts of segments, and the time spent in each state of the sender.

mod chrono;
mod receiving;

use tcp::{Endpoint, State};
use units::Time;

use self::chrono::Chrono;
use self::receiving::Receiving;
use super::Header;
use crate::syntax::Flags;

/// State of the endpoint just before a segment arrived.
#[derive(Clone, Copy, Debug)]
pub struct Before {
    state: State,
    /// RCV.NXT.
    next: u32,
}

impl Before {
    /// Return the present state of an endpoint.
    pub fn of(endpoint: &Endpoint) -> Self {
        Before { state: endpoint.state(), next: endpoint.next_expected().0 }
    }
}

/// Retransmission timeouts, and the loss recoveries that the timeouts started.
#[derive(Clone, Debug, Default)]
struct Timeouts {
    count: u64,
    recoveries: u64,
    milliseconds: u64,
    since: Option<Time>,
}

/// Measurements of a connection.
#[derive(Clone, Debug, Default)]
pub struct Meter {
    /// Times when the endpoint last sent data, last received data in order, and last received an
    /// ACK.
    data_sent: Time,
    data_received: Time,
    ack_received: Time,
    segments_in: u64,
    segments_out: u64,
    data_in: u64,
    out_of_order: u64,
    /// Number of segments that were not retransmissions, and the sequence number after the highest
    /// one that was sent.
    first_sent: u64,
    highest: Option<u32>,
    /// Number of segments that D-SACK reported as duplicates.
    duplicates: u64,
    ecn_seen: bool,
    /// Receive window announced last.
    window: u32,
    active: bool,
    timeouts: Timeouts,
    chrono: Chrono,
    receiving: Receiving,
}

fn after(a: u32, b: u32) -> bool {
    a.wrapping_sub(b) as i32 > 0
}

fn milliseconds(now: Time, then: Time) -> u64 {
    now.0.saturating_sub(then.0) / 1_000_000_000
}

impl Meter {
    /// Record that the endpoint begins an active open.
    pub fn on_connect(&mut self) {
        self.active = true;
    }

    /// Record the arrival of a segment.
    pub fn on_arrival(&mut self, now: Time, header: &Header, before: Before, endpoint: &Endpoint) {
        let opens = before.state == State::Listen;
        // Before the handshake is complete, a repeated SYN counts for the connection request and
        // not for the connection (Linux, tcp_check_req).
        let again = before.state == State::SynReceived && header.flags.has(Flags::SYN);
        if again {
            return;
        }
        self.segments_in += 1;
        if header.len > 0 && (!opens || endpoint.is_early()) {
            self.data_in += 1;
        }
        let next = endpoint.next_expected().0;
        if matches!(before.state, State::Listen | State::SynSent) {
            if endpoint.state() == State::Established {
                (self.data_sent, self.data_received, self.ack_received) = (now, now, now);
                // If the server did not accept the data of a SYN, the data counts as one more
                // segment that is sent for the first time (Linux, tcp_rcv_fastopen_synack).
                self.first_sent += u64::from(endpoint.segments_out().0);
            }
            self.end_timeouts(now, endpoint);
            return;
        }
        if before.state == State::SynReceived && endpoint.state() > State::SynReceived {
            (self.data_sent, self.data_received) = (now, now);
        }
        if header.len > 0 {
            if after(next, before.next) {
                self.data_received = now;
            } else if after(header.seq, before.next)
                && after(before.next.wrapping_add(endpoint.receive_window()), header.seq)
            {
                self.out_of_order += 1;
            }
            self.ecn_seen |= endpoint.uses_ecn() && header.ecn.is_capable();
            self.receiving.on_data(now, header, next, endpoint.receive_window());
        }
        if header.flags.has(Flags::ACK) && !header.flags.has(Flags::RST) {
            self.on_ack(now, header, endpoint);
        }
        self.end_timeouts(now, endpoint);
    }

    fn on_ack(&mut self, now: Time, header: &Header, endpoint: &Endpoint) {
        if self.highest.is_none_or(|highest| !after(header.ack, highest)) {
            self.ack_received = now;
        }
        let size = u64::from(endpoint.segment_size().max(1));
        if let Some(&(left, right)) = header.options.sack().first() {
            let within = header.options.sack().get(1).is_some_and(|b| !left.before(b.0) && !right.after(b.1));
            if left.before(right) && (!after(right.0, header.ack) || within) {
                self.duplicates += u64::from(right - left).div_ceil(size);
            }
        }
    }

    /// Record that the recovery after timeouts has ended.
    fn end_timeouts(&mut self, now: Time, endpoint: &Endpoint) {
        if !endpoint.recovers_from_timeout()
            && let Some(since) = self.timeouts.since.take()
        {
            self.timeouts.milliseconds += milliseconds(now, since);
        }
    }

    /// Record that a timer has expired. The argument `before` is the number of retransmission
    /// timeouts before the timer expired.
    pub fn on_timer(&mut self, now: Time, before: u32, endpoint: &Endpoint) {
        if endpoint.sender_stats().timeouts == before || endpoint.state() == State::Closed {
            return;
        }
        self.timeouts.count += 1;
        if self.timeouts.since.is_none() {
            self.timeouts.recoveries += 1;
            self.timeouts.since = Some(now);
        }
    }

    /// Record that the endpoint sent a segment.
    pub fn on_departure(&mut self, now: Time, header: &Header, window: u32) {
        let reply = header.flags.has(Flags::SYN) && header.flags.has(Flags::ACK) && !self.active;
        self.segments_out += u64::from(!reply);
        if header.len > 0 {
            self.data_sent = now;
        }
        if header.flags.has(Flags::ACK) {
            self.window = window;
        }
        let end = header.seq.wrapping_add(header.seq_len());
        if header.seq_len() > 0 && self.highest.is_none_or(|highest| after(end, highest)) {
            self.first_sent += 1;
            self.highest = Some(end);
        }
    }

    /// Record that the application read data.
    pub fn on_read(&mut self, now: Time, bytes: u64) {
        self.receiving.on_read(now, bytes);
    }

    /// Record that the endpoint has sent all segments that it can send now. The argument `no_space`
    /// is true if a write found the send buffer full.
    pub fn settle(&mut self, now: Time, endpoint: &Endpoint, no_space: bool) {
        self.chrono.turn(now, chrono::kind(endpoint, no_space));
    }

    /// Return the fields of TCP_INFO that this meter measures.
    pub fn fields(&self, now: Time, endpoint: &Endpoint) -> Vec<(&'static str, u64)> {
        let open = endpoint.state() > State::SynReceived || endpoint.milestones().0 != Time::NEVER;
        let [busy, rwnd, sndbuf] = self.chrono.spent(now);
        let (rate, app_limited) = endpoint.delivery_rate().unwrap_or((0, true));
        let (out, sacked) = endpoint.segments_out();
        let delivered = self.first_sent.saturating_sub(u64::from(out - sacked.min(out)));
        let running = self.timeouts.since.map_or(0, |since| milliseconds(now, since));
        let fin = u64::from(endpoint.fin_received());
        let mss = u64::from(endpoint.tcp().mss.0.min(65_535) as u32);
        let mut fields = vec![
            ("probes", endpoint.probes()),
            ("delivery_rate_app_limited", u64::from(app_limited)),
            ("last_data_sent", milliseconds(now, self.data_sent)),
            ("last_ack_sent", 0), // not measured by Linux
            ("last_data_recv", milliseconds(now, self.data_received)),
            ("last_ack_recv", milliseconds(now, self.ack_received)),
            ("rcv_rtt", self.receiving.rtt()),
            ("rcv_space", self.receiving.space(u64::from(endpoint.receive_window()).min(65_535), mss)),
            ("max_pacing_rate", u64::MAX),
            // The SYN of a client and a FIN count as one byte each (Linux, tcp_snd_una_update).
            (
                "bytes_acked",
                endpoint.acked() + u64::from(self.active && open) + u64::from(endpoint.fin_acknowledged()),
            ),
            ("bytes_received", endpoint.received_in_order().saturating_sub(fin)),
            ("segs_out", self.segments_out),
            ("segs_in", self.segments_in),
            ("data_segs_in", self.data_in),
            ("delivery_rate", rate),
            ("busy_time", busy + rwnd + sndbuf),
            ("rwnd_limited", rwnd),
            ("sndbuf_limited", sndbuf),
            ("delivered", if open { delivered } else { 0 }),
            ("dsack_dups", self.duplicates),
            ("reord_seen", endpoint.reorderings()),
            ("rcv_ooopack", self.out_of_order),
            ("rcv_wnd", u64::from(self.window)),
            ("rehash", self.timeouts.count), // one per timeout (Linux, sk_rethink_txhash)
            ("total_rto", self.timeouts.count),
            ("total_rto_recoveries", self.timeouts.recoveries),
            ("total_rto_time", self.timeouts.milliseconds + running),
        ];
        fields.extend(self.unpaced(endpoint).map(|rate| ("pacing_rate", rate)));
        fields
    }

    /// Return the pacing rate that Linux computes even for a connection that does not pace
    /// (tcp_update_pacing_rate). This pacing rate is cwnd per round-trip time, times 2 in slow
    /// start, and times 1.2 after slow start.
    fn unpaced(&self, endpoint: &Endpoint) -> Option<u64> {
        let (window, srtt) = (endpoint.window(), endpoint.srtt().seconds());
        if endpoint.paces() || srtt <= 0.0 {
            return None;
        }
        let ratio = if window.cwnd < window.ssthresh / 2.0 { 2.0 } else { 1.2 };
        Some((ratio * window.cwnd.max(window.flight) / srtt) as u64)
    }

    /// Return the bits of the field tcpi_options, except those for negotiated TCP options.
    pub fn options(&self) -> u64 {
        u64::from(self.ecn_seen) << 4
    }
}
