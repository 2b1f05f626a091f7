//! Socket options and flags with which the application controls its sender.

/// Set of socket flags, one bit per flag.
#[derive(Clone, Copy, Debug, Default)]
pub struct SocketFlags(u8);

impl SocketFlags {
    /// Small segments do not wait for ACKs (TCP_NODELAY).
    pub const NODELAY: u8 = 1;
    /// Small segments wait until the socket is uncorked (TCP_CORK).
    pub const CORK: u8 = 2;
    /// The application announces more data, so that a small segment waits for the next write
    /// (MSG_MORE).
    pub const MORE: u8 = 4;
    /// The waiting data is sent now, even if the socket is corked.
    pub const PUSH: u8 = 8;

    /// The application reads the delivery rate (TCP_INFO).
    pub const RATE: u8 = 16;

    /// Return true if at least one of these flags is set.
    pub fn any(self, bits: u8) -> bool {
        self.0 & bits != 0
    }

    /// Set or clear a flag.
    pub fn set(&mut self, bit: u8, on: bool) {
        self.0 = self.0 & !bit | if on { bit } else { 0 };
    }
}
