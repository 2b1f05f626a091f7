//! What applications do with a connection, when connections come, and packets without one.

mod arrivals;
mod bulk;
pub mod datagrams;
mod messages;
mod size;
mod spacing;

pub use arrivals::Arrivals;
pub use bulk::Bulk;
pub use datagrams::Emitter;
pub use messages::Messages;
pub use size::{Distribution, Size};
pub use spacing::Spacing;

use datagrams::{Cbr, OnOff, Poisson, Replay, Voip};
use units::choice;

choice! {
    /// The traffic of a flow.
    pub enum Traffic {
        Bulk(Bulk),
        Messages(Messages),
        Cbr(Cbr),
        Voip(Voip),
        Poisson(Poisson),
        OnOff(OnOff),
        Replay(Replay),
    }
}

impl Traffic {
    /// Whether it is packets that nobody answers, with no connection.
    pub fn is_datagrams(&self) -> bool {
        !matches!(self, Traffic::Bulk(_) | Traffic::Messages(_))
    }

    /// Whether a connection with it ever closes; if not, the key whose absence says so.
    pub fn ends(&self) -> Result<(), &'static str> {
        match self {
            Traffic::Bulk(Bulk { size: None }) => Err("size"),
            Traffic::Messages(Messages { messages: None, .. }) => Err("messages"),
            _ => Ok(()),
        }
    }
}
