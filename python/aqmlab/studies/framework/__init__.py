"""Code that all studies share: items, runs, numbers, verdicts, claims, and the report.

The guide docs/how-to/add-a-study.md explains how to add a study.
"""

from aqmlab.studies.framework.claims import Claims, Decision, Published
from aqmlab.studies.framework.falsification import Alternative
from aqmlab.studies.framework.opening import Miss, Opening
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
from aqmlab.studies.framework.verdicts import Cell, Tolerance, UndecidableError, ratio

__all__ = [
    "Alternative",
    "Attachment",
    "Cell",
    "Choice",
    "Claims",
    "Decision",
    "Excerpt",
    "Figure",
    "Item",
    "Miss",
    "Need",
    "Opening",
    "Published",
    "Quick",
    "Record",
    "Runs",
    "Section",
    "Study",
    "Tolerance",
    "UndecidableError",
    "entry",
    "ratio",
]
