//! TCP as a state machine without I/O. The input of the state machine is the time and a segment.
//! The output of the state machine is segments and the time of the next deadline.
//!
//! An endpoint implements sequence numbers that count bytes, the TCP flags, and every state from
//! the handshake to TIME-WAIT (RFC 9293). Loss recovery, congestion control, the retransmission
//! timer and the ECN response are separate modules that can be combined. Only the sender changes
//! cwnd and ssthresh.
//!
//! Urgent data, keep-alive and path MTU discovery are not implemented.

#![recursion_limit = "256"] // the tables of stacks are deeply nested macros

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
pub use window::{CwndChange, Windows};

/// Return the manual pages of the endpoint, of the tables of keys, of the congestion controls, and
/// of slow start. The page of the endpoint lists the keys that each stack sets.
pub fn pages() -> Vec<units::param::Json> {
    use congestion::slow_start::SlowStart;
    use units::param::page;
    let mut own = page::<Tcp>();
    for stack in Tcp::STACKS {
        own["implied"][format!("stack.{stack}")] = Tcp::implied(stack);
    }
    let rules = |rules: &[net::Rule]| rules.iter().map(net::Rule::entry).collect::<units::param::Json>();
    let mut cwnd = page::<CwndParameters>();
    let growth = [congestion::growth::RULES, congestion::hybrid_start::RULES].concat();
    cwnd["rules"] = rules(&[sender::RULES, &growth].concat());
    let mut pages = vec![
        own,
        page::<EcnParameters>(),
        page::<RecoveryParameters>(),
        page::<RtoParameters>(),
        page::<AckParameters>(),
        cwnd,
        page::<WindowParameters>(),
        page::<MemoryParameters>(),
        page::<ConnectionParameters>(),
        page::<WireParameters>(),
        page::<DetailParameters>(),
    ];
    pages.extend(congestion::Algorithm::pages().into_iter().map(|mut page| {
        page["rules"] = rules(congestion::Algorithm::rules(page["name"].as_str().unwrap_or_default()));
        page
    }));
    pages.extend(SlowStart::pages());
    pages
}
