//! The endpoints of all connections.

use std::ops::{Index, IndexMut};
use std::sync::Arc;

use net::End;
use tcp::{Endpoint, Tcp};
use units::Duration;

/// For each connection the endpoint that sends its data and that which receives it.
#[derive(Debug, Default)]
pub struct Endpoints(Vec<Endpoint>);

impl Endpoints {
    /// With room for those of so many connections.
    pub fn with_capacity(connections: usize) -> Self {
        Endpoints(Vec::with_capacity(2 * connections))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Adds those of another connection.
    pub fn push(&mut self, both: [Endpoint; 2]) {
        self.0.extend(both);
    }

    /// Passes over so many connections that have none, before those of connections that come and go. (A place is found by
    /// the connection's number alone, so the room is taken.)
    pub fn skip(&mut self, connections: usize, tcp: &Tcp) {
        let tcp = Arc::new(tcp.clone());
        self.0.extend((0..2 * connections).map(|_| Endpoint::new(tcp.clone(), Duration::ZERO)));
    }

    /// Puts those of another connection in place of those of an old one.
    pub fn replace(&mut self, connection: u32, [sender, receiver]: [Endpoint; 2]) {
        self[End::sender(connection)] = sender;
        self[End::receiver(connection)] = receiver;
    }

    /// Those of a connection, which has them.
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
