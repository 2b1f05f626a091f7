"""What the report says of the study, of how to read it, and of what it leaves open."""

ABOUT = (
    "A reproduction of “The Power of Explicit Congestion Notification”: web traffic through a "
    "congested link of 100 Mbit/s with RED, RED*, REM, PI or a threshold, without ECN, with ECN, "
    "and with ECN+, whose servers send ECN-capable SYN-ACKs; and a testbed of browsers that wait "
    "for their pages over 10 Mbit/s.",
    "Its results in a sentence: ECN alone drops SYN-ACKs where it marks data, so that it may do "
    "harm (RED*); ECN+ helps with every scheme, at no cost in throughput.",
)

READING = (
    "A response time is from the first SYN to the last byte of an object. What had no response at "
    "the end of the run counts with what it had waited (product-limit estimate). The mean of a "
    "profile is the mean of the distribution function from 0 to 2 s, which the figures show.",
    "The requests of a replication are the same under every scheme: pages come whatever becomes "
    "of those before. How many users make an offered load is found on the uncongested link, for "
    "each replication. A replication draws anew who asks for what and when.",
    "Numbers are means over five replications of 300 s after a warm-up of 30 s, with 95 % "
    "intervals by Student's t; differences are of pairs of replications. A printed throughput has "
    "a tolerance of 3 % of the link, a share of responses one of five points. A direction has to "
    "hold in every case that it is claimed of.",
)

DEVIATIONS = (
    "Assumed of sizes: a lognormal body and, for 15 % of the objects, a Pareto tail from 7 kB to "
    "1 GB. It has what is printed (mean 7.2 kB, 80 % of the bytes in the largest 15 %); the "
    "measured distribution that the paper fits is not printed. For the general mix the tail is "
    "heavier and has 90 % of the bytes (section 5.3.1).",
    "Assumed of pages: a Pareto time of mean 10 s and shape 1.5 from the start of a page to that "
    "of the next, four objects a page (geometric), 100 ms between their requests (exponential), "
    "requests of 350 B, sessions without end. The paper says Pareto and no number.",
    "Instead of replaying a trace of requests, pages are counted from their starts, which makes "
    "the requests the same by construction; a test holds that.",
    "Assumed of queues: room for 1000 packets. RED is Adaptive RED with its defaults for a target "
    "of 5 ms, which count packets of 500 B as ns-2 does; not gentle, as section 4.1 describes it. "
    "REM and PI have the coefficients of their papers, with a target of 62 kB; the threshold is "
    "62 kB.",
    "Assumed of hosts: NewReno, segments of 1460 bytes, initial window of two, first timeout 3 s, "
    "least timeout 1 s, every second segment acknowledged. A marked SYN-ACK changes nothing at "
    "the server, as section 3.2.1 has it; RFC 5562 begins with one segment then, which is read in "
    "“variants”.",
    "Round trips are those of 35 clients' access links, 10 to 150 ms, evenly. Advertised windows "
    "of 8, 16 and 64 KB belong to users, whatever they ask for.",
    "The testbed is simulated: no kernels, no web server, no database. Browsers think for 7 s "
    "(TPC-W), get pages of four objects of the web mix over a persistent connection a page, and "
    "are so many that they get 15 Mbit/s from 100 Mbit/s. Hosts are as Linux 2.4.",
    "Table 1 can be read for PI only, and its loads are inferred; figures are pictures, of which "
    "the text gives two points. The model of figures 7 to 9 has the bursts of our mixes.",
)
