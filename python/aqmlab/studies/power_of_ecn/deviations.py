"""Paragraphs of the report: the study, rules for its numbers, and differences from it."""

ABOUT = (
    "A reproduction of “The Power of Explicit Congestion Notification”: web traffic through a "
    "congested link of 100 Mbit/s with RED, RED*, REM, PI or a threshold, without ECN, with ECN, "
    "and with ECN+, whose servers send ECN-capable SYN-ACKs; and a testbed of browsers that wait "
    "for their pages over 10 Mbit/s.",
    "The main result of the paper: with ECN alone a queue marks data and drops SYN-ACKs, which may "
    "do harm (RED*); ECN+ shortens response times with every scheme, without loss of throughput.",
)

READING = (
    "A response time is from the first SYN to the last byte of an object. A request without a "
    "response at the end of the run counts with its wait so far (product-limit estimate). The mean "
    "of a profile is the mean of the distribution function from 0 to 2 s, which the figures show.",
    "The requests of a replication are the same under every scheme: pages start independently of "
    "earlier ones. The numbers of users are calibrated on the uncongested link, for each "
    "replication. Replications differ in the requests and their times.",
    "Numbers are means over five replications of 300 s after a warm-up of 30 s, with 95 % "
    "intervals by Student's t; differences are paired by replication. The tolerance of a "
    "printed throughput is 3 % of the link, that of a share of responses five points. A direction "
    "has to hold in every case for which it is claimed.",
)

DEVIATIONS = (
    "Assumed sizes: a lognormal body and, for 15 % of the objects, a Pareto tail from 7 kB to "
    "1 GB. It has the printed mean and share (7.2 kB, 80 % of the bytes in the largest 15 %); the "
    "measured distribution that the paper fits is not printed. For the general mix the tail is "
    "heavier and has 90 % of the bytes (section 5.3.1).",
    "Assumed pages: a Pareto time of mean 10 s and shape 1.5 from the start of a page to that "
    "of the next, four objects per page (geometric), 100 ms between their requests (exponential), "
    "requests of 350 B, endless sessions. The paper names the Pareto distribution without numbers.",
    "The paper replays a trace of requests. Here pages are timed from their starts, so all schemes "
    "have the same requests by construction; a test checks this.",
    "Assumed queues: a limit of 1000 packets. RED is Adaptive RED with its defaults for a target "
    "of 5 ms, with a mean packet of 500 B as in ns-2; not gentle, as in section 4.1. "
    "REM and PI have the coefficients of their papers, with a target of 62 kB; the threshold is "
    "62 kB.",
    "Assumed hosts: NewReno, segments of 1460 bytes, initial window of two, first timeout 3 s, "
    "minimum timeout 1 s, every second segment acknowledged. A marked SYN-ACK has no effect on the "
    "server, as in section 3.2.1. By RFC 5562 the server then starts with one segment, which the "
    "item `variants` shows.",
    "Round trips come from the access links of 35 clients, evenly spaced from 10 to 150 ms. A user "
    "has the same advertised window, 8, 16 or 64 KB, for all requests.",
    "The testbed is simulated: no kernels, no web server, no database. Browsers think for 7 s "
    "(TPC-W), get pages of four objects of the web mix over one persistent connection per page, "
    "and receive 15 Mbit/s in all from a link of 100 Mbit/s. Hosts are as Linux 2.4.",
    "Table 1 is legible for PI only, and its loads are inferred. The figures are pictures, and the "
    "text gives two of their points. The model of figures 7 to 9 has the bursts of our mixes.",
)
