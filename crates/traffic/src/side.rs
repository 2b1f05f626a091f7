//! The two endpoints of a connection, named by their roles in an application.

/// Endpoint of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The endpoint that opens the connection, at the host `from` of the flow.
    Client,
    /// The endpoint that accepts the connection, at the host `to` of the flow.
    Server,
}
