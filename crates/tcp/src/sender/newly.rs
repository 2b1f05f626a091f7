//! What an ACK is about to acknowledge.

use net::{Options, Segment, Seq};

use super::Sender;

/// What an ACK acknowledges for the first time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Newly {
    /// Bytes of data, SACKed ones included.
    pub bytes: u32,
    /// Segments with data; without scoreboard as many as these bytes fill.
    pub segments: u32,
    /// Whether it acknowledges anything, be it a FIN.
    pub advances: bool,
    /// Up to where.
    pub ack: Seq,
    /// One past the highest sequence number sent.
    pub max: Seq,
    /// Largest segment sent (SMSS).
    pub size: u32,
}

impl Sender {
    /// What an acceptable ACK will acknowledge that no other did.
    pub fn newly(&self, segment: &Segment, options: &Options) -> Newly {
        let (ack, max, size) = (segment.ack, self.max, self.smss.max(1));
        let further = ack.after(self.una);
        let (bytes, segments) = match self.board() {
            Some(board) => board.newly(self.una, ack, options.sack(), max),
            None if further => {
                let bytes = (ack - self.una).saturating_sub(u32::from(self.fin_sent && ack == max));
                (bytes, bytes.div_ceil(size))
            }
            None => (0, 0),
        };
        Newly { bytes, segments, advances: further || bytes > 0, ack, max, size }
    }

    /// So many segments were marked, by what the other side says.
    pub fn count_marks(&mut self, segments: u32) {
        self.stats.delivered_ce = self.stats.delivered_ce.wrapping_add(segments);
    }
}
