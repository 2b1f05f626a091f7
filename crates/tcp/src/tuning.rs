//! The receive window as Linux finds it: it grows with the data that arrives, up to what the memory for received data holds, and
//! that memory grows with what the application reads in a round trip (dynamic right-sizing).
//!
//! Source: tcp_grow_window, tcp_measure_rcv_mss, tcp_rcv_rtt_update and tcp_rcv_space_adjust of Linux 6.12. While the window grows each
//! segment is acknowledged at once. A segment costs more memory than its payload: here that of a packet of its own, as an Ethernet
//! device without coalescing leaves it.
//!
//! Missing: memory pressure, and the memory that unread data takes beside its payload.

use net::Seq;
use units::{Duration, Time};

use crate::config::{SegmentMemory, Tcp};
use crate::memory::PACKET_OVERHEAD;

/// Memory that a segment takes beside its data: the descriptor, and what goes with the data in one allocation: headers, headroom, and what
/// describes fragments (sk_buff and skb_shared_info of Linux 6.12).
const DESCRIPTOR: u32 = 240;
const BESIDE_DATA: u32 = 66 + 64 + 320;
/// Shares of the memory are 256ths of it; a half before anything is known (TCP_DEFAULT_SCALING_RATIO).
const RATIO_UNIT: u64 = 256;
const DEFAULT_RATIO: u64 = 128;
/// Data shorter than this does not open the window.
const MIN_GROWTH_LEN: u32 = 128;
/// Segments of the first window that a sender may have (TCP_INIT_CWND).
const INITIAL_SEGMENTS: u32 = 10;

/// What the window is found by.
#[derive(Clone, Debug)]
pub struct Tuning {
    /// The window to be advertised (rcv_ssthresh), and what it may grow to (window_clamp).
    window: u32,
    clamp: u32,
    /// Memory for received data (rcvbuf), and its greatest.
    memory: u64,
    memory_max: u64,
    /// The part of it that is data, in 256ths, and the segment that said so.
    ratio: u64,
    segment_len: u32,
    segment_kind: SegmentMemory,
    mss: u32,
    window_limit: u32,
    /// Least or average round trip.
    rtt: Option<Duration>,
    /// Our timestamp that came back last.
    echo: u32,
    /// A window's worth of data began here and then.
    round: (Seq, Time),
    /// What was read in the last round trip, and since when the next is counted.
    read_bytes: u32,
    read_from: (Seq, Time),
}

/// Memory that a segment of `len` bytes takes.
fn segment_memory(len: u32, kind: SegmentMemory) -> u32 {
    match kind {
        SegmentMemory::Linear => DESCRIPTOR + (len + BESIDE_DATA).next_power_of_two(),
        SegmentMemory::Fragments => len + PACKET_OVERHEAD,
    }
}

impl Tuning {
    /// The window when a connection begins.
    pub fn first_window(tcp: &Tcp) -> u32 {
        let whole = tcp.memory.receive.0 * DEFAULT_RATIO / RATIO_UNIT;
        let segment = tcp.mss.0.max(1);
        let window = if whole > segment { whole / segment * segment } else { whole };
        window.min(tcp.receive_window.0) as u32
    }

    /// A connection that begins, and expects `next`.
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

    /// All that the memory holds of data.
    fn max_window(&self) -> u32 {
        (self.memory * self.ratio / RATIO_UNIT).min(u64::from(self.window_limit)) as u32
    }

    /// The window, while so much was not read.
    pub fn window(&self, unread: u32) -> u32 {
        self.window.saturating_add(unread).min(self.clamp.max(self.window))
    }

    /// A segment with data arrives, `next` being RCV.NXT: whether the window grows.
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
        let room = self.clamp.saturating_sub(self.window);
        let grows = if len < MIN_GROWTH_LEN || room == 0 { 0 } else { self.growth(len) };
        self.window += grows.min(room);
        grows > 0
    }

    /// By how much a segment opens the window: two of it, unless its memory is too much for what it brings.
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

    /// A full segment has this of our timestamps, that long ago; each counts once.
    pub fn on_timestamp_echo(&mut self, echo: u32, sample: Duration, len: u32) {
        if echo != self.echo && len >= self.segment_len && sample > Duration::ZERO {
            self.on_round_trip(sample);
        }
        self.echo = echo;
    }

    fn on_round_trip(&mut self, sample: Duration) {
        self.rtt = Some(match self.rtt {
            Some(rtt) if sample > rtt => Duration(rtt.0 - rtt.0 / 8 + sample.0 / 8),
            _ => sample,
        });
    }

    /// The application has read up to `to`: more in a round trip than in any before asks for more memory, that of what a sender may send in the next
    /// two.
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

    /// The round trip, as far as it is known.
    pub fn rtt(&self) -> Option<Duration> {
        self.rtt
    }

    /// What was read in the last round trip.
    pub fn bytes_read(&self) -> u32 {
        self.read_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tcp(memory: u64) -> Tcp {
        let memory = serde_json::json!({"segment": "linear", "receive": format!("{memory} B"), "receive_max": "8388608 B"});
        let said = serde_json::json!({"mss": "1460 B", "memory": memory, "receive_window": "8388608 B"});
        Tcp::of_stack("linux", &said).unwrap()
    }

    /// A kernel with 4 MiB: from 2096560 B to 2654208 B, 162 of 256 parts, by two segments a segment: 192 of them.
    #[test]
    fn the_window_grows_by_two_segments_a_segment() {
        let mut t = Tuning::new(Seq(0), &tcp(4_194_304));
        assert_eq!(t.window(0), 2_096_560);
        let (mut next, mut grown) = (Seq(0), 0);
        for _ in 0..1000 {
            next = next + 1448;
            grown += u32::from(t.on_data(Time::ZERO, 1448, next));
        }
        assert_eq!((t.window(0), grown), (2_654_208, 191));
    }

    /// A first window below a segment would let nothing in for ever.
    #[test]
    fn too_little_memory_is_refused() {
        let said = serde_json::json!({"mss": "1460 B", "memory": {"receive": "2919 B"}});
        let error = Tcp::of_stack("linux", &said).unwrap_err().to_string();
        assert!(error.contains("memory.receive") && error.contains("twice the mss"), "{error}");
    }

    /// Twice as much is read in each round trip: the memory follows, up to its greatest.
    #[test]
    fn memory_follows_what_is_read() {
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
