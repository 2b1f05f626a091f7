//! Drops or marks, each as it happened.

use std::fmt::Debug;
use std::marker::PhantomData;
use std::sync::Arc;

use net::{Direction, Fate, Flags, Why};
use units::Time;

use super::recorder::{Names, Needs, Recorder, RunStart, StoredRows};
use crate::columns::{self, Definition as _};
use crate::memory::List;
use crate::record::{Column, Table};

columns::tables! {
    /// Every drop, or every mark.
    Columns "drops" or "marks" {
        time_s in "s": "When.";
        link in "": "Where.";
        flow in "": "Whose.";
        reply in "0 or 1": "1 if it came from the host `to`: an ACK, or data that comes back.";
        seq in "bytes": "First byte of its data, counted from 0.";
        bytes in "bytes": "How much data.";
        syn in "0 or 1": "1 if it is a SYN, or with `reply` a SYN-ACK.";
        reason in "": "Why: `full`, `early` or `threshold`, as for links; on a wire `loss`, `corruption` (also found by the receiver) or `outage`; before the queue `policed`.";
    }
}

/// Which of the two.
pub trait Happened: Debug {
    /// Its name in `record.series`.
    const WORD: &'static str;
    /// What it is.
    const ABOUT: &'static str;
    /// Whether a fate is one.
    fn is(fate: &Fate) -> bool;
}

/// A drop or a mark.
#[derive(Clone, Copy, Debug)]
struct Incident {
    at: Time,
    link: u32,
    flow: u32,
    reply: bool,
    syn: bool,
    seq: u32,
    bytes: u16,
    why: Why,
}

/// Drops or marks as they happen.
#[derive(Debug)]
pub struct Incidents<H> {
    list: List<Incident>,
    begins: Time,
    of: PhantomData<H>,
}

impl<H: Happened> Recorder for Incidents<H> {
    type Table = Columns;
    const WORD: &'static str = H::WORD;
    const ABOUT: &'static str = H::ABOUT;
    const NEEDS: Needs = Needs::NOTHING;

    fn begin(start: &RunStart) -> Self {
        Incidents { list: List::default(), begins: start.begins, of: PhantomData }
    }

    fn stored_rows(&self) -> StoredRows {
        StoredRows::from(&self.list)
    }

    fn on_fate(&mut self, at: Time, link: u32, flow: u32, fate: &Fate) {
        if H::is(fate) && at >= self.begins {
            let (Fate::Dropped(packet, why) | Fate::Marked(packet, why)) = fate;
            let (seq, bytes) = (packet.segment.seq.0, packet.segment.len);
            let syn = packet.segment.flags.has(Flags::SYN);
            let reply = packet.label.direction() == Direction::Reverse;
            self.list.push(Incident { at, link, flow, reply, syn, seq, bytes, why: *why });
        }
    }

    fn tables(self, names: &Names) -> Vec<Table> {
        let list = &self.list;
        let reasons = Arc::new(Why::ALL.iter().map(|w| w.name().to_string()).collect::<Vec<_>>());
        let columns = Columns {
            time_s: Column::Float(list.iter().map(|i| i.at.seconds()).collect()),
            link: Column::Name(list.iter().map(|i| i.link).collect(), names.links().clone()),
            flow: Column::Name(list.iter().map(|i| i.flow).collect(), names.flows().clone()),
            reply: Column::Count(list.iter().map(|i| u64::from(i.reply)).collect()),
            // The SYN holds sequence number 0: data begins at 1.
            seq: Column::Count(list.iter().map(|i| u64::from(i.seq.saturating_sub(1))).collect()),
            bytes: Column::Count(list.iter().map(|i| u64::from(i.bytes)).collect()),
            syn: Column::Count(list.iter().map(|i| u64::from(i.syn)).collect()),
            reason: Column::Name(list.iter().map(|i| i.why.index() as u32).collect(), reasons),
        };
        vec![columns.named(H::WORD)]
    }
}
