//! Captures in pcapng format (draft-ietf-opsawg-pcapng). A capture is written block by block, but
//! read as a whole.
//!
//! Three kinds of pcapng blocks are supported: section header, interface description and enhanced
//! packet.

mod blocks;
mod read;
mod write;

pub use blocks::LINKTYPE_RAW;
pub use read::{Interface, Malformed, Record, Recording, read};
pub use write::Writer;
