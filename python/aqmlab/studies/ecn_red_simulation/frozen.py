"""Values that this reproduction uses for the settings that the study leaves open.

The item `readings` shows results with other values of the open settings. The score does not count
the results of `readings`.
"""

from aqmlab.studies.framework import Choice
from aqmlab.studies.framework.claims import FITTED, INPUT

CHOICES = (
    Choice("Segments", "1492 bytes of payload and 40 bytes of headers",
           "In FullTcp of ns-2 the segment size is the payload without headers."),
    Choice("Sizes of files", "10 000 and 1 000 000 bytes",
           "The study gives no unit of the file size."),
    Choice("Above maxth", "Every packet is dropped",
           "The study states it. The default of ns-2 2.26 is gentle RED."),
    Choice(
        "Marks of ECN-capable packets",
        "RED marks chosen packets at probabilities below 0.1, and drops them from 0.1 on",
        "Default of ns-2 since April 2002 (mark_p_), which the study does not mention.",
        "The statement of the study that with ECN most signals of long transfers are drops "
        "(ES-031)",
    ),
    Choice(
        "RED besides Table 1", "RED waits 1/p packets after a signal, passes a packet if at most "
        "one packet is waiting, and assumes a mean packet of 500 bytes during idle time",
        "Defaults of ns-2 2.26.",
    ),
    Choice(
        "Hosts", "FullTcp: window of 20 segments, initial window of two segments, one ACK per "
        "segment, timeouts of 1 to 64 s (6 s before the first round-trip sample), clock of 10 ms, "
        "ECN-capable retransmissions",
        "Defaults of ns-2 2.26.",
    ),
    Choice(
        "Loss recovery", "RFC 6675",
        "The study names FullTcp with SACK, whose loss recovery is similar.",
    ),
    Choice(
        "Back-off of the retransmission timer", "It ends at any ACK of new data",
        "The source of FullTcp, by its change log since March 2002. RFC 6298 demands Karn's rule, "
        "by which the back-off ends at a round-trip sample.",
    ),
    Choice("Sessions", "The server opens the session; the FIN is on the last segment; the next "
           "session begins 0 to 50 ms after both endpoints have closed",
           "The evidence is the behaviour of ns-2 (close_on_empty_) and the text of the study."),
    Choice("Three links", "A chain gw1-gw2-gw3-gw4",
           "The text of the study states that each link carries the traffic of two pairs of "
           "hosts. Figure 5, which shows the network, is not legible."),
    Choice("Head marking",
           "RED marks the first packet from the head that is ECN-capable and not yet marked",
           "The study describes a pointer to the packet behind the last marked packet."),
)  # fmt: skip

_GRID = "The number of settings follows from Table 1 of the study, which is an input of the runs."
_RATIO = "Arithmetic: the claim follows from the definition of the ratio."
APART = {
    FITTED: {
        "ES-031": "The statement was used to choose the probability below which RED marks.",
    },
    INPUT: {
        "ES-001": _GRID,
        "ES-002": _GRID,
        "ES-003": _RATIO,
        "ES-004": _RATIO,
        "ES-005": _RATIO,
    },
}
