//! Congestion control: equations for cwnd and ssthresh.
//!
//! The sender owns cwnd and ssthresh. Loss recovery decides when the window is reduced, and a
//! congestion control decides the size of the reduction and the growth that follows.
//!
//! Each control has a file with its parameters, the properties of its kind ([`Control`]), its state
//! and its equations. `table.rs` lists the controls, and docs/how-to/add-a-congestion-control.md
//! describes how to add a control. If a control has its own rule for the increase of cwnd, it
//! applies this rule only while cwnd limits the data in flight (RFC 7661 §1). For Reno, the sender
//! checks that cwnd limits the data in flight. LEDBAT and BBR have their own bounds of cwnd.

pub mod abe;
pub mod bbr;
pub mod control;
pub mod cubic;
pub mod dctcp;
pub mod event;
pub mod fallback;
pub mod growth;
#[cfg(test)]
pub(crate) mod harness;
pub mod highspeed;
pub mod htcp;
pub mod hybrid_start;
pub mod hystart;
pub mod illinois;
pub mod ledbat;
pub mod prague;
pub mod recorded;
pub mod reno;
pub mod scalable;
pub mod slow_start;
pub mod table;
pub mod vegas;
pub mod westwood;

pub use control::{Ack, Congestion, CongestionControl, Control, ImpliedRecovery, Marks, RateSample};
pub use table::{Algorithm, Controller};
