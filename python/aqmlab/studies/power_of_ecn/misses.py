"""Answer of the study, and the claims that this reproduction contradicts or leaves open."""

from aqmlab.studies.framework import Miss, Opening

OPENING = Opening(
    found="In the testbed, ECN+ raises the throughput from 56 to 99 % of the link rate, and "
    "lowers the mean response time from 4.5 to 0.5 s. In simulations with RED* at 90 % load, 75 % "
    "of the responses arrive within 0.5 s without ECN, only 30 % with ECN, and with ECN+ nearly "
    "as many as on an uncongested link. With RED*, ECN+ raises the throughput by 6 % at 90 % load "
    "and by 20 % at 105 % load.",
    ours="The headline does not hold. In the testbed, the throughput is {PE-032} % with ECN and "
    "{PE-033} % with ECN+, and the mean response time {PE-035} and {PE-036} s. At 90 % load ECN "
    "and ECN+ change almost nothing: {PE-006} % of the responses arrive within 0.5 s without ECN "
    "and {PE-007} % with ECN. ECN+ changes the throughput by {PE-010} % at 90 % load and by "
    "{PE-011} % at 105 % load.",
    why="The queue drops few SYN-ACKs at 90 % load, and why it dropped more in the paper is not "
    "known. Settings that the paper does not state turn the sign of ECN's effect. At 105 % load "
    "ECN is worse than no ECN if, for example, the sizes of all objects are lognormal, which has "
    "both numbers that the paper prints. At 90 % load ECN is worse only if senders ignore marks, "
    "which the paper does not suggest. The kernel of Linux 6.12 gives the results of our "
    "simulated testbed.",
    today="Make SYN-ACKs ECN-capable. A queue that is overloaded and marks drops the packets that "
    "are not ECN-capable, and each lost SYN-ACK costs a timeout.",
    shown=(
        ("Within 0.5 s: RED*, no ECN, 90 %", "PE-006"),
        ("Within 0.5 s: RED*, ECN, 90 %", "PE-007"),
        ("Throughput: PI, no ECN, 90 %", "PE-013"),
        ("Throughput: PI, no ECN, 105 %", "PE-015"),
        ("Throughput: threshold, ECN+, 90 %", "PE-012"),
        ("Throughput: threshold, ECN+, 105 %", "PE-014"),
        ("Throughput: testbed, no ECN", "PE-031"),
        ("Throughput: testbed, ECN", "PE-032"),
        ("Throughput: testbed, ECN+", "PE-033"),
        ("Response time: testbed, no ECN", "PE-034"),
        ("Response time: testbed, ECN", "PE-035"),
        ("Response time: testbed, ECN+", "PE-036"),
    ),
    axes=(("%", "responses, or throughput (%)"), ("s", "mean response time (s)")),
)

