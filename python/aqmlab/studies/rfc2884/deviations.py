"""Paragraphs of the report: a summary of the memo, rules for our numbers, and differences."""

ABOUT = (
    "A reproduction of RFC 2884, a performance study of ECN on a Linux testbed. A server sends "
    "data over a router with CBQ at 1.5 Mbit/s and RED, and over a second router that adds delay. "
    "A client with ECN and a client without ECN compete with 2, 5 or 10 congesting flows. The "
    "study has bulk transfers of 20 MB, transactions of 5 to 20 KB, six maximum drop rates, and "
    "the TCP variants Reno, NewReno and SACK.",
    "The memo publishes a fairness table of eight numbers, percentages at the ends of ranges, and "
    "observations in words, but few absolute numbers. The main result of the memo is that ECN "
    "speeds up bulk transfers, and short transactions even more. The gains of ECN grow with "
    "congestion and with the maximum drop rate.",
)

READING = (
    "The relative advantage of ECN is the mean difference between the ECN flow and the non-ECN "
    "flow of the same run, in % of the mean of the non-ECN flow. The 95 % interval of the "
    "relative advantage is computed by Student's t. Replications differ in the start times of "
    "flows (by up to 1 s) and in the random numbers of RED.",
    "The tolerance of published percentages is five percentage points. Claims R2-028 to R2-050 "
    "are statements in words, in which we replaced “hardly any” and similar words by a number. A "
    "claimed direction of a gain is contradicted if the whole interval of the change lies within "
    "the five points.",
    "If the memo gives a number for a setting with transactions, the setting has 80 replications "
    "of three minutes; in the memo, the runs of a setting lasted for about one hour, which are 20 "
    "runs. If the memo does not give a number for a setting with transactions, the setting has 6 "
    "replications. Bulk transfers have 20 replications in settings with a published number (10 at "
    "low congestion), and 3 in other settings. At high congestion and maxp 0.02, they have 40 with "
    "and without tuned thresholds, because R2-050 was open with 20. The fairness table has 10 "
    "replications, as in the memo.",
)

DEVIATIONS = (
    "We assume a minth of 7 and a maxth of 21 packets. The authors of the memo tuned the "
    "thresholds of RED, but the memo does not give the thresholds. The item `tuning` chooses our "
    "thresholds so that RED's average stays between the thresholds for the longest time; other "
    "pairs are tied with the chosen pair. Our runs use the same thresholds at every level of "
    "congestion and every maximum drop rate, also for the SACK tests, which ran on other machines "
    "in the memo. The "
    "queue limit is 100 packets, as in the queue of a Linux interface, and wq is 0.002. RED "
    "spaces its drops uniformly, and is not gentle, as in the memo.",
    "We assume a delay of 20 ms in each direction, which gives a round trip of 40 ms without a "
    "queue. The memo only gives “the latency of the link”.",
    "We assume that CBQ has one bounded class for all packets from the server, and that the "
    "estimator of CBQ has its default weight.",
    "We assume that Reno is the TCP of Linux 2.0.32, with an initial window of one segment, "
    "segments of 1460 bytes and no timestamps. We assume that NewReno and SACK (with FACK) are "
    "the TCP of Linux 2.2, with an initial window of two segments, segments of 1448 bytes and "
    "timestamps. Both Linux versions have a receive window of 32736 bytes, a clock of 10 ms, a "
    "minimum timeout of 200 ms and a first timeout of 3 s. Receivers acknowledge the first two "
    "segments at once, and later at least every second segment, within 200 ms. After a loss or a "
    "mark, ssthresh is half of cwnd.",
    "ECN follows section 3.2 of the memo. After the handshake, all packets except pure ACKs are "
    "ECN-capable, including retransmissions. The SYN and the SYN-ACK are not ECN-capable, because "
    "they are part of the negotiation (RFC 2481, section 6.1.1). All transactions also run with "
    "ECN-capable SYN-ACKs, which the score does not count. A mark "
    "halves cwnd, as a fast retransmit does, but to at least two "
    "segments.",
    "We assume that 20 MB are 20 · 2^20 bytes, and that 5 KB are 5 · 1024 bytes. A request has 1 "
    "KB, as in the memo's example. We assume that the server closes the connection after its "
    "response, and that the client starts the next transaction at the server's FIN, as the program "
    "netperf does.",
    "In each experiment the two clients compete at the same time. The memo states for bulk "
    "transfers that both clients compete at the same time, and we assume it for transactions too. "
    "The congesting flows last for the whole run, and do not use ECN.",
    "The fairness index is computed from the throughputs between 20 s and 200 s. The memo does "
    "not give the duration of its FTP sessions.",
    "The item “Sensitivity to the assumptions” changes one assumption at a time, and in two tables "
    "two assumptions together.",
)
