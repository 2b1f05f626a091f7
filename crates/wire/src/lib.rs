//! Real packets: IP, TCP and UDP headers as bytes with their checksums, and captures that other tools open.
//!
//! A [`Datagram`] is read from bytes or written to them; [`headers`] does so for a packet of the simulator.
//! [`Capture`] puts such packets into a pcapng file, an interface a link or host; [`pcapng::read`] reads it back.
//! Whatever the bytes, reading ends with a value or with an [`Error`] that says what is wrong with them.

mod accurate_ecn;
mod capture;
mod datagram;
mod ends;
mod error;
mod few;
mod ip;
mod options;
pub mod pcapng;
mod simulated;
mod tcp;
mod udp;

pub use capture::{Capture, CaptureError, Interface, Keep};
pub use datagram::{Datagram, Transport};
pub use ends::{Addresses, Ends, Family};
pub use error::Error;
pub use few::Few;
pub use ip::Ip;
pub use options::{Cookie, Options, SackBlocks, TcpOption};
pub use simulated::{Carried, Protocol, headers};
pub use tcp::Tcp;
pub use udp::Udp;
