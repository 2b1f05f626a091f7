"""Measures: quantities that are computed from one run, for comparisons, sweeps and studies.

A :class:`Measure` computes one number from a :class:`MeasuredRun`, or from the reduced result of a
run in a study. :func:`measures` returns the standard measures of a run. Estimates combine the
numbers of several replications (:mod:`aqmlab.estimates`).
"""

from aqmlab.measures.column import column, is_column, parts, sampled, series_of
from aqmlab.measures.measure import AtLeast, Measure, base_unit, key
from aqmlab.measures.measured_run import (
    SIZE_CLASSES,
    CrossingFlows,
    MeasuredRun,
    crossing_flows,
    link_names,
    round_trips,
)
from aqmlab.measures.of_run import measures

__all__ = [
    "SIZE_CLASSES",
    "AtLeast",
    "CrossingFlows",
    "Measure",
    "MeasuredRun",
    "base_unit",
    "column",
    "crossing_flows",
    "is_column",
    "key",
    "link_names",
    "measures",
    "parts",
    "round_trips",
    "sampled",
    "series_of",
]
