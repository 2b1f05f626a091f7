"""Answer of the study, and the claims that this reproduction contradicts or leaves open."""

from aqmlab.studies.framework import Miss, Opening

OPENING = Opening(
    found="ECN hardly changes goodput: on one link by more than about 3 % in only 13 of 128 "
    "cases, all of them bulk transfers without CBR traffic. It loses where RED's maximum "
    "threshold is 120 packets, and mostly wins where it is 60. It causes more signals and longer "
    "queues, except for bulk transfers on three links. Head marking does not help.",
    ours="The main result holds, its details only in part. ECN changes the goodput by more than 3 "
    "% in {ES-006} of 128 cases, all of them bulk transfers without CBR traffic, and loses in all "
    "of them, where the maximum threshold is {ES-011} packets. It wins in none. On three links, "
    "ECN causes more signals in {ES-018} of 64 cases with bulk transfers, not fewer. Head marking "
    "does not help.",
    why="Our losses come from the timer of the study's simulator: FullTcp of ns-2 ends the "
    "back-off of its retransmission timer at any new ACK. If the queueing delay exceeds the "
    "timeout, it sends every segment twice. In 16 tested cases Karn's rule (RFC 6298) removes the "
    "losses. The published gains, and the fewer signals on three links, remain unexplained.",
    today="ECN avoids timeouts of short transfers and hardly changes goodput. Check the timer of "
    "a simulator before you read an effect of a few percent.",
    shown=(
        ("Goodput differs, one link", "ES-006"),
        ("More signals, three links", "ES-017"),
        ("... of which bulk", "ES-018"),
        ("Smallest noticeable difference, three links", "ES-015"),
        ("Largest difference, three links", "ES-016"),
        ("13th largest difference, one link", "ES-007"),
    ),
    axes=(("count", "number of pairs"), ("%", "change of goodput (%)")),
)

READINGS = "aqmlab reproduce ecn-red-simulation --only readings"

MISSES = (
    Miss(
        "Number of cases with a different goodput on one link",
        ("ES-006", "ES-007", "ES-009"),
        "The sender sends each segment twice if the queueing delay exceeds its timeout. This "
        "happens here in fewer cases than published, also in some with 6 sessions. The SACK of "
        "FullTcp in ns-2 2.26 was not validated, and our sender recovers by RFC 6675. With RED "
        "that is gentle and marks at any probability, more cases differ.",
        READINGS,
    ),
    Miss(
        "Cases in which ECN raises the goodput",
        ("ES-012", "ES-013", "ES-014"),
        "ECN raises no goodput by more than 3 %; the largest gain is about 1 %, with either "
        "maximum threshold. A sentence of section V of the study suggests that packets were "
        "marked above the maximum threshold. With gentle RED that marks at any probability, ECN "
        "gains where the threshold is 60, as published, but in more cases than published, also "
        "with CBR traffic, and drops no longer dominate for long transfers. The introduction says "
        "that RED drops all packets above the maximum threshold, so the score counts that.",
        "aqmlab reproduce ecn-red-simulation --falsify",
    ),
    Miss(
        "Goodput differences of bulk transfers on three links",
        ("ES-015", "ES-016"),
        "The same mechanism as on one link; the differences here are larger than published.",
        READINGS,
    ),
    Miss(
        "Fewer signals and shorter queues for bulk transfers on three links",
        ("ES-017", "ES-018", "ES-024", "ES-026"),
        "On one link, queues are longer and signals more frequent with ECN, in the study and in "
        "our runs; the study explains this by marked packets, which stay in the queue. They stay "
        "in the queues of three links too. All our readings, chains and stars give longer queues "
        "and more signals. The cause of the difference is not known.",
        READINGS,
    ),
    Miss(
        "Cases without congestion",
        ("ES-032",),
        "Every case has drops or marks: even six sessions of 10 kB files fill the link. The study "
        "describes its tests as ranging from no congestion to heavy congestion, and names no case.",
        "aqmlab reproduce ecn-red-simulation --claim ES-032",
    ),
)
