"""Frozen reading of RFC 2884: our choice for each setting that the memo leaves open.

The memo prints no thresholds, buffer, timers or absolute throughputs. No published number was used
to choose a setting. The item `readings` of the study shows other readings, which the score does not
count.
"""

from aqmlab.studies.framework import Choice
from aqmlab.studies.framework.claims import INPUT

CHOICES = (
    Choice(
        "Thresholds of RED",
        "minth 7 and maxth 21 packets, for every load, maximum drop rate and TCP",
        "The memo tuned them until the average stayed between them. The item `tuning` does the "
        "same by the rule of `aqmlab tune-red`. The memo's SACK tests had other machines, which "
        "this reading does not follow.",
    ),
    Choice(
        "RED besides its thresholds",
        "Limit of 100 packets, wq 0.002, uniform distances between signals, not gentle",
        "Queue of a Linux interface; defaults of the paper of RED; the memo describes drops of all "
        "packets above maxth.",
    ),
    Choice("Delay", "20 ms one way", "The memo calls it the latency of the link."),
    Choice(
        "ECN-capable packets",
        "All except pure ACKs, the SYN and the SYN-ACK",
        "RFC 2481, section 6.1.1, forbids ECN-capable SYNs and SYN-ACKs. The memo's sentence, all "
        "packets other than pure ACKs, would allow the SYN-ACK.",
    ),
    Choice(
        "Start of the next transaction",
        "When both endpoints have closed the connection",
        "The memo does not define it. netperf's client starts the next transaction at the server's "
        "FIN, which this reading does not follow yet.",
    ),
    Choice(
        "Hosts",
        "Reno: Linux 2.0.32, one segment at first, 1460 bytes. NewReno and SACK: Linux 2.2, two "
        "segments, 1448 bytes and timestamps, FACK. Both: 32736 bytes of window, clock of 10 ms, "
        "timeouts of 200 ms or more, 3 s at first",
        "Versions named by the memo; defaults of their sources.",
    ),
    Choice(
        "Sizes",
        "20 MB are 20 * 2^20 bytes, 5 KB are 5 * 1024; requests of 1 KB",
        "Powers of two as netperf counts them; the request is the memo's example.",
    ),
    Choice(
        "Flow whose rates are printed (0.8 to 2.2 per second)", "The ECN flow",
        "The memo does not name it. The range follows the gains of ECN.",
    ),
    Choice(
        "Ends of ranges that are not named", "5 and 10 flows; maxp 0.02 and 0.5",
        "The levels of congestion that the section speaks of; the ends of its grid.",
    ),
)  # fmt: skip

APART = {
    INPUT: {
        "R2-019": "Arithmetic: three duplicate ACKs need three packets behind the lost one.",
        "R2-020": "Arithmetic: 5 KB in segments of an MTU of 1500 bytes.",
    },
}
