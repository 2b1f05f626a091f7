"""RED against Tail Drop on a wired Linux testbed: see README.md beside this file."""

from collections.abc import Sequence

from aqmlab.studies import title
from aqmlab.studies.framework import Cell, Quick, Study
from aqmlab.studies.framework.verdicts import NOT_REPRODUCED
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
from aqmlab.studies.red_wired_testbed.outcomes import reduce


def medians_reproduced(cells: Sequence[Cell]) -> str:
    """Return the study's yardstick: medians of the elapsed times of three flows."""
    found = [
        cell
        for cell in cells
        if cell.item in ("table-5-1", "table-5-4")
        and cell.quantity == "elapsed"
        and cell.columns["statistic"] == "median"
    ]
    good = sum(cell.verdict != NOT_REPRODUCED for cell in found)
    return f"Median elapsed times of three flows: {good} of {len(found)}" if found else ""


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
    headline=medians_reproduced,
    quick=Quick(
        "This is the quick form: starts of 0, 2 and 5.5 s, the CBR flow at 0 s, three "
        "replications, and no claims, which are about all of them.",
        replications=3,
    ),
)
