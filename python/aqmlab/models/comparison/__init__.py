"""Comparison of closed forms and the fluid model with the measurements of a run.

:func:`compare` selects the models that apply to the scenario: datagrams at an unlimited Drop Tail
queue (`datagrams.py`), responses of servers (`responses.py`), long transfers and their signals
(`transfers.py`), and the loop of an AQM and Reno (`loops.py`). :func:`compare` also reports each
model that does not apply, with the reason.
"""

from aqmlab.models.comparison.compared import Comparison, compare, needed
from aqmlab.models.comparison.row import Row

__all__ = ["Comparison", "Row", "compare", "needed"]
