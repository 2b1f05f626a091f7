"""Frozen reading of the thesis: our choice for each setting that the thesis leaves open.

Two settings were chosen by published numbers: the rate of the link, and the delay of ACKs. The rate
of the link was chosen by the times at which the last data has passed the link. Immediate ACKs were
chosen from six delays by the medians of the elapsed times and of the CBR packets received. The
published numbers by which the rate and the delay were chosen are fitted, and the claims that repeat
these numbers are fitted too. The study's items `memory`, `readings`, `kernel` and `beyond` show
other readings, which the score does not count.
"""

from aqmlab.studies.framework import Choice
from aqmlab.studies.framework.claims import FITTED, INPUT

CHOICES = (
    Choice(
        "Rate of the link",
        "140 * 1024 bit/s, HTB counts Ethernet's header in steps of 8 bytes",
        "tc of that time took a kbit for 1024 bits. With IP packets alone the printed times need "
        "142.8, 138.7 and 142.9 kbit/s.",
        "Times of the slowest flow (Tables 5-1, 5-4, 8-3 to 8-7) and of TCP in two classes "
        "(Tables 8-8 and 8-10)",
    ),
    Choice(
        "Delayed ACKs",
        "The receiver acknowledges every segment at once",
        "Segments arrive 84 ms and more apart, and Linux 2.4 waits 40 ms at first. Of 0, 40, 60, "
        "80, 100 and 200 ms, 0 is best over all tests.",
        "Medians of the elapsed times and of the CBR packets received (Tables 5-1, 5-4, 8-8 to "
        "8-10)",
    ),
    Choice(
        "Segments and CBR packets",
        "1448 bytes and timestamps; 50 CBR packets per second",
        "Nearly all printed retransmitted bytes are multiples of 1448; 2001 packets in 40 s.",
    ),
    Choice(
        "Buffer",
        "Accepts a whole packet while the waiting bytes do not exceed the limit",
        "bfifo_enqueue and red_enqueue of Linux 2.4.17.",
    ),
    Choice(
        "HTB",
        "Exact, without hysteresis",
        "The source of HTB 3 has hysteresis, which this study does not use; the version of the "
        "thesis is unknown.",
    ),
    Choice(
        "Memory of the hosts",
        "The first replication starts without ssthresh, the others with a value that our own runs "
        "leave",
        "tcp_update_metrics of Linux 2.4. In the printed replications the first of each scenario "
        "has two to three times the retransmissions of the others.",
    ),
    Choice(
        "Jitter of the hosts",
        "Starts up to 20 ms later, packets up to 100 us later",
        "Assumed; the item readings has other values.",
    ),
    Choice(
        "TCP",
        "FACK, ssthresh from cwnd, initial timeout 3 s, minimum deviation 200 ms",
        "Linux 2.4. Its rate halving is not available here.",
    ),
    Choice(
        "ttcp",
        "Writes everything at once, reads at once",
        "It writes and reads 5840 bytes at a time. Blocking writes are not available here.",
    ),
    Choice(
        "Fair replications",
        "Throughputs of the long flows within 3.5 %",
        "With it the printed replications have the counts that the thesis gives, 10 and 7 of 20.",
    ),
)

_TIME = "The times of the slowest flow were used to choose the rate of the link."
_MEDIAN = "The median was used to choose the delay of ACKs."
_MEDIANS = "Arithmetic on medians that were used to choose the delay of ACKs."
_SIZE = "Arithmetic: the size of the transfer over {}."
_RATE = "Arithmetic: {} over the rate of the link."

APART = {
    INPUT: {
        "RW-002": _RATE.format("RW-001"),
        "RW-009": _RATE.format("RW-007"),
        "RW-010": _RATE.format("RW-008"),
        "RW-017": "Arithmetic: the sizes of the transfers are inputs.",
        "RW-025": "The number of replications is an input.",
        "RW-030": _SIZE.format("RW-028"),
        "RW-031": _SIZE.format("RW-026"),
        "RW-034": _SIZE.format("RW-033"),
        "RW-037": _SIZE.format("RW-036"),
        "RW-040": _SIZE.format("RW-039"),
        "RW-042": _SIZE.format("RW-041"),
        "RW-044": _SIZE.format("RW-043"),
        "RW-049": _SIZE.format("RW-048"),
        "RW-051": _SIZE.format("RW-050"),
        "RW-083": "The number of replications is an input.",
        "RW-085": "Arithmetic: the spacing of RED's drops.",
        "RW-093": "Arithmetic: the sizes of the transfers are inputs.",
        "RW-094": "Arithmetic: the sizes of the transfers are inputs.",
    },
    FITTED: {
        "RW-003": _TIME,
        "RW-004": _TIME,
        "RW-013": f"{_SIZE.format('RW-016')} {_MEDIAN}",
        "RW-014": f"{_SIZE.format('RW-015')} {_MEDIAN}",
        "RW-015": _MEDIAN,
        "RW-016": _MEDIAN,
        "RW-072": _MEDIAN,
        "RW-073": f"It is RW-015. {_MEDIAN}",
        "RW-074": _MEDIAN,
        "RW-075": f"It is RW-016. {_MEDIAN}",
        "RW-076": _TIME,
        "RW-077": _MEDIANS,
        "RW-086": _MEDIANS,
        "RW-087": _MEDIANS,
        "RW-091": _MEDIANS,
        "RW-092": _MEDIANS,
        "RW-097": _MEDIANS,
        "RW-110": _MEDIANS,
        "RW-111": _MEDIANS,
        "RW-114": _MEDIAN,
        "RW-115": _MEDIAN,
        "RW-116": _MEDIANS,
        "RW-117": _MEDIANS,
        "RW-118": _MEDIAN,
        "RW-119": _MEDIAN,
        "RW-127": _MEDIANS,
        "RW-128": _MEDIANS,
        "RW-129": _MEDIANS,
        "RW-130": _MEDIANS,
        "RW-131": _MEDIANS,
        "RW-138": _MEDIANS,
        "RW-139": _MEDIANS,
    },
}
