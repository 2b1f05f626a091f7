//! When is a segment lost? RFC 6675 §4 (`rfc6675`), IsLost: when more than (DupThresh - 1) SMSS above it
//! are SACKed, or DupThresh segments.

use net::Seq;

use crate::recovery::scoreboard::Scoreboard;

/// Everything that was not SACKed and starts before this is lost; `None`: nothing is.
pub fn lost_before(board: &Scoreboard, dup_thresh: u32, smss: u32) -> Option<Seq> {
    let (mut bytes, mut segments) = (0u32, 0u32);
    for sent in board.sacked_from_the_top() {
        bytes += sent.end - sent.start;
        segments += 1;
        if bytes > (dup_thresh - 1) * smss || segments >= dup_thresh {
            return Some(sent.start);
        }
    }
    None
}
