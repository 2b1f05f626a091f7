//! What applications do with a connection.

mod bulk;

pub use bulk::Bulk;

use units::choice;

choice! {
    /// The traffic of a flow.
    pub enum Traffic {
        Bulk(Bulk),
    }
}
