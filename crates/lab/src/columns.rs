//! Definitions of the result tables that a run returns. Each column is defined once, with its
//! table, name, unit and meaning. The macro `tables!` generates a struct per table, so a missing or
//! misspelt column is a compile error. The page docs/results.md and the Python package receive the
//! same definitions from [`definitions`](crate::tables::definitions). The definition of the table
//! of a series is in the file of the series.

use crate::record::Table;

/// Definition of a table.
#[derive(Clone, Copy, Debug)]
pub struct TableDefinition {
    /// Names of the table. Two tables with the same columns share one definition.
    pub names: &'static [&'static str],
    /// Description of the table, one sentence.
    pub about: &'static str,
    /// Columns in order, each with name, unit and meaning.
    pub columns: &'static [[&'static str; 3]],
}

impl TableDefinition {
    /// Return the approximate size of a row of the table in bytes. The estimate assumes 4 bytes for
    /// one column of names, and 8 bytes for each other column.
    pub const fn bytes_per_row(&self) -> usize {
        8 * self.columns.len() - 4
    }
}

/// Struct of a table, with one field per column.
pub trait Definition: Sized {
    /// Names, description and columns of the table.
    const DEFINITION: TableDefinition;

    /// Return the table with the name `name`, which must be a name in the definition.
    fn named(self, name: &'static str) -> Table;

    /// Return the table with its default name, which is the first name in the definition.
    fn table(self) -> Table {
        self.named(Self::DEFINITION.names[0])
    }
}

/// Define tables. Each table becomes a struct with a field per column, and each column has a unit
/// and a meaning.
macro_rules! tables {
    ($(
        #[doc = $about:literal]
        $table:ident $name:literal $(or $other:literal)* {
            $($column:ident in $unit:literal: $meaning:literal;)+
        }
    )+) => {
        /// Definitions of the tables of this module.
        #[allow(dead_code, reason = "a series returns the definition of its table without `TABLES`")]
        pub const TABLES: &[$crate::columns::TableDefinition] =
            &[$(<$table as $crate::columns::Definition>::DEFINITION),+];

        $(
            #[doc = $about]
            pub struct $table {
                $(#[doc = $meaning] pub $column: $crate::record::Column,)+
            }

            impl $crate::columns::Definition for $table {
                const DEFINITION: $crate::columns::TableDefinition = $crate::columns::TableDefinition {
                    names: &[$name $(, $other)*],
                    about: $about.trim_ascii(),
                    columns: &[$([stringify!($column), $unit, $meaning],)+],
                };

                fn named(self, name: &'static str) -> $crate::record::Table {
                    debug_assert!(Self::DEFINITION.names.contains(&name));
                    $crate::record::Table { name, columns: vec![$((stringify!($column), self.$column),)+] }
                }
            }
        )+
    };
}

pub(crate) use tables;

tables! {
    /// One row per TCP flow, for the data of the client (`flows`) or of the server (`replies`).
    Flows "flows" or "replies" {
        flow in "": "Name of the flow.";
        from in "": "Host that sends the data.";
        to in "": "Host that receives the data.";
        start_s in "s": "Time at which the connection was opened, including the random offset of the flow's start.";
        established_s in "s": "Time at which the sender of the data completed the handshake.";
        completed_s in "s": "Time at which the sender received the ACK of its last byte of data.";
        closed_s in "s": "Time at which the connection ended, after the ACK of the last FIN.";
        acked_bytes in "bytes": "Data acknowledged by the end of the run.";
        goodput_bps in "bit/s": "`acked_bytes` · 8, divided by the time from the start of the flow to the completion of the flow, or to the end of the run if the flow was not completed.";
        packets_sent in "packets": "All packets that the host `from` sent: SYN, data, ACK and FIN.";
        segments_sent in "segments": "Segments with data that the host `from` sent, including retransmissions.";
        bytes_sent in "bytes": "Total payload of the segments that `segments_sent` counts.";
        retransmitted_segments in "segments": "Retransmitted segments of the host `from`, which `segments_sent` includes.";
        retransmitted_bytes in "bytes": "Retransmitted payload of the host `from`, which `bytes_sent` includes.";
        timeouts in "times": "Retransmission timeouts of the host `from`.";
        fast_retransmits in "times": "Fast retransmits by the host in the column `from`.";
        ecn_reductions in "times": "Reductions of the congestion window in response to ECN-Echo (ECE), by the host in the column `from`.";
        delivered_ce in "segments": "Number of segments that arrived at the host `to` with a CE mark, according to the feedback of the host `to`. With Accurate ECN, the ACKs carry the number of marked segments. With classic ECN, every segment that an ACK with ECE acknowledges is counted as marked.";
        received_segments in "segments": "Segments with data that the host `to` received, including duplicates.";
        received_bytes in "bytes": "Total payload of the segments that `received_segments` counts.";
        duplicate_segments in "segments": "Received segments without new data, which `received_segments` includes.";
        duplicate_bytes in "bytes": "Received payload that had already arrived, which `received_bytes` includes.";
        acks_sent in "packets": "Pure ACKs that the host in the column `to` sent.";
        dropped_packets in "packets": "Packets from the host `from` that were dropped on any link.";
        marked_packets in "packets": "Packets from the host `from` that were marked on any link.";
        dropped_acks in "packets": "Packets from the host `to` that were dropped on any link.";
        ecn in "0 or 1": "1 if the two endpoints of the connection negotiated ECN, otherwise 0.";
    }

    /// One row per link and direction.
    Links "links" {
        link in "": "Name of the link, in the form from>to.";
        arrived_packets in "packets": "Packets that arrived at the queue of the link.";
        arrived_bytes in "bytes": "Total size of the packets that `arrived_packets` counts.";
        dropped_packets in "packets": "Packets that the queue dropped, for all reasons together.";
        dropped_bytes in "bytes": "Total size of the packets that `dropped_packets` counts.";
        dropped_full in "packets": "Packets that the queue dropped because the buffer was full.";
        dropped_early in "packets": "Packets that the AQM dropped early to signal congestion, at random or according to its state.";
        dropped_threshold in "packets": "Packets that the AQM dropped because the queue exceeded the upper threshold of the AQM.";
        marked_packets in "packets": "Packets that the queue marked CE.";
        departed_packets in "packets": "Packets that left the queue for transmission.";
        departed_bytes in "bytes": "Total size of the packets that `departed_packets` counts.";
        delivered_packets in "packets": "Packets that arrived at the far end of the link.";
        waiting_packets in "packets": "Packets that waited in the queue at the end of the run.";
        busy_s in "s": "Total time in which the link transmitted packets.";
        utilization in "0..1": "Share of the simulated time in which the link transmitted: `busy_s` divided by the simulated time.";
    }

    /// One row per flow with `arrivals`.
    Connections "connections" {
        flow in "": "Name of the flow with `arrivals`.";
        opened in "connections": "Connections that were opened.";
        completed in "connections": "Connections that completed: the sender received the ACK of its last byte of data.";
        completed_bytes in "bytes": "Total data of the completed connections.";
        mean_duration_s in "s": "Mean duration of the completed connections, from opening to completion.";
        median_duration_s in "s": "Median (nearest rank) of the durations of completed connections, accurate to 0.8 %.";
        p90_duration_s in "s": "90th percentile of the durations of completed connections, accurate to 0.8 %.";
        p99_duration_s in "s": "99th percentile of the durations of completed connections, accurate to 0.8 %.";
        longest_duration_s in "s": "Maximum of the durations of completed connections.";
    }

    /// One row per flow with requests and responses.
    Exchanges "exchanges" {
        flow in "": "Name of the flow.";
        requests in "requests": "Requests that the clients wrote.";
        completed in "requests": "Completed requests: the client received the whole response.";
        unfinished in "requests": "Requests without a complete response at the end of the run.";
        request_bytes in "bytes": "Total size of the completed requests.";
        response_bytes in "bytes": "Total size of the responses to the completed requests.";
        mean_duration_s in "s": "Mean duration of the completed requests, from the write of the request by the client to the read of the last byte of the response. The duration of the first request of a connection includes the handshake.";
        median_duration_s in "s": "Median (nearest rank) of the durations of completed requests, accurate to 0.8 %.";
        p95_duration_s in "s": "95th percentile of the durations of completed requests, accurate to 0.8 %.";
        p99_duration_s in "s": "99th percentile of the durations of completed requests, accurate to 0.8 %.";
        longest_duration_s in "s": "Maximum of the durations of completed requests.";
        responsiveness_rpm in "1/min": "Responsiveness in round trips per minute: 60 s divided by `mean_duration_s`. All completed requests contribute to the mean duration. The draft `ippmresponsiveness` instead excludes the longest 5 % of the durations.";
    }

    /// One row per flow of datagrams without TCP.
    Datagrams "datagrams" {
        flow in "": "Name of the flow. A flow of datagrams has no row in the table `flows`.";
        from in "": "Host that sends the datagrams.";
        to in "": "Host that receives the datagrams.";
        start_s in "s": "Time at which the flow began, including the random offset of the flow's start.";
        sent_packets in "packets": "Packets that the host `from` sent.";
        sent_bytes in "bytes": "Total size of the packets that `sent_packets` counts, including headers.";
        received_packets in "packets": "Packets that the host `to` received. A duplicate of a packet is not counted again.";
        received_bytes in "bytes": "Total payload of the packets that `received_packets` counts.";
        goodput_bps in "bit/s": "`received_bytes` · 8, divided by the time from the start of the flow to the end of the run.";
        lost_packets in "packets": "Packets that the host `from` sent and the host `to` did not receive by the end of the run: dropped, lost, damaged, or still in the network.";
        dropped_packets in "packets": "Packets, including duplicates, that a queue dropped, a wire lost, or the receiver discarded because of a wrong checksum.";
        marked_packets in "packets": "Packets that arrived at the host `to` with a CE mark.";
        duplicate_packets in "packets": "Duplicates of packets that had already arrived. The receiver recognises a duplicate only if its packet number is among the latest 4096 numbers of the flow.";
        reordered_packets in "packets": "Reordered packets: another packet that was sent later arrived earlier (RFC 4737).";
        mean_delay_s in "s": "Mean one-way delay of the received packets.";
        shortest_delay_s in "s": "Minimum one-way delay.";
        median_delay_s in "s": "Median of the one-way delays, accurate to 0.8 %.";
        p99_delay_s in "s": "99th percentile of the one-way delays, accurate to 0.8 %.";
        longest_delay_s in "s": "Maximum one-way delay.";
        jitter_s in "s": "Interarrival jitter at the end of the run (RFC 3550 §6.4.1).";
    }

    /// One row per impairment of a link.
    Impairments "impairments" {
        link in "": "Name of the link with the impairment.";
        kind in "": "Kind of the impairment. The rows of a link have the same order as the list `impairments` of the link.";
        seen_packets in "packets": "Packets that reached the impairment.";
        lost_packets in "packets": "Packets that the impairment lost.";
        damaged_packets in "packets": "Packets that the impairment damaged.";
        doubled_packets in "packets": "Packets that the impairment duplicated.";
        held_packets in "packets": "Packets that the impairment delayed.";
    }

    /// One row per class of a scheduler.
    Classes "classes" {
        link in "": "Name of the link whose queue is a scheduler.";
        class in "": "Index of the class in the scheduler's list of classes, counted from 0. If the queue of a class is another scheduler, the class has a row, and each inner class has a row too: `2.0` is the first inner class of class 2.";
        arrived_packets in "packets": "Packets that arrived at the queue of the class.";
        arrived_bytes in "bytes": "Total size of the packets that `arrived_packets` counts.";
        dropped_packets in "packets": "Packets that the queue of the class dropped.";
        dropped_bytes in "bytes": "Total size of the packets that `dropped_packets` counts.";
        marked_packets in "packets": "Packets that the queue of the class marked CE.";
        departed_packets in "packets": "Packets that the scheduler dequeued from the class.";
        departed_bytes in "bytes": "Total size of the packets that `departed_packets` counts.";
        waiting_packets in "packets": "Packets that waited in the queue of the class at the end of the run.";
    }

    /// One row per colour of each rule of a conditioner.
    Conditioners "conditioners" {
        link in "": "Name of the link whose packets the conditioner meters before they reach the queue.";
        rule in "": "Index of the rule in the conditioner's list of rules, counted from 0, or `none` for the packets that matched no rule.";
        colour in "": "Colour that the rule assigned to the packets, or `none` for the packets that matched no rule.";
        action in "": "Action of the rule on the packets of this colour: `pass`, `drop`, or the codepoint that the rule wrote into the packets.";
        arrived_packets in "packets": "Packets of this colour.";
        arrived_bytes in "bytes": "Total size of the packets that `arrived_packets` counts.";
        dropped_packets in "packets": "Packets of this colour that the rule dropped before the queue.";
        dropped_bytes in "bytes": "Total size of the packets that `dropped_packets` counts.";
    }
}
