//! Series with a row per packet, which has the packet's queueing delay.

use units::{Duration, Time};

use super::recorder::{Names, Needs, Recorder, RunStart, StoredRows};
use crate::columns::{self, Definition as _};
use crate::memory::List;
use crate::record::{Column, Table};

columns::tables! {
    /// Queueing delay of every packet that the queues of the recorded links transmit.
    Columns "packet_delays" {
        time_s in "s": "Time at which the transmission of the packet begins. The rows are in the order of this time.";
        link in "": "Name of the link, in the form from>to.";
        flow in "": "Flow of the packet.";
        delay_s in "s": "Queueing delay: the time from the arrival of the packet at the queue to the beginning of its transmission.";
    }
}

/// Transmission of a packet.
#[derive(Debug)]
struct Transmission {
    begins: Time,
    delay: Duration,
    link: u32,
    flow: u32,
}

/// Queueing delays of all packets at the recorded links.
#[derive(Debug)]
pub struct PacketDelays {
    /// For each link of the network, true if the link is recorded.
    recorded: Vec<bool>,
    list: List<Transmission>,
    /// First time after the warm-up.
    first: Time,
    /// End of the run.
    ends: Time,
}

impl Recorder for PacketDelays {
    type Table = Columns;
    const NEEDS: Needs = Needs { links: true, ..Needs::NOTHING };

    fn begin(start: &RunStart) -> Self {
        let mut recorded = vec![false; start.links];
        start.recorded.iter().for_each(|&link| recorded[link as usize] = true);
        PacketDelays { recorded, list: List::default(), first: start.first_transmission(), ends: Time::NEVER }
    }

    fn stored_rows(&self) -> StoredRows {
        StoredRows::from(&self.list)
    }

    fn on_link(&mut self, _: Time, link: u32, [entered, begins]: [Time; 2], flow: u32) {
        if self.recorded[link as usize] && begins >= self.first {
            self.list.push(Transmission { begins, delay: begins.since(entered), link, flow });
        }
    }

    fn end(&mut self, now: Time) {
        self.ends = now;
    }

    fn tables(self, names: &Names) -> Vec<Table> {
        // A queue may compute at a packet's arrival that the transmission begins after the run.
        let mut list: Vec<_> = self.list.iter().filter(|of| of.begins <= self.ends).collect();
        list.sort_by_key(|of| (of.begins, of.link));
        let name = |of: fn(&Transmission) -> u32| list.iter().map(|transmission| of(transmission)).collect();
        let columns = Columns {
            time_s: Column::Float(list.iter().map(|of| of.begins.seconds()).collect()),
            link: Column::Name(name(|of| of.link), names.links().clone()),
            flow: Column::Name(name(|of| of.flow), names.flows().clone()),
            delay_s: Column::Float(list.iter().map(|of| of.delay.seconds()).collect()),
        };
        vec![columns.table()]
    }
}
