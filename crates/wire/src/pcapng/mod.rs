//! Captures in pcapng format (draft-ietf-opsawg-pcapng). Captures are written block by block and
//! read as a whole.
//!
//! Three kinds of blocks are supported: section header, interface description and enhanced packet.

mod blocks;
mod read;
mod write;

pub use blocks::LINKTYPE_RAW;
pub use read::{Interface, Malformed, Record, Recording, read};
pub use write::Writer;
