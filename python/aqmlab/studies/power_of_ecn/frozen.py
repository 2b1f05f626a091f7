"""Frozen reading of the paper: our choice for each setting that the paper leaves open.

No published number that a claim repeats was used to choose a setting. The study's items `readings`,
`variants` and `today` show other readings, which the score does not count.
"""

from aqmlab.studies.framework import Choice
from aqmlab.studies.framework.claims import INPUT

CHOICES = (
    Choice(
        "Sizes of objects",
        "A lognormal body and, for 15 % of the objects, a Pareto tail from 7 kB to 1 GB",
        "It has the two printed numbers: a mean of 7.2 kB, 80 % of the bytes in the "
        "largest 15 %. A lognormal distribution alone can have both too.",
    ),
    Choice("Pages", "Pareto times of mean 10 s and shape 1.5 from start to start, four objects "
           "(geometric), 100 ms between their requests (exponential), requests of 350 B",
           "The paper names the Pareto distribution without numbers."),
    Choice("Offered loads", "Users that make up 90, 98 and 105 % on the uncongested link, in each "
           "replication", "The loads are printed; that the cells of Table 1 are 90 and 105 % is "
           "inferred from their order."),
    Choice("Adaptive RED", "Defaults for a target of 5 ms, thresholds in packets of 500 B, not "
           "gentle", "Section 4.1; the mean packet is the default of ns-2."),
    Choice("REM, PI and the threshold", "Coefficients of their papers; 62 kB", "Section 4.1: a "
           "target of 62 kB. The threshold is 5 ms by context."),
    Choice("Buffer", "1000 packets", "Not printed."),
    Choice("Hosts", "NewReno, segments of 1460 bytes, initial window of two, first timeout 3 s, "
           "timeouts of 1 s or more, delayed ACKs",
           "Initial window and SYN timeout are printed; the others are defaults of ns-2 and RFCs "
           "of that time."),
    Choice("A mark at a window of one segment", "The sender waits for its timer",
           "RFC 3168, section 6.1.2. The sender of ns-2 continues to send, which is not "
           "available here."),
    Choice("A marked SYN-ACK", "No effect on the server", "Section 3.2.1."),
    Choice("The testbed", "445 browsers that think for 7 s, pages of four objects over one "
           "persistent connection, hosts as Linux 2.4",
           "Think time of TPC-W; the paper offers 15 Mbit/s, which this number of browsers "
           "receives from "
           "a network without congestion."),
)  # fmt: skip

_SHARES = "The share of clients with ECN is an input."
APART = {
    INPUT: {
        "PE-024": "The mean of the mix of sizes is an input.",
        "PE-028": _SHARES,
        "PE-029": _SHARES,
        "PE-030": _SHARES,
    },
}
