//! Captures in the format pcapng (draft-ietf-opsawg-pcapng): written a block at a time, read back whole.
//!
//! Of its blocks these are known: section header, interface description, enhanced packet.

mod blocks;
mod read;
mod write;

pub use blocks::LINKTYPE_RAW;
pub use read::{Interface, Malformed, Record, Recording, read};
pub use write::Writer;
