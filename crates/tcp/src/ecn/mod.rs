//! ECN in TCP: negotiation, echo and response.

pub mod rfc3168;
