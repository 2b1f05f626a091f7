"""Claims of the study, and the tolerances that several claims share.

Each published number comes from a single run of the study. A number inside the spread of our single
runs therefore counts as reproduced too.
"""

from pathlib import Path

from aqmlab.studies.ecn_finite_transfers.frozen import APART
from aqmlab.studies.framework.claims import Claims
from aqmlab.studies.framework.verdicts import Tolerance

CLAIMS = Claims(Path(__file__).parent.parent / "published" / "claims.csv", APART)

PERCENT = Tolerance.of("1 percentage point", 1.0, single_run=True)
ABOUT = Tolerance(
    "10 % (published as an approximate number)", lambda printed: 0.1 * abs(printed), single_run=True
)
SECONDS = Tolerance.of("1 s (a time that the study reads off a figure)", 1.0, single_run=True)
FEW = Tolerance.larger_of(1, 0.06, "packet", single_run=True)
"""Tolerance of small numbers of drops: the drops of one client, or of a short interval."""

HALF_SECOND = Tolerance.of("0.5 s (sampling interval of the study)", 0.5, single_run=True)

SAME_PERCENT = 1.0
"""Maximum difference in G, in percentage points, that counts as not significant."""
