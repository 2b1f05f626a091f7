"""Answer of the study, and the claims that this reproduction contradicts or leaves open."""

from aqmlab.studies.framework.opening import Miss, Opening

OPENING = Opening(
    found="Five downloads lose 39 packets with aggressive RED and ECN, 842 with RED without ECN, "
    "and 370 with Drop Tail, and take about as long. ECN shares the link more fairly. With ten "
    "clients, the only client with ECN finishes first, and ECN needs about half of the buffer of "
    "Drop Tail.",
    ours="The claims hold, except for the buffer. Five downloads lose {EF-049} packets with ECN, "
    "{EF-047} without ECN and {EF-045} with Drop Tail. The goodput efficiency with ECN minus that "
    "with Drop Tail is {EF-069} percentage points. The only client with ECN of ten has rank "
    "{EF-058}. Half of the buffer is enough in some cases only ({EF-064}).",
    why="We fitted the settings of the study's simulator to Tables I to III, which the score "
    "leaves out. With these settings, the cases with five and ten clients agree too. Results of "
    "single clients differ, because the order of a few packets decides which of two equal clients "
    "is faster.",
    today="Aggressive RED with ECN avoids nearly all drops of long downloads and shares the link "
    "more fairly than Drop Tail. It hardly shortens the downloads, because the link is always "
    "busy.",
    shown=(
        ("Drops, 5 clients, Drop Tail", "EF-045"),
        ("Drops, 5 clients, RED", "EF-047"),
        ("Drops, 5 clients, RED with ECN", "EF-049"),
        ("Drops of one client without ECN", "EF-051"),
        ("Drops of the only client with ECN", "EF-052"),
        ("Time of the slowest of 10, no ECN", "EF-055"),
        ("Time of the only one of 10 with ECN", "EF-056"),
    ),
    axes=(("packets", "dropped packets"), ("s", "time of the download (s)")),
)

MISSES = (
    Miss(
        "Times at which the two downloads lose packets (Drop Tail, limit 64)",
        ("EF-022", "EF-024", "EF-025", "EF-059"),
        "The total number of lost packets equals the published number, but the times of the later "
        "losses differ. In our runs the slow start of one client ends with more losses than in the "
        "study, and the faster and the slower client swap places before their progress clearly "
        "differs. The published numbers come from a single run.",
        "aqmlab reproduce ecn-finite-transfers --only figure-5 figure-6",
    ),
    Miss(
        "Each client has received about 5 MB after 52 s",
        ("EF-023",),
        "A link that is always busy carries at most 4.65 MiB (4.88 MB) per client in 52 s. The "
        "study says approximately 5 MB, which may be rounded.",
    ),
    Miss(
        "Drops of single clients, aggressive RED, limit 128",
        ("EF-038", "EF-039", "EF-040", "EF-042"),
        "The total number of drops agrees with the study ({EF-037} packets). In the single run of "
        "the study, one download takes 13 % less time than the other (EF-036). Few of our "
        "replications have a lead of 10 % or more. In these the faster client loses fewer packets, "
        "as in the study, and all replications in which the slower client loses 21 packets are "
        "among them. The slower client loses 5 packets between 20 and 40 s (EF-042) in one of "
        "300 replications.",
        "aqmlab reproduce ecn-finite-transfers --only lock-out",
    ),
    Miss(
        "Drops and times of single clients among five and ten",
        ("EF-051", "EF-057", "EF-055"),
        "The total drops of five clients agree with the study ({EF-047} packets), but the "
        "published drops of the slowest client are less than a fifth of the total. For ten "
        "clients without ECN the study does not name the queue. We assume aggressive RED for ten "
        "clients without ECN.",
        "aqmlab reproduce ecn-finite-transfers --only migration",
    ),
    Miss(
        "ECN needs at most half of the buffer of Drop Tail",
        ("EF-064",),
        "The rule holds for {EF-064}. ECN needs more than half the buffer in two cases: if half "
        "the buffer is at most 8 packets (16 packets with ten clients), and if Drop Tail with the "
        "full buffer drops no packets.",
        "aqmlab reproduce ecn-finite-transfers --only buffer-equivalence",
    ),
    Miss(
        "ECN is fairer than RED",
        ("EF-072",),
        "The interval of ECN's mean gain in Jain's index contains 0. The claim that ECN is fairer "
        "than Drop Tail (EF-071) is reproduced.",
        "aqmlab reproduce ecn-finite-transfers --claim EF-072",
    ),
)
