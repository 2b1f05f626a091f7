"""What the report says of the study, of how to read it, and of where the reproduction departs."""

ABOUT = (
    "A reproduction of a simulation study by K. Pentikousis and H. Badr: n clients download 20 MiB "
    "each from one server, at once, over one bottleneck of 1.5 Mbit/s. Its queue is Drop Tail, "
    "RED, or RED with ECN; its limit runs from 4 to 512 packets. There is no other traffic.",
    "Every number printed in the study stands beside ours, and misses are shown as misses. The "
    "study does not name all its settings: those used here are the ones under which its simulator "
    "comes closest (published/notes.md). They were found by a search against Tables I to III, "
    "whose numbers are therefore not counted.",
)

READING = (
    "Each number of ours is the median of the replications; where they differ, their central 95 % "
    "is below it. Replication 0 is the study as it is: everything starts at the same instant. The "
    "others vary what the study left to chance: the random stream of RED, the phase of each host's "
    "100 ms clock, and the start of each download by less than 1 ms.",
    "The 95 % confidence interval of the median is judged. The study ran each setting once, so the "
    "spread of our single runs is allowed beside the tolerance. The tolerances: drops, "
    "max(3 packets, 6 %); sent packets, the same of what exceeds the payload (14 365 segments a "
    "file); goodputs and efficiency, what half a second of completion time makes (one step of the "
    "study's sampling); Jain's index, 0.001.",
    "C and A stand for conservative (maxp 2 %) and aggressive (maxp 10 %). Single goodputs are "
    "chaotic: which of two equal clients wins is decided by single packets. Drops, totals and "
    "efficiency are the numbers to look at. A cell marked † is doubtful in the study itself; it is "
    "compared as printed.",
    "A claim is decided by code from the data of the runs; its evidence says how. Numbers that the "
    "study gives for a named client are held against the client in the same role (the faster, the "
    "slowest without ECN) of each replication.",
)

DEVIATIONS = (
    "TCP carries bytes, from SYN to FIN, where the study's simulator carried numbered packets "
    "without a handshake: downloads start one round trip later, and the last segment has 80 bytes.",
    "A file is 20 MiB (20·2^20 bytes) and headers of data packets are not counted on the wire, as "
    "the printed baseline implies. Pure acknowledgements have 40 bytes.",
    "Sent packets are segments with data. The study says SYNs are included, but its smallest count "
    "is exactly two files.",
    "RED at limit 16 uses minth 5; the head of Table II says 8.",
    "Table IV enables ECN at the client with the lower printed goodput in Table II, column by "
    "column; in the tied column at C0.",
    "In the migration items ECN goes to the client that is slowest in the same replication without "
    "ECN, not to the client with the same number as in the study.",
    "Goodputs in Tables I to IV are taken as the study took them, with completion times at the "
    "next multiple of 0.5 s; everywhere else completion times are exact.",
    "The queue limit counts what the study's simulator counts: with Drop Tail the packet in "
    "service too, with RED the waiting packets alone. The last item shows both countings.",
    "The printed figures have no numbers that could be read; ours are drawn in their form, and "
    "their numbers are in cells.csv without verdict.",
)
