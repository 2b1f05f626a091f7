//! Scenarios over the TCP of the Linux kernel. The clients and servers of a scenario are sockets in
//! network namespaces. Each namespace has a TUN device, and this crate passes the packets between
//! the devices through the links, queues, conditioners and impairments of the crate `lab`.
//!
//! The namespaces and devices have no names outside of this process, so they disappear with it.

#![cfg(target_os = "linux")]

mod capture;
mod clock;
mod error;
mod host;
mod lateness;
mod qdisc;
mod report;
mod router;
mod settings;
mod sockets;
#[allow(unsafe_code)]
mod sys;

pub use clock::Pace;
pub use error::Error;
pub use report::{Counters, Report};
pub use router::{Plan, run};
