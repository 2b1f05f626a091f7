//! Records to which links report drops, marks and copies of packets. The records are the counters
//! of the connections, and the series.

use impairments::Witness;
use net::{Explanation, Fate, OptionStore, Packet, Probe};
use units::Time;

use crate::real_packets::RealPackets;
use crate::series::RecordedSeries;
use crate::slot::{Slot, Stage};

/// Part of a run's state that changes when a link drops, marks or copies a packet.
#[derive(Debug)]
pub struct PacketRecords {
    /// TCP options of the packets in the network.
    pub options: OptionStore,
    /// Bytes of the packets in the network, if real hosts send the packets.
    pub real: Option<Box<RealPackets>>,
    /// Slots of all connections.
    pub slots: Vec<Slot>,
    /// Connection slots of closed connections whose last packet in the network was dropped.
    pub drained: Vec<u32>,
    /// Series that the run records. The series are part of this struct because links report drops
    /// and marks to the series.
    pub series: Box<RecordedSeries>,
}

impl PacketRecords {
    /// Return the probe of the link with index `link`.
    #[inline]
    pub fn probe(&mut self, link: u32) -> LinkProbe<'_> {
        LinkProbe { link, recorder: self }
    }
}

/// Probe through which one link reports drops, marks and copies.
#[derive(Debug)]
pub struct LinkProbe<'a> {
    link: u32,
    recorder: &'a mut PacketRecords,
}

impl Probe for LinkProbe<'_> {
    fn fate(&mut self, at: Time, fate: &Fate, explanation: Option<&Explanation>) {
        let r = &mut *self.recorder;
        let (Fate::Dropped(packet, _) | Fate::Marked(packet, _)) = fate;
        let slot = &mut r.slots[packet.connection as usize];
        r.series.on_fate(at, self.link, slot.flow, fate, explanation);
        match fate {
            Fate::Dropped(..) => {
                slot.counters.dropped(packet.label.direction());
                match &mut r.real {
                    Some(real) => real.release(packet),
                    None => r.options.release(packet.options),
                }
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
        let options = match &mut r.real {
            Some(real) => real.copy(packet),
            None => r.options.copy(packet.options),
        };
        Packet { options, ..*packet }
    }
}
