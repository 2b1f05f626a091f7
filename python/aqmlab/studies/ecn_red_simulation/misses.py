"""Answer of the study, and the claims that this reproduction contradicts or leaves open."""

from aqmlab.studies.framework import Miss, Opening

OPENING = Opening(
    found="ECN causes more signals and longer queues, and changes the goodput by more than about "
    "3 % in only 13 of 128 cases on one link, all of them bulk transfers; it lowers goodput where "
    "RED's maximum threshold is 120 packets.",
    ours="ECN causes more signals and longer queues, and changes the goodput by more than 3 % in "
    "{ES-006} of 128 cases; no case differs by more than {ES-007} %.",
    why="The sender of the study, FullTcp of ns-2, ends the back-off of its retransmission timer "
    "at any new ACK, so it sends each segment twice once the queueing delay exceeds the timeout; "
    "with that sender, ECN lowers the goodput of bulk transfers with maxth 120 here too.",
    today="ECN avoids timeouts of short transfers and hardly changes goodput; check the timer of a "
    "simulator before you read an effect of a few percent.",
    shown=(
        ("Goodput differs, one link", "ES-006"),
        ("More signals, three links", "ES-017"),
        ("... of which bulk", "ES-018"),
        ("Threshold of a difference, one link", "ES-007"),
        ("Largest difference, three links", "ES-016"),
        ("Utilization without a gain", "ES-019"),
    ),
)

BACK_OFF = (
    "FullTcp of ns-2 ends the back-off of its retransmission timer at any new ACK, and takes no "
    "round-trip sample after a timeout. If a queue of 80 packets delays segments by more than the "
    "timeout, every segment times out once, the ACK of its first copy ends the back-off, and no "
    "sample raises the timeout: the sender transmits each segment twice. Our sender follows Karn's "
    "rule, which prevents this. "
)
READINGS = "aqmlab reproduce ecn-red-simulation --only readings"

MISSES = (
    Miss(
        "ECN changes the goodput of 13 cases on one link",
        tuple(f"ES-{i:03}" for i in range(6, 14)),
        BACK_OFF + "With senders that end the back-off like FullTcp, ECN lowers the goodput of "
        "bulk transfers of 12 sessions with maxth 120, as published; with gentle RED that marks "
        "at any probability it also raises the goodput of some cases.",
        READINGS,
    ),
    Miss(
        "ECN changes the goodput of a few bulk transfers on three links by 5 to 10 %",
        ("ES-015", "ES-016"),
        BACK_OFF + "With senders that end the back-off like FullTcp, ECN lowers the goodput of two "
        "of the 16 pairs of the readings by about a tenth.",
        READINGS,
    ),
    Miss(
        "Fewer signals and shorter queues for bulk transfers on three links",
        ("ES-017", "ES-018", "ES-024", "ES-026"),
        "On one link, queues are longer and signals more frequent with ECN, in the study and in "
        "our runs; the study explains this by marked packets, which stay in the queue. They stay "
        "in the queues of three links too. All our readings, chains and stars give longer queues "
        "and more signals, also with the back-off of FullTcp. The cause of the difference is not "
        "known.",
        READINGS,
    ),
    Miss(
        "Head marking lowers the goodput on three links",
        ("ES-030",),
        "In our runs the goodput is not lower with head marking. With senders that end the "
        "back-off like FullTcp it is lower, as published.",
        "aqmlab reproduce ecn-red-simulation --claim ES-030 --set tcp.rto.backoff_ends='new-ack'",
    ),
    Miss(
        "The case with the largest gain has maxth 120",
        ("ES-014",),
        "The largest gains with maxth 60 and with maxth 120 do not differ significantly.",
    ),
)
