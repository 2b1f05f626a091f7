//! Optional state of a sender: measurements for congestion controllers, record boundaries, and
//! detection of spurious retransmissions.

use std::collections::VecDeque;

use net::Seq;
use units::{Duration, Time};

use super::push::PushState;
use super::send_queue::SendQueue;
use crate::config::{Push, Tcp};
use crate::recovery::eifel::Undo;
use crate::recovery::frto::Frto;
use crate::recovery::reordering::ReorderingDegree;
use crate::timestamp::timestamp;

/// Optional state that senders with and without SACK share. Senders with and without SACK count
/// delivered bytes separately, outside this struct.
#[derive(Clone, Debug)]
pub(super) struct Tracking {
    /// Degree of reordering.
    pub reordering: ReorderingDegree,
    /// State of F-RTO.
    pub frto: Frto,
    /// State before the last reduction of cwnd, which the sender restores if the retransmission was
    /// spurious.
    pub undo: Undo,
    /// True if segments carry timestamps, so that the sender records the timestamp of a
    /// retransmission for Eifel detection.
    pub timestamps: bool,
    /// Time at which the user timeout starts, set when the retransmission timer first expires.
    pub user_timeout_start: Time,
    /// Minimum round-trip time.
    pub min_rtt: Duration,
    /// SND.MAX at the start of the current round trip.
    pub round_end: Seq,
    /// True if the application had no unsent data when the endpoint last requested a segment.
    pub app_limited: bool,
    /// Total of delivered bytes up to which delivery rate samples are application-limited, or 0 if
    /// no sample is application-limited.
    pub app_limited_until: u64,
    /// Ends of records. A segment does not cross the end of a record.
    pub records: VecDeque<Seq>,
    /// State of Linux's algorithm for PSH, if the sender uses this algorithm.
    pub push_state: Option<PushState>,
    /// Time at which pacing permits the next segment.
    pub pace_at: Time,
    /// Time at which data was last sent.
    pub last_sent: Time,
    /// True if cwnd limited the sender in the current window of data (Linux, is_cwnd_limited).
    pub cwnd_limited: bool,
    /// End of the current window of data (Linux, cwnd_usage_seq).
    pub cwnd_usage_end: Seq,
    /// Maximum bytes in flight in the current window of data (Linux, max_packets_out).
    pub max_flight: f64,
    /// Sequence number after the last sent segment that was smaller than SMSS (Minshall's SND.SML).
    pub small_end: Seq,
    /// The send buffer and its super-packets, if the parameters limit the send buffer or enable
    /// offload.
    pub queue: Option<Box<SendQueue>>,
}

impl Tracking {
    /// Create the state of a connection established at `now`. `una` is the sequence number of the
    /// connection's first byte of data, and `syn_rtt` is the SRTT after the handshake.
    pub fn new(now: Time, una: Seq, syn_rtt: Duration, timestamps: bool, tcp: &Tcp) -> Self {
        Tracking {
            reordering: ReorderingDegree::new(tcp.recovery.duplicate_acks.0 as u32),
            frto: Frto::Off,
            undo: Undo::default(),
            timestamps,
            user_timeout_start: now,
            min_rtt: if syn_rtt == Duration::ZERO { Duration(u64::MAX) } else { syn_rtt },
            round_end: una,
            app_limited: false,
            app_limited_until: 0,
            records: VecDeque::new(),
            push_state: (tcp.connection.push == Push::Linux).then(|| PushState::new(una)),
            pace_at: Time::ZERO,
            last_sent: now,
            cwnd_limited: false,
            cwnd_usage_end: una,
            max_flight: 0.0,
            small_end: una,
            queue: None,
        }
    }

    /// Return true if the delivery rate sample of a segment is application-limited. `delivered` is
    /// the number of bytes that were delivered before the segment was sent.
    #[inline]
    pub fn is_app_limited_at(&self, delivered: u64) -> bool {
        self.app_limited_until > 0 && delivered <= self.app_limited_until
    }

    /// Record that a retransmission is sent.
    pub fn on_retransmit(&mut self, now: Time) {
        self.undo.on_retransmit(self.timestamps.then(|| timestamp(now)));
    }
}
