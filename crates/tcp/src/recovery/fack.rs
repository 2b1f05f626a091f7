//! Forward acknowledgement (Mathis & Mahdavi 1996 §3, `mathis1996fack`): a segment is lost if it
//! starts more than three segments below the forward-most SACKed byte (snd.fack).

use net::Seq;

use crate::recovery::scoreboard::Scoreboard;

/// Return the sequence number below which every segment that is not SACKed is lost, or `None` if no
/// segment is lost.
pub fn lost_before(board: &Scoreboard, dup_thresh: u32, smss: u32) -> Option<Seq> {
    let fack = board.forward_most()?;
    let limit = Seq(fack.0.wrapping_sub(dup_thresh * smss));
    Some(limit)
}
