//! Encoding and decoding of real packets: IP, TCP and UDP headers with checksums, and capture
//! files.
//!
//! A [`Datagram`] is decoded from bytes or encoded to them, and [`headers`] encodes a packet of the
//! simulator. [`Capture`] writes packets to a pcapng file with an interface per link or host, and
//! [`pcapng::read`] reads such a file. Decoding any bytes returns a value or an [`Error`].

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
