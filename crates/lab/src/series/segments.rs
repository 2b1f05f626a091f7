//! Every segment that the host of the data's sender sends and receives.

use std::collections::HashMap;
use std::sync::Arc;

use net::{Ecn, Flags};
use units::Time;

use crate::columns;
use crate::record::{Column, Table, names_of};

/// SACK blocks in a segment at most.
pub(super) const BLOCKS: usize = 4;

/// A segment as the sender's host saw it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sighting {
    pub(super) at: Time,
    pub(super) seq: u64,
    pub(super) ack: u64,
    /// SACK blocks, from `ack`.
    pub(super) blocks: [(i32, i32); BLOCKS],
    pub(super) flow: u32,
    pub(super) window: u32,
    pub(super) bytes: u16,
    pub(super) flags: Flags,
    pub(super) ecn: Ecn,
    pub(super) block_count: u8,
    pub(super) received: bool,
    pub(super) resent: bool,
}

/// As a table.
pub(super) fn table(list: &[Sighting], flows: &Arc<Vec<String>>) -> Table {
    let count = |get: &dyn Fn(&Sighting) -> u64| Column::Count(list.iter().map(get).collect());
    let words = |words: &[&str], get: &dyn Fn(&Sighting) -> usize| {
        let words = Arc::new(words.iter().map(ToString::to_string).collect());
        Column::Name(list.iter().map(|s| get(s) as u32).collect(), words)
    };
    let mut written: HashMap<u16, String> = HashMap::new();
    let mut flags =
        |f: Flags| written.entry(f.0).or_insert_with(|| format!("{f:?}").replace('|', " ")).clone();
    let edge = |i: usize, of: fn((i32, i32)) -> i32| {
        let position = |s: &Sighting| match usize::from(s.block_count) > i {
            true => (s.ack as i64 + i64::from(of(s.blocks[i]))) as f64,
            false => f64::NAN,
        };
        Column::Float(list.iter().map(position).collect())
    };
    columns::Segments {
        time_s: Column::Float(list.iter().map(|s| s.at.seconds()).collect()),
        flow: Column::Name(list.iter().map(|s| s.flow).collect(), flows.clone()),
        direction: words(&["sent", "received"], &|s| usize::from(s.received)),
        seq: count(&|s| s.seq),
        bytes: count(&|s| u64::from(s.bytes)),
        ack: count(&|s| s.ack),
        window_bytes: count(&|s| u64::from(s.window)),
        flags: names_of(list.iter().map(|s| flags(s.flags))),
        ecn: words(&["not-ect", "ect1", "ect0", "ce"], &|s| s.ecn as usize),
        resent: count(&|s| u64::from(s.resent)),
        sack_1_left: edge(0, |b| b.0),
        sack_1_right: edge(0, |b| b.1),
        sack_2_left: edge(1, |b| b.0),
        sack_2_right: edge(1, |b| b.1),
        sack_3_left: edge(2, |b| b.0),
        sack_3_right: edge(2, |b| b.1),
        sack_4_left: edge(3, |b| b.0),
        sack_4_right: edge(3, |b| b.1),
    }
    .table()
}
