//! Differentiated services: codepoints, the classification of packets, and the conditioner that
//! meters, marks and drops packets before a queue.
//!
//! Source: RFC 2475 (`rfc2475`), the architecture. At the edge of a domain, packets are classified
//! by several fields, metered, marked, dropped or delayed (§2.3). Inside the domain, packets are
//! classified by their codepoint alone.

mod classifier;
mod colour;
mod conditioner;
mod dscp;
pub mod meters;
pub mod phb;
mod tokens;

pub use classifier::{Classifier, EcnField, Flow, Flows, Match, NoFlows, Protocol};
pub use colour::{Colour, Mode, low};
pub use conditioner::{Action, Conditioner, Marker, Rule, Seen, check_rules};
pub use dscp::Dscp;

use units::param::{Json, page};

/// Return the manual pages of the conditioner and its meters.
pub fn pages() -> Vec<Json> {
    let mut pages = vec![page::<Rule>(), page::<Match>(), page::<Marker>()];
    pages.extend(meters::Meter::pages());
    pages
}
