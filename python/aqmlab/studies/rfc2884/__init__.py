"""Study of RFC 2884, ECN on a Linux testbed; README.md describes it."""

from aqmlab.studies import title
from aqmlab.studies.framework import Excerpt, Quick, Study
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
from aqmlab.studies.rfc2884.misses import MISSES, OPENING
from aqmlab.studies.rfc2884.outcomes import reduce

STUDY = Study(
    name="rfc2884",
    title=title("rfc2884"),
    about=ABOUT,
    reading=READING,
    deviations=DEVIATIONS,
    items=(
        tuned.ITEM,
        tuned.WITHOUT,
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
    opening=OPENING,
    misses=MISSES,
    reduce=reduce,
    replications=80,
    quick=Quick(
        "This is the quick form: only Reno, only at the loads and maximum drop rates for which "
        "the memo gives numbers, with two replications. The quick form does not decide claims, "
        "and does not test other interpretations of the memo.",
        seconds=6,
    ),
    choices=CHOICES,
    excerpt=Excerpt(
        claims=tuple(f"R2-{i:03}" for i in range(1, 51)),
        tables=(transactions.CAPTION, readings.SYN_ACK_PAIRS, readings.TIMEOUT_PAIRS),
    ),
    alternatives=readings.ALTERNATIVES,
)
