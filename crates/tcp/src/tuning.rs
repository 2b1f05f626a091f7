//! Linux's tuning of the receive window (dynamic right-sizing).
//!
//! The receive window grows with the data that arrives, up to the payload that the receive memory
//! can store. The receive memory grows with the data that the application reads per round trip.
//!
//! Source: tcp_grow_window, tcp_measure_rcv_mss, tcp_rcv_rtt_update and tcp_rcv_space_adjust of
//! Linux 6.12. While the window grows, the receiver acknowledges each segment at once. A segment
//! takes more memory than the size of its payload. The model counts each segment as a packet of its
//! own, as an Ethernet device without receive coalescing delivers it.
//!
//! The model omits memory pressure, and the memory that unread data takes in addition to its
//! payload.

use net::Seq;
use units::{Duration, Time};

use crate::config::{SegmentMemory, Tcp};
use crate::memory::PACKET_OVERHEAD;

/// Memory of the descriptor of a segment, in bytes (sk_buff of Linux 6.12).
const DESCRIPTOR: u32 = 240;
/// Memory of the headers, the headroom and the description of fragments, which are allocated
/// together with the payload (skb_shared_info of Linux 6.12).
const BESIDE_DATA: u32 = 66 + 64 + 320;
/// Unit of `ratio`: the fraction of the memory that contains payload is counted in 256ths.
const RATIO_UNIT: u64 = 256;
/// Ratio before the first segment: one half (TCP_DEFAULT_SCALING_RATIO).
const DEFAULT_RATIO: u64 = 128;
/// Minimum payload in bytes of a segment that increases the receive window.
const MIN_GROWTH_LEN: u32 = 128;
/// Number of segments that a sender may initially send (TCP_INIT_CWND).
const INITIAL_SEGMENTS: u32 = 10;

/// State of the window tuning of a receiver.
#[derive(Clone, Debug)]
pub struct Tuning {
    /// Window to advertise in bytes (rcv_ssthresh).
    window: u32,
    /// Maximum window in bytes (window_clamp).
    clamp: u32,
    /// Memory for received data in bytes (rcvbuf).
    memory: u64,
    /// Maximum memory in bytes.
    memory_max: u64,
    /// Fraction of the memory that contains payload, in 256ths.
    ratio: u64,
    /// Payload of the segment from which `ratio` was computed.
    segment_len: u32,
    /// Layout of the memory of a segment.
    segment_kind: SegmentMemory,
    /// Maximum segment size.
    mss: u32,
    /// Maximum size of the receive window according to the TCP parameters.
    window_limit: u32,
    /// Estimate of the round-trip time: a shorter sample replaces it at once, and a longer sample
    /// enters a moving average.
    rtt: Option<Duration>,
    /// Timestamp of this endpoint that the other endpoint echoed last.
    echo: u32,
    /// End of the current window of data, and the time at which the window of data began.
    round: (Seq, Time),
    /// Bytes that the application read in the last round trip.
    read_bytes: u32,
    /// Sequence number and time at which the current round trip of reads began.
    read_from: (Seq, Time),
}

/// Return the memory of a segment of `len` bytes of payload.
fn segment_memory(len: u32, kind: SegmentMemory) -> u32 {
    match kind {
        SegmentMemory::Linear => DESCRIPTOR + (len + BESIDE_DATA).next_power_of_two(),
        SegmentMemory::Fragments => len + PACKET_OVERHEAD,
    }
}

impl Tuning {
    /// Return the window that the receiver advertises when the connection begins.
    pub fn first_window(tcp: &Tcp) -> u32 {
        let whole = tcp.memory.receive.0 * DEFAULT_RATIO / RATIO_UNIT;
        let segment = tcp.mss.0.max(1);
        let window = if whole > segment { whole / segment * segment } else { whole };
        window.min(tcp.receive_window.0) as u32
    }

    /// Create the state of a connection whose first byte of data is `next`.
    pub fn new(next: Seq, tcp: &Tcp) -> Self {
        let window = Self::first_window(tcp);
        let mss = tcp.mss.0 as u32;
        let mut tuning = Tuning {
            window,
            clamp: 0,
            memory: tcp.memory.receive.0,
            memory_max: tcp.memory.receive_max.0.max(tcp.memory.receive.0),
            ratio: DEFAULT_RATIO,
            segment_len: 0,
            segment_kind: tcp.memory.segment,
            mss,
            window_limit: tcp.receive_window.0 as u32,
            rtt: None,
            echo: 0,
            round: (next + window, Time::ZERO),
            read_bytes: window.min(INITIAL_SEGMENTS * mss),
            read_from: (next, Time::ZERO),
        };
        tuning.clamp = tuning.max_window();
        tuning
    }

    /// Return the number of bytes of payload that the receive memory can store.
    fn max_window(&self) -> u32 {
        (self.memory * self.ratio / RATIO_UNIT).min(u64::from(self.window_limit)) as u32
    }

    /// Return the window to advertise while the application has not read `unread` bytes.
    pub fn window(&self, unread: u32) -> u32 {
        self.window.saturating_add(unread).min(self.clamp.max(self.window))
    }

    /// Process the arrival of `len` bytes of data. `next` is RCV.NXT. Return true if the receive
    /// window grows.
    pub fn on_data(&mut self, now: Time, len: u32, next: Seq) -> bool {
        if self.segment_len == 0 {
            (self.round.1, self.read_from.1) = (now, now);
        }
        if len != self.segment_len && len >= self.mss / 2 {
            self.segment_len = len;
            self.ratio =
                (u64::from(len) * RATIO_UNIT / u64::from(segment_memory(len, self.segment_kind))).max(1);
            self.clamp = self.max_window();
            self.read_bytes = self.read_bytes.min(self.clamp);
        }
        if !next.before(self.round.0) {
            let sample = now.since(self.round.1);
            self.rtt = Some(self.rtt.map_or(sample, |rtt| rtt.min(sample)));
            self.round = (next + self.window, now);
        }
        let remaining = self.clamp.saturating_sub(self.window);
        let growth = if len < MIN_GROWTH_LEN || remaining == 0 { 0 } else { self.growth(len) };
        self.window += growth.min(remaining);
        growth > 0
    }

