//! What becomes of packets at links, as connections and series see it.

use impairments::Witness;
use net::{Fate, OptionStore, Packet, Probe};
use units::Time;

use crate::series::RecordedSeries;
use crate::slot::{Slot, Stage};

/// Enters fates in the ledgers of the connections, and in the series that were asked for.
#[derive(Debug)]
pub struct PacketRecords {
    /// Options of the packets in the network.
    pub options: OptionStore,
    /// The connections.
    pub slots: Vec<Slot>,
    /// Slots whose connection is closed and lost its last packet.
    pub drained: Vec<u32>,
    /// The series that are recorded: here, since links tell of fates.
    pub series: Box<RecordedSeries>,
}

impl PacketRecords {
    /// The view of one link.
    #[inline]
    pub fn probe(&mut self, link: u32) -> LinkProbe<'_> {
        LinkProbe { link, recorder: self }
    }
}

/// Sees the fates at one link.
#[derive(Debug)]
pub struct LinkProbe<'a> {
    link: u32,
    recorder: &'a mut PacketRecords,
}

impl Probe for LinkProbe<'_> {
    fn fate(&mut self, at: Time, fate: &Fate) {
        let r = &mut *self.recorder;
        let (Fate::Dropped(packet, _) | Fate::Marked(packet, _)) = fate;
        let slot = &mut r.slots[packet.connection as usize];
        r.series.on_fate(at, self.link, slot.flow, fate);
        match fate {
            Fate::Dropped(..) => {
                slot.counters.dropped(packet.label.direction());
                r.options.release(packet.options);
                if slot.stage == Stage::Closed && slot.counters.is_drained() {
                    r.drained.push(packet.connection);
                }
            }
            Fate::Marked(..) => slot.counters.marked(packet.label.direction()),
        }
    }
}

impl Witness for LinkProbe<'_> {
    fn copy(&mut self, packet: &Packet) -> Packet {
        let r = &mut *self.recorder;
        r.slots[packet.connection as usize].counters.sent(packet.label.direction());
        Packet { options: r.options.copy(packet.options), ..*packet }
    }
}
