"""Paragraphs of the report: summary, rules of the numbers, and differences from the memo."""

ABOUT = (
    "A reproduction of RFC 2884, a performance study of ECN on a Linux testbed: a server behind a "
    "router with CBQ at 1.5 Mbit/s and RED, a router that adds delay, and clients with and without "
    "ECN beside 2, 5 or 10 congesting flows. Bulk transfers of 20 MB and transactions of 5 to 20 "
    "KB, with six maximum drop rates, Reno, NewReno and SACK.",
    "The memo prints a fairness table of eight numbers, percentages at the ends of ranges, and "
    "observations in words; it has few absolute numbers. Its main results: ECN speeds up bulk "
    "transfers, and short transactions much more. The gains grow with congestion and with the "
    "maximum drop rate.",
)

READING = (
    "A relative advantage is the mean excess of the ECN flow over the non-ECN flow of the same "
    "run, in % of the latter's mean, with its 95 % interval by Student's t. Replications differ in "
    "the start times of flows (up to 1 s) and in RED's random numbers.",
    "Printed percentages have a tolerance of five percentage points. Claims from R2-028 "
    "on are statements in words; each has a number for “hardly any”.",
    "Transactions with printed numbers have 20 replications of three minutes, which is the memo's "
    "hour; others have 6. Bulk transfers have 5 and 3, and fairness has the memo's 10.",
)

DEVIATIONS = (
    "Assumed: minth 7 and maxth 21 packets. The memo tuned its thresholds and does not print them; "
    "the item `tuning` computes these. One pair is used for every level of congestion and every "
    "maximum drop rate. The limit is 100 packets, as in a Linux interface's queue; wq is 0.002; "
    "drops have uniform distances; RED is not gentle, as in the memo.",
    "Assumed: 20 ms one way in both directions, so a round trip of 40 ms without queue. The memo "
    "has “the latency of the link”.",
    "Assumed CBQ: one bounded class for all packets from the server, with the estimator's "
    "usual weight.",
    "Assumed hosts: Linux 2.0.32 for Reno, with an initial window of one segment, segments of 1460 "
    "bytes, no timestamps; Linux 2.2 for NewReno and SACK (with FACK): two segments, 1448 bytes, "
    "timestamps. Both: receive window of 32736 bytes, clock of 10 ms, minimum timeout 200 ms, "
    "first timeout 3 s, an ACK at least for every second segment, at once for the first two and "
    "within 200 ms for the others, ssthresh half of cwnd.",
    "ECN follows section 3.2: after the handshake all packets except pure ACKs are ECN-capable, "
    "including retransmissions; SYN and SYN-ACK are not (RFC 2481, section 6.1.1). A mark halves "
    "cwnd as a fast retransmit does, to at least two segments.",
    "Assumed: 20 MB are 20 · 2^20 bytes, 5 KB 5 · 1024; a request has 1 KB, as in the memo's "
    "example; the server closes after its response; the next transaction starts when both "
    "endpoints have closed the connection.",
    "Both clients compete at the same time in each experiment, as the memo states for bulk "
    "transfers; here this applies to transactions too. Congesting flows have no end and no ECN.",
    "The fairness index is of the throughputs from 20 s to 200 s; the memo does not give the "
    "duration of its FTP sessions.",
    "The item “Sensitivity to the assumptions” changes these assumptions one at a time.",
)