    /// Return the growth of the window for a segment: two segments, or 0 if the memory of the
    /// segment exceeds its payload by too much.
    fn growth(&self, len: u32) -> u32 {
        let (mut charged, mut bound) = (
            u64::from(segment_memory(len, self.segment_kind)) * self.ratio / RATIO_UNIT,
            self.memory_max * self.ratio / RATIO_UNIT,
        );
        if charged > u64::from(len) {
            loop {
                (charged, bound) = (charged / 2, bound / 2);
                if u64::from(self.window) > bound {
                    return 0;
                }
                if charged <= u64::from(len) {
                    break;
                }
            }
        }
        2 * self.mss.max(len)
    }

    /// Process a timestamp that a full segment echoes. `sample` is the time since the echoed
    /// timestamp was sent. Each timestamp counts once.
    pub fn on_timestamp_echo(&mut self, echo: u32, sample: Duration, len: u32) {
        if echo != self.echo && len >= self.segment_len && sample > Duration::ZERO {
            self.on_round_trip(sample);
        }
        self.echo = echo;
    }

    /// Update the estimate of the round-trip time: a shorter sample replaces the estimate at once,
    /// and a longer sample enters a moving average.
    fn on_round_trip(&mut self, sample: Duration) {
        self.rtt = Some(match self.rtt {
            Some(rtt) if sample > rtt => Duration(rtt.0 - rtt.0 / 8 + sample.0 / 8),
            _ => sample,
        });
    }

    /// Process a read by the application. `to` is the sequence number after the last byte that was
    /// read. If the application reads more in a round trip than in any earlier round trip, the
    /// memory grows, so that it can store the data that a sender can send in the next two round
    /// trips.
    pub fn on_read(&mut self, now: Time, to: Seq) {
        let Some(rtt) = self.rtt.filter(|&rtt| now.since(self.read_from.1) >= rtt) else { return };
        if rtt == Duration::ZERO {
            return;
        }
        let copied = to - self.read_from.0;
        if copied > self.read_bytes {
            let mut window = 2 * u64::from(copied) + 16 * u64::from(self.mss);
            window += 2
                * (window.saturating_mul(u64::from(copied - self.read_bytes))
                    / u64::from(self.read_bytes.max(1)));
            let memory = (window * RATIO_UNIT / self.ratio).min(self.memory_max);
            if memory > self.memory {
                self.memory = memory;
                self.clamp = self.max_window();
            }
            self.read_bytes = copied;
        }
        self.read_from = (to, now);
    }

    /// Return the round-trip time, if the receiver has an estimate.
    pub fn rtt(&self) -> Option<Duration> {
        self.rtt
    }

    /// Return the number of bytes that the application read in the last round trip.
    pub fn bytes_read(&self) -> u32 {
        self.read_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tcp(memory: u64) -> Tcp {
        let memory = serde_json::json!({"segment": "linear", "receive": format!("{memory} B"), "receive_max": "8388608 B"});
        let changes = serde_json::json!({"mss": "1460 B", "memory": memory, "receive_window": "8388608 B"});
        Tcp::of_stack("linux", &changes).unwrap()
    }

    /// A Linux kernel with 4 MiB of receive memory increases its window from 2096560 B to 2654208
    /// B, which is 162/256 of the receive memory. Each arriving segment increases the window by two
    /// segments, so that 192 segments suffice for the growth of the window from 2096560 B to
    /// 2654208 B.
    #[test]
    fn window_grows_by_two_segments_per_segment() {
        let mut t = Tuning::new(Seq(0), &tcp(4_194_304));
        assert_eq!(t.window(0), 2_096_560);
        let (mut next, mut grown) = (Seq(0), 0);
        for _ in 0..1000 {
            next = next + 1448;
            grown += u32::from(t.on_data(Time::ZERO, 1448, next));
        }
        assert_eq!((t.window(0), grown), (2_654_208, 191));
    }

    /// If the receive memory gave an initial window below one segment, the connection would block.
    /// The parameters require a receive memory of at least two segments.
    #[test]
    fn memory_below_two_segments_is_an_error() {
        let changes = serde_json::json!({"mss": "1460 B", "memory": {"receive": "2919 B"}});
        let error = Tcp::of_stack("linux", &changes).unwrap_err().to_string();
        assert!(error.contains("memory.receive") && error.contains("twice the mss"), "{error}");
    }

    /// If the application reads twice as much in each round trip, the receive memory doubles too,
    /// up to its maximum.
    #[test]
    fn memory_grows_with_the_data_read() {
        let mut t = Tuning::new(Seq(0), &tcp(131_072));
        assert_eq!(t.window(0), 64_240);
        let (mut next, mut now) = (Seq(0), Time::ZERO);
        let mut window = 0;
        for round in 0..10 {
            for _ in 0..10u32 << round {
                next = next + 1448;
                now += Duration(Duration::from_millis(40).0 / u64::from(10u32 << round));
                t.on_data(now, 1448, next);
                t.on_round_trip(Duration::from_millis(40));
                t.on_read(now, next);
            }
            assert!(t.window(0) >= window);
            window = t.window(0);
            assert!(window >= (20u32 << round) * 1448 || window > 5_000_000, "{round}: {window}");
        }
        assert_eq!(window, 5_308_416, "162 of 256 parts of 8 MiB");
    }
}
