//! Every segment that a host that sends data sends and receives. Positions are counted in bytes of data from the
//! first, past 2^32 too.

use std::collections::HashMap;
use std::sync::Arc;

use net::{Ecn, End, Flags, Seq};
use units::Time;
use wire::Protocol;

use super::recorder::{Names, Needs, Recorder, RunStart, StoredRows};
use super::traced::Traced;
use crate::columns;
use crate::observed_packet::ObservedPacket;
use crate::record::{Column, Table, names_of};

columns::tables! {
    /// Every segment that the sending host of a traced flow sends and receives; where both hosts send data, each of them.
    Columns "segments" or "reply_segments" {
        time_s in "s": "When.";
        flow in "": "Whose.";
        direction in "": "`sent` or `received` by that host.";
        seq in "bytes": "Position of its first byte in the data that goes its way, counted from 0.";
        bytes in "bytes": "How much data.";
        ack in "bytes": "Data acknowledged; one more with the FIN.";
        window_bytes in "bytes": "Window that it advertises.";
        flags in "": "Control bits, e.g. `ACK PSH`. Under Accurate ECN, `AE CWR ECE` are a counter.";
        ecn in "": "ECN field of the packet: `not-ect`, `ect0`, `ect1`, `ce`.";
        resent in "0 or 1": "1 if anything of it was sent before.";
        sack_1_left in "bytes": "First byte of the first SACK block; empty if there is none.";
        sack_1_right in "bytes": "One past its last byte.";
        sack_2_left in "bytes": "First byte of the second.";
        sack_2_right in "bytes": "One past its last byte.";
        sack_3_left in "bytes": "First byte of the third.";
        sack_3_right in "bytes": "One past its last byte.";
        sack_4_left in "bytes": "First byte of the fourth.";
        sack_4_right in "bytes": "One past its last byte.";
    }
}

/// SACK blocks in a segment at most.
const BLOCKS: usize = 4;

/// A segment as the sender's host saw it.
#[derive(Clone, Copy, Debug)]
struct Sighting {
    at: Time,
    seq: u64,
    ack: u64,
    /// SACK blocks, from `ack`.
    blocks: [(i32, i32); BLOCKS],
    flow: u32,
    window: u32,
    bytes: u16,
    flags: Flags,
    ecn: Ecn,
    block_count: u8,
    received: bool,
    resent: bool,
}

/// How far a host has come with what it sends.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    /// One past the highest sequence number sent, from 0 for the SYN.
    sent_to: u64,
}

/// The segments of the flows that are traced.
#[derive(Debug)]
pub struct Segments {
    traced: Traced<Progress, Sighting>,
}

impl Recorder for Segments {
    type Table = Columns;
    const NEEDS: Needs = Needs { packets: true, ..Needs::NOTHING };

    fn begin(start: &RunStart) -> Self {
        Segments { traced: Traced::begin(start) }
    }

    fn stored_rows(&self) -> StoredRows {
        self.traced.stored_rows()
    }

    fn at_host(&mut self, now: Time, end: End, observed: &ObservedPacket, acked: [u64; 2]) {
        let Some(progress) = self.traced.of(end).filter(|_| observed.protocol == Protocol::Tcp) else {
            return;
        };
        let (segment, received) =
            (&observed.packet.segment, observed.packet.label.direction() != end.sends());
        let direction = end.sends();
        let [acked, acked_back] = [acked[direction.index()], acked[direction.opposite().index()]];
        // The SYN has 0, the first byte of data 1.
        let count = |acked: u64, seq: Seq| {
            (acked as i64 + 1 + i64::from(seq.minus(Seq((acked as u32).wrapping_add(1))))).max(0) as u64
        };
        let whole = |seq: Seq| count(acked, seq);
        let data = |seq: Seq| whole(seq).saturating_sub(1);
        let other = |seq: Seq| count(acked_back, seq).saturating_sub(1);
        let (seq, ack) = (segment.seq, if segment.flags.has(Flags::ACK) { segment.ack } else { Seq(0) });
        let mut resent = false;
        if !received && segment.seq_len() > 0 {
            let next = whole(seq) + u64::from(segment.seq_len());
            resent = whole(seq) < progress.sent_to;
            progress.sent_to = progress.sent_to.max(next);
        }
        let mut blocks = [(0, 0); BLOCKS];
        for (place, &(left, right)) in blocks.iter_mut().zip(observed.options.sack()) {
            *place = (left.minus(ack), right.minus(ack));
        }
        let row = Sighting {
            at: now,
            seq: if received { other(seq) } else { data(seq) },
            ack: if received { data(ack) } else { other(ack) },
            blocks,
            flow: observed.flow,
            window: segment.window,
            bytes: segment.len,
            flags: segment.flags,
            ecn: observed.packet.ecn,
            block_count: observed.options.sack().len() as u8,
            received,
            resent,
        };
        self.traced.push(now, end, row);
    }

    fn tables(self, names: &Names) -> Vec<Table> {
        self.traced.tables(|rows| Columns::of(rows, names))
    }
}

impl Columns {
    fn of(list: &[Sighting], names: &Names) -> Columns {
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
        Columns {
            time_s: Column::Float(list.iter().map(|s| s.at.seconds()).collect()),
            flow: Column::Name(list.iter().map(|s| s.flow).collect(), names.flows().clone()),
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
    }
}
