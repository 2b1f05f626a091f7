//! The ends of a connection, as applications know them.

/// An end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// That which opens it: the host `from` of the flow.
    Client,
    /// That which it is opened to: the host `to`.
    Server,
}
