//! Series with a row per drop or per mark.

use std::fmt::Debug;
use std::marker::PhantomData;
use std::sync::Arc;

use net::{Direction, Explanation, Fate, Flags, Why};
use units::Time;

use super::recorder::{Names, Needs, Recorder, RunStart, StoredRows};
use crate::columns::{self, Definition as _};
use crate::memory::List;
use crate::record::{Column, Table};

columns::tables! {
    /// Every packet that was dropped (`drops`), or every packet that was marked (`marks`).
    Columns "drops" or "marks" {
        time_s in "s": "Time at which the packet was dropped or marked.";
        link in "": "Name of the link, in the form from>to.";
        flow in "": "Flow of the packet.";
        reply in "0 or 1": "1 if the host `to` sent the packet, 0 if the host `from` sent it. The host `to` sends ACKs, and also data if both hosts send data.";
        seq in "bytes": "Position of the packet's first byte in the data stream of the packet's sender, counted from 0. For a datagram without TCP, `seq` is the number of the datagram, counted from 0.";
        bytes in "bytes": "Payload of the packet.";
        syn in "0 or 1": "1 if the packet is a SYN or a SYN-ACK.";
        reason in "": "Reason for which the packet was dropped or marked. At a queue the reason is `full`, `early` or `threshold`, as in the table `links`. On a wire or at the receiver the reason is `loss`, `corruption` or `outage`. In a conditioner before the queue the reason is `policed`.";
    }
}

/// Kind of incident: the drop or the mark of a packet.
pub trait IncidentKind: Debug {
    /// Name of the series in `record.series`.
    const NAME: &'static str;
    /// Description of the series.
    const ABOUT: &'static str;
    /// Return true if this kind of incident includes the drop or mark `fate`.
    fn includes(fate: &Fate) -> bool;
}

/// Drop or mark of a packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Incident {
    pub at: Time,
    pub link: u32,
    flow: u32,
    reply: bool,
    syn: bool,
    seq: u32,
    bytes: u16,
    pub why: Why,
}

impl Incident {
    /// Return the drop or the mark of a packet of the flow `flow` at a link.
    pub fn new(at: Time, link: u32, flow: u32, fate: &Fate) -> Self {
        let (Fate::Dropped(packet, why) | Fate::Marked(packet, why)) = fate;
        Incident {
            at,
            link,
            flow,
            reply: packet.label.direction() == Direction::Reverse,
            syn: packet.segment.flags.has(Flags::SYN),
            seq: packet.segment.seq.0,
            bytes: packet.segment.len,
            why: *why,
        }
    }

    /// Return the column of the times.
    pub fn times(list: &[&Incident]) -> Column {
        Column::Float(list.iter().map(|i| i.at.seconds()).collect())
    }

    /// Return the column of the names of the links.
    pub fn links(list: &[&Incident], names: &Names) -> Column {
        Column::Name(list.iter().map(|i| i.link).collect(), names.links().clone())
    }

    /// Return the column of the names of the flows.
    pub fn flows(list: &[&Incident], names: &Names) -> Column {
        Column::Name(list.iter().map(|i| i.flow).collect(), names.flows().clone())
    }

    /// Return the column `reply`.
    pub fn replies(list: &[&Incident]) -> Column {
        Column::Count(list.iter().map(|i| u64::from(i.reply)).collect())
    }

    /// Return the column `seq`. The SYN has sequence number 0, so the data begins at 1.
    pub fn positions(list: &[&Incident]) -> Column {
        Column::Count(list.iter().map(|i| u64::from(i.seq.saturating_sub(1))).collect())
    }

    /// Return the column of the sizes of the payloads.
    pub fn sizes(list: &[&Incident]) -> Column {
        Column::Count(list.iter().map(|i| u64::from(i.bytes)).collect())
    }

    /// Return the column of the reasons.
    pub fn reasons(list: &[&Incident]) -> Column {
        let reasons = Arc::new(Why::ALL.iter().map(|w| w.name().to_string()).collect::<Vec<_>>());
        Column::Name(list.iter().map(|i| i.why.index() as u32).collect(), reasons)
    }
}

/// Series of all incidents of one kind, drops or marks.
#[derive(Debug)]
pub struct Incidents<Kind> {
    list: List<Incident>,
    begins: Time,
    kind: PhantomData<Kind>,
}

impl<Kind: IncidentKind> Recorder for Incidents<Kind> {
    type Table = Columns;
    const NAME: &'static str = Kind::NAME;
    const ABOUT: &'static str = Kind::ABOUT;
    const NEEDS: Needs = Needs::NOTHING;

    fn begin(start: &RunStart) -> Self {
        Incidents { list: List::default(), begins: start.begins, kind: PhantomData }
    }

    fn stored_rows(&self) -> StoredRows {
        StoredRows::from(&self.list)
    }

    fn on_fate(&mut self, at: Time, link: u32, flow: u32, fate: &Fate, _: Option<&Explanation>) {
        if Kind::includes(fate) && at >= self.begins {
            self.list.push(Incident::new(at, link, flow, fate));
        }
    }

    fn tables(self, names: &Names) -> Vec<Table> {
        let mut list: Vec<&Incident> = self.list.iter().collect();
        // Early delivery reports drops at the links of a host before earlier drops at other links.
        list.sort_by_key(|i| (i.at, i.link));
        let columns = Columns {
            time_s: Incident::times(&list),
            link: Incident::links(&list, names),
            flow: Incident::flows(&list, names),
            reply: Incident::replies(&list),
            seq: Incident::positions(&list),
            bytes: Incident::sizes(&list),
            syn: Column::Count(list.iter().map(|i| u64::from(i.syn)).collect()),
            reason: Incident::reasons(&list),
        };
        vec![columns.named(Kind::NAME)]
    }
}
