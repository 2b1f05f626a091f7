//! Series with a row per segment that the sender of the data sends or receives. A position is a
//! count of data bytes from the beginning of the connection. Positions are 64-bit numbers, unlike
//! the sequence numbers of TCP.

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
    /// Every segment that the data sender of a traced flow sends or receives.
    Columns "segments" or "reply_segments" {
        time_s in "s": "Time at which the host sent or received the segment.";
        flow in "": "Flow of the segment.";
        direction in "": "`sent` or `received`, as seen by the host whose data the table describes.";
        seq in "bytes": "Position of the segment's first byte in the data stream of the segment's sender, counted from 0.";
        bytes in "bytes": "Payload of the segment.";
        ack in "bytes": "Amount of data that the segment acknowledges. An acknowledged FIN counts as one more byte.";
        window_bytes in "bytes": "Receive window that the segment advertises.";
        flags in "": "Control bits, for example `ACK PSH`. With Accurate ECN, the three bits `AE CWR ECE` form a counter.";
        ecn in "": "ECN field of the packet: `not-ect`, `ect0`, `ect1` or `ce`.";
        resent in "0 or 1": "1 if the host had sent a part of the segment before, otherwise 0.";
        sack_1_left in "bytes": "Position of the first byte of the first SACK block. The column is empty if the segment has no SACK block.";
        sack_1_right in "bytes": "Position immediately after the last byte of the first SACK block.";
        sack_2_left in "bytes": "Position of the first byte of the second SACK block.";
        sack_2_right in "bytes": "Position immediately after the last byte of the second SACK block.";
        sack_3_left in "bytes": "Position of the first byte of the third SACK block.";
        sack_3_right in "bytes": "Position immediately after the last byte of the third SACK block.";
        sack_4_left in "bytes": "Position of the first byte of the fourth SACK block.";
        sack_4_right in "bytes": "Position immediately after the last byte of the fourth SACK block.";
    }
}

/// Maximum number of SACK blocks per segment.
const BLOCKS: usize = 4;

/// Segment that the host sent or received.
#[derive(Clone, Copy, Debug)]
struct ObservedSegment {
    at: Time,
    seq: u64,
    ack: u64,
    /// Left and right edges of the SACK blocks, relative to `ack`.
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

/// Highest position that a host has sent, from which the positions of the host's segments are
/// computed.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    /// Highest sequence number that the host sent, plus one, counted from 0 for the SYN.
    sent_to: u64,
}

/// Segments of the traced flows, in the order in which their host sent or received them.
#[derive(Debug)]
pub struct Segments {
    traced: Traced<Progress, ObservedSegment>,
}

impl Recorder for Segments {
    type Table = Columns;
    const NEEDS: Needs = Needs { hosts: true, ..Needs::NOTHING };

    fn begin(start: &RunStart) -> Self {
        Segments { traced: Traced::begin(start) }
    }

    fn stored_rows(&self) -> StoredRows {
        self.traced.stored_rows()
    }

    fn at_host(&mut self, now: Time, end: End, observed: &ObservedPacket, acked: [u64; 2]) {
        let Some(progress) = self.traced.progress(end).filter(|_| observed.protocol == Protocol::Tcp) else {
            return;
        };
        let (segment, received) =
            (&observed.packet.segment, observed.packet.label.direction() != end.sends());
        let direction = end.sends();
        let [acked_forward, acked_reverse] = [acked[direction.index()], acked[direction.opposite().index()]];
        // The SYN has the sequence number 0, and the first byte of data has the sequence number 1.
        let count = |acked: u64, seq: Seq| {
            (acked as i64 + 1 + i64::from(seq.minus(Seq((acked as u32).wrapping_add(1))))).max(0) as u64
        };
        let position = |seq: Seq| count(acked_forward, seq);
        let own = |seq: Seq| position(seq).saturating_sub(1);
        let other = |seq: Seq| count(acked_reverse, seq).saturating_sub(1);
        let (seq, ack) = (segment.seq, if segment.flags.has(Flags::ACK) { segment.ack } else { Seq(0) });
        let mut resent = false;
        if !received && segment.seq_len() > 0 {
            let next = position(seq) + u64::from(segment.seq_len());
            resent = position(seq) < progress.sent_to;
            progress.sent_to = progress.sent_to.max(next);
        }
        let mut blocks = [(0, 0); BLOCKS];
        for (block, &(left, right)) in blocks.iter_mut().zip(observed.options.sack()) {
            *block = (left.minus(ack), right.minus(ack));
        }
        let row = ObservedSegment {
            at: now,
            seq: if received { other(seq) } else { own(seq) },
            ack: if received { own(ack) } else { other(ack) },
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
        self.traced.tables(|rows| Columns::from_rows(rows, names))
    }
}

impl Columns {
    fn from_rows(list: &[ObservedSegment], names: &Names) -> Columns {
        let count = |get: &dyn Fn(&ObservedSegment) -> u64| Column::Count(list.iter().map(get).collect());
        let words = |words: &[&str], get: &dyn Fn(&ObservedSegment) -> usize| {
            let words = Arc::new(words.iter().map(ToString::to_string).collect());
            Column::Name(list.iter().map(|s| get(s) as u32).collect(), words)
        };
        let mut flag_texts: HashMap<u16, String> = HashMap::new();
        let mut flags =
            |f: Flags| flag_texts.entry(f.0).or_insert_with(|| format!("{f:?}").replace('|', " ")).clone();
        let edge = |i: usize, of: fn((i32, i32)) -> i32| {
            let position = |s: &ObservedSegment| match usize::from(s.block_count) > i {
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
