"""Paragraphs of the report: a summary of the thesis, rules for our numbers, and differences."""

ABOUT = (
    "A reproduction of a thesis that compares RED with Tail Drop on four Linux 2.4 machines in a "
    "row. The queue discipline HTB limits the last link to 140 kbit/s. In one test, two long TCP "
    "flows start together, and a third, short TCP flow starts later. In a second test, a TCP flow "
    "competes with a CBR flow. Both flows are in one class of HTB, or each flow has its own "
    "class. Each scenario has 20 replications.",
    "The thesis has two main results. A short transfer that starts a few seconds after two long "
    "transfers takes 12 to 23 s with Tail Drop, and about 10 s with RED. If CBR traffic and TCP "
    "are in the same class, fewer CBR packets are lost with RED than with Tail Drop.",
)

READING = (
    "A published number is a statistic of 20 replications. We repeat this experiment: the tests "
    "with three flows have 240 replications, and those with a CBR flow 40, or 240 for the short "
    "transfer of test case 2. Tests whose claims were open with 240 replications have 960: three "
    "flows with Tail Drop after 0, 2, 4 and 5.5 s, and with RED after 5.5 s. Our number is the "
    "published statistic of all our replications, with the central 95 % of a bootstrap as its "
    "interval. A minimum or maximum depends on the number of replications, so our minimum is the "
    "mean of the minima of our experiments with 20 replications. The tolerance is 3 % for times "
    "of the slower long flow, 5 % for medians of test cases 1 to 3, and 10 % for other times and "
    "rates. The tolerance of a count is one, or 20 % if that is more. The tolerance of a standard "
    "deviation is 30 %.",
    "If a published number is from a single replication, the tolerance of the number is 5 %. A "
    "published number from a single replication is also reproduced if it lies within the spread "
    "of our replications. The evidence of every claim states the rule for its verdict.",
)

