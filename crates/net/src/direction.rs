//! Directions and endpoints of a connection.

/// Direction of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Direction {
    /// Direction from the sender of the data to the receiver of the data.
    #[default]
    Forward = 0,
    /// Direction from the receiver of the data to the sender of the data, in which ACKs travel.
    Reverse = 1,
}

impl Direction {
    /// Both directions.
    pub const BOTH: [Direction; 2] = [Direction::Forward, Direction::Reverse];

    /// Return the opposite direction.
    #[inline]
    pub fn opposite(self) -> Direction {
        if self == Direction::Forward { Direction::Reverse } else { Direction::Forward }
    }

    /// Return the index of the direction in arrays with one entry per direction.
    #[inline]
    pub fn index(self) -> usize {
        self as usize
    }
}

/// Endpoint of a connection: the sender of the data or its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End(u32);

impl End {
    /// Return the endpoint that sends the data of a connection.
    #[inline]
    pub fn sender(connection: u32) -> End {
        End(2 * connection)
    }

    /// Return the endpoint that receives the data of a connection.
    #[inline]
    pub fn receiver(connection: u32) -> End {
        End(2 * connection + 1)
    }

    /// Return the endpoint of a connection to which packets in the given direction travel.
    #[inline]
    pub fn reached(connection: u32, direction: Direction) -> End {
        End(2 * connection + 1 - direction as u32)
    }

    /// Return the endpoint with the given number. The two endpoints of a connection have
    /// consecutive numbers, and the sender has the lower one.
    #[inline]
    pub fn from_index(index: u32) -> End {
        End(index)
    }

    /// Return the number of the endpoint.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// Return the connection.
    #[inline]
    pub fn connection(self) -> u32 {
        self.0 / 2
    }

    /// Return the direction in which the packets of the endpoint travel.
    #[inline]
    pub fn sends(self) -> Direction {
        if self.is_sender() { Direction::Forward } else { Direction::Reverse }
    }

    /// Return true if the endpoint is the sender of the data.
    #[inline]
    pub fn is_sender(self) -> bool {
        self.0.is_multiple_of(2)
    }

    /// Return the opposite endpoint.
    #[inline]
    pub fn opposite(self) -> End {
        End(self.0 ^ 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_of_an_endpoint_reach_the_opposite_one() {
        for connection in [0, 1, 7] {
            let (sender, receiver) = (End::sender(connection), End::receiver(connection));
            assert_eq!((sender.opposite(), receiver.opposite()), (receiver, sender));
            assert_eq!((sender.sends(), receiver.sends()), (Direction::Forward, Direction::Reverse));
            for end in [sender, receiver] {
                assert_eq!(end.connection(), connection);
                assert_eq!(End::reached(connection, end.sends()), end.opposite());
                assert_eq!(End::from_index(end.index() as u32), end);
                assert_eq!(end.opposite().sends(), end.sends().opposite());
            }
        }
    }
}
