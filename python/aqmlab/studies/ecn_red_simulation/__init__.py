"""Study of ECN and head marking in RED networks by simulation; README.md describes it."""

from aqmlab.studies import title
from aqmlab.studies.ecn_red_simulation import (
    causes,
    cheating,
    effects,
    errors,
    pairs,
    ratios,
    readings,
    worth,
)
from aqmlab.studies.ecn_red_simulation.claims import CLAIMS
from aqmlab.studies.ecn_red_simulation.deviations import ABOUT, DEVIATIONS, READING
from aqmlab.studies.ecn_red_simulation.frozen import CHOICES
from aqmlab.studies.ecn_red_simulation.misses import MISSES, OPENING
from aqmlab.studies.ecn_red_simulation.tallies import reduce
from aqmlab.studies.framework import Excerpt, Quick, Study

STUDY = Study(
    name="ecn-red-simulation",
    title=title("ecn-red-simulation"),
    about=ABOUT,
    reading=READING,
    deviations=DEVIATIONS,
    items=(
        worth.ITEM,
        ratios.FIGURE_4,
        ratios.FIGURE_6,
        ratios.HEAD_MARKING,
        causes.ITEM,
        effects.ITEM,
        readings.ITEM,
        cheating.ITEM,
        errors.ITEM,
    ),
    claims=CLAIMS,
    opening=OPENING,
    misses=MISSES,
    reduce=reduce,
    replications=pairs.MANY,
    quick=Quick(
        "This is the quick form: a sixteenth of the grid (delay 10 ms, linterm 10, wq 0.002, "
        "maxth 60) with two replications. The quick form does not decide claims, because the "
        "claims need the whole grid.",
        seconds=15,
    ),
    choices=CHOICES,
    excerpt=Excerpt(
        claims=tuple(f"ES-{i:03}" for i in range(6, 31)),
        tables=(
            "One congested link: ECN compared with no ECN",
            "Three congested links: ECN compared with no ECN",
            "One congested link: head marking compared with ECN",
        ),
    ),
    alternatives=readings.ALTERNATIVES,
)
