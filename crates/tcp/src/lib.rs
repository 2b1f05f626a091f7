//! TCP, sans-I/O: `(now, segment)` in; segments and the next deadline out.
//!
//! Byte sequence numbers, real flags, handshake to teardown (RFC 9293). Loss recovery, congestion
//! control, the retransmission timer and the ECN response are separate files that combine; the
//! sender alone owns cwnd and ssthresh.
//!
//! Missing: options, window scaling (windows are carried in full), urgent data, zero-window
//! probes, Nagle's algorithm, simultaneous open, the 2 MSL wait (TIME-WAIT ends at once).

mod config;
pub mod congestion;
pub mod ecn;
mod endpoint;
mod receiver;
pub mod recovery;
pub mod rto;
mod sender;

pub use config::{
    Ecn, EctOn, FastRetransmit, GapAck, RecoveryExit, RtoEstimator, SlowStartFrom, SsthreshFrom, Tcp,
};
pub use endpoint::{Endpoint, State};
pub use receiver::ReceiverStats;
pub use sender::{SenderStats, Window};

/// The manual pages of an endpoint: its own, then those of the congestion controls and of slow start.
pub fn pages() -> Vec<units::param::Json> {
    use congestion::slow_start::SlowStart;
    let mut pages = vec![units::param::page::<Tcp>()];
    pages.extend(congestion::Algorithm::pages());
    pages.extend(SlowStart::pages());
    pages
}
