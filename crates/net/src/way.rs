//! The two ways of a connection, and its two ends.

/// The way that a packet goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Way {
    /// From the sender of the data to its receiver.
    #[default]
    There = 0,
    /// From the receiver to the sender: ACKs.
    Back = 1,
}

impl Way {
    /// Both.
    pub const BOTH: [Way; 2] = [Way::There, Way::Back];

    /// The other way.
    #[inline]
    pub fn opposite(self) -> Way {
        if self == Way::There { Way::Back } else { Way::There }
    }

    /// Its place in what there is one of for each way.
    #[inline]
    pub fn index(self) -> usize {
        self as usize
    }
}

/// An end of a connection: that which sends the data, or that which receives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End(u32);

impl End {
    /// The end that sends the data of a connection.
    #[inline]
    pub fn sender(connection: u32) -> End {
        End(2 * connection)
    }

    /// The end that receives the data of a connection.
    #[inline]
    pub fn receiver(connection: u32) -> End {
        End(2 * connection + 1)
    }

    /// The end of a connection that packets on this way reach.
    #[inline]
    pub fn reached(connection: u32, way: Way) -> End {
        End(2 * connection + 1 - way as u32)
    }

    /// That with this number: the ends of a connection follow each other, the sender first.
    #[inline]
    pub fn from_index(index: u32) -> End {
        End(index)
    }

    /// Its number.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// Its connection.
    #[inline]
    pub fn connection(self) -> u32 {
        self.0 / 2
    }

    /// The way of what it sends.
    #[inline]
    pub fn sends(self) -> Way {
        if self.is_sender() { Way::There } else { Way::Back }
    }

    /// Whether it sends the data.
    #[inline]
    pub fn is_sender(self) -> bool {
        self.0.is_multiple_of(2)
    }

    /// The end opposite.
    #[inline]
    pub fn opposite(self) -> End {
        End(self.0 ^ 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_end_sends_reaches_the_opposite_one() {
        for connection in [0, 1, 7] {
            let (sender, receiver) = (End::sender(connection), End::receiver(connection));
            assert_eq!((sender.opposite(), receiver.opposite()), (receiver, sender));
            assert_eq!((sender.sends(), receiver.sends()), (Way::There, Way::Back));
            for end in [sender, receiver] {
                assert_eq!(end.connection(), connection);
                assert_eq!(End::reached(connection, end.sends()), end.opposite());
                assert_eq!(End::from_index(end.index() as u32), end);
                assert_eq!(end.opposite().sends(), end.sends().opposite());
            }
        }
    }
}
