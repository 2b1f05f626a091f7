"""What the report says of the study, of how to read it, and of what it leaves open."""

ABOUT = (
    "A reproduction of a simulation study of what TCP gains from ECN in RED networks (ns-2 2.26, "
    "FullTcp with SACK): sessions that transfer a file, close and begin anew, over one congested "
    "link of 512 kbit/s and over three, in 128 combinations of delay, RED's parameters, "
    "sessions, file size and CBR traffic. Each is run without ECN, with ECN, and with ECN and "
    "marks at the head of the queue, for 300 s and five times.",
    "The study prints 30 claims and two figures whose numbers cannot be read. Its results in a "
    "sentence: ECN gives more signals and longer queues, and goodput that differs in few cases, "
    "for better or worse.",
)

READING = (
    "All arms of a replication have the same seed: sessions begin at the same times and pause "
    "equally long until the queue makes them differ. Differences are taken replication by "
    "replication, with 95 % intervals by Student's t.",
    "A claim is decided by code; its evidence says how. A count of pairs has an interval, from the "
    "pairs whose whole 95 % interval is of the kind to those that may be. “Around 3 %”, the "
    "study's threshold, is 2.5 to 3.5 %. Cells are medians; claims compare means.",
    "Drops and marks are those on the links between routers, both ways, of all packets: data, "
    "ACKs, SYNs and CBR traffic. The mean queue is the time average of the packets that wait at "
    "gw1 towards gw2. Goodput is the data of all sessions that was acknowledged within 300 s, "
    "over that time.",
)

DEVIATIONS = (
    "Assumed: the segment of 1492 bytes is payload, as FullTcp takes it, and 40 bytes of headers "
    "make 1532 on the wire; ACKs have 40. Read as the whole packet: item “What hangs on what the "
    "study leaves open”.",
    "Assumed: files of 10 000 and 1 000 000 bytes; no unit is printed.",
    "RED drops every packet above maxth, as the study says; ns-2 2.26 would be gentle unless told "
    "otherwise. Assumed: below maxth RED marks the packets that it chooses with a probability "
    "under 0.1 and drops the others, ECN-capable or not, as ns-2 does since April 2002 unless told "
    "otherwise (`mark_p_`). The study does not mention it, but says that for long transfers drops "
    "dominated with ECN too: that is so with it, and is not without. With linterm 10 the "
    "probability stays below 0.1, with linterm 5 it exceeds it in the upper half of the region. "
    "Item “What hangs on what the study leaves open” has the other readings.",
    "From ns-2 2.26, which the study does not overrule: RED waits 1/p packets after a signal, "
    "spares a queue of one packet and takes 500 bytes for the mean packet while idle; TCP has a "
    "window of 20 segments, begins with two, acknowledges each segment, has timeouts of 1 to 64 "
    "s (6 s before the first round trip), a clock of 10 ms, and ECN-capable retransmissions.",
    "ns-2's FullTcp ends the back-off of its timer at any new ACK; RFC 6298, and this TCP, at an "
    "ACK of what was sent once (Karn). With a window of one segment, ECN-Echo makes FullTcp "
    "double its timer and counts as a response to ECN; here the sender waits for its timer and "
    "that counts as a timeout (RFC 3168 §6.1.2). Loss recovery is that of RFC 6675, which "
    "FullTcp is near to. No reading here ends the back-off as FullTcp does.",
    "A session is opened by the server, which has the data, as an active FTP data connection and "
    "as ns-2 does; its FIN is on the last segment (`close_on_empty_`). The next begins 0 to 50 "
    "ms after both ends have closed, with ports of its own. Sessions start within the first 0.5 "
    "s.",
    "Assumed: access links have a delay of 1 ms and room for 1000 packets. CBR packets have 100 "
    "bytes with headers, are not ECN-capable, begin with 10 s of sending, and go from ftp0 to "
    "ftp3 on one link.",
    "Assumed: three links in a chain gw1–gw2–gw3–gw4 with ftp0, ftp3, ftp4 at the first three "
    "and ftp5 and ftp6 at gw4, so that each link carries two of the pairs and ftp0–ftp4 and "
    "ftp3–ftp5 cross two. Figure 5 cannot be read from the text. Stars around gw2 are in the "
    "item on readings.",
    "Head marking: the study's pointer stands behind the last packet that was marked; here the "
    "first ECN-capable packet from the head that is not marked yet is. They differ where a link "
    "before has marked a packet, which is not marked twice.",
)
