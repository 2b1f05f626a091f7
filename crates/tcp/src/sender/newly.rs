//! What an ACK is about to acknowledge.

use net::{Options, Segment, Seq};

use super::{Kind, Sender};

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
        let tcb = &self.tcb;
        let (ack, max, size) = (segment.ack, tcb.max, tcb.smss.max(1));
        let further = ack.after(tcb.una);
        let (bytes, segments) = match &self.kind {
            Kind::ByBoard(by_board) => by_board.newly(tcb, ack, options),
            Kind::ByBytes(_) if further => {
                let bytes = (ack - tcb.una).saturating_sub(u32::from(tcb.fin_sent && ack == max));
                (bytes, bytes.div_ceil(size))
            }
            Kind::ByBytes(_) => (0, 0),
        };
        Newly { bytes, segments, advances: further || bytes > 0, ack, max, size }
    }
}
