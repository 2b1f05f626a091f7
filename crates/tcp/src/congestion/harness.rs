//! Test harness: one ACK-clocked sender over one bottleneck.
//!
//! All packets have the same size and ACKs are never dropped. The sender detects a dropped packet
//! with the next ACK. The sender transmits new bytes instead of a retransmission.

use std::collections::VecDeque;

use units::{Bytes, Duration, Rate, Time};

use crate::congestion::control::{Ack, Congestion, CongestionControl, Control, RateSample};
use crate::window::Window;

/// Size of a segment, in bytes.
pub const MSS: f64 = 1000.0;

/// Return the parameters of a control with its defaults in the stack `linux`.
pub fn linux<T: Control>() -> T {
    T::read(&T::linux_defaults(), "").unwrap()
}

/// Return a window with cwnd, ssthresh and FlightSize in segments.
pub fn window(cwnd: f64, ssthresh: f64, flight: f64) -> Window {
    Window {
        cwnd: cwnd * MSS,
        ssthresh: ssthresh * MSS,
        flight: flight * MSS,
        pipe: flight * MSS,
        inflation: 0.0,
        rwnd: 44.9 * MSS,
        smss: MSS,
    }
}

/// Return an ACK of `segments` segments, without a measured round-trip time or rate.
pub fn ack(segments: f64) -> Ack {
    let bytes = (segments * MSS) as u32;
    Ack {
        now: Time::ZERO,
        acked: bytes,
        delivered: bytes,
        counted: bytes,
        marked: 0,
        total_delivered: 0,
        rtt: None,
        srtt: Duration::ZERO,
        min_rtt: Duration(u64::MAX),
        round: false,
        cwnd_limited: true,
        in_recovery: false,
        rate: None,
        pacing_delay: Duration::ZERO,
    }
}

/// Return an ACK of `segments` segments that arrives at `now` and measures `rtt`, both in seconds.
pub fn ack_at(now: f64, rtt: f64, segments: f64) -> Ack {
    let rtt = Duration::from_seconds(rtt);
    Ack {
        now: Time::ZERO + Duration::from_seconds(now),
        rtt: Some(rtt),
        srtt: rtt,
        min_rtt: rtt,
        ..ack(segments)
    }
}

/// Bottleneck link and its buffer.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    pub rate: Rate,
    /// Propagation delay of the whole round trip.
    pub delay: Duration,
    /// Limit of the buffer in packets, the packet in transmission included.
    pub buffer: usize,
    /// Queue length, in packets, from which an arriving packet is marked.
    pub mark_threshold: usize,
    /// Interval of marks: every n-th packet is marked; 0 marks no packet.
    pub mark_every: u64,
    /// Number of packets that an ACK acknowledges.
    pub ack_every: u32,
}

impl Path {
    /// Return a path with an unlimited buffer, no marks, and an ACK for each packet.
    pub fn new(rate: u64, delay_ms: u64) -> Self {
        let delay = Duration::from_millis(delay_ms);
        Path {
            rate: Rate(rate),
            delay,
            buffer: usize::MAX,
            mark_threshold: usize::MAX,
            mark_every: 0,
            ack_every: 1,
        }
    }
}

#[derive(Clone, Copy)]
struct Packet {
    number: u64,
    sent: Time,
    acked_at: Time,
    dropped: bool,
    marked: bool,
    delivered: u64,
    delivered_time: Time,
    first_sent: Time,
}

/// Sender over a path.
pub struct Sim<C> {
    pub controller: C,
    pub path: Path,
    pub now: Time,
    pub cwnd: f64,
    pub ssthresh: f64,
    /// Bytes delivered.
    pub delivered: u64,
    /// Time and kind of each congestion event so far.
    pub events: Vec<(Time, Congestion)>,
    pub srtt: Duration,
    pub min_rtt: Duration,
    /// Round-trip time of the last ACK.
    pub rtt: Duration,
    /// Number of a packet that is dropped although the buffer is not full.
    pub drop_number: Option<u64>,
    inflight: VecDeque<Packet>,
    /// Times at which the transmissions of the packets in the buffer end.
    queue: VecDeque<Time>,
    next: u64,
    next_send: Time,
    delivered_time: Time,
    first_sent: Time,
    next_round: u64,
    recover: u64,
    in_recovery: bool,
}

