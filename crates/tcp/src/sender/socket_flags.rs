//! What the application socket_flags: of small segments, and to be told.

/// The application's socket_flags, each a bit.
#[derive(Clone, Copy, Debug, Default)]
pub struct SocketFlags(u8);

impl SocketFlags {
    pub const NODELAY: u8 = 1;
    pub const CORK: u8 = 2;
    /// More comes soon: until something arrives.
    pub const MORE: u8 = 4;
    /// What waits now goes, corked or not.
    pub const PUSH: u8 = 8;

    /// It asks for the delivery rate (TCP_INFO).
    pub const RATE: u8 = 16;

    pub fn any(self, bits: u8) -> bool {
        self.0 & bits != 0
    }

    pub fn set(&mut self, bit: u8, on: bool) {
        self.0 = self.0 & !bit | if on { bit } else { 0 };
    }
}
