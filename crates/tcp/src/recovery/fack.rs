//! Forward acknowledgement, Mathis & Mahdavi 1996 §3 (`mathis1996fack`): what lies more than three segments
//! below the forward-most SACKed byte (snd.fack) is lost.

use net::Seq;

use crate::recovery::scoreboard::Scoreboard;

/// Everything that was not SACKed and starts before this is lost; `None`: nothing is.
pub fn lost_before(board: &Scoreboard, dup_thresh: u32, smss: u32) -> Option<Seq> {
    let fack = board.forward_most()?;
    let limit = Seq(fack.0.wrapping_sub(dup_thresh * smss));
    Some(limit)
}
