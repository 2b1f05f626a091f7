"""The list of claims of the study, and the tolerances that several claims share.

The study ran each setting once, so the spread of our single runs is allowed too.
"""

from pathlib import Path

from aqmlab.studies.ecn_finite_transfers.frozen import APART
from aqmlab.studies.framework.claims import Claims
from aqmlab.studies.framework.verdicts import Tolerance

CLAIMS = Claims(Path(__file__).parent.parent / "published" / "claims.csv", APART)

PERCENT = Tolerance.of("1 percentage point", 1.0, single_run=True)
ABOUT = Tolerance(
    "10 % (printed as approximate)", lambda printed: 0.1 * abs(printed), single_run=True
)
SECONDS = Tolerance.of("1 s (read off a figure)", 1.0, single_run=True)
FEW = Tolerance.larger_of(1, 0.06, "packet", single_run=True)
"""Tolerance of the drops of one client or of a short time, which are few packets."""

HALF_SECOND = Tolerance.of("0.5 s (the study's sampling)", 0.5, single_run=True)

SAME_PERCENT = 1.0
"""Differences of G up to this many percentage points count as no significant difference."""
