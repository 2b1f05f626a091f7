"""Frozen reading of the study: our choice for each setting that the study leaves open.

The item `readings` of the study shows other readings, which the score does not count.
"""

from aqmlab.studies.framework import Choice
from aqmlab.studies.framework.claims import INPUT

CHOICES = (
    Choice("Segments", "1492 bytes of payload and 40 of headers",
           "FullTcp of ns-2 takes the segment size as payload."),
    Choice("Sizes of files", "10 000 and 1 000 000 bytes", "No unit is printed."),
    Choice("Above maxth", "Every packet is dropped",
           "The text; ns-2 2.26 would be gentle unless configured otherwise."),
    Choice(
        "Marks of ECN-capable packets",
        "Below a probability of 0.1; from 0.1 on RED drops the chosen packets",
        "Default of ns-2 since April 2002 (mark_p_). The study does not mention it.",
        "The sentence that drops dominated for long transfers with ECN too, which is not among "
        "the claims",
    ),
    Choice(
        "RED besides Table 1", "Waits 1/p packets after a signal, passes a packet behind at most "
        "one other, 500 bytes as mean packet while idle", "Defaults of ns-2 2.26.",
    ),
    Choice(
        "Hosts", "FullTcp: window of 20 segments, two at first, an ACK per segment, timeouts of 1 "
        "to 64 s (6 s at first), clock of 10 ms, ECN-capable retransmissions",
        "Defaults of ns-2 2.26.",
    ),
    Choice(
        "Loss recovery", "RFC 6675, with Karn's rule for the back-off of the timer",
        "The study names FullTcp with SACK. FullTcp ends the back-off at any new ACK (its change "
        "log, March 2002), which this reading does not follow yet.",
    ),
    Choice("Sessions", "The server opens; the FIN is on the last segment; the next session begins "
           "0 to 50 ms after both endpoints have closed", "ns-2 (close_on_empty_) and the text."),
    Choice("Three links", "A chain gw1-gw2-gw3-gw4",
           "The text: each link carries two of the pairs. Figure 5 cannot be read."),
    Choice("Head marking", "The first ECN-capable packet from the head that is not marked",
           "The text: a pointer behind the last packet that was marked."),
)  # fmt: skip

_GRID = "It is the number of settings in Table 1, an input."
_RATIO = "Arithmetic: the meaning of a ratio."
APART = {
    INPUT: {
        "ES-001": _GRID,
        "ES-002": _GRID,
        "ES-003": _RATIO,
        "ES-004": _RATIO,
        "ES-005": _RATIO,
    },
}
