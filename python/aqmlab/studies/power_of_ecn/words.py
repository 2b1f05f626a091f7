"""Names of ECN modes, schemes, mixes and loads."""

OFF, ECN, ECN_PLUS = "off", "rfc3168", "ecn+unheeded"
ENDS = {OFF: "no ECN", ECN: "ECN", ECN_PLUS: "ECN+"}

RED, RED_STAR, REM, PI = "RED", "RED*", "REM", "PI"
THRESHOLD, FIFO, UNCONGESTED = "threshold", "FIFO", "uncongested"
SCHEMES = (RED, RED_STAR, REM, PI)

WEB, GENERAL, LOGNORMAL = "web", "general", "lognormal"
"""Mixes of object sizes: those of sections 4.2 and 5.3, and lognormal sizes for section 4.2."""
SMALL, EXPONENTIAL = "web, mean of 3 kB", "exponential, mean of 3 kB"
"""Mixes of object sizes for the tables of RFC 5562, which has a link of 10 Mbit/s."""

LIGHT, PERSISTENT, DEPLOYED = 90, 105, 98
"""Offered loads in % of the link rate (sections 4.2 and 6)."""
