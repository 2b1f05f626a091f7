//! The two endpoints of a connection, as applications name them.

/// Endpoint of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The endpoint that opens the connection: the host `from` of the flow.
    Client,
    /// The endpoint that accepts the connection: the host `to` of the flow.
    Server,
}
