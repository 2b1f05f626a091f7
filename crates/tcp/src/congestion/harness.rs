//! For tests: a single sender that its ACKs clock, over one bottleneck. Packets are of one size, ACKs
//! are never lost, a lost packet is found by the next ACK and its bytes are new ones.

use std::collections::VecDeque;

use units::{Bytes, Duration, Rate, Time};

use crate::congestion::control::{Ack, Congestion, CongestionControl, Control, RateSample};
use crate::window::Window;

/// Size of a segment.
pub const MSS: f64 = 1000.0;

/// The parameters of a control with those that the stack `linux` changes.
pub fn linux<T: Control>() -> T {
    T::read(&T::in_linux(), "").unwrap()
}

/// A window of so many segments, ssthresh and FlightSize likewise.
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

/// An ACK of so many segments that measured nothing.
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
        held_for: Duration::ZERO,
    }
}

/// An ACK of so many segments at `now` with a round trip.
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

/// The bottleneck.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    pub rate: Rate,
    /// Round trip without queue and transmission.
    pub delay: Duration,
    /// Packets that may wait, the one in service included.
    pub buffer: usize,
    /// A packet is marked if it finds at least so many before it.
    pub mark_from: usize,
    /// One packet of so many is marked; 0: none.
    pub mark_every: u64,
    /// An ACK for every so many packets.
    pub ack_every: u32,
}

impl Path {
    /// Ample buffer, no marks, an ACK a packet.
    pub fn new(rate: u64, delay_ms: u64) -> Self {
        let delay = Duration::from_millis(delay_ms);
        Path {
            rate: Rate(rate),
            delay,
            buffer: usize::MAX,
            mark_from: usize::MAX,
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

/// A sender over a path.
pub struct Sim<C> {
    pub controller: C,
    pub path: Path,
    pub now: Time,
    pub cwnd: f64,
    pub ssthresh: f64,
    /// Bytes delivered.
    pub delivered: u64,
    /// Congestion so far: when and what.
    pub events: Vec<(Time, Congestion)>,
    pub srtt: Duration,
    pub min_rtt: Duration,
    /// The last round trip.
    pub rtt: Duration,
    /// The packet that is lost although there was room.
    pub lose: Option<u64>,
    inflight: VecDeque<Packet>,
    /// Ends of transmission of what waits at the bottleneck.
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
    /// A sender with an initial window.
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
            lose: None,
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

    /// Segments of cwnd.
    pub fn segments(&self) -> f64 {
        self.cwnd / MSS
    }

    /// Packets sent and not acknowledged.
    pub fn flight(&self) -> usize {
        self.inflight.len()
    }

    /// Number of the next packet.
    pub fn next_number(&self) -> u64 {
        self.next
    }

    /// The window as it is.
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
        let dropped = self.queue.len() >= self.path.buffer || self.lose == Some(self.next);
        let by_number = self.path.mark_every > 0 && self.next.is_multiple_of(self.path.mark_every);
        let marked = by_number || self.queue.len() >= self.path.mark_from;
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

    /// Runs until `until` seconds, calling `each` after every ACK.
    pub fn run(&mut self, until: f64, mut each: impl FnMut(&mut Self)) {
        let until = Time::ZERO + Duration::from_seconds(until);
        loop {
            let open = self.inflight.len() as f64 * MSS + MSS <= self.cwnd.max(MSS);
            let arrival = self.ack_due();
            match arrival {
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
                    self.congestion(self.window(), Congestion::Timeout { again: false });
                    self.inflight.clear();
                    self.in_recovery = false;
                }
            }
            if self.now > until {
                return;
            }
        }
    }

    /// When the next ACK arrives: that of the n-th packet not dropped, or of the last there is.
    fn ack_due(&self) -> Option<Time> {
        let arrived = self.inflight.iter().filter(|p| !p.dropped).take(self.path.ack_every as usize);
        arrived.last().map(|p| p.acked_at)
    }

    fn congestion(&mut self, w: Window, congestion: Congestion) {
        self.ssthresh = self.controller.ssthresh_on(&w, congestion, self.now).max(2.0 * MSS); // as the sender
        let usual = if matches!(congestion, Congestion::Timeout { .. }) { MSS } else { self.ssthresh };
        self.cwnd = self.controller.cwnd_on(&w, congestion, self.now).unwrap_or(usual);
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
                    self.inflight.push_front(packet); // nothing after it will tell
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
            held_for: Duration::ZERO,
        };
        let w = self.window();
        self.controller.observe(&w, &ack);
        let again = packet.number >= self.recover;
        let cut = if lost > 0 && again {
            self.congestion(before, Congestion::FastRetransmit);
            true
        } else if marked > 0 && !self.in_recovery && self.controller.answers_mark(self.now, again) {
            self.congestion(before, Congestion::Ecn);
            true
        } else {
            false
        };
        let recovering = self.in_recovery || was_in_recovery || cut;
        if !recovering || self.controller.rules_recovery() {
            let w = self.window();
            self.cwnd = self.controller.cwnd_on_ack(&w, &ack);
            let w = self.window();
            self.ssthresh = self.controller.ssthresh_on_ack(&w).unwrap_or(self.ssthresh);
        }
    }
}
