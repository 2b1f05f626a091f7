//! Prediction of the data that an ACK delivers, before the ACK is processed.

use net::Seq;

use super::Scoreboard;
use super::segment::{COUNTED, SACKED, Sent};

impl Scoreboard {
    /// Return the numbers of bytes and segments that an ACK delivers for the first time. The ACK
    /// has the acknowledgement number `ack` and the given SACK blocks. For the same ACK,
    /// [`Scoreboard::on_ack`] and `newly_acked` count the same bytes and segments.
    pub fn newly_acked(&self, una: Seq, ack: Seq, blocks: &[(Seq, Seq)], max: Seq) -> (u32, u32) {
        let (mut bytes, mut segments) = (0, 0);
        for s in self.segments.iter().take_while(|s| s.start.before(ack)) {
            let end = if s.end.after(ack) { ack } else { s.end };
            bytes += s.not_counted(end);
            segments += u32::from(!s.has(SACKED | COUNTED));
        }
        let latest = una.max(ack);
        for (i, &(start, end)) in blocks.iter().enumerate() {
            let twice = i == 0 && self.is_duplicate(start, end, ack, blocks);
            if twice || !start.before(end) || end.after(max) || start.before(latest) {
                continue;
            }
            let (start, end) = self.exclude_previous(start, end);
            let earlier = &blocks[..i];
            let before = |s: &Sent| !s.end.after(latest) || s.start.max(latest).before(start);
            let from = self.segments.partition_point(before);
            for s in self.segments.range(from..).take_while(|s| !s.end.after(end)) {
                let s = Sent { start: s.start.max(latest), ..*s }; // the part that the ACK does not acknowledge
                let duplicate = earlier.iter().any(|b| !s.start.before(b.0) && !s.end.after(b.1));
                if !duplicate {
                    bytes += s.not_counted(s.end);
                    segments += u32::from(!s.has(SACKED | COUNTED));
                }
            }
        }
        (bytes, segments)
    }
}
