"""Values that this reproduction uses for the settings that the paper leaves open.

No published number of a claim was used to choose a setting. The items `sizes`, `readings`,
`variants` and `today` of the study have results with other values, which the score does not count.
"""

from aqmlab.studies.framework import Choice
from aqmlab.studies.framework.claims import INPUT

CHOICES = (
    Choice(
        "Sizes of objects",
        "A lognormal distribution, and for the largest 15 % of the objects a Pareto distribution "
        "from 7 kB to 1 GB",
        "The distribution has the two published numbers of object sizes: a mean of 7.2 kB, and "
        "80 % of the bytes in the largest 15 % of the objects. Section 4.2 of the paper also "
        "names a heavy-tailed distribution with objects of gigabytes, and the web traffic in the "
        "examples of ns-2 has Pareto sizes with a shape of 1.2. A lognormal distribution with "
        "both published numbers has no objects of gigabytes, so the score does not count it; the "
        "item `sizes` has its results.",
    ),
    Choice("Pages", "Pareto times of mean 10 s and shape 1.5 between the starts of pages, a mean "
           "of four objects per page (geometric), a mean of 100 ms between the requests of a page "
           "(exponential), requests of 350 B",
           "The paper names the Pareto distribution, but gives no numbers."),
    Choice("Offered loads", "Numbers of users that offer a load of 90, 98 and 105 % on the "
           "uncongested link, in each replication",
           "The paper gives the loads. We infer from the order of the cells which cells of Table 1 "
           "belong to 90 % and which to 105 %."),
    Choice("Adaptive RED",
           "Defaults for a target of 5 ms, a mean packet size of 500 B, not gentle",
           "Section 4.1 of the paper. The mean packet size is the default of ns-2."),
    Choice("REM, PI and the threshold", "Coefficients of the papers on REM and PI; 62 kB",
           "Section 4.1 gives a target of 62 kB. The text of the paper suggests a threshold of 5 "
           "ms, or 62 kB."),
    Choice("Buffer", "1000 packets", "The paper does not give the buffer size."),
    Choice("Hosts", "NewReno, segments of 1460 bytes, initial window of two segments, first "
           "timeout of 3 s, minimum timeout of 1 s, delayed ACKs",
           "The paper gives the initial window and the SYN timeout. The other values are defaults "
           "of ns-2 and of the RFCs of that time."),
    Choice("Response to a mark if cwnd is one segment",
           "The sender waits for its retransmission timer",
           "RFC 3168, section 6.1.2. By section 3.2.1 of the paper, a server with a window of one "
           "segment also waits for its timer after a mark. The sender of ns-2 continues to send; "
           "the item `readings` has this sender."),
    Choice("Response to a marked SYN-ACK", "The mark has no effect on the server",
           "Section 3.2.1 of the paper."),
    Choice("The testbed", "Browsers that wait for 7 s between pages, a mean of four objects per "
           "page, one persistent connection per page, hosts with the TCP of Linux 2.4",
           "The time between pages is that of TPC-W. The paper states a throughput of 15 Mbit/s "
           "without congestion, and the number of browsers is calibrated to this throughput."),
)  # fmt: skip

_SHARES = "The share of clients with ECN is an input of the runs."
APART = {
    INPUT: {
        "PE-024": "The mean object size is an input of the runs.",
        "PE-028": _SHARES,
        "PE-029": _SHARES,
        "PE-030": _SHARES,
    },
}
