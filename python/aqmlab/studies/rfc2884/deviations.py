"""What the report says of the study, of how to read it, and of what it leaves open."""

ABOUT = (
    "A reproduction of RFC 2884, a performance study of ECN on a Linux testbed: a server behind a "
    "router whose CBQ holds data to 1.5 Mbit/s and whose RED marks or drops, a router that delays, "
    "and clients with and without ECN beside 2, 5 or 10 congesting flows. Bulk transfers of 20 MB "
    "and transactions of 5 to 20 KB, six maximum drop rates, Reno, NewReno and SACK.",
    "The memo prints a fairness table of eight numbers, percentages at the ends of ranges, and "
    "observations in words; hardly any absolute number. Its results in a sentence: ECN gains in "
    "bulk transfers and much more in short transactions, and the more the more congestion there "
    "is and the higher the maximum drop rate.",
)

READING = (
    "A relative advantage is the mean of what the ECN flow has more than the non-ECN flow of the "
    "same run, in % of the latter's mean, with its 95 % interval by Student's t over the "
    "replications. A replication draws anew when flows start (up to 1 s) and RED's dice.",
    "Printed percentages have a tolerance of five percentage points. What the memo says in words "
    "only is claims R2-028 on, with what is taken for “hardly any”.",
    "Transactions whose numbers are printed have 20 replications of three minutes, the memo's "
    "hour, others 6; bulk transfers 5 and 3, fairness the memo's 10.",
)

DEVIATIONS = (
    "Assumed: minth 7 and maxth 21 packets. The memo tuned its thresholds and does not print them; "
    "item “thresholds that keep RED in its region” finds these. One pair serves every level of "
    "congestion and every maximum drop rate. Room for 100 packets, which was a Linux interface's "
    "queue; wq 0.002; drops at uniform distances; not gentle, as the memo says.",
    "Assumed: 20 ms one way, both ways, so a round trip of 40 ms without queue. The memo says "
    "“the latency of the link”.",
    "Assumed, of CBQ: one bounded class for all packets from the server, with the estimator's "
    "usual weight.",
    "Assumed of the hosts, Linux 2.0.32 for Reno: initial window of one segment, segments of 1460 "
    "bytes, no timestamps; Linux 2.2 for NewReno and SACK (with FACK): two segments, 1448 bytes, "
    "timestamps. Both: receive window of 32736 bytes, clock of 10 ms, least timeout 200 ms, first "
    "timeout 3 s, every second segment acknowledged at least, the first two at once, the others "
    "within 200 ms, ssthresh half of cwnd.",
    "ECN as section 3.2 says: all packets but pure ACKs are ECN-capable once it is agreed on, "
    "retransmissions too, not the SYN and SYN-ACK that agree on it (RFC 2481, section 6.1.1); a "
    "mark halves cwnd as a fast retransmit does, to two segments at least.",
    "Assumed: 20 MB are 20 · 2^20 bytes, 5 KB 5 · 1024; a request has 1 KB, as in the memo's "
    "example; the server closes behind its response; the next transaction begins when the "
    "connection is closed at both ends.",
    "Both clients compete at the same time in each experiment, as the memo says of bulk "
    "transfers; so does it here for transactions. Congesting flows have no end and no ECN.",
    "The fairness index is of the throughputs from 20 s to 200 s; the memo does not say how long "
    "its FTP sessions were.",
    "Item “What hangs on what the memo leaves open” reads these assumptions otherwise, one by one.",
)
