"""Values that this reproduction uses for the settings that the thesis leaves open.

Two settings were chosen with the help of published numbers: the link rate and the delay of ACKs.
The link rate was chosen by the times at which the last data leaves the link. An ACK delay of 0 was
chosen from six delays, by the medians of elapsed times and of received CBR packets. The published
numbers by which the settings were chosen, and the claims that repeat these numbers, are therefore
fitted. The items `memory`, `readings`, `kernel` and `beyond` of the study have runs with other
values of the settings. The score does not count the runs with other values.
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
        "The receiver acknowledges every segment at once",
        "Segments arrive at least 84 ms apart, and Linux 2.4 initially delays ACKs by 40 ms. Of "
        "the delays 0, 40, 60, 80, 100 and 200 ms, a delay of 0 agrees best with all tests "
        "together.",
        "Medians of elapsed times and of received CBR packets (Tables 5-1, 5-4, 8-8 to 8-10)",
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
        "HTB sends at exact times, without hysteresis",
        "The source code of HTB 3 has hysteresis, which our runs do not use. The thesis does not "
        "state its version of HTB.",
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

_TIME = "The published times of the slowest flow were used to choose the link rate."
_MEDIAN = "The published median was used to choose the delay of ACKs."
_MEDIANS = (
    "We chose the delay of ACKs with the help of published medians, and the claim follows from "
    "these medians."
)
_SIZE = (
    "The published number is the size of the transfer divided by the published number of claim {}."
)
_RATE = "The published number is the published number of claim {} divided by the link rate."
_SIZES = "The claim follows from the sizes of the transfers, which are settings of the scenario."
_NUMBER = "The number of replications is a setting of the study, and not a result of the runs."

APART = {
    INPUT: {
        "RW-002": _RATE.format("RW-001"),
        "RW-009": _RATE.format("RW-007"),
        "RW-010": _RATE.format("RW-008"),
        "RW-017": _SIZES,
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
        "RW-083": _NUMBER,
        "RW-085": "Arithmetic: the claim follows from the spacing of RED's drops.",
        "RW-093": _SIZES,
        "RW-094": _SIZES,
    },
    FITTED: {
        "RW-003": _TIME,
        "RW-004": _TIME,
        "RW-013": f"{_SIZE.format('RW-016')} {_MEDIAN}",
        "RW-014": f"{_SIZE.format('RW-015')} {_MEDIAN}",
        "RW-015": _MEDIAN,
        "RW-016": _MEDIAN,
        "RW-072": _MEDIAN,
        "RW-073": f"The claim is equal to RW-015. {_MEDIAN}",
        "RW-074": _MEDIAN,
        "RW-075": f"The claim is equal to RW-016. {_MEDIAN}",
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
