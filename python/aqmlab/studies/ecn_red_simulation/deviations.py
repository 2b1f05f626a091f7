"""Paragraphs of the report: the study, rules for its numbers, and differences from it."""

ABOUT = (
    "A reproduction of a simulation study of TCP with ECN in RED networks (ns-2 2.26, FullTcp with "
    "SACK). Sessions transfer a file, close and start again, over one congested link of 512 kbit/s "
    "and over three, in 128 combinations of delay, RED's parameters, sessions, file size and CBR "
    "traffic. Each combination is run without ECN, with ECN, and with ECN and head marking, five "
    "times for 300 s.",
    "The study prints 30 claims and two figures whose numbers are not legible. Its main result: "
    "ECN brings more signals and longer queues, and changes goodput in few cases, up or down.",
)

READING = (
    "All arms of a replication have the same seed: sessions start at the same times and pause "
    "equally long until the queues differ. Differences are computed per replication, with 95 % "
    "intervals by Student's t.",
    "Code decides each claim, and the evidence states the rule. The interval of a count reaches "
    "from the pairs whose whole 95 % interval meets the condition to the pairs whose interval "
    "overlaps it. The study's threshold, “around 3 %”, is read as 2.5 to 3.5 %. Cells are medians; "
    "claims compare means.",
    "Drops and marks are counted on the links between routers, in both directions, for all "
    "packets: data, ACKs, SYNs and CBR traffic. The mean queue is the time average of the packets "
    "that wait at gw1 towards gw2. Goodput is the acknowledged data of all sessions, divided by "
    "300 s.",
)

DEVIATIONS = (
    "Assumed: the segment of 1492 bytes is payload, as in FullTcp. With 40 bytes of "
    "headers it has 1532 bytes on the wire, and an ACK has 40. The item “Sensitivity to the "
    "assumptions” reads it as the whole packet.",
    "Assumed: files of 10 000 and 1 000 000 bytes; no unit is printed.",
    "RED drops every packet above maxth, as the study states; the default of ns-2 2.26 is gentle. "
    "Assumed: below maxth RED marks a chosen packet if the probability is below 0.1, and drops it "
    "otherwise, ECN-capable or not. This is the default of ns-2 since April 2002 (`mark_p_`). The "
    "study does not mention it, but states that drops dominated for long transfers with ECN too, "
    "which holds only with it. With linterm 10 the probability stays below 0.1; with linterm 5 it "
    "exceeds 0.1 in the upper half of the region. The item “Sensitivity to the assumptions” has "
    "the other readings.",
    "Defaults of ns-2 2.26: RED waits 1/p packets after a signal, passes a packet that finds at "
    "most one waiting, and assumes a mean packet of 500 bytes while idle. TCP has a window of 20 "
    "segments, an initial window of two, an ACK per segment, timeouts of 1 to 64 s (6 s before the "
    "first round trip), a clock of 10 ms, and ECN-capable retransmissions.",
    "ns-2's FullTcp ends the back-off of its timer at any new ACK. RFC 6298, and the TCP here, end "
    "it at an ACK of data that was sent once (Karn). With a window of one segment, ECN-Echo makes "
    "FullTcp double its timer and counts as a response to ECN. Here the sender waits for its "
    "timer, which counts as a timeout (RFC 3168 §6.1.2). Loss recovery follows RFC 6675, similar "
    "to FullTcp. No reading here ends the back-off as FullTcp does.",
    "The server, which has the data, opens a session, as in active FTP and in ns-2. The FIN is on "
    "the last segment (`close_on_empty_`). The next session starts 0 to 50 ms after both endpoints "
    "have closed, with new ports. Sessions start within the first 0.5 "
    "s.",
    "Assumed: access links have a delay of 1 ms and a limit of 1000 packets. CBR packets have 100 "
    "bytes with headers, are not ECN-capable, begin with 10 s of sending, and go from ftp0 to "
    "ftp3 on one link.",
    "Assumed: three links in a chain gw1–gw2–gw3–gw4 with ftp0, ftp3, ftp4 at the first three "
    "and ftp5 and ftp6 at gw4, so that each link carries two of the pairs and ftp0–ftp4 and "
    "ftp3–ftp5 cross two. Figure 5 is not legible in the text. The item “Sensitivity to "
    "the assumptions” has stars around gw2.",
    "Head marking: the study has a pointer behind the last marked packet. Here RED marks the first "
    "ECN-capable, unmarked packet from the head. The two differ if an earlier link has marked a "
    "packet, because a packet is not marked twice.",
)
