//! Loss detection of RFC 6675 §4 (`rfc6675`), IsLost: a segment is lost if at least DupThresh
//! segments, or more than (DupThresh - 1) SMSS bytes, above it are SACKed.

use net::Seq;

use crate::recovery::scoreboard::Scoreboard;

/// Return the sequence number below which every segment that is not SACKed is lost, or `None` if no
/// segment is lost.
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
