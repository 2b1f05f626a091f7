"""Paragraphs of the report: a summary of the study, rules for our numbers, and differences."""

from aqmlab.studies.ecn_red_simulation.pairs import MANY, USUAL

ABOUT = (
    "A reproduction of a simulation study of TCP with ECN in RED networks (ns-2 2.26, FullTcp with "
    "SACK). Sessions transfer a file, close and start again, over one or over three congested "
    "links of 512 kbit/s. There are 128 combinations of delay, RED's parameters, number of "
    "sessions, file size and CBR traffic. Each combination is run without ECN, with plain ECN, "
    "and with ECN and head marking, for 300 s.",
    "The study has 34 claims that we test, and two figures whose numbers are not legible. The "
    "main result of the study is that ECN causes more signals and longer queues, and changes "
    "goodput in only a few cases, up or down.",
)

READING = (
    "In a replication, the runs without ECN, with ECN and with head marking have the same seed. "
    "Sessions therefore start at the same times in these three runs, and pause equally long until "
    "the queues differ. Differences are computed for each replication, and their means have 95 % "
    "intervals by Student's t.",
    f"A setting has {USUAL} replications. Without ECN and with plain ECN, bulk transfers with "
    f"linterm 10 and 12 sessions have {MANY}, because their goodput differs most between "
    "replications.",
    "A function decides each claim from the results of the runs. The evidence for the verdict "
    "states the rule of the decision. Many claims are numbers of pairs that meet a condition. The "
    "95 % interval of a pair can meet a condition wholly, partly or not at all. The lower bound of "
    "our number counts the pairs whose interval wholly meets the condition. The upper bound of our "
    "number also counts the pairs whose interval partly meets the condition. We interpret the "
    "study's threshold, “around 3 %”, as 2.5 to 3.5 %. Tables show medians, but claims compare "
    "means.",
    "Drops and marks are counted on the links between routers, in both directions, for all "
    "packets: data, ACKs, SYNs and CBR traffic. The mean queue is the time average of the number "
    "of packets that wait at gw1 for the link to gw2. Goodput is the acknowledged data of all "
    "sessions, divided by 300 s.",
)

DEVIATIONS = (
    "We assume that the segment size of 1492 bytes is payload, as in FullTcp. With 40 bytes of "
    "headers a data packet has 1532 bytes on the wire, and an ACK has 40 bytes. The item "
    "“Sensitivity to the assumptions” also has runs in which 1492 bytes are the size of the whole "
    "packet.",
    "We assume files of 10 000 and 1 000 000 bytes, because the study gives no unit of the file "
    "size.",
    "RED drops every packet above maxth, as the study states, although the default of ns-2 2.26 "
    "is gentle RED. We assume that below maxth RED marks a chosen ECN-capable packet only if "
    "RED's probability is below 0.1, and drops the packet otherwise. Marks only at probabilities "
    "below 0.1 are the default of ns-2 since April 2002 (parameter `mark_p_`). The study does not "
    "mention `mark_p_`, but states that with ECN most signals of long transfers are drops. In our "
    "runs most signals of long transfers are drops only with `mark_p_`. With linterm 10 RED's "
    "probability stays below 0.1 up to maxth. With linterm 5 RED's probability exceeds 0.1 in the "
    "upper half of the region between the thresholds. The item “Sensitivity to the assumptions” "
    "has runs without `mark_p_` and with gentle RED.",
    "The defaults of ns-2 2.26 determine further settings of RED. After a signal RED waits for "
    "1/p packets. RED passes a packet if at most one packet is waiting, and assumes a mean packet "
    "size of 500 bytes during idle time. TCP also has defaults of ns-2: a window of 20 segments, "
    "an initial window of two segments, one ACK per segment, retransmission timeouts of 1 to 64 s "
    "(6 s before the first round-trip sample), a clock of 10 ms, and ECN-capable retransmissions.",
    "The back-off of the retransmission timer ends at any new ACK, as in FullTcp of ns-2 and "
    "against RFC 6298 (Karn's rule). If cwnd is one segment, an ECN-Echo makes FullTcp double its "
    "retransmission timer, which counts as a response to ECN. If cwnd is one segment, an ECN-Echo "
    "makes our sender wait until its retransmission timer expires, which counts as a timeout (RFC "
    "3168 §6.1.2). The loss recovery of our sender follows RFC 6675, and is similar to that of "
    "FullTcp.",
    "The server, which sends the data, opens each session, as in active FTP and in ns-2. The last "
    "segment of a file carries the FIN (`close_on_empty_` of ns-2). The next session starts 0 to "
    "50 ms after both endpoints have closed the previous session, with new ports. The first "
    "sessions start within 0.5 s.",
    "We assume that access links have a delay of 1 ms and a queue limit of 1000 packets. CBR "
    "packets have 100 bytes including headers, and are not ECN-capable. The CBR source "
    "alternately sends for 10 s and pauses for 10 s. With one congested link, CBR traffic goes "
    "from ftp0 to ftp3.",
    "Figure 5, which shows the network with three congested links, is not legible in our copy of "
    "the study. We assume a chain gw1–gw2–gw3–gw4. Hosts ftp0, ftp3 and ftp4 are at gw1, gw2 and "
    "gw3, and hosts ftp5 and ftp6 at gw4. Each link then carries the traffic of two pairs of "
    "hosts, and the pairs ftp0–ftp4 and ftp3–ftp5 cross two links each. The item “Sensitivity to "
    "the assumptions” also has networks with gw2 in the middle of a star.",
    "With head marking, the queue of the study has a pointer to the packet behind the last marked "
    "packet. Our RED instead marks the first packet from the head that is ECN-capable and not yet "
    "marked. The rule of the study and our rule mark different packets only if an earlier link has "
    "marked a packet in the queue, because our RED skips marked packets.",
)