impl<C: CongestionControl> Sim<C> {
    /// Create a sender with cwnd and ssthresh in segments.
    pub fn new(controller: C, path: Path, cwnd: f64, ssthresh: f64) -> Self {
        Sim {
            controller,
            path,
            now: Time::ZERO,
            cwnd: cwnd * MSS,
            ssthresh: ssthresh * MSS,
            delivered: 0,
            events: Vec::new(),
            srtt: Duration::ZERO,
            min_rtt: Duration(u64::MAX),
            rtt: Duration::ZERO,
            drop_number: None,
            inflight: VecDeque::new(),
            queue: VecDeque::new(),
            next: 0,
            next_send: Time::ZERO,
            delivered_time: Time::ZERO,
            first_sent: Time::ZERO,
            next_round: 0,
            recover: 0,
            in_recovery: false,
        }
    }

    /// Return cwnd in segments.
    pub fn segments(&self) -> f64 {
        self.cwnd / MSS
    }

    /// Return the number of packets that are sent and not acknowledged.
    pub fn flight(&self) -> usize {
        self.inflight.len()
    }

    /// Return the number of the next packet.
    pub fn next_number(&self) -> u64 {
        self.next
    }

    /// Return the current window.
    pub fn window(&self) -> Window {
        Window {
            cwnd: self.cwnd,
            ssthresh: self.ssthresh,
            flight: self.inflight.len() as f64 * MSS,
            pipe: self.inflight.len() as f64 * MSS,
            inflation: 0.0,
            rwnd: 1e9,
            smss: MSS,
        }
    }

    fn send(&mut self) {
        while self.queue.front().is_some_and(|end| *end <= self.now) {
            self.queue.pop_front();
        }
        if self.inflight.is_empty() {
            (self.first_sent, self.delivered_time) = (self.now, self.now);
        }
        let dropped = self.queue.len() >= self.path.buffer || self.drop_number == Some(self.next);
        let marked_by_number = self.path.mark_every > 0 && self.next.is_multiple_of(self.path.mark_every);
        let marked = marked_by_number || self.queue.len() >= self.path.mark_threshold;
        let begin = self.queue.back().copied().unwrap_or(self.now).max(self.now);
        let end = begin + self.path.rate.transmission_time(Bytes(MSS as u64));
        if !dropped {
            self.queue.push_back(end);
        }
        self.inflight.push_back(Packet {
            number: self.next,
            sent: self.now,
            acked_at: end + self.path.delay,
            dropped,
            marked,
            delivered: self.delivered,
            delivered_time: self.delivered_time,
            first_sent: self.first_sent,
        });
        self.next += 1;
        if let Some(rate) = self.controller.pacing_rate(&self.window(), self.srtt) {
            self.next_send = self.now.max(self.next_send) + rate.transmission_time(Bytes(MSS as u64));
        }
    }

    /// Run the simulation until the time `until`, in seconds, and call `each` after every ACK.
    pub fn run(&mut self, until: f64, mut each: impl FnMut(&mut Self)) {
        let until = Time::ZERO + Duration::from_seconds(until);
        loop {
            let open = self.inflight.len() as f64 * MSS + MSS <= self.cwnd.max(MSS);
            let next_ack = self.ack_due();
            match next_ack {
                _ if open && self.next_send <= self.now => self.send(),
                Some(at) if !open || at <= self.next_send => {
                    if at > until {
                        self.now = until;
                        return;
                    }
                    self.now = self.now.max(at);
                    self.acknowledge();
                    each(self);
                }
                _ if open => self.now = self.next_send,
                _ => {
                    self.now += Duration::from_millis(1000);
                    self.on_congestion(self.window(), Congestion::Timeout { repeated: false });
                    self.inflight.clear();
                    self.in_recovery = false;
                }
            }
            if self.now > until {
                return;
            }
        }
    }