SIZES = "aqmlab reproduce power-of-ecn --only sizes"
READINGS = "aqmlab reproduce power-of-ecn --only readings"
MISSES = (
    Miss(
        "With RED*, ECN is worse than no ECN",
        ("PE-006", "PE-007", "PE-042"),
        "In our runs, {PE-006} % of the responses arrive within 0.5 s at 90 % load without ECN, "
        "and {PE-007} % with ECN, because the queue drops few SYN-ACKs. Settings that the paper "
        "does not state change this. At 105 % load, ECN is worse than no ECN with lognormal sizes, "
        "which have both published numbers of the object sizes, in aqmlab and in ns-2; it is also "
        "worse with senders that keep two segments after a mark (item `readings`). At 90 % load, "
        "of all tested settings only senders that ignore marks make ECN worse than no ECN, and "
        "most with lognormal sizes.",
        SIZES,
    ),
    Miss(
        "ECN+ has a higher throughput than ECN",
        ("PE-008", "PE-009", "PE-010", "PE-011", "PE-040"),
        "The link is as full with ECN as with ECN+, because requests that lose a SYN-ACK and wait "
        "for 3 s are served later in the same run. ECN+ could raise the throughput by 20 % only if "
        "the link were often idle with ECN. The gain of PI is 0.2 % in Table 1 of the paper, "
        "although its text gives 1 to 5 %. At 105 % load, ECN+ has a higher throughput than ECN "
        "with lognormal sizes, and with senders that ignore marks, but by far less than 20 %.",
        SIZES,
    ),
    Miss(
        "Throughput of PI at 90 % load, web mix",
        ("PE-013", "PE-020", "PE-021"),
        "Our users offer 90 % on the uncongested link in each replication, and PI carries nearly "
        "all of it ({PE-013} %), as RED and REM do. The published numbers of PI are all about "
        "86 %. ECN and lognormal sizes are excluded as causes, because the throughput is about "
        "90 % with them, too. The cause is not known.",
        "aqmlab reproduce power-of-ecn --only table-1",
    ),
    Miss(
        "Throughput of PI at 105 % load, web mix",
        ("PE-015", "PE-023"),
        "The difference from the published number is close to the tolerance of 3 % of the link "
        "rate, so the verdict depends on the number of replications.",
        "aqmlab reproduce power-of-ecn --only table-1",
    ),
    Miss(
        "Throughput of the threshold at 105 % load, web mix",
        ("PE-014",),
        "The threshold of 62 kB applies to the instantaneous queue, as in the text of the paper. "
        "The queue marks every packet above the threshold, and long flows, which carry most bytes, "
        "reduce cwnd. The paper does not state the threshold.",
        "aqmlab reproduce power-of-ecn --only figure-6",
    ),
    Miss(
        "Throughput with the general mix",
        ("PE-016", "PE-017", "PE-018", "PE-019"),
        "The paper does not give its OC-48 distribution of object sizes. Our general mix has the "
        "published share of bytes of long flows, and the size of its largest objects is assumed.",
        "aqmlab reproduce power-of-ecn --only figure-6",
    ),
    Miss(
        "ECN+ has better response times than ECN with every scheme",
        ("PE-041",),
        "At 105 % load with RED*, the gain differs much from replication to replication: it is "
        "nearly as large as the share of SYN-ACKs that the queue drops with ECN.",
        "aqmlab reproduce power-of-ecn --only figure-3",
    ),
    Miss(
        "ECN helps REM",
        ("PE-044",),
        "ECN helps at 105 % load. At 90 % load the queue signals few packets, so the difference "
        "between ECN and no ECN is less than a percentage point of the mean profile, which counts "
        "as no difference.",
        "aqmlab reproduce power-of-ecn --only figure-4",
    ),
    Miss(
        "Order of the schemes with ECN+",
        ("PE-046", "PE-047"),
        "With ECN+ the schemes differ by less than one percentage point of the mean profile. RED* "
        "and RED differ only while the average queue length is above maxth, where it hardly ever "
        "is with ECN+.",
        "aqmlab reproduce power-of-ecn --only figure-2 figure-3 figure-4 figure-5",
    ),
    Miss(
        "A threshold with ECN+ is better than PI without ECN",
        ("PE-048",),
        "The claim holds at 105 % load. At 90 % load hardly any packet is lost with either queue.",
        "aqmlab reproduce power-of-ecn --only figure-6",
    ),
    Miss(
        "Clients without ECN become slower as more clients have ECN",
        ("PE-049",),
        "In the score's runs, pages start independently of earlier pages. The load therefore does "
        "not depend on the response times, and a larger share of clients with ECN leaves fewer "
        "drops for all. If users wait for their pages and then only for a short time, clients with "
        "ECN request more, and clients without ECN become slower, as in the paper.",
        "aqmlab reproduce power-of-ecn --only figure-10",
    ),
    Miss(
        "The throughput of the testbed collapses without ECN+",
        ("PE-031", "PE-032", "PE-034", "PE-035", "PE-037", "PE-038", "PE-039"),
        "Browsers that wait for their pages send fewer requests when pages are slow. By Little's "
        "law, the published results without ECN (44 %, 26 s) and with ECN+ (99 %, 0.5 s) agree "
        "with each other only if browsers wait for 20 s between pages. Such browsers would "
        "receive only 10 Mbit/s from an uncongested network, but the paper states 15 Mbit/s. If "
        "pages start at fixed times, the overload persists, but ECN is worse than no ECN, unlike "
        "in the testbed of the paper. With a RED* that counts bytes, as Linux 2.4 does, our "
        "results come closer to the published ones.",
        "aqmlab reproduce power-of-ecn --only testbed",
    ),
    Miss(
        "Mean response time of the testbed with ECN+",
        ("PE-036",),
        "The mean ({PE-036} s) is close to the published 0.5 s, but differs between replications. "
        "A few large responses decide how many browsers offer 15 Mbit/s, and the mean response "
        "time grows with the number of browsers.",
        "aqmlab reproduce power-of-ecn --only testbed",
    ),
    Miss(
        "Mean queue for flows of 7.22 packets",
        ("PE-025",),
        "Equation (1) of the paper gives {PE-025} packets, but figure 7 of the paper shows 5 "
        "packets. The command lists changes of the model that give 5 packets.",
        "aqmlab model figure-7",
    ),
    Miss(
        "Probability of long queueing delays",
        ("PE-026",),
        "The probability depends on the tail of the object sizes, which the paper does not give.",
        "aqmlab reproduce power-of-ecn --only model",
    ),
    Miss(
        "Load from which the AQM schemes differ",
        ("PE-005",),
        "At the tested loads up to 90 % the mean profiles of all schemes are nearly equal. The "
        "paper takes its 80 % from another study and from its queueing model, and does not say "
        "which difference counts.",
        "aqmlab reproduce power-of-ecn --only loads",
    ),
)
