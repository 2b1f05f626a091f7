"""Values that this reproduction uses for the settings that the study leaves open.

This module gives the evidence for each choice, and lists the claims that the score does not count.
`published/notes.md` describes the search that chose the settings of the study's simulator. The
search compared about 1600 TCP settings with Table I, and 48 RED settings with Tables II and III.
The score does not count the published numbers of Tables I to III, because the search used these
numbers to choose settings. The score also does not count a claim that repeats a number of Tables I
to III.
"""

from aqmlab.studies.framework import Choice
from aqmlab.studies.framework.claims import FITTED, INPUT

FITTED_TABLES = ("table-1", "table-2", "table-3")
"""Items whose published numbers were used to choose settings."""
TABLE_I, TABLES = "Table I", "Tables I to III"

CHOICES = (
    Choice(
        "Headers on the wire",
        "Data packets of 1460 bytes on the wire, without headers",
        "At 1.5 Mbit/s, 14 365 packets of 1500 bytes take 114.9 s. The published time is 112.5 s.",
        "EF-002 to EF-004",
    ),
    Choice(
        "Window, initial window, handshake",
        "Receive window of 44 segments, initial window of one segment, no handshake",
        "The study gives the receive window: 64 KB, about 44 segments. A search over the settings "
        "of the study's simulator gave the initial window and the missing handshake.",
        TABLE_I,
    ),
    Choice(
        "Loss recovery",
        "Reno; several fast retransmits per window; the ACK that ends a fast recovery increases "
        "cwnd",
        "Search over the settings of the study's simulator. The increase of cwnd at the end of a "
        "fast recovery is in the simulator's source code.",
        TABLE_I,
    ),
    Choice(
        "Timers",
        "Clock ticks of 100 ms, minimum timeout of two ticks, ACKs delayed by up to 100 ms",
        "Search over the settings of the study's simulator.",
        TABLE_I,
    ),
    Choice(
        "Meaning of the queue limit",
        "The limit of Drop Tail counts the packet in service, and the limit of RED does not",
        "Source code of the study's simulator. A RED queue that never drops early has the same "
        "results at limits 4 and 8 as Drop Tail at limits 5 and 9.",
        TABLES,
    ),
    Choice(
        "RED",
        "RED counts packets, is not gentle, waits 1/p packets after a signal, and drops above "
        "maxth",
        "Search over 48 settings of the study's simulator.",
        "Tables II and III",
    ),
    Choice(
        "Minth of RED at limit 16",
        "5 packets",
        "Minth is 5 in Tables III and IV, and 8 in Table II. With minth 8, maxth would exceed the "
        "queue limit of 16 packets.",
    ),
    Choice(
        "The client with ECN in Table IV",
        "For each column, the client with the lower goodput in the same column of Table II",
        "The text of the study says that the weaker client has ECN.",
    ),
    Choice(
        "The queue of ten clients without ECN",
        "Aggressive RED, limit 64",
        "The section on five clients names aggressive RED, and the section on ten clients names "
        "no queue.",
    ),
)

_BASELINE = "The published number of this claim was used to choose the size of headers on the wire."
_TABLE = "The claim repeats a published number that was used to choose settings ({})."
_LIMIT = (
    "Results at limits 4 and 8 depend on the setting `limit_counts`, which was fitted to Tables "
    "I to III."
)

APART = {
    INPUT: {
        "EF-001": "The file size is an input of the runs.",
        "EF-006": "Arithmetic: the published number is the link rate times twice the propagation "
        "delay.",
        "EF-007": "Arithmetic: EF-006 in segments.",
        "EF-008": "Arithmetic: the link rate times the round-trip time, which are both inputs.",
        "EF-009": "Arithmetic: EF-008 in segments.",
        "EF-010": "Arithmetic: EF-009 rounded up.",
        "EF-011": "Arithmetic: a queue that can store the windows of all clients cannot overflow.",
        "EF-031": "Arithmetic on two published goodputs: EF-030, and the faster client in Table I.",
        "EF-032": "Arithmetic on two published goodputs: EF-030, and the faster client in Table I.",
        "EF-065": "The propagation delay is an input of the runs.",
    },
    FITTED: {
        "EF-002": _BASELINE,
        "EF-003": _BASELINE,
        "EF-004": _BASELINE,
        "EF-013": _LIMIT,
        "EF-016": _TABLE.format(TABLE_I),
        "EF-017": _TABLE.format(TABLE_I),
        "EF-033": _TABLE.format(TABLE_I),
        "EF-035": _TABLE.format(TABLE_I),
        "EF-036": _TABLE.format("Table II"),
        "EF-037": _TABLE.format("Table II"),
        "EF-044": _TABLE.format(TABLES),
        "EF-070": _LIMIT,
    },
}
