//! What applications do with a connection, and when connections come.

mod arrivals;
mod bulk;
mod messages;
mod size;
mod spacing;

pub use arrivals::Arrivals;
pub use bulk::Bulk;
pub use messages::Messages;
pub use size::{Distribution, Size};
pub use spacing::Spacing;

use units::{Params, choice};

choice! {
    /// The traffic of a flow.
    pub enum Traffic {
        Bulk(Bulk),
        Messages(Messages),
    }
}

impl Traffic {
    /// The key of its kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Traffic::Bulk(_) => Bulk::KEY,
            Traffic::Messages(_) => Messages::KEY,
        }
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
