"""Frozen reading of the study: our choice for each setting that the study leaves open.

Each choice has its reason. The module also lists the claims that the score does not count.
`published/notes.md` describes the search that chose the settings of the study's simulator. The
search compared about 1600 settings of TCP against Table I, and 48 settings of RED against Tables II
and III. The published numbers of these three tables are therefore fitted. The claims that repeat
these numbers are fitted too.
"""

from aqmlab.studies.framework import Choice
from aqmlab.studies.framework.claims import FITTED, INPUT

FITTED_TABLES = ("table-1", "table-2", "table-3")
"""Items whose published numbers were used to choose settings."""
TABLE_I, TABLES = "Table I", "Tables I to III"

CHOICES = (
    Choice(
        "Headers on the wire",
        "Data packets of 1460 bytes, headers not counted",
        "14 365 packets of 1500 bytes need 114.9 s at 1.5 Mbit/s, and 112.5 s are printed.",
        "EF-002 to EF-004",
    ),
    Choice(
        "Window, initial window, handshake",
        "Window of 44 segments, initial window of one segment, no handshake whose ACK opens the "
        "window",
        "The window is printed: 64 KB, about 44 segments. A search over the settings of the "
        "study's simulator gave the others.",
        TABLE_I,
    ),
    Choice(
        "Loss recovery",
        "Reno; fast retransmit without a guard; the ACK that ends a recovery opens the window",
        "Search over the settings of the study's simulator; the last one is in the simulator's "
        "source.",
        TABLE_I,
    ),
    Choice(
        "Timers",
        "Clock ticks of 100 ms, timeouts of two ticks or more, delayed ACKs of 100 ms",
        "Search over the settings of the study's simulator.",
        TABLE_I,
    ),
    Choice(
        "Meaning of the queue limit",
        "Drop Tail counts the packet in service, RED does not",
        "Source of the study's simulator. A RED queue without early drops at limits 4 and 8 then "
        "equals Drop Tail at 5 and 9.",
        TABLES,
    ),
    Choice(
        "RED",
        "Counts packets, not gentle, waits 1/p packets after a signal, drops above maxth",
        "Search over 48 settings of the study's simulator.",
        "Tables II and III",
    ),
    Choice(
        "Minth of RED at limit 16",
        "5 packets",
        "Tables III and IV print 5. Table II prints 8, with which maxth would exceed the limit.",
    ),
    Choice(
        "The client with ECN in Table IV",
        "The client with the lower printed goodput in Table II, column by column",
        "The text: ECN at the weaker client.",
    ),
    Choice(
        "The queue of ten clients without ECN",
        "Aggressive RED, limit 64",
        "The section on five clients has it; the text does not repeat it for ten.",
    ),
)

_BASELINE = "This number was used to choose the size of headers on the wire."
_TABLE = "The number repeats one of {}, which was used to choose settings."
_LIMIT = "The meaning of the queue limit, fitted to Tables I to III, decides limits 4 and 8."

APART = {
    INPUT: {
        "EF-001": "The size of the file is an input.",
        "EF-006": "Arithmetic: rate times twice the delay.",
        "EF-007": "Arithmetic: EF-006 in segments.",
        "EF-008": "Arithmetic: rate times the round trip of the inputs.",
        "EF-009": "Arithmetic: EF-008 in segments.",
        "EF-010": "Arithmetic: EF-009 rounded up.",
        "EF-011": "Arithmetic: a queue cannot overflow if every window fits into it.",
        "EF-031": "Arithmetic: EF-030 and the goodput of the faster client in Table I.",
        "EF-032": "Arithmetic: EF-030 and the goodput of the faster client in Table I.",
        "EF-065": "The delay is an input.",
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
