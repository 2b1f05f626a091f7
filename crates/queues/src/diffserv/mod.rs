//! Differentiated services: codepoints, and which packets a rule or a class takes.
//!
//! Source: RFC 2475 (`rfc2475`), the architecture: packets are told apart at the edge by several fields and
//! inside by their codepoint alone (§2.3.1).

mod classifier;
mod dscp;

pub use classifier::{Classifier, EcnField, Flow, Flows, Match, NoFlows, Protocol};
pub use dscp::Dscp;
