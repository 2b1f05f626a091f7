//! TCP, sans-I/O: `(now, segment)` in; segments and the next deadline out.
//!
//! Byte sequence numbers, real flags, handshake to teardown (RFC 9293). Loss recovery, congestion
//! control, the retransmission timer and the ECN response are separate files that combine; the
//! sender alone owns cwnd and ssthresh.
//!
//! Missing: urgent data, keep-alive, path MTU discovery.

#![recursion_limit = "256"] // for the tables of stacks

mod config;
pub mod congestion;
pub mod ecn;
mod endpoint;
pub mod fast_open;
mod implied;
mod memory;
mod receiver;
pub mod recovery;
pub mod rto;
mod sender;
mod stack;
mod timestamp;
mod tuning;
mod window;

pub use config::*;
pub use endpoint::{Endpoint, Error, Info, State};
pub use receiver::ReceiverStats;
pub use sender::SenderStats;
pub use window::Window;

/// The manual pages of an endpoint: its own, with the keys that each stack sets, those of its tables, then those of the
/// congestion controls and of slow start.
pub fn pages() -> Vec<units::param::Json> {
    use congestion::slow_start::SlowStart;
    use units::param::page;
    let mut own = page::<Tcp>();
    for stack in Tcp::STACKS {
        own["implied"][format!("stack.{stack}")] = Tcp::implied(stack);
    }
    let mut pages = vec![
        own,
        page::<EcnParameters>(),
        page::<RecoveryParameters>(),
        page::<RtoParameters>(),
        page::<AckParameters>(),
        page::<CwndParameters>(),
        page::<WindowParameters>(),
        page::<MemoryParameters>(),
        page::<ConnectionParameters>(),
        page::<WireParameters>(),
        page::<DetailParameters>(),
    ];
    pages.extend(congestion::Algorithm::pages());
    pages.extend(SlowStart::pages());
    pages
}
