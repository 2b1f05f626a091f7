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
        "The authors of the memo tuned the thresholds until the average queue stayed between the "
        "thresholds. The item `tuning` tunes the thresholds by the rule of `aqmlab tune-red`. For "
        "its SACK tests the memo used other machines. We use the same machines for all tests.",
    ),
    Choice(
        "RED besides its thresholds",
        "Queue limit of 100 packets, wq 0.002, uniform distances between signals, not gentle",
        "The queue limit is that of a Linux interface, and wq and the uniform distances are the "
        "defaults of the RED paper. The memo states that RED drops all packets above maxth.",
    ),
    Choice("Delay", "20 ms one way", "The memo gives 20 ms as the latency of the link."),
    Choice(
        "ECN-capable packets",
        "All packets except pure ACKs, the SYN and the SYN-ACK",
        "RFC 2481, section 6.1.1, forbids ECN-capable SYNs and SYN-ACKs. The memo says that all "
        "packets other than pure ACKs are ECN-capable, which would include the SYN-ACK.",
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
    },
}
