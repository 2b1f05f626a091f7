"""RFC 2884, ECN on a Linux testbed: see README.md beside this file."""

from collections.abc import Sequence

from aqmlab.studies import title
from aqmlab.studies.framework import Cell, Quick, Study
from aqmlab.studies.framework.verdicts import NOT_REPRODUCED
from aqmlab.studies.rfc2884 import (
    bulk,
    fairness,
    readings,
    recovery,
    today,
    transactions,
    tuned,
    validation,
)
from aqmlab.studies.rfc2884.claims import CLAIMS
from aqmlab.studies.rfc2884.deviations import ABOUT, DEVIATIONS, READING
from aqmlab.studies.rfc2884.outcomes import reduce


def indices_reproduced(cells: Sequence[Cell]) -> str:
    """Return the study's yardstick: fairness indices within 0.01."""
    found = [cell for cell in cells if cell.item == "fairness"]
    good = sum(cell.verdict != NOT_REPRODUCED for cell in found)
    return f"Fairness indices: {good} of {len(found)}" if found else ""


STUDY = Study(
    name="rfc2884",
    title=title("rfc2884"),
    about=ABOUT,
    reading=READING,
    deviations=DEVIATIONS,
    items=(
        tuned.ITEM,
        fairness.ITEM,
        fairness.EQUAL,
        bulk.ITEM,
        bulk.CAUSES,
        transactions.ITEM,
        recovery.ITEM,
        readings.ITEM,
        today.ITEM,
        validation.ITEM,
    ),
    claims=CLAIMS,
    reduce=reduce,
    replications=20,
    headline=indices_reproduced,
    quick=Quick(
        "This is the quick form: Reno alone, at the loads and maximum drop rates that the memo "
        "prints, two replications, and no claims and no other readings of what it leaves open."
    ),
)
