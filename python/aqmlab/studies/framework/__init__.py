"""Common parts of all studies: items, runs, cells, verdicts, claims, results and the report.

docs/how-to/add-a-study.md is the guide to a new study.
"""

from aqmlab.studies.framework.claims import Claims, Decision, Published
from aqmlab.studies.framework.runs import Need, Record, Runs
from aqmlab.studies.framework.show import entry
from aqmlab.studies.framework.study import (
    Attachment,
    Choice,
    Excerpt,
    Figure,
    Item,
    Quick,
    Section,
    Study,
)
from aqmlab.studies.framework.verdicts import Cell, Tolerance

__all__ = [
    "Attachment",
    "Cell",
    "Choice",
    "Claims",
    "Decision",
    "Excerpt",
    "Figure",
    "Item",
    "Need",
    "Published",
    "Quick",
    "Record",
    "Runs",
    "Section",
    "Study",
    "Tolerance",
    "entry",
]