DEVIATIONS = (
    "The rate of the link is 140 × 1024 bit/s, because a kbit of the program `tc` had 1024 bits "
    "at that time. HTB includes 12 of the 14 bytes of the Ethernet header in the size of a "
    "packet, because its table of times has steps of 8 bytes. Three published times confirm that "
    "HTB includes the Ethernet header. In the test with three flows, the last flow ends after "
    "36.65 s. If the CBR flow has its own class, TCP ends after 37.77 s in test case 1, and "
    "after 24.6 s in test case 3. If HTB counted only IP packets, the three published times "
    "would imply three different rates: 142.8, 138.7 and 142.9 kbit/s. If HTB includes the "
    "Ethernet headers, the three published times imply nearly equal link rates: 144, 144.2 and "
    "144.9 kbit/s. The actual link rate is slightly lower, because of the first burst of HTB. If "
    "the link had 140 000 bit/s, the slowest flow would end later than published (item "
    "`readings`).",
    "We assume segments of 1448 bytes with timestamps. The thesis states an MSS of 1460 bytes "
    "without timestamps, but nearly all of its numbers of retransmitted bytes are multiples of "
    "1448.",
    "The CBR flow sends 50 packets per second: the thesis has 2001 packets in 40 s, 301 packets "
    "in 6 s and 251 packets in 5 s. Table 4-2 of the thesis lists 61 CBR packets per second, "
    "which contradicts the numbers of packets.",
    "The buffer accepts a packet if the bytes that are already waiting do not exceed the limit. "
    "In a public copy of Linux 2.4.17, the byte queue (`bfifo_enqueue`) and RED (`red_enqueue`) "
    "accept a packet while `backlog <= limit`. Current kernels also count the arriving packet "
    "against the limit. If the limit included the arriving packet, the buffer would often accept "
    "a small CBR packet when it drops a large segment, and few CBR packets would be lost. In the "
    "thesis 15 % of the CBR packets were lost.",
    "HTB has hysteresis, as in public copies of HTB 3 (sch_htb.c, HTB_HYSTERESIS is 1). A class "
    "that has begun to send continues until its debt exceeds its burst, and then waits until the "
    "debt is paid (htb_class_mode), so segments leave in pairs. The thesis cites the guide of "
    "HTB 3 and does not state a burst. We use the burst that the program tc computes if none is "
    "given (q_htb.c): the bytes of a timer tick of 10 ms at the rate of the class, and 1600 B. "
    "The item `readings` has other bursts, and HTB without hysteresis. In Linux 2.4 a waiting "
    "class can send again only at a timer tick, which aqmlab does not support. At a tick, the "
    "class has tokens for up to 180 B per tick of waiting, so a burst of 2048 B is similar to the "
    "default burst with ticks.",
    "We assume that hosts remember the ssthresh of earlier connections, as Linux 2.4 does "
    "(`tcp_update_metrics`). The first replication of a scenario starts without a remembered "
    "ssthresh. Each later replication starts with a random ssthresh. The random values of "
    "ssthresh are as frequent as the values that hosts store at the end of our runs. The "
    "transfers of test case 2 end too early to store an ssthresh. The item `memory` has evidence "
    "that hosts remember ssthresh. Linux 2.4 also remembers round-trip times, which determine "
    "the first timeout. A scenario of aqmlab cannot set a round-trip time that the hosts "
    "remember. The item `readings` has timeouts that exceed the smoothed round-trip time by at "
    "least 1.5 s, during the whole connection. With a remembered ssthresh, Linux 2.4 has an "
    "initial window of up to three segments. We use an initial window of two segments, as the "
    "thesis states.",
    "We assume that flows start up to 20 ms later than scheduled, and that the first host delays "
    "each packet by up to 100 us, because the replications of the thesis differ. The item "
    "`readings` has other values.",
    "The hosts follow Linux 2.4 (`sarolahti2002linux`): they use forward acknowledgement with "
    "SACK, and SACKed segments leave the pipe at once. A loss sets ssthresh to half of cwnd. The "
    "retransmission timeout is at least 200 ms longer than the smoothed round-trip time, and the "
    "initial timeout is 3 s. Three rules of Linux 2.4 differ from aqmlab's rules. First, cwnd "
    "grows in slow start only while cwnd is full (tcp_ack), and in aqmlab while half of cwnd is "
    "in flight. A sender that has sent all its data therefore has a larger cwnd in aqmlab when it "
    "detects a loss. Second, Linux 2.4 reduces cwnd over a round trip (tcp_cwnd_down), and "
    "aqmlab at once. Third, in a recovery Linux 2.4 counts the first unacknowledged segment as "
    "lost (tcp_update_scoreboard), and aqmlab only if more than three segments behind it are "
    "SACKed. The item `readings` approximates the first rule by an ssthresh from the FlightSize, "
    "and the second rule by PRR.",
    "The thesis has delayed ACKs. In Linux 2.4 the delay of an ACK is at least 40 ms, and a second "
    "segment ends the delay. Our receivers delay an ACK by 40 ms, and acknowledge the first two "
    "segments at once. In Linux 2.4 the delay grows up to the round-trip time of the handshake "
    "when ACKs wait for the timer, and a segment with PSH is acknowledged at once. aqmlab does "
    "not support delays that adapt. The item `readings` has ACKs at once, and a delay of 200 ms.",
    "The program ttcp of the thesis writes and reads 5840 bytes at a time, and waits while the "
    "send buffer is full. In our runs the sender writes all data at once, and the receiver reads "
    "data immediately. The item `readings` has writes that wait for a send buffer of at most 128 "
    "KiB, writes of 5840 bytes at fixed intervals, and reads of 5840 bytes.",
    "The last segment carries the FIN. A host of the thesis sends the FIN in a segment of its own "
    "if the last segment left before the program closed the connection. A scenario of aqmlab "
    "cannot set the time at which the sender of a transfer closes the connection after its last "
    "write.",
    "As in Table 5-1, an exception is a replication in which the third flow takes longer than the "
    "faster long flow.",
)
