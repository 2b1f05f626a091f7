"""The power of ECN: ECN+ under web traffic: see README.md beside this file."""

from dataclasses import replace
from pathlib import Path
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
from aqmlab.studies.power_of_ecn.scenarios import QUICK_S, Setting
from aqmlab.studies.power_of_ecn.words import GENERAL, WEB


def short(setting: Any) -> Any:
    """Return a setting of little time."""
    if not isinstance(setting, Setting):
        return setting
    return replace(setting, seconds=QUICK_S[setting.mix])


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
        f"This is the quick form: three replications of {QUICK_S[WEB]} s after the warm-up "
        f"({QUICK_S[GENERAL]} s of the general mix), and no other loads, variants or readings. A "
        "claim is open where an interval of so few and so short replications holds 0, or holds "
        "the printed number with a mean beyond its tolerance. PE-015 and PE-021 are decided "
        "otherwise: the whole study has them 0.2 % of the link from the edge of their tolerance.",
        replications=3,
        form=short,
        whole=Path(__file__).parent / "verdicts.csv",
    ),
)
