"""The list of claims, and the tolerances that several of them share."""

from pathlib import Path

from aqmlab.studies.framework.claims import Claims
from aqmlab.studies.framework.verdicts import Tolerance

CLAIMS = Claims(Path(__file__).parent.parent / "published" / "claims.csv")

PERCENT = Tolerance.of("1 percentage point", 1.0)
ABOUT = Tolerance("10 % of a number printed as approximate", lambda printed: 0.1 * abs(printed))
SECONDS = Tolerance.of("1 s (read off a figure)", 1.0)
FEW = Tolerance.larger_of(1, 0.06, "packet")
"""Drops of one client or of a short time: few packets, of which 3 would be most."""

HALF_SECOND = Tolerance.of("0.5 s (the study's sampling)", 0.5)

SAME_PERCENT = 1.0
"""Differences of G up to this many percentage points count as no significant difference."""
