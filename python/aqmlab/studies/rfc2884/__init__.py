"""RFC 2884, ECN on a Linux testbed: see README.md beside this file."""

from collections import Counter
from collections.abc import Sequence

from aqmlab.studies import title
from aqmlab.studies.framework import Cell, Excerpt, Quick, Study
from aqmlab.studies.framework.summary import good
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
from aqmlab.studies.rfc2884.frozen import CHOICES
from aqmlab.studies.rfc2884.outcomes import reduce


def gains_reproduced(cells: Sequence[Cell]) -> str:
    """Return the share of published ECN gains that are reproduced within 5 percentage points."""
    items = ("bulk", "transactions")
    verdicts = Counter(cell.verdict for cell in cells if cell.counted and cell.item in items)
    return (
        f"Printed gains of ECN reproduced: {good(verdicts)} of {verdicts.total()}"
        if verdicts
        else ""
    )


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
    headline=gains_reproduced,
    quick=Quick(
        "This is the quick form: Reno alone, at the loads and maximum drop rates that the memo "
        "prints, with two replications. It leaves out claims and other readings.",
        seconds=6,
    ),
    choices=CHOICES,
    excerpt=Excerpt(
        claims=tuple(f"R2-{i:03}" for i in (*range(1, 19), *range(23, 40))),
        tables=("The observations under other readings",),
    ),
)
