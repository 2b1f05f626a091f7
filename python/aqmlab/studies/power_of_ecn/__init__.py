"""The power of ECN: ECN+ under web traffic: see README.md beside this file."""

from dataclasses import replace
from typing import Any

from aqmlab.results import Result
from aqmlab.studies import title
from aqmlab.studies.framework import Quick, Study
from aqmlab.studies.power_of_ecn import (
    deployment,
    loads,
    model,
    outcomes,
    profiles,
    readings,
    table_1,
    testbed,
    threshold,
    today,
    variants,
)
from aqmlab.studies.power_of_ecn.claims import CLAIMS
from aqmlab.studies.power_of_ecn.deviations import ABOUT, DEVIATIONS, READING
from aqmlab.studies.power_of_ecn.scenarios import Setting

QUICK_S = 30


def short(setting: Any) -> Any:
    """Return a setting of little time."""
    return replace(setting, seconds=QUICK_S) if isinstance(setting, Setting) else setting


def reduce(result: Result) -> outcomes.Outcome | model.Waited:
    """Reduce a run: of the queueing model's the waits, of the others response times and counts."""
    return model.reduce(result) if "waits" in result.tables else outcomes.reduce(result)


STUDY = Study(
    name="power-of-ecn",
    title=title("power-of-ecn"),
    about=ABOUT,
    reading=READING,
    deviations=DEVIATIONS,
    items=(
        *profiles.ITEMS,
        table_1.ITEM,
        threshold.ITEM,
        model.ITEM,
        deployment.ITEM,
        testbed.ITEM,
        loads.ITEM,
        variants.ITEM,
        readings.ITEM,
        today.ITEM,
    ),
    claims=CLAIMS,
    reduce=reduce,
    replications=5,
    quick=Quick(
        f"This is the quick form: {QUICK_S} s after the warm-up, two replications, the web mix, "
        "and no claims, no other loads, variants or readings.",
        form=short,
    ),
)
