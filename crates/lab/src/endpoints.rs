//! Endpoints of all connections.

use std::ops::{Index, IndexMut};
use std::sync::Arc;

use net::End;
use tcp::{Endpoint, Tcp};
use units::Duration;

/// List with two endpoints per connection: first the endpoint that sends the data, then the
/// endpoint that receives the data.
#[derive(Debug, Default)]
pub struct Endpoints(Vec<Endpoint>);

impl Endpoints {
    /// Return an empty list with capacity for the endpoints of `connections` connections.
    pub fn with_capacity(connections: usize) -> Self {
        Endpoints(Vec::with_capacity(2 * connections))
    }

    /// Return the number of endpoints.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Add the two endpoints of another connection.
    pub fn push(&mut self, both: [Endpoint; 2]) {
        self.0.extend(both);
    }

    /// Add unused endpoints for connection slots without a connection, such as those of flows of
    /// datagrams. The index of an endpoint is computed from the index of its connection slot, so
    /// each slot needs two endpoints.
    pub fn skip(&mut self, connections: usize, tcp: &Tcp) {
        let tcp = Arc::new(tcp.clone());
        self.0.extend((0..2 * connections).map(|_| Endpoint::new(tcp.clone(), Duration::ZERO)));
    }

    /// Replace the endpoints of a closed connection by the endpoints of a new connection.
    pub fn replace(&mut self, connection: u32, [sender, receiver]: [Endpoint; 2]) {
        self[End::sender(connection)] = sender;
        self[End::receiver(connection)] = receiver;
    }

    /// Return the two endpoints of a connection.
    pub fn of(&self, connection: u32) -> [&Endpoint; 2] {
        [&self[End::sender(connection)], &self[End::receiver(connection)]]
    }
}

impl Index<End> for Endpoints {
    type Output = Endpoint;
    #[inline(always)]
    fn index(&self, end: End) -> &Endpoint {
        &self.0[end.index()]
    }
}

impl IndexMut<End> for Endpoints {
    #[inline(always)]
    fn index_mut(&mut self, end: End) -> &mut Endpoint {
        &mut self.0[end.index()]
    }
}
