"""Paragraphs of the report: a summary of the study, rules for our numbers, and differences."""

from aqmlab.studies.ecn_finite_transfers.replications import MANY, USUAL

ABOUT = (
    "A reproduction of a simulation study by Pentikousis and Badr: n clients download 20 MiB each "
    "from one server at the same time, over one bottleneck of 1.5 Mbit/s. The queue is Drop Tail, "
    "RED, or RED with ECN, with limits from 4 to 512 packets. The link carries no other traffic.",
    "The report shows our number for every published number. The study does not state all of its "
    "settings. This reproduction uses the settings with which the study's simulator, ns-2, comes "
    "closest to Tables I to III (published/notes.md). The score therefore does not count the "
    "numbers of Tables I to III.",
)

READING = (
    "Our numbers are medians of the replications. If the replications differ, the text below a "
    "number shows their central 95 %. In replication 0 all downloads start at the same instant, "
    "as in the study. The other replications differ in three random influences: the random "
    "numbers of RED, the phase of each host's 100 ms clock, and a start delay of less than 1 ms "
    f"for each download. A setting has {USUAL} replications. Four settings with two or five "
    f"clients, whose claims about single clients were open with {USUAL}, have {MANY}.",
    "The verdict judges the 95 % confidence interval of our median. Each published number comes "
    "from a single run, so it may also lie within the spread of our single runs. The tolerance of "
    "drops is 3 packets, or 6 % if that is more. The tolerance of sent packets is 3 packets or 6 % "
    "of the retransmissions, whichever is larger. The number of retransmissions is the number of "
    "sent packets minus 14 365 per file. The tolerance of goodputs and of the goodput efficiency "
    "is the change that results from 0.5 s more completion time, because the study samples "
    "completion times every 0.5 s. The tolerance of Jain's index is 0.001.",
    "In the names of schemes, C stands for conservative RED (maxp 2 %) and A for aggressive RED "
    "(maxp 10 %). Goodputs of single clients are chaotic, because a few packets decide which of "
    "two equal clients is faster. Drops, totals and efficiency hardly depend on the order of a "
    "few packets. The published numbers of cells marked † are probably wrong, and are compared "
    "without a correction.",
    "Code decides each claim from the runs, and the evidence states the rule. The study gives "
    "some numbers of single clients by name. A published number of a named client is compared "
    "with the client in the same role, for example with the faster client of each of our "
    "replications.",
)

DEVIATIONS = (
    "In our runs, TCP's sequence numbers count bytes, and each connection has a SYN and a FIN. In "
    "the study's simulator, TCP's sequence numbers count packets, and TCP has no handshake. In "
    "our runs, downloads therefore start one round trip later, and the last segment has only 80 "
    "bytes.",
    "A file has 20 MiB (20·2^20 bytes), and data packets have no headers on the wire, as the "
    "published number of the baseline implies. Pure acknowledgements have 40 bytes.",
    "We count only segments with data as sent packets. The study says that SYNs are included, but "
    "its smallest number of sent packets is exactly the number of data segments of two files.",
    "RED at limit 16 has minth 5, although the head of Table II has minth 8.",
    "In each column of Table IV, one client has ECN: the client with the lower published goodput "
    "in Table II. If both goodputs are equal, client C0 has ECN.",
    "In the item `migration`, the client with ECN is the client that is slowest in the same "
    "replication without ECN. The client with ECN therefore may have another name than in the "
    "study.",
    "For the goodputs in Tables I to IV, completion times are rounded up to a multiple of 0.5 s, "
    "as in the study. All other completion times are exact.",
    "The queue limit counts the same packets as in the study's simulator: the waiting packets, "
    "and with Drop Tail also the packet in service. The item `countings` shows results with and "
    "without the packet in service.",
    "The figures of the study have no legible numbers. Our figures have the same form as the "
    "figures of the study. The numbers of our figures are in cells.csv, without verdicts.",
)
