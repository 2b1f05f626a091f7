"""Paragraphs of the report: the study, rules for its numbers, and differences from it."""

ABOUT = (
    "A reproduction of a simulation study by K. Pentikousis and H. Badr: n clients download 20 MiB "
    "each from one server at the same time, over one bottleneck of 1.5 Mbit/s. The queue is Drop "
    "Tail, RED, or RED with ECN, with limits from 4 to 512 packets. The link carries no other "
    "traffic.",
    "The report shows every printed number beside ours. The study does not state all of its "
    "settings. This reproduction uses the settings with which the study's simulator comes closest "
    "to Tables I to III (published/notes.md). The score therefore does not count the numbers of "
    "these tables.",
)

READING = (
    "Each of our numbers is the median of the replications, with their central 95 % below it if "
    "they differ. Replication 0 is the study: all downloads start at the same instant. The others "
    "vary three random influences: the random stream of RED, the phase of each host's "
    "100 ms clock, and the start of each download by less than 1 ms.",
    "The verdict judges the 95 % confidence interval of the median. The study ran each setting "
    "once, so the spread of our single runs is allowed in addition to the tolerance. Tolerances: "
    "drops, max(3 packets, 6 %); sent packets, the same of the excess over the payload (14 365 "
    "segments per file); goodputs and efficiency, the effect of 0.5 s of completion time (one step "
    "of the study's sampling); Jain's index, 0.001.",
    "C and A stand for conservative (maxp 2 %) and aggressive (maxp 10 %). Single goodputs are "
    "chaotic, because single packets decide which of two equal clients is faster. Drops, totals "
    "and efficiency are robust. A cell marked † is doubtful in the study itself, and is compared "
    "as printed.",
    "Code decides each claim from the runs, and the evidence states the rule. A number that the "
    "study gives for a named client is compared with the client in the same role (the faster, the "
    "slowest without ECN) of each replication.",
)

DEVIATIONS = (
    "TCP carries bytes, from SYN to FIN, and the study's simulator carried numbered packets "
    "without a handshake. Downloads therefore start one round trip later, and the last segment has "
    "80 bytes.",
    "A file is 20 MiB (20·2^20 bytes) and headers of data packets are not counted on the wire, as "
    "the printed baseline implies. Pure acknowledgements have 40 bytes.",
    "Sent packets are segments with data. The study says SYNs are included, but its smallest count "
    "is exactly two files.",
    "RED at limit 16 uses minth 5; the head of Table II has 8.",
    "Table IV enables ECN at the client with the lower printed goodput in Table II, column by "
    "column, and at C0 in the tied column.",
    "In the migration items ECN goes to the client that is slowest in the same replication without "
    "ECN, not to the client with the same number as in the study.",
    "Goodputs in Tables I to IV use the study's sampling of completion times, the next multiple of "
    "0.5 s. All other completion times are exact.",
    "The queue limit counts the same packets as in the study's simulator: the waiting packets, and "
    "with Drop Tail also the packet in service. The last item shows both countings.",
    "The printed figures have no legible numbers. Our figures have the same form, and their "
    "numbers are in cells.csv without verdicts.",
)
