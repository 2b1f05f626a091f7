"""Study of ECN for large finite transfers (Pentikousis & Badr); README.md describes it."""

from aqmlab.studies import title
from aqmlab.studies.ecn_finite_transfers import (
    baseline,
    buffer_equivalence,
    countings,
    efficiency,
    frugality,
    lock_out,
    long_delay,
    migration,
    progress,
    synchronization,
    table_1,
    table_2,
    table_3,
    table_4,
    windows,
)
from aqmlab.studies.ecn_finite_transfers.alternatives import ALTERNATIVES
from aqmlab.studies.ecn_finite_transfers.claims import CLAIMS
from aqmlab.studies.ecn_finite_transfers.deviations import ABOUT, DEVIATIONS, READING
from aqmlab.studies.ecn_finite_transfers.frozen import CHOICES
from aqmlab.studies.ecn_finite_transfers.misses import MISSES, OPENING
from aqmlab.studies.ecn_finite_transfers.replications import MANY
from aqmlab.studies.ecn_finite_transfers.transfers import reduce
from aqmlab.studies.framework.study import Excerpt, Item, Study

TABLES = (table_1.ITEM, table_2.ITEM, table_3.ITEM, table_4.ITEM)
FIGURES = tuple(
    sorted(
        (*efficiency.ITEMS, *progress.ITEMS, *windows.ITEMS, *frugality.ITEMS),
        key=lambda item: int(item.name.removeprefix("figure-")),
    )
)
QUESTIONS: tuple[Item, ...] = (
    lock_out.ITEM,
    migration.ITEM,
    synchronization.ITEM,
    buffer_equivalence.ITEM,
    long_delay.ITEM,
    countings.ITEM,
)


STUDY = Study(
    name="ecn-finite-transfers",
    title=title("ecn-finite-transfers"),
    about=ABOUT,
    reading=READING,
    deviations=DEVIATIONS,
    items=(baseline.ITEM, *TABLES, *FIGURES, *QUESTIONS),
    claims=CLAIMS,
    replications=MANY,
    opening=OPENING,
    misses=MISSES,
    reduce=reduce,
    choices=CHOICES,
    excerpt=Excerpt(tables=()),
    alternatives=ALTERNATIVES,
)
