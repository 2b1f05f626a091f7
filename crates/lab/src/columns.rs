//! Definitions of the result tables. Each column is defined once, with its table, name, unit and
//! meaning. The macro `tables!` generates a struct per table, so a missing or misspelt column does
//! not compile. docs/results.md and Python receive the same definitions from
//! [`definitions`](crate::tables::definitions). The file of each series defines the table of the
//! series.

use crate::record::Table;

/// Definition of a table.
#[derive(Clone, Copy, Debug)]
pub struct TableDefinition {
    /// Names of the table. Several tables can have the same columns.
    pub names: &'static [&'static str],
    /// Description of the table, one sentence.
    pub about: &'static str,
    /// Columns in order, each with name, unit and meaning.
    pub columns: &'static [[&'static str; 3]],
}

impl TableDefinition {
    /// Return the approximate size of a row of the table in bytes. The estimate assumes that one
    /// column has names (4 bytes) and that all other columns have numbers (8 bytes).
    pub const fn bytes_per_row(&self) -> usize {
        8 * self.columns.len() - 4
    }
}

/// Struct of a table, with one field per column.
pub trait Definition: Sized {
    /// Names, description and columns of the table.
    const DEFINITION: TableDefinition;

    /// Return the table under one of its names.
    fn named(self, name: &'static str) -> Table;

    /// Return the table under its first name.
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
        #[allow(dead_code, reason = "a series returns the definition of its table itself")]
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
    /// One row per TCP flow: data of the host `from` in `flows`, of the other host in `replies`.
    Flows "flows" or "replies" {
        flow in "": "Name of the flow.";
        from in "": "Host that sends the data.";
        to in "": "Host that receives the data.";
        start_s in "s": "Time at which the connection was opened, including its random offset.";
        established_s in "s": "Time at which the sender of the data completed the handshake.";
        completed_s in "s": "Time at which the sender received the ACK of its last byte of data.";
        closed_s in "s": "Time at which the connection ended, after the ACK of the last FIN.";
        acked_bytes in "bytes": "Data acknowledged by the end of the run.";
        goodput_bps in "bit/s": "`acked_bytes` · 8, divided by the time from the start of the flow to its completion, or to the end of the run.";
        packets_sent in "packets": "All packets that the host `from` sent: SYN, data, ACK and FIN.";
        segments_sent in "segments": "Segments with data that the host `from` sent, including retransmissions.";
        bytes_sent in "bytes": "Payload of the segments in `segments_sent`.";
        retransmitted_segments in "segments": "Retransmitted segments, which are part of `segments_sent`.";
        retransmitted_bytes in "bytes": "Retransmitted payload, which is part of `bytes_sent`.";
        timeouts in "times": "Retransmission timeouts of the host `from`.";
        fast_retransmits in "times": "Fast retransmits of the host `from`.";
        ecn_reductions in "times": "Reductions of the congestion window in response to ECE.";
        delivered_ce in "segments": "Segments that arrived with CE, as the receiver reported to the sender. Accurate ECN reports the number of these segments. With classic ECN, all segments that an ACK with ECE acknowledges are counted.";
        received_segments in "segments": "Segments with data that the host `to` received, including duplicates.";
        received_bytes in "bytes": "Payload of the segments in `received_segments`.";
        duplicate_segments in "segments": "Received segments without new data, which are part of `received_segments`.";
        duplicate_bytes in "bytes": "Received payload that had already arrived, which is part of `received_bytes`.";
        acks_sent in "packets": "Pure ACKs that the host `to` sent.";
        dropped_packets in "packets": "Packets from the host `from` that were dropped on any link.";
        marked_packets in "packets": "Packets from the host `from` that were marked on any link.";
        dropped_acks in "packets": "Packets from the host `to` that were dropped on any link.";
        ecn in "0 or 1": "1 if the connection negotiated ECN.";
    }

    /// One row per link and direction.
    Links "links" {
        link in "": "Name of the link: from>to.";
        arrived_packets in "packets": "Packets that arrived at the queue of the link.";
        arrived_bytes in "bytes": "Size of the packets in `arrived_packets`.";
        dropped_packets in "packets": "Packets that the queue dropped for any reason.";
        dropped_bytes in "bytes": "Size of the packets in `dropped_packets`.";
        dropped_full in "packets": "Packets dropped because the buffer was full.";
        dropped_early in "packets": "Packets that the AQM dropped early, at random or by its state.";
        dropped_threshold in "packets": "Packets that the AQM dropped because its upper threshold was exceeded.";
        marked_packets in "packets": "Packets that the queue marked CE.";
        departed_packets in "packets": "Packets that left the queue for transmission.";
        departed_bytes in "bytes": "Size of the packets in `departed_packets`.";
        delivered_packets in "packets": "Packets that arrived at the far end of the link.";
        waiting_packets in "packets": "Packets that waited in the queue at the end of the run.";
        busy_s in "s": "Total time of transmission.";
        utilization in "0..1": "`busy_s` as a share of the simulated time.";
    }

    /// One row per flow with `arrivals`.
    Connections "connections" {
        flow in "": "Name of the flow with `arrivals`.";
        opened in "connections": "Connections that were opened.";
        completed in "connections": "Completed connections: the sender received the ACK of its last byte of data.";
        completed_bytes in "bytes": "Data of the completed connections.";
        mean_duration_s in "s": "Mean duration of the completed connections, from opening to completion.";
        median_duration_s in "s": "Median of the durations of completed connections (nearest rank), accurate to 0.8 %.";
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
        request_bytes in "bytes": "Size of the completed requests.";
        response_bytes in "bytes": "Size of the responses to the completed requests.";
        mean_duration_s in "s": "Mean duration of the completed requests, from the write of the request until the client's application has read the last byte of the response. The duration of the first request of a connection includes the handshake.";
        median_duration_s in "s": "Median of the durations of completed requests (nearest rank), accurate to 0.8 %.";
        p95_duration_s in "s": "95th percentile of the durations of completed requests, accurate to 0.8 %.";
        p99_duration_s in "s": "99th percentile of the durations of completed requests, accurate to 0.8 %.";
        longest_duration_s in "s": "Maximum of the durations of completed requests.";
        responsiveness_rpm in "1/min": "Round trips per minute: 60 s divided by `mean_duration_s`. The draft `ippmresponsiveness` excludes the longest 5 % from the mean.";
    }

    /// One row per flow of datagrams without TCP.
    Datagrams "datagrams" {
        flow in "": "Name of the flow. The flow has no row in `flows`.";
        from in "": "Host that sends the datagrams.";
        to in "": "Host that receives the datagrams.";
        start_s in "s": "Time at which the flow began, including its random offset.";
        sent_packets in "packets": "Packets that the host `from` sent.";
        sent_bytes in "bytes": "Size of the packets in `sent_packets`, including headers.";
        received_packets in "packets": "Packets that the host `to` received, excluding copies.";
        received_bytes in "bytes": "Payload of the packets in `received_packets`.";
        goodput_bps in "bit/s": "`received_bytes` · 8, divided by the time from the start of the flow to the end of the run.";
        lost_packets in "packets": "Packets that were sent and not received: dropped, lost, damaged, or still in the network at the end of the run.";
        dropped_packets in "packets": "Packets, including copies, that were dropped by a queue, lost on a wire, or discarded by the receiver because of their checksum.";
        marked_packets in "packets": "Packets that arrived with CE.";
        duplicate_packets in "packets": "Copies of packets that had already arrived. A copy is recognised only among the latest 4096 packet numbers.";
        reordered_packets in "packets": "Packets that arrived after a packet that was sent later (RFC 4737).";
        mean_delay_s in "s": "Mean one-way delay of the received packets.";
        shortest_delay_s in "s": "Minimum one-way delay.";
        median_delay_s in "s": "Median one-way delay, accurate to 0.8 %.";
        p99_delay_s in "s": "99th percentile of the one-way delays, accurate to 0.8 %.";
        longest_delay_s in "s": "Maximum one-way delay.";
        jitter_s in "s": "Interarrival jitter at the end of the run (RFC 3550 §6.4.1).";
    }

    /// One row per impairment of a link.
    Impairments "impairments" {
        link in "": "Name of the link with the impairment.";
        kind in "": "Kind of the impairment. The rows of a link have the order of its list `impairments`.";
        seen_packets in "packets": "Packets that reached the impairment.";
        lost_packets in "packets": "Packets that the impairment lost.";
        damaged_packets in "packets": "Packets that the impairment damaged.";
        doubled_packets in "packets": "Packets that the impairment duplicated.";
        held_packets in "packets": "Packets that the impairment delayed.";
    }

    /// One row per class of a scheduler.
    Classes "classes" {
        link in "": "Name of the link whose queue is the scheduler.";
        class in "": "Index of the class in the scheduler's list, from 0. A class that contains a scheduler has its own row, and `2.0` is the first class of the scheduler in the third class.";
        arrived_packets in "packets": "Packets that arrived in the class.";
        arrived_bytes in "bytes": "Size of the packets in `arrived_packets`.";
        dropped_packets in "packets": "Packets that the queue of the class dropped.";
        dropped_bytes in "bytes": "Size of the packets in `dropped_packets`.";
        marked_packets in "packets": "Packets that the queue of the class marked CE.";
        departed_packets in "packets": "Packets that the scheduler dequeued from the class.";
        departed_bytes in "bytes": "Size of the packets in `departed_packets`.";
        waiting_packets in "packets": "Packets that waited in the class at the end of the run.";
    }

    /// One row per colour of each rule of a conditioner.
    Conditioners "conditioners" {
        link in "": "Name of the link whose packets the conditioner meters before the queue.";
        rule in "": "Index of the rule in the list, from 0, or `none` for the packets that no rule matched.";
        colour in "": "Colour that the rule assigned to the packets, or `none` for the packets that no rule matched.";
        action in "": "Action on the packets of this colour: `pass`, `drop`, or the codepoint that they received.";
        arrived_packets in "packets": "Packets of this colour.";
        arrived_bytes in "bytes": "Size of the packets in `arrived_packets`.";
        dropped_packets in "packets": "Packets of this colour that the rule dropped before they reached the queue.";
        dropped_bytes in "bytes": "Size of the packets in `dropped_packets`.";
    }
}
