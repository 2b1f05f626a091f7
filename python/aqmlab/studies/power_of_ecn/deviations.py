"""Paragraphs of the report: a summary of the paper, rules for our numbers, and differences."""

from aqmlab.studies.power_of_ecn.scenarios import MANY, REPLICATIONS

ABOUT = (
    "A reproduction of “The Power of Explicit Congestion Notification”. Web traffic crosses a "
    "congested link of 100 Mbit/s with RED, RED*, REM, PI or a threshold. The hosts use no ECN, "
    "ECN, or ECN+. With ECN+, servers also send ECN-capable SYN-ACKs. The paper also has a "
    "testbed with a link of 10 Mbit/s, in which browsers wait for their pages.",
    "The main result of the paper concerns SYN-ACKs. With ECN, a queue marks data packets but "
    "drops SYN-ACKs, so ECN may make response times longer than without ECN, as with RED*. With "
    "ECN+, response times are shorter with every scheme, without loss of throughput.",
)

READING = (
    "A response time is the time from the first SYN to the last byte of an object. For a request "
    "that is unfinished at the end of the run, the time since the request is a lower bound of its "
    "response time (product-limit estimate). The response-time profile is the distribution "
    "function of response times from 0 to 2 s, which the figures show. The mean of the profile is "
    "the mean of the distribution function from 0 to 2 s, in %.",
    "In a replication, the requests are the same under every scheme, because pages start "
    "independently of earlier pages. For each replication, the number of users is calibrated on "
    "the uncongested link. Replications differ in the requests and in the times of the requests.",
    f"Our numbers are means of {REPLICATIONS} replications of 300 s after a warm-up of 30 s, with "
    f"95 % intervals by Student's t. Three settings have {MANY}, which should decide their open "
    "claims by the spread of the first five: the threshold with ECN+ at 90 % load, and PI "
    "without ECN and with ECN at 105 % load, all with the web mix. Differences are paired "
    "by replication. Differences of mean profiles of at most one percentage point count as no "
    "difference, because a figure does not show them. The tolerance of a published throughput is "
    "3 % of the link rate, and the tolerance of a published share of responses is five percentage "
    "points. A claim about a sign is reproduced only if it is reproduced in all cases to which it "
    "applies.",
)

DEVIATIONS = (
    "We assume that 85 % of the object sizes have a lognormal distribution, and that the largest "
    "15 % have a Pareto distribution from 7 kB to 1 GB. The assumed distribution of object sizes "
    "has the two published numbers: a mean of 7.2 kB, and 80 % of the bytes in the largest 15 % "
    "of the objects. The paper fits its traffic to a measured distribution, and does not give "
    "this distribution. A lognormal distribution also has the two published numbers, and leads to "
    "other results, which the item `sizes` shows. In the general mix the tail is heavier, and the "
    "largest 15 % of the objects have 90 % of the bytes (section 5.3.1).",
    "We assume that the time from the start of a page to the start of the user's next page has a "
    "Pareto distribution with mean 10 s and shape 1.5. The paper names the Pareto distribution, "
    "but gives no numbers. We assume a mean of four objects per page (geometric), a mean of 100 "
    "ms between the requests of a page (exponential), requests of 350 B, and endless sessions.",
    "The paper replays a recorded trace of requests under every scheme. In our runs, the next "
    "page of a user does not depend on the end of earlier pages, so all schemes have the same "
    "requests, which a test checks.",
    "We assume a queue limit of 1000 packets. RED is Adaptive RED with its defaults for a target "
    "of 5 ms and a mean packet size of 500 B, as in ns-2. RED is not gentle, as in section 4.1 of "
    "the paper. REM and PI have the coefficients of their papers, and a target of 62 kB. The "
    "threshold of the threshold scheme is 62 kB.",
    "We assume hosts with NewReno, segments of 1460 bytes, an initial window of two segments, a "
    "first timeout of 3 s, a minimum timeout of 1 s, and an ACK for every second segment. A "
    "marked SYN-ACK has no effect on the server, as in section 3.2.1 of the paper. By RFC 5562, "
    "the server starts with a window of one segment after a marked SYN-ACK, which the item "
    "`variants` tests.",
    "The round-trip times of the 35 clients are evenly spaced from 10 to 150 ms. Each user has an "
    "advertised window of 8, 16 or 64 KB, which is the same for all requests of the user.",
    "The testbed is simulated, without kernels, web server and database. Browsers wait for 7 s "
    "between pages (TPC-W), and load pages with a mean of four objects of the web mix over one "
    "persistent connection per page. In each replication, the number of browsers is calibrated so "
    "that all browsers together receive 15 Mbit/s over a link of 100 Mbit/s. The hosts have the "
    "TCP of Linux 2.4.",
    "In our copy of the paper, Table 1 is legible only for PI, and we infer the loads of its "
    "cells. The figures of the paper have no numbers, and its text gives two points of the "
    "figures. The queueing model of figures 7 to 9 uses the bursts of our traffic mixes.",
)
