//! What is kept track of beyond bytes, where something needs it: measurements for controllers, records, tests of retransmissions.

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

/// What a sender of either kind keeps track of. Bytes delivered are counted by the kind.
#[derive(Clone, Debug)]
pub(super) struct Tracking {
    pub reordering: ReorderingDegree,
    pub frto: Frto,
    pub undo: Undo,
    /// A timestamp's worth of milliseconds goes out with retransmissions.
    pub timestamps: bool,
    /// From when the user timeout counts, once the timer has expired.
    pub user_timeout_start: Time,
    pub min_rtt: Duration,
    pub round_end: Seq,
    /// The application had no more when something was last asked for.
    pub app_limited: bool,
    /// Bytes delivered when what was sent while the application had no more is delivered.
    pub app_limited_until: u64,
    /// Ends of records that no segment crosses.
    pub records: VecDeque<Seq>,
    /// What Linux remembers of PSH.
    pub push_state: Option<PushState>,
    /// When pacing lets the next segment go.
    pub pace_at: Time,
    pub last_sent: Time,
    pub cwnd_limited: bool,
    pub limit_recorded_until: Seq,
    pub max_flight: f64,
    /// One past the last small segment (Minshall's SND.SML).
    pub small: Seq,
    /// The send buffer and the super-packets in it, if one of them matters.
    pub queue: Option<Box<SendQueue>>,
}

impl Tracking {
    /// Of a connection established at `now`, whose first byte is `una`; `syn_rtt`: SRTT by then.
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
            limit_recorded_until: una,
            max_flight: 0.0,
            small: una,
            queue: None,
        }
    }

    /// Whether the application limited what goes out, or went out, when so much was delivered.
    #[inline]
    pub fn is_app_limited_at(&self, delivered: u64) -> bool {
        self.app_limited_until > 0 && delivered <= self.app_limited_until
    }

    /// A retransmission goes out.
    pub fn on_retransmit(&mut self, now: Time) {
        self.undo.on_retransmit(self.timestamps.then(|| timestamp(now)));
    }
}
