"""Values that this reproduction uses for the settings that the thesis leaves open.

One setting was chosen with the help of published numbers: the link rate, by the times at which the
last data leaves the link. These times, and the claims that follow from them, are therefore fitted.
The sizes of packets follow from the tables of the thesis. All other settings were chosen by the
words of the thesis and by the source code of its tools, or are assumptions, such as the jitter. The
items `memory`, `readings` and `beyond` of the study have runs with other values of the settings.
The score does not count the runs with other values.
"""

from aqmlab.studies.framework import Choice
from aqmlab.studies.framework.claims import FITTED, INPUT

CHOICES = (
    Choice(
        "Rate of the link",
        "140 * 1024 bit/s; HTB includes 12 bytes of the Ethernet header in the size of a packet",
        "A kbit of the program tc had 1024 bits at that time. If HTB counted only IP packets, "
        "three published times would imply three different link rates: 142.8, 138.7 and 142.9 "
        "kbit/s.",
        "Times of the slowest flow (Tables 5-1, 5-4, 8-3 to 8-7) and of TCP in two classes "
        "(Tables 8-8 and 8-10)",
    ),
    Choice(
        "Delayed ACKs",
        "The receiver delays an ACK by 40 ms, unless a second segment arrives; it acknowledges the "
        "first two segments at once",
        "The thesis has delayed ACKs. In Linux 2.4 the delay is at least 40 ms (TCP_DELACK_MIN), "
        "and at most the round-trip time of the handshake (tcp_send_delayed_ack). The first ACKs "
        "are sent at once, one for each two segments of the first window (tcp_incr_quickack). "
        "aqmlab does not support delays that adapt.",
    ),
    Choice(
        "Segments and CBR packets",
        "Segments of 1448 bytes with timestamps; 50 CBR packets per second",
        "Nearly all published numbers of retransmitted bytes are multiples of 1448. The CBR flow "
        "has 2001 packets in 40 s.",
    ),
    Choice(
        "Buffer",
        "The buffer accepts a packet if the bytes that are already waiting do not exceed the limit",
        "The functions bfifo_enqueue and red_enqueue of Linux 2.4.17 accept a packet while "
        "backlog <= limit.",
    ),
    Choice(
        "HTB",
        "Hysteresis, and the default bursts of the program tc: one timer tick of 10 ms at the "
        "rate, and 1600 B",
        "The source code of HTB 3 has HTB_HYSTERESIS 1, and the program tc computes a burst that "
        "is not given as rate / HZ + mtu (q_htb.c), where HZ is 100 in Linux 2.4. The thesis "
        "cites the guide of HTB 3, and does not state a burst.",
    ),
    Choice(
        "Memory of the hosts",
        "The first replication starts without a remembered ssthresh, and each later replication "
        "with a value that our own runs leave",
        "The function tcp_update_metrics of Linux 2.4. In each scenario with published "
        "replications, the first replication has two to three times as many retransmissions as "
        "the others.",
    ),
    Choice(
        "Jitter of the hosts",
        "Flows start up to 20 ms later, and packets are delayed by up to 100 us",
        "The thesis does not state the jitter of its hosts. The item `readings` has runs with "
        "other values of the jitter.",
    ),
    Choice(
        "TCP",
        "FACK, ssthresh of half of cwnd, initial timeout of 3 s, minimum deviation in the timeout "
        "of 200 ms",
        "Linux 2.4 uses FACK, sets ssthresh to half of cwnd after a loss, and has the same "
        "timeouts. aqmlab does not support the rate halving of Linux 2.4.",
    ),
    Choice(
        "ttcp",
        "The sender writes all data at once, and the receiver reads data immediately",
        "The program ttcp writes and reads 5840 bytes at a time. aqmlab does not support writes "
        "that wait while the send buffer is full.",
    ),
    Choice(
        "Fair replications",
        "Replications in which the throughputs of the long flows differ by less than 3.5 %",
        "With a limit of 3.5 %, the published replications have as many fair replications as the "
        "thesis states: 10 of 20 and 7 of 20.",
    ),
)

_TIME = (
    "The published times of the slowest flow were used to choose the link rate, and the claim "
    "follows from these times."
)
_TWO = "The published times of TCP in two classes were used to choose the link rate."
_EQUAL = "The claim is equal to {}."
_SIZE = (
    "The published number is the size of the transfer divided by the published number of claim {}."
)
_RATE = "The published number is the published number of claim {} divided by the link rate."
_RANGE = "The published number is the difference of the published numbers of claims {} and {}."
_SIZES = "The claim follows from the sizes of the transfers, which are settings of the scenario."
_NUMBER = "The number of replications is a setting of the study, and not a result of the runs."

APART = {
    INPUT: {
        "RW-002": _RATE.format("RW-001"),
        "RW-009": _RATE.format("RW-007"),
        "RW-010": _RATE.format("RW-008"),
        "RW-013": _SIZE.format("RW-016"),
        "RW-014": _SIZE.format("RW-015"),
        "RW-017": _SIZES,
        "RW-024": "By definition a quarter of the replications reach the upper quartile.",
        "RW-025": _NUMBER,
        "RW-030": _SIZE.format("RW-028"),
        "RW-031": _SIZE.format("RW-026"),
        "RW-034": _SIZE.format("RW-033"),
        "RW-037": _SIZE.format("RW-036"),
        "RW-040": _SIZE.format("RW-039"),
        "RW-042": _SIZE.format("RW-041"),
        "RW-044": _SIZE.format("RW-043"),
        "RW-049": _SIZE.format("RW-048"),
        "RW-051": _SIZE.format("RW-050"),
        "RW-073": _EQUAL.format("RW-015"),
        "RW-075": _EQUAL.format("RW-016"),
        "RW-083": _NUMBER,
        "RW-085": "Arithmetic: the claim follows from the spacing of RED's drops.",
        "RW-093": _SIZES,
        "RW-094": _SIZES,
        "RW-145": _RANGE.format("RW-072", "RW-074"),
        "RW-146": _RANGE.format("RW-015", "RW-016"),
    },
    FITTED: {
        "RW-003": _TIME,
        "RW-004": _TIME,
        "RW-022": _TIME,
        "RW-027": _TIME,
        "RW-061": _TIME,
        "RW-070": _TIME,
        "RW-076": _TIME,
        "RW-106": _TWO,
        "RW-108": _TWO,
        "RW-127": _TWO,
    },
}
