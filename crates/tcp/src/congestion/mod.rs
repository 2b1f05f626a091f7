//! Congestion control: numbers in, numbers out. The sender owns cwnd and ssthresh; loss recovery says
//! when the window is cut, a controller says to what.
//!
//! One file an algorithm: its parameters, what it says of itself ([`Control`]), its state, its equations. `table.rs` is the table
//! of them; docs/how-to/add-a-congestion-control.md adds one. Those that increase cwnd by a rule of their own do so only while
//! cwnd limits what is in flight (RFC 7661 §1); Reno leaves that to the sender, LEDBAT and BBR have bounds of their own.

pub mod abe;
pub mod bbr;
pub mod control;
pub mod cubic;
pub mod dctcp;
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
pub mod reno;
pub mod scalable;
pub mod slow_start;
pub mod table;
pub mod vegas;
pub mod westwood;

pub use control::{Ack, Congestion, CongestionControl, Control, ImpliedRecovery, Marks, RateSample};
pub use table::{Algorithm, Controller};
