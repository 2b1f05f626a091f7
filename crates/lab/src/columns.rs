//! The one definition of each column that a run leaves: its table, name, unit and meaning. A table is made from the
//! struct of its columns, so one that is missing or misspelt does not compile; docs/results.md and Python have the
//! same definitions from [`definitions`](crate::tables::definitions). The tables of a series are defined in its file.

use crate::record::Table;

/// What a table is called and has.
#[derive(Clone, Copy, Debug)]
pub struct Described {
    /// Its names, where several tables have the same columns.
    pub names: &'static [&'static str],
    /// What it is.
    pub about: &'static str,
    /// Its columns in order, each with name, unit and meaning.
    pub columns: &'static [[&'static str; 3]],
}

impl Described {
    /// What a row takes in bytes, about: numbers, one of them a name.
    pub const fn row(&self) -> usize {
        8 * self.columns.len() - 4
    }
}

/// The columns of a table.
pub trait Definition: Sized {
    /// What the table is called and has.
    const IS: Described;

    /// The table under one of its names.
    fn named(self, name: &'static str) -> Table;

    /// The table under its first name.
    fn table(self) -> Table {
        self.named(Self::IS.names[0])
    }
}

/// Defines tables: a struct for each, with a field for each column in order, each with its unit and its meaning.
macro_rules! tables {
    ($(
        #[doc = $about:literal]
        $table:ident $name:literal $(or $other:literal)* {
            $($column:ident in $unit:literal: $meaning:literal;)+
        }
    )+) => {
        /// The tables that are defined here.
        #[allow(dead_code, reason = "the table of a series is found through the series")]
        pub const HERE: &[$crate::columns::Described] = &[$(<$table as $crate::columns::Definition>::IS),+];

        $(
            #[doc = $about]
            pub struct $table {
                $(#[doc = $meaning] pub $column: $crate::record::Column,)+
            }

            impl $crate::columns::Definition for $table {
                const IS: $crate::columns::Described = $crate::columns::Described {
                    names: &[$name $(, $other)*],
                    about: $about.trim_ascii(),
                    columns: &[$([stringify!($column), $unit, $meaning],)+],
                };

                fn named(self, name: &'static str) -> $crate::record::Table {
                    debug_assert!(Self::IS.names.contains(&name));
                    $crate::record::Table { name, columns: vec![$((stringify!($column), self.$column),)+] }
                }
            }
        )+
    };
}

pub(crate) use tables;

tables! {
    /// One row a flow that TCP carries: of the data from its host `from` to its host `to` in `flows`, of what comes back in `replies`, where anything does.
    Flows "flows" or "replies" {
        flow in "": "Name of the flow.";
        from in "": "Host that sends the data.";
        to in "": "Host that receives the data.";
        start_s in "s": "When the connection was opened, with its random offset.";
        established_s in "s": "When the handshake was done at the sender.";
        completed_s in "s": "When the last byte of data was acknowledged at the sender.";
        closed_s in "s": "When the connection was closed: the ACK of the last FIN.";
        acked_bytes in "bytes": "Data acknowledged at the end.";
        goodput_bps in "bit/s": "`acked_bytes` · 8 over the time from start to completion, or to the end of the run.";
        packets_sent in "packets": "What the data's sender sent: SYN, data, ACK, FIN.";
        segments_sent in "segments": "Segments with data that were sent, retransmissions included.";
        bytes_sent in "bytes": "Payload of these.";
        retransmitted_segments in "segments": "Of `segments_sent`, those sent again.";
        retransmitted_bytes in "bytes": "Payload of these.";
        timeouts in "times": "Retransmission timeouts.";
        fast_retransmits in "times": "Fast retransmits.";
        ecn_reductions in "times": "How often cwnd was cut for ECE.";
        delivered_ce in "segments": "Segments that arrived marked, as the sender was told: with Accurate ECN those marked, else all that ACKs with ECE acknowledge.";
        received_segments in "segments": "Segments with data that arrived, duplicates included.";
        received_bytes in "bytes": "Payload of these.";
        duplicate_segments in "segments": "Of `received_segments`, those whose data had arrived before.";
        duplicate_bytes in "bytes": "Payload that had arrived before.";
        acks_sent in "packets": "Pure ACKs of the receiver.";
        dropped_packets in "packets": "Packets of the data's sender dropped, on any link.";
        marked_packets in "packets": "Packets of the data's sender marked, on any link.";
        dropped_acks in "packets": "Packets of the receiver dropped, on any link.";
        ecn in "0 or 1": "1 if ECN was negotiated.";
    }

    /// One row a link and direction.
    Links "links" {
        link in "": "Name of the link: from>to.";
        arrived_packets in "packets": "What arrived at its queue.";
        arrived_bytes in "bytes": "The size of these.";
        dropped_packets in "packets": "What was dropped, for whatever reason.";
        dropped_bytes in "bytes": "The size of these.";
        dropped_full in "packets": "Dropped because the buffer was full.";
        dropped_early in "packets": "Dropped by the law's dice.";
        dropped_threshold in "packets": "Dropped by the law, because its average or measure was above a threshold.";
        marked_packets in "packets": "Packets marked CE here.";
        departed_packets in "packets": "What left the queue for the transmitter.";
        departed_bytes in "bytes": "The size of these.";
        delivered_packets in "packets": "What arrived at the far end.";
        waiting_packets in "packets": "What waited at the end of the run.";
        busy_s in "s": "Time that the transmitter was busy.";
        utilization in "0..1": "`busy_s` as a share of the simulated time.";
    }

    /// One row a flow with `arrivals`.
    Connections "connections" {
        flow in "": "Name of the flow whose connections come and go.";
        opened in "connections": "Connections that were opened.";
        completed in "connections": "Of these, those whose data was all acknowledged at the sender.";
        completed_bytes in "bytes": "The data of those.";
        mean_duration_s in "s": "Mean of their times from opening to then.";
        median_duration_s in "s": "Median of these (nearest rank), within 0.8 %.";
        p90_duration_s in "s": "90th percentile.";
        p99_duration_s in "s": "99th percentile.";
        longest_duration_s in "s": "The longest.";
    }

    /// One row a flow with requests and responses.
    Exchanges "exchanges" {
        flow in "": "Name of the flow.";
        requests in "requests": "Requests that were written.";
        completed in "requests": "Of these, those whose response was received whole.";
        unfinished in "requests": "Those that have not all of it at the end of the run, or never will.";
        request_bytes in "bytes": "Size of the completed requests.";
        response_bytes in "bytes": "Size of their responses.";
        mean_duration_s in "s": "Mean of the times from a request to the last byte of its response, read by the application that asked. A request that opens the connection has the handshake in it.";
        median_duration_s in "s": "Median of these (nearest rank), within 0.8 %.";
        p95_duration_s in "s": "95th percentile.";
        p99_duration_s in "s": "99th percentile.";
        longest_duration_s in "s": "The longest.";
        responsiveness_rpm in "1/min": "Round trips a minute: 60 s over `mean_duration_s` (`ippmresponsiveness`, which takes the mean without the longest 5 %).";
    }

    /// One row a flow that nobody answers.
    Datagrams "datagrams" {
        flow in "": "Name of the flow; it has no row in `flows`.";
        from in "": "Host that sends.";
        to in "": "Host that receives.";
        start_s in "s": "When it began, with its random offset.";
        sent_packets in "packets": "What was sent.";
        sent_bytes in "bytes": "The size of these, with headers.";
        received_packets in "packets": "What arrived, copies not counted.";
        received_bytes in "bytes": "Payload of these.";
        goodput_bps in "bit/s": "`received_bytes` · 8 over the time from the start to the end of the run.";
        lost_packets in "packets": "Sent and not received: dropped, lost, damaged, or under way at the end.";
        dropped_packets in "packets": "Packets, copies among them, that a queue, a wire or the receiver's checksum took away.";
        marked_packets in "packets": "Packets that arrived with CE.";
        duplicate_packets in "packets": "Copies of packets that had arrived, among the last 4096.";
        reordered_packets in "packets": "Packets that arrived behind one that was sent later (RFC 4737).";
        mean_delay_s in "s": "Mean of the one-way delays of what arrived.";
        least_delay_s in "s": "The shortest.";
        median_delay_s in "s": "Their median, within 0.8 %.";
        p99_delay_s in "s": "Their 99th percentile, within 0.8 %.";
        longest_delay_s in "s": "The longest.";
        jitter_s in "s": "Interarrival jitter at the end (RFC 3550 §6.4.1).";
    }

    /// One row an impairment.
    Impairments "impairments" {
        link in "": "Behind which link.";
        kind in "": "Which, in the order of the list.";
        seen_packets in "packets": "Packets that came to it.";
        lost_packets in "packets": "Packets that it lost.";
        damaged_packets in "packets": "Packets that it damaged.";
        doubled_packets in "packets": "Packets that it doubled.";
        held_packets in "packets": "Packets that it held back.";
    }

    /// One row a class of a scheduler.
    Classes "classes" {
        link in "": "The link whose queue is the scheduler.";
        class in "": "The class by its place in the list, from 0. A class that holds a scheduler has a row, and `2.0` is the first of the classes within the third.";
        arrived_packets in "packets": "What arrived in the class.";
        arrived_bytes in "bytes": "The size of these.";
        dropped_packets in "packets": "Of what arrived, what its queue dropped.";
        dropped_bytes in "bytes": "The size of these.";
        marked_packets in "packets": "Packets that its queue marked CE.";
        departed_packets in "packets": "What the scheduler took from it to send.";
        departed_bytes in "bytes": "The size of these.";
        waiting_packets in "packets": "What waited in it at the end of the run.";
    }

    /// One row a colour of a rule of a conditioner.
    Conditioners "conditioners" {
        link in "": "The link before whose queue it stands.";
        rule in "": "The rule by its place in the list, from 0; `none`: what no rule took.";
        colour in "": "Which of its colours.";
        action in "": "What became of the colour: `pass`, `drop`, or the codepoint that it got.";
        arrived_packets in "packets": "What the rule saw of the colour.";
        arrived_bytes in "bytes": "The size of these.";
        dropped_packets in "packets": "Of this, what was dropped; it never arrived at the queue.";
        dropped_bytes in "bytes": "The size of these.";
    }
}
