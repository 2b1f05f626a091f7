"""What the report says of the study, of how to read it, and of what it leaves open."""

ABOUT = (
    "A reproduction of a thesis that compares RED with Tail Drop on four Linux 2.4 machines in a "
    "row, the last link held to 140 kbit/s by HTB: three TCP flows of which the third starts "
    "later, and a TCP flow beside a CBR flow, in one class of HTB or in two. Each scenario has 20 "
    "replications.",
    "Its results in a sentence: with Tail Drop a short transfer that starts a few seconds after "
    "two long ones takes between 12 and 23 s, as its luck has it, and with RED about 10 s; and RED "
    "spares CBR traffic that shares a class with TCP.",
)

READING = (
    "A number is a statistic of 20 replications, as printed. Its interval is the central 95 % of "
    "the bootstrap of ours, and its tolerance 3 % (times of the slowest of two long flows), 5 % "
    "(medians of test cases 1 to 3), 10 % (other times and rates), one or 20 % (counts), 30 % "
    "(deviations).",
    "A number of one replication alone has a tolerance of 5 %, and the spread of our replications. "
    "Every claim's evidence says its rule.",
)

DEVIATIONS = (
    "The rate of the link: 140 × 1024 bit/s, since `tc` of that time took a kbit for 1024 bits, "
    "and HTB counts 12 of the 14 bytes of Ethernet's header (it looks times up in steps of 8 "
    "bytes). The thesis's own tables say so: three flows end after 36.65 s, TCP with CBR in two "
    "classes after 37.77 s (test case 1) and 24.6 s (test case 3). With IP packets alone these "
    "are 142.8, 138.7 and 142.9 kbit/s, which is no rate; counted so, 144, 144.2 and 144.9, less "
    "what a first burst adds. At 140 000 bit/s the slowest flow cannot end when it does (item "
    "`readings`).",
    "Segments of 1448 bytes and timestamps: the thesis says MSS 1460 and timestamps off, and "
    "nearly all its retransmitted bytes are multiples of 1448.",
    "CBR packets at 50 a second: 2001 in 40 s, 301 in 6 s, 251 in 5 s. The 61 of its Table 4-2 "
    "contradict that.",
    "The buffer in bytes lets a packet in whole while no more than the limit waits: so do the byte "
    "queue (`bfifo_enqueue`: backlog <= limit) and RED (`red_enqueue`, the same) in a public copy "
    "of Linux 2.4.17; today's kernels count the packet that comes too. With a limit that a packet "
    "must fit into, CBR packets fit where segments do not and hardly any is lost; the thesis lost "
    "15 %.",
    "HTB is exact here. In a public copy of HTB 3 (sch_htb.c of 2003, `htb_class_mode`) a class "
    "that may send goes on until it owes more than its burst, so that segments leave in pairs, and "
    "it wakes with the timer's ticks of 10 ms. Which version the thesis ran is not known. The item "
    "`kernel` has what hangs on it: the CBR packets lost behind Tail Drop.",
    "Assumed: hosts remember ssthresh of earlier connections, as Linux 2.4 does "
    "(`tcp_update_metrics`); the first replication of a scenario begins without, the others with a "
    "value drawn from those that our own runs leave. Test case 2 leaves none. The item `memory` "
    "has the evidence. Two more things that it remembers are left out: round trips, from which the "
    "first timeout follows, and, with ssthresh, an initial window of up to three segments, where "
    "the thesis says two (tried: with three, two fewer of the third flow's medians fit).",
    "Assumed: flows start up to 20 ms later than is meant, and each packet takes up to 100 us "
    "more through the first host; the thesis's machines differed by themselves. The item "
    "`readings` has other values.",
    "From Linux 2.4 (`sarolahti2002linux`): forward acknowledgement with SACK, segments that are "
    "SACKed make room at once, ssthresh from cwnd, least deviation of the timeout 200 ms, initial "
    "timeout 3 s. Its rate halving is not offered (`tcp_cwnd_down`): cwnd is halved at once.",
    "Assumed: every segment has its ACK at once. The thesis has delayed ACKs, but segments arrive "
    "84 ms and more apart, and Linux 2.4 waits 40 ms at first, adapts that, and sends quick ACKs "
    "after pauses, which is not offered here. Of 0, 40, 60, 80, 100 and 200 ms, at once is best "
    "over all tests, not in each: with 200 ms the medians of the fastest flow fall short, with 40 "
    "ms too few CBR packets are lost (item `readings`).",
    "ttcp writes and reads 5840 bytes at a time. Writes that wait for room in the sender's buffer "
    "are not offered; the sender writes everything at once here, and the receiver reads at once. "
    "The item `kernel` has the medians with timed writes and with reads of 5840 bytes: they differ "
    "where a lost last segment decides, and hardly elsewhere.",
    "A third flow that outlasts the fastest of the others is an exception, as in Table 5-1.",
)
