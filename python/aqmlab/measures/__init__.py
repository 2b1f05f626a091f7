"""What is measured: one :class:`Measure` for comparisons, sweeps and studies.

A measure reads one run: a :class:`Seen` (:func:`measures` lists those that every run has), or what
a study has reduced it to. What becomes of its values over replications is an estimate
(:mod:`aqmlab.estimates`).
"""

from aqmlab.measures.column import column, is_column, parts, sampled, series_of
from aqmlab.measures.measure import AtLeast, Measure, key
from aqmlab.measures.of_run import measures
from aqmlab.measures.seen import Group, Seen, groups, link_names

__all__ = [
    "AtLeast",
    "Group",
    "Measure",
    "Seen",
    "column",
    "groups",
    "is_column",
    "key",
    "link_names",
    "measures",
    "parts",
    "sampled",
    "series_of",
]
