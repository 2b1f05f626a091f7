//! Encoding and decoding of real packets: IP, TCP and UDP headers with checksums, and capture
//! files.
//!
//! A [`Datagram`] can be decoded from bytes and encoded to bytes. The function [`headers`] encodes
//! a simulated packet. A [`Capture`] writes packets to a pcapng file that has one interface per
//! link or host. The function [`pcapng::read`] reads a pcapng file. Decoding never panics: for any
//! bytes, the result is a value or an [`Error`].

mod accurate_ecn;
mod capture;
mod datagram;
mod endpoints;
mod error;
mod inline_vec;
mod ip;
mod options;
pub mod pcapng;
mod simulated;
mod tcp;
mod udp;

pub use capture::{Capture, CaptureError, Content, Interface};
pub use datagram::{Datagram, Transport};
pub use endpoints::{Addresses, Endpoints, Family};
pub use error::Error;
pub use inline_vec::InlineVec;
pub use ip::Ip;
pub use options::{Cookie, Options, SackBlocks, TcpOption};
pub use simulated::{Protocol, SegmentExtras, headers};
pub use tcp::Tcp;
pub use udp::Udp;
