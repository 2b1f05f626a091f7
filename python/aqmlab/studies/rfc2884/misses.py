"""Answer of the study, and the claims that this reproduction contradicts or leaves open."""

from aqmlab.studies.framework.opening import Miss, Opening

OPENING = Opening(
    found="With a maximum drop rate of 0.1, the gain of ECN grows from 23 % at low to 50 % at "
    "high congestion for bulk transfers, and from 42 % at moderate to 62 % at high congestion for "
    "transactions of 5 KB. At high congestion it also grows with the maximum drop rate, to 60 and "
    "140 %. Transactions gain more than bulk transfers.",
    ours="The trends hold, the order does not: bulk transfers gain more than transactions. Bulk "
    "transfers gain {R2-001} % at low and {R2-002} % at high congestion, and transactions "
    "{R2-009} % and {R2-010} %. At the highest drop rate they gain {R2-004} and {R2-014} %.",
    why="The memo contradicts itself on whether SYN-ACKs are ECN-capable, and the score counts "
    "runs in which they are not. If they are, and with our thresholds, transactions gain about "
    "what the memo printed. The gains of bulk transfers depend on RED's thresholds, which the "
    "memo does not give.",
    today="Make SYN-ACKs ECN-capable (RFC 5562). For short transactions behind a congested RED "
    "queue, that one packet is worth more than ECN on all data packets.",
    shown=(
        ("Bulk, Reno, low congestion", "R2-001"),
        ("Bulk, Reno, high congestion", "R2-002"),
        ("Bulk, Reno, maxp 0.02", "R2-003"),
        ("Bulk, Reno, maxp 0.5", "R2-004"),
        ("Bulk, SACK, low congestion", "R2-005"),
        ("Bulk, SACK, high congestion", "R2-006"),
        ("5 KB, Reno, moderate congestion", "R2-009"),
        ("5 KB, Reno, high congestion", "R2-010"),
        ("5 KB, Reno, maxp 0.02", "R2-013"),
        ("5 KB, Reno, maxp 0.5", "R2-014"),
        ("5 KB, SACK, moderate congestion", "R2-015"),
        ("5 KB, SACK, high congestion", "R2-016"),
    ),
    axes=(("%", "gain of ECN (%)"),),
)

COMMAND = "aqmlab reproduce rfc2884"

MISSES = (
    Miss(
        "Gains of ECN for transactions",
        (*(f"R2-{i:03}" for i in (9, 10, 11, 12, 13, 14, 15, 16, 17, 18)), "R2-025", "R2-036"),
        "The SYN-ACK. If it is not ECN-capable, RED drops it with ECN as without, and the server "
        "retransmits it after 3 s. The first table of the item `transactions` has both kinds: "
        "with ECN-capable SYN-ACKs the gains are several times as large, 5 KB gain more than 20 "
        "KB, and the client without ECN keeps its rate. No other reading comes near the published "
        "gains without ECN-capable SYN-ACKs. The hosts of Linux 6.12, simulated and measured, "
        "mostly gain more than those of the memo, and still less than published. With ECN-capable "
        "SYN-ACKs, larger thresholds lower the gains and a shorter delay raises them. The memo "
        "says that all packets other than pure ACKs are ECN-capable, and that ECT is set from the "
        "agreement of both ends on. RFC 2481 says the latter, and Linux 2.4.0 sends SYN-ACKs "
        "without ECT, so the score counts SYN-ACKs that are not ECN-capable.",
        f"{COMMAND} --only transactions readings",
    ),
    Miss(
        "Hardly any difference between NewReno and Reno in transactions",
        ("R2-027", "R2-042"),
        "The initial window. The hosts with NewReno and SACK begin with two segments, as Linux "
        "2.2 does, and those with Reno with one. With one segment NewReno gains as much as Reno, "
        "and with two segments Reno gains as much as NewReno. ECN then gains more, because the "
        "client with ECN completes more transactions, and the client without ECN still waits for "
        "as many timeouts.",
        f"{COMMAND} --claim R2-042 --set 'tcp.initial_window=1 segment'",
    ),
    Miss(
        "Gains of ECN for bulk transfers at high congestion, and SACK compared with Reno",
        ("R2-003", "R2-004", "R2-006", "R2-007", "R2-008", "R2-026"),
        "RED's thresholds, which the memo does not print. At high congestion the link and the "
        "queue store fewer than two packets for each of the twelve flows, so a lost packet mostly "
        "leads to a timeout, and ECN gains much. Larger thresholds lower the gains at maxp 0.1 "
        "and 0.5. With minth 10 and maxth 30, a pair that is tied with ours in the tuning, the "
        "three gains of Reno at high congestion lie near the published ones. With minth 20 and "
        "maxth 60, which suit only high congestion, all four gains with SACK do, and SACK gains "
        "less than Reno. The memo ran its SACK tests on other machines.",
        f"{COMMAND} --only readings tuning",
    ),
    Miss(
        "Gain of ECN for bulk transfers at low congestion, and its absolute size",
        ("R2-001", "R2-005", "R2-024"),
        "Not found. The gain at low congestion depends on the cost of a timeout: with a minimum "
        "timeout of 1 s, or with receivers that acknowledge each segment, Reno gains about what "
        "the memo printed. With minth 15, maxth 45 and 1 s, the gains of Reno at low and high "
        "congestion are both near the published ones, and their absolute size then falls. Linux "
        "2.0.32 has a minimum of 200 ms and delays ACKs.",
        f"{COMMAND} --only readings",
    ),
    Miss(
        "Retransmissions by timeout",
        ("R2-031",),
        "Small windows. At high congestion the link and the queue store fewer than two packets "
        "for each flow, and a fast retransmit needs four (R2-019). Larger thresholds and a longer "
        "minimum timeout lower the share of timeouts, but at none of the tested pairs is it near "
        "10 % at high congestion.",
        f"{COMMAND} --only readings retransmissions",
    ),
    Miss(
        "Absolute gain of transactions does not grow with congestion",
        ("R2-044",),
        "The change is near 0, and our interval contains both a change that the memo's rounding "
        "would hide and a larger one.",
        f"{COMMAND} --claim R2-044",
    ),
    Miss(
        "Equal numbers of drops and marks",
        ("R2-021",),
        "RED signals packets of both kinds with the same probability, within a few percent (last "
        "column of the item). The ECN flows have more marks than the other flows have drops, "
        "because they send more packets; at high congestion and maxp 0.02, forced drops also hit "
        "ECN flows.",
        f"{COMMAND} --only marks-and-drops",
    ),
    Miss(
        "Smallest fairness index",
        ("R2-022",),
        "The duration of the FTP sessions, which the memo does not give. Over 180 s the "
        "throughputs of the four flows become nearly equal. Over 20 s our indices are lower, by "
        "up to 0.02, and do not fall as maxp grows.",
        f"{COMMAND} --only fairness --set 'duration=40 s'",
    ),
    Miss(
        "RED without tuned thresholds",
        ("R2-049", "R2-050"),
        "The thresholds of the first tests of the memo are not known. With those of the RED "
        "paper, RED drops every packet above maxth, so its average stays near maxth, and above it "
        "for a tenth of the time with ten flows. ECN gains about as little as with tuned "
        "thresholds, where the average is also above maxth for several percent of the time.",
        f"{COMMAND} --only untuned",
    ),
)
