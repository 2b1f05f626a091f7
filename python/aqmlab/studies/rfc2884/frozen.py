"""Values that this reproduction uses for the settings that RFC 2884 leaves open.

The memo does not give thresholds, buffer sizes, timers or absolute throughputs. No published number
was used to choose a setting. The item `readings` of the study has results with other values, which
the score does not count.
"""

from aqmlab.studies.framework import Choice
from aqmlab.studies.framework.claims import INPUT

CHOICES = (
    Choice(
        "Thresholds of RED",
        "minth 7 and maxth 21 packets, for every load, maximum drop rate and TCP",
        "The authors of the memo monitored the average queue in times of low, moderate and high "
        "congestion, and tuned the thresholds until it stayed between them. The item `tuning` "
        "finds several pairs that are tied: 7 and 21 packets are the best pair on the testbed of "
        "Reno, and tied with the best on that of SACK, which had other machines. The memo does not "
        "say that each "
        "level of congestion had its own thresholds; the item `readings` has that interpretation.",
    ),
    Choice(
        "RED besides its thresholds",
        "Queue limit of 100 packets, wq 0.002, uniform distances between signals, not gentle",
        "The queue limit is that of a Linux interface, and wq and the uniform distances are the "
        "defaults of the RED paper, which the memo cites. The memo states that RED drops all "
        "packets above maxth. Router R1 ran Linux, whose `tc` computes wq from a burst that the "
        "memo does not give; wq 1/8, from the recommended burst, is one of the readings.",
    ),
    Choice("Delay", "20 ms one way", "The memo gives 20 ms as the latency of the link."),
    Choice(
        "ECN-capable packets",
        "All packets except pure ACKs, the SYN and the SYN-ACK",
        "The memo (section 3.2) and RFC 2481 (section 6.1.1), to which its hosts conform, set the "
        "ECT bit of data packets once both ends have agreed on ECN; the SYN-ACK is part of that "
        "agreement. Linux 2.4.0, with ECN by the first author of the memo, sends SYN-ACKs without "
        "ECT (include/net/tcp_ecn.h). Against this, the memo also says that all packets other than "
        "pure ACKs have the ECT bit, which would include the SYN-ACK, and RFC 2481 does not forbid "
        "it. The item `transactions` has both interpretations side by side.",
    ),
    Choice(
        "Start of the next transaction",
        "At the server's FIN",
        "The memo uses the test TCP_CRR of netperf. Its client reads up to the server's FIN, "
        "closes the connection and opens the next one (netperf 2.2, send_tcp_conn_rr).",
    ),
    Choice(
        "Hosts",
        "Reno: Linux 2.0.32 with an initial window of one segment of 1460 bytes. NewReno and "
        "SACK: Linux 2.2 with an initial window of two segments of 1448 bytes, timestamps and "
        "FACK. Both versions: receive window of 32736 bytes, clock of 10 ms, minimum timeout of "
        "200 ms, first timeout of 3 s",
        "The memo names the Linux versions. The values are defaults in the source code of Linux "
        "2.0.32 and 2.2.",
    ),
    Choice(
        "Sizes",
        "20 MB are 20 * 2^20 bytes, 5 KB are 5 * 1024 bytes; requests of 1 KB",
        "The program netperf defines MB and KB by powers of two. The request size is that of the "
        "memo's example.",
    ),
    Choice(
        "Flow with the published rates of 0.8 to 2.2 transactions per second", "The ECN flow",
        "The memo does not name the flow that has 0.8 to 2.2 transactions per second. If the ECN "
        "flow has 0.8 to 2.2 transactions per second, the published gains of ECN imply about "
        "0.67 to 0.92 transactions per second without ECN.",
    ),
    Choice(
        "Ends of the published ranges, which the memo does not give",
        "5 and 10 flows; maxp 0.02 and 0.5",
        "The section of the memo mentions moderate and high congestion. The values of maxp are "
        "the smallest and the largest that the memo tested.",
    ),
)  # fmt: skip

APART = {
    INPUT: {
        "R2-019": "Arithmetic: three duplicate ACKs need three packets after the lost packet.",
        "R2-020": "Arithmetic: 5 KB divided into segments for an MTU of 1500 bytes.",
        "R2-045": "Arithmetic: a response of four packets never has three packets after a loss in "
        "a window that begins with one segment (R2-019, R2-020).",
    },
}
