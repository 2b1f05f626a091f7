//! Bytes of the packets that real hosts sent and that are in the network.

use net::Packet;

/// Store of the bytes of real packets. The field `options` of a [`Packet`] has the number of its
/// bytes in this store, counted from 1. The number 0 stands for a datagram that the run itself
/// sends and that has no bytes.
#[derive(Debug, Default)]
pub struct RealPackets {
    stored: Vec<Vec<u8>>,
    free: Vec<u32>,
}

impl RealPackets {
    /// Store the bytes of a packet, and return their number.
    pub fn store(&mut self, bytes: &[u8]) -> u32 {
        let number = self.free.pop().unwrap_or_else(|| {
            self.stored.push(Vec::new());
            self.stored.len() as u32
        });
        let place = &mut self.stored[number as usize - 1];
        place.clear();
        place.extend_from_slice(bytes);
        number
    }

    /// Return the bytes of a packet.
    pub fn bytes(&self, packet: &Packet) -> &[u8] {
        packet.options.checked_sub(1).map_or(&[], |at| &self.stored[at as usize])
    }

    /// Release the bytes of a packet that was dropped or that left the network.
    pub fn release(&mut self, packet: &Packet) {
        if packet.options > 0 {
            self.free.push(packet.options);
        }
    }

    /// Copy the bytes of a packet, and return their number.
    pub fn copy(&mut self, packet: &Packet) -> u32 {
        let bytes = self.bytes(packet).to_vec();
        if packet.options > 0 { self.store(&bytes) } else { 0 }
    }

    /// Return the number of packets whose bytes are stored.
    pub fn in_use(&self) -> usize {
        self.stored.len() - self.free.len()
    }
}