    /// Return the arrival time of the next ACK.
    ///
    /// The receiver sends an ACK once `ack_every` packets have arrived, or once all packets in
    /// flight that were not dropped have arrived.
    fn ack_due(&self) -> Option<Time> {
        let arrived = self.inflight.iter().filter(|p| !p.dropped).take(self.path.ack_every as usize);
        arrived.last().map(|p| p.acked_at)
    }

    fn on_congestion(&mut self, w: Window, congestion: Congestion) {
        // RFC 5681, equation 4
        self.ssthresh = self.controller.ssthresh_on_congestion(&w, congestion, self.now).max(2.0 * MSS);
        let default_cwnd = if matches!(congestion, Congestion::Timeout { .. }) { MSS } else { self.ssthresh };
        self.cwnd = self.controller.cwnd_on_congestion(&w, congestion, self.now).unwrap_or(default_cwnd);
        self.recover = self.next;
        self.in_recovery = congestion == Congestion::FastRetransmit;
        self.events.push((self.now, congestion));
    }

    fn acknowledge(&mut self) {
        let before = self.window();
        let (mut lost, mut marked, mut arrived) = (0, 0, 0);
        let mut last = None;
        while arrived < self.path.ack_every
            && let Some(packet) = self.inflight.pop_front()
        {
            if packet.dropped {
                if !self.inflight.iter().any(|p| !p.dropped) {
                    self.inflight.push_front(packet); // no later packet can reveal the drop
                    break;
                }
                lost += MSS as u64;
                continue;
            }
            arrived += 1;
            marked += if packet.marked { MSS as u32 } else { 0 };
            last = Some(packet);
        }
        let Some(packet) = last else { return };
        let bytes = arrived * MSS as u32;
        self.delivered += u64::from(bytes);
        let rtt = self.now.since(packet.sent);
        self.rtt = rtt;
        self.min_rtt = self.min_rtt.min(rtt);
        self.srtt = if self.srtt == Duration::ZERO {
            rtt
        } else {
            Duration(self.srtt.0 - self.srtt.0 / 8 + rtt.0 / 8)
        };
        let round = packet.delivered >= self.next_round;
        if round {
            self.next_round = self.delivered;
        }
        let send = packet.sent.since(packet.first_sent);
        self.first_sent = packet.sent;
        self.delivered_time = self.now;
        let interval = send.max(self.now.since(packet.delivered_time));
        let was_in_recovery = self.in_recovery;
        self.in_recovery &= packet.number < self.recover;
        let ack = Ack {
            now: self.now,
            acked: bytes,
            delivered: bytes,
            counted: bytes,
            marked,
            total_delivered: self.delivered,
            rtt: Some(rtt),
            srtt: self.srtt,
            min_rtt: self.min_rtt,
            round,
            cwnd_limited: before.flight + MSS > self.cwnd,
            in_recovery: self.in_recovery,
            rate: Some(RateSample {
                delivered: self.delivered - packet.delivered,
                interval,
                app_limited: false,
                prior_delivered: packet.delivered,
                lost,
            }),
            pacing_delay: Duration::ZERO,
        };
        let w = self.window();
        self.controller.observe(&w, &ack);
        let new_window = packet.number >= self.recover;
        let reduced = if lost > 0 && new_window {
            self.on_congestion(before, Congestion::FastRetransmit);
            true
        } else if marked > 0 && !self.in_recovery && self.controller.responds_to_mark(self.now, new_window) {
            self.on_congestion(before, Congestion::Ecn);
            true
        } else {
            false
        };
        let recovering = self.in_recovery || was_in_recovery || reduced;
        if !recovering || self.controller.governs_recovery() {
            let w = self.window();
            self.cwnd = self.controller.cwnd_on_ack(&w, &ack);
            let w = self.window();
            self.ssthresh = self.controller.ssthresh_on_ack(&w).unwrap_or(self.ssthresh);
        }
    }
}
