"""Study of ECN+ under web traffic ("The power of ECN"); README.md describes it."""

from dataclasses import replace
from typing import Any

from aqmlab.results import Result
from aqmlab.studies import title
from aqmlab.studies.framework import Excerpt, Quick, Study
from aqmlab.studies.power_of_ecn import (
    deployment,
    loads,
    model,
    outcomes,
    profiles,
    readings,
    rfc5562,
    sizes,
    table_1,
    testbed,
    threshold,
    today,
    variants,
)
from aqmlab.studies.power_of_ecn.claims import CLAIMS
from aqmlab.studies.power_of_ecn.deviations import ABOUT, DEVIATIONS, READING
from aqmlab.studies.power_of_ecn.frozen import CHOICES
from aqmlab.studies.power_of_ecn.misses import MISSES, OPENING
from aqmlab.studies.power_of_ecn.scenarios import MANY, QUICK_S, Setting
from aqmlab.studies.power_of_ecn.words import GENERAL, WEB


def short(setting: Any) -> Any:
    """Return the setting with the duration of the quick form, if its mix has one."""
    if not isinstance(setting, Setting):
        return setting
    return replace(setting, seconds=QUICK_S.get(setting.mix, setting.seconds))


def reduce(result: Result) -> outcomes.Outcome | model.Waited:
    """Reduce a run of the item `model` to waits, and any other run to response times and counts."""
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
        rfc5562.ITEM,
        sizes.ITEM,
        readings.ITEM,
        today.ITEM,
    ),
    claims=CLAIMS,
    reduce=reduce,
    replications=MANY,
    quick=Quick(
        f"This is the quick form: three replications of {QUICK_S[WEB]} s after the warm-up "
        f"({QUICK_S[GENERAL]} s for the general mix). The quick form leaves out the items "
        "`loads`, `variants`, `rfc5562`, `sizes`, `readings` and `today`, and closed loops of the "
        "item `figure-10`. The intervals of the quick form are wide, so some claims are open in "
        "the quick form, but not in the whole study.",
        seconds=60,
        replications=3,
        form=short,
        claims=True,
    ),
    choices=CHOICES,
    excerpt=Excerpt(
        claims=tuple(f"PE-{i:03}" for i in (*range(5, 28), *range(31, 50))),
        tables=(
            "Throughput (% of 100 Mbit/s)",
            "The testbed",
            "Object sizes and senders, 90 % load",
            "Object sizes and senders, 105 % load",
            "RED* at 105 % load, by the distribution of object sizes",
            "ECN and ECN+ under other interpretations of the paper",
            "Incremental deployment",
        ),
    ),
    alternatives=readings.ALTERNATIVES,
    opening=OPENING,
    misses=MISSES,
)
