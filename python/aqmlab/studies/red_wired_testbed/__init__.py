"""Study of RED and Tail Drop on a wired Linux testbed; README.md describes it."""

from aqmlab.studies import title
from aqmlab.studies.framework import Excerpt, Quick, Study
from aqmlab.studies.red_wired_testbed import (
    beside,
    beyond,
    drawing,
    memory,
    readings,
    three_flows,
)
from aqmlab.studies.red_wired_testbed.claims import CLAIMS
from aqmlab.studies.red_wired_testbed.deviations import ABOUT, DEVIATIONS, READING
from aqmlab.studies.red_wired_testbed.frozen import CHOICES
from aqmlab.studies.red_wired_testbed.misses import MISSES, OPENING
from aqmlab.studies.red_wired_testbed.outcomes import reduce
from aqmlab.studies.red_wired_testbed.scenarios import MANY

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
        beyond.ITEM,
    ),
    claims=CLAIMS,
    opening=OPENING,
    misses=MISSES,
    reduce=reduce,
    replications=MANY,
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
            "RW-142", "RW-143", "RW-144", "RW-147", "RW-148", "RW-149", "RW-150", "RW-151",
            "RW-152", "RW-153",
        ),
        tables=("Median elapsed times (s)",),
    ),
    alternatives=readings.ALTERNATIVES,
)  # fmt: skip
