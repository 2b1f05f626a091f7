"""Study of RED and Tail Drop on a wired Linux testbed; README.md describes it."""

from collections import Counter
from collections.abc import Sequence

from aqmlab.studies import title
from aqmlab.studies.framework import Cell, Excerpt, Quick, Study
from aqmlab.studies.framework.summary import good
from aqmlab.studies.red_wired_testbed import (
    beside,
    beyond,
    drawing,
    kernel,
    memory,
    readings,
    three_flows,
)
from aqmlab.studies.red_wired_testbed.claims import CLAIMS
from aqmlab.studies.red_wired_testbed.deviations import ABOUT, DEVIATIONS, READING
from aqmlab.studies.red_wired_testbed.frozen import CHOICES
from aqmlab.studies.red_wired_testbed.outcomes import reduce


def times_reproduced(cells: Sequence[Cell]) -> str:
    """Return a sentence with the number of reproduced elapsed times in Tables 5-1 and 5-4.

    The number does not include fitted elapsed times.
    """
    tables = ("table-5-1", "table-5-4")
    verdicts = Counter(
        cell.verdict
        for cell in cells
        if cell.counted and cell.item in tables and cell.quantity == "elapsed"
    )
    return (
        f"Elapsed times of three flows reproduced: {good(verdicts)} of {verdicts.total()}"
        if verdicts
        else ""
    )


STUDY = Study(
    name="red-wired-testbed",
    title=title("red-wired-testbed"),
    about=ABOUT,
    reading=READING,
    deviations=DEVIATIONS,
    items=(
        *three_flows.ITEMS,
        *beside.ITEMS,
        *drawing.ITEMS,
        *three_flows.APPENDIX,
        *beside.APPENDIX,
        memory.ITEM,
        readings.ITEM,
        kernel.ITEM,
        beyond.ITEM,
    ),
    claims=CLAIMS,
    reduce=reduce,
    replications=20,
    headline=times_reproduced,
    quick=Quick(
        "This is the quick form: the third flow only at starts of 0, 2 and 5.5 s, the CBR flow "
        "only at a start of 0 s, and three replications. The quick form does not decide claims, "
        "because the claims need all start times.",
        seconds=12,
        replications=3,
    ),
    choices=CHOICES,
    excerpt=Excerpt(
        claims=(
            "RW-001", "RW-005", "RW-006", "RW-011", "RW-012", "RW-018", "RW-045", "RW-046",
            "RW-055", "RW-056", "RW-063", "RW-065", "RW-066", "RW-068", "RW-073", "RW-075",
            "RW-078", "RW-084", "RW-086", "RW-087", "RW-110", "RW-111", "RW-140", "RW-141",
            "RW-142", "RW-143",
        ),
        tables=("Median elapsed times (s)",),
    ),
    alternatives=readings.ALTERNATIVES,
)  # fmt: skip
