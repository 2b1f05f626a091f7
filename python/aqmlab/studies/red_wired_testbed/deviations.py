"""Paragraphs of the report: summary, rules of the numbers, and differences from the thesis."""

ABOUT = (
    "A reproduction of a thesis that compares RED with Tail Drop on four Linux 2.4 machines in a "
    "row, where HTB limits the last link to 140 kbit/s. One test has three TCP flows, of which the "
    "third starts later; the other has a TCP flow beside a CBR flow, in one class of HTB or in "
    "two. Each scenario has 20 replications.",
    "Its main results: a short transfer that starts a few seconds after two long ones takes 12 to "
    "23 s with Tail Drop and about 10 s with RED, and CBR traffic in a class with TCP has fewer "
    "losses with RED.",
)

READING = (
    "A number is a statistic of 20 replications, as printed. Our interval is the central 95 % "
    "of a bootstrap. Tolerances are 3 % (times of the slowest of two long flows), 5 % "
    "(medians of test cases 1 to 3), 10 % (other times and rates), one or 20 % (counts), 30 % "
    "(deviations).",
    "For a printed number of one replication, the tolerance is 5 %, and the spread of our "
    "replications is allowed too. The evidence of every claim states its rule.",
)

DEVIATIONS = (
    "The rate of the link is 140 × 1024 bit/s, because a kbit of `tc` had 1024 bits then. HTB "
    "counts 12 of the 14 bytes of Ethernet's header, because its table of times has steps of 8 "
    "bytes. The thesis's tables confirm this: three flows end after 36.65 s, TCP with CBR in two "
    "classes after 37.77 s (test case 1) and 24.6 s (test case 3). With IP packets alone these "
    "times imply 142.8, 138.7 and 142.9 kbit/s, which differ; with the headers they imply 144, "
    "144.2 and 144.9 kbit/s, minus the effect of a first burst. At 140 000 bit/s the slowest flow "
    "ends later than printed (item `readings`).",
    "Segments of 1448 bytes and timestamps: the thesis states MSS 1460 and timestamps off, but "
    "nearly all its retransmitted bytes are multiples of 1448.",
    "CBR packets at 50 a second: 2001 in 40 s, 301 in 6 s, 251 in 5 s. The 61 of its Table 4-2 "
    "contradict that.",
    "The buffer accepts a whole packet while the waiting bytes do not exceed the limit. So do the "
    "byte queue (`bfifo_enqueue`: backlog <= limit) and RED (`red_enqueue`) in a public copy of "
    "Linux 2.4.17; today's kernels count the arriving packet too. If the limit included the "
    "arriving packet, CBR packets would fit where segments do not, and few would be lost; the "
    "thesis lost 15 %.",
    "HTB is exact here. In a public copy of HTB 3 (sch_htb.c of 2003, `htb_class_mode`) a class "
    "that may send continues until its debt exceeds its burst, so that segments leave in pairs, "
    "and it wakes with the timer's ticks of 10 ms. The version of the thesis is unknown. The item "
    "`kernel` shows the effect on the CBR packets lost behind Tail Drop.",
    "Assumed: hosts remember ssthresh of earlier connections, as Linux 2.4 does "
    "(`tcp_update_metrics`); the first replication of a scenario starts without a value, the "
    "others with one drawn from the values that our own runs leave. Test case 2 leaves none. The "
    "item `memory` has the evidence. Two other remembered values are left out: round trips, which "
    "set the first timeout, and, with ssthresh, an initial window of up to three segments; the "
    "thesis states two (with three, two fewer of the third flow's medians fit).",
    "Assumed: flows start up to 20 ms later than scheduled, and each packet takes up to 100 us "
    "longer through the first host, because the thesis's machines varied. The item "
    "`readings` has other values.",
    "From Linux 2.4 (`sarolahti2002linux`): forward acknowledgement with SACK, SACKed "
    "segments leave the pipe at once, ssthresh from cwnd, minimum deviation of the timeout 200 ms, "
    "initial timeout 3 s. Rate halving (`tcp_cwnd_down`) is not available: cwnd is halved at once.",
    "Assumed: the receiver acknowledges every segment at once. The thesis has delayed ACKs. "
    "Segments arrive at least 84 ms apart, and Linux 2.4 starts with a delay of 40 ms, adapts it, "
    "and sends quick ACKs after pauses, which is not available here. Of 0, 40, 60, 80, 100 and 200 "
    "ms, 0 is best over all tests, but not in each: with 200 ms the medians of the fastest flow "
    "are too short, and with 40 ms too few CBR packets are lost (item `readings`).",
    "ttcp writes and reads 5840 bytes at a time. Writes that block on a full send buffer "
    "are not available; here the sender writes everything at once, and the receiver reads at once. "
    "The item `kernel` has the medians with timed writes and with reads of 5840 bytes. They differ "
    "if the loss of a last segment decides, and hardly otherwise.",
    "A third flow that outlasts the fastest of the others is an exception, as in Table 5-1.",
)
